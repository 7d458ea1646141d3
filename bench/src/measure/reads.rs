//! Point reads and partition queries, on a table that fits into every cache.

use crate::Result;
use crate::contest::rows::Row;
use crate::contest::server::Server;
use crate::contest::stage::Stage;
use crate::contest::{self, Case, Contestant};
use crate::http::caller::Credential;
use crate::load;
use crate::measure::queries::contestants;
use crate::results::series::Who;
use crate::results::{percent, times};
use crate::workload::{PointRead, Query, Wanted};

const CONNECTIONS: [usize; 2] = [16, 64];

pub(super) fn measure(stage: &mut Stage, wants: &dyn Fn(Row) -> bool) -> Result<()> {
    if !wants(Row::PointRead) && !wants(Row::PartitionQuery) {
        return Ok(());
    }
    let tablerock = stage.fresh_tablerock("read")?;
    stage.plan.read.load(tablerock.at())?;
    let azurites = stage.azurites_with(stage.plan.read)?;
    if wants(Row::PointRead) {
        point_reads(stage, &tablerock, &azurites)?;
        stage.results.require_ratio(Row::PointRead, Who::Azurite, 25.0, times);
        stage.results.require_ratio(Row::PointRead, Who::BareHyper, 0.5, percent);
    }
    if wants(Row::PartitionQuery) {
        partition_queries(stage, &tablerock, &azurites)?;
        stage.results.require_ratio(Row::PartitionQuery, Who::Azurite, 12.0, times);
    }
    stage.retire(tablerock, "point reads and partition queries")
}

fn point_reads(stage: &mut Stage, tablerock: &Server, azurites: &[(Who, Server)]) -> Result<()> {
    let dataset = stage.plan.read;
    let port = tablerock.at().port;
    let answer = load::ask_once(port, &PointRead { port, dataset, credential: Credential::SharedKey })?;
    let hyper = stage.bare_hyper(&answer)?;
    for credential in [Credential::SharedKey, Credential::Sas] {
        for connections in CONNECTIONS {
            let name = format!("{connections} connections, {}", credential.name());
            let case = Case { row: Row::PointRead, name, is_judged: true };
            let load = stage.plan.load(connections);
            let work = |server: &Server| PointRead { port: server.at().port, dataset, credential };
            let mut contestants = contestants(tablerock, azurites, load, work);
            let work = Box::new(work(&hyper));
            contestants.push(Contestant::Server { who: Who::BareHyper, server: &hyper, work, load });
            contest::hold(&case, stage.plan.read_rounds, &contestants, &mut stage.results)?;
        }
    }
    Ok(())
}

fn partition_queries(stage: &mut Stage, tablerock: &Server, azurites: &[(Who, Server)]) -> Result<()> {
    let (dataset, wanted) = (stage.plan.read, Wanted::Partition);
    for connections in CONNECTIONS {
        let case = Case { row: Row::PartitionQuery, name: format!("{connections} connections"), is_judged: true };
        let work = |server: &Server| Query { port: server.at().port, dataset, wanted };
        let contestants = contestants(tablerock, azurites, stage.plan.load(connections), work);
        contest::hold(&case, stage.plan.read_rounds, &contestants, &mut stage.results)?;
    }
    Ok(())
}
