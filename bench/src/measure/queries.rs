//! Queries on one large partition: a range of rows, which an index finds, and a filter that has to look at everything.

use crate::Result;
use crate::contest::rows::Row;
use crate::contest::server::Server;
use crate::contest::stage::Stage;
use crate::contest::{self, Case, Contestant};
use crate::load::Load;
use crate::report::thousands;
use crate::results::series::Who;
use crate::results::times;
use crate::workload::{Query, Wanted, Workload};

/// Azurite takes so long for each that more connections would only wait in its queue.
const CONNECTIONS: usize = 16;
const RANGE_ENTITIES: u64 = 10;

pub(super) fn measure(stage: &mut Stage, wants: &dyn Fn(Row) -> bool) -> Result<()> {
    let rows = [(Row::RowRange, Wanted::RowRange(RANGE_ENTITIES), 100.0), (Row::FilterScan, Wanted::ByNumber, 50.0)];
    let rows: Vec<_> = rows.into_iter().filter(|(row, ..)| wants(*row)).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let dataset = stage.plan.range;
    let tablerock = stage.fresh_tablerock("range")?;
    dataset.load(tablerock.at())?;
    let azurites = stage.azurites_with(dataset)?;
    for (row, wanted, least) in rows {
        let load = stage.plan.patient_load(CONNECTIONS);
        let name = format!("{CONNECTIONS} connections, {} entities", thousands(dataset.entities as f64));
        let case = Case { row, name, is_judged: true };
        let work = |server: &Server| Query { port: server.at().port, dataset, wanted };
        let contestants = contestants(&tablerock, &azurites, load, work);
        contest::hold(&case, stage.plan.read_rounds, &contestants, &mut stage.results)?;
        stage.results.require_ratio(row, Who::Azurite, least, times);
    }
    stage.retire(tablerock, "queries on a large partition")
}

/// Tablerock and the Azurites that are there, each with the same work.
pub(super) fn contestants<'a, W: Workload + 'a>(
    tablerock: &'a Server,
    azurites: &'a [(Who, Server)],
    load: Load,
    work: impl Fn(&Server) -> W,
) -> Vec<Contestant<'a>> {
    let servers = [(Who::Tablerock, tablerock)].into_iter().chain(azurites.iter().map(|(who, server)| (*who, server)));
    servers.map(|(who, server)| Contestant::Server { who, server, work: Box::new(work(server)), load }).collect()
}
