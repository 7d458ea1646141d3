//! Inserts and group transactions. Each load meets servers that hold nothing: what a server holds slows some down, and
//! Tablerock's journals are to tell which groups it made of this load and of no other.

use tablerock_protocol::Service;

use crate::Result;
use crate::contest::rows::Row;
use crate::contest::stage::Stage;
use crate::contest::{self, Case, Contestant};
use crate::data::dataset::create_table;
use crate::fjall_alone::FjallAlone;
use crate::report::{connections_name, micros};
use crate::results::series::Who;
use crate::results::{Results, percent, times};
use crate::workload::{Group, Insert, Workload};

/// The rate that the service's documentation promises for one partition.
const AZURE_ENTITIES_PER_SECOND: f64 = 2_000.0;

/// One kind of write under one load.
#[derive(Debug, Clone, Copy)]
struct Write {
    row: Row,
    connections: usize,
    is_judged: bool,
    table: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Into so many partitions.
    Insert(u64),
    Group,
}

const fn write(row: Row, connections: usize, is_judged: bool, table: &'static str, kind: Kind) -> Write {
    Write { row, connections, is_judged, table, kind }
}

const WRITES: [Write; 7] = [
    write(Row::InsertMany, 64, true, "InsertMany64", Kind::Insert(10_000)),
    write(Row::InsertMany, 16, false, "InsertMany16", Kind::Insert(10_000)),
    write(Row::InsertOne, 64, true, "InsertOne64", Kind::Insert(1)),
    write(Row::InsertOne, 16, false, "InsertOne16", Kind::Insert(1)),
    write(Row::InsertSingle, 1, true, "InsertSingle", Kind::Insert(10_000)),
    write(Row::Group, 16, true, "Group16", Kind::Group),
    write(Row::Group, 64, true, "Group64", Kind::Group),
];

pub(super) fn measure(stage: &mut Stage, wants: &dyn Fn(Row) -> bool) -> Result<()> {
    for write in WRITES.iter().filter(|write| wants(write.row)) {
        hold(stage, write)?;
    }
    if wants(Row::InsertMany) {
        stage.results.require_ratio(Row::InsertMany, Who::Azurite, 12.0, times);
        stage.results.require_ratio(Row::InsertMany, Who::FjallAlone, 0.5, percent);
    }
    if wants(Row::InsertOne) {
        stage.results.require_rate(Row::InsertOne, 10.0 * AZURE_ENTITIES_PER_SECOND);
    }
    if wants(Row::InsertSingle) {
        tell_latencies(&mut stage.results);
    }
    if wants(Row::Group) {
        stage.results.require_ratio(Row::Group, Who::Azurite, 30.0, times);
        stage.results.require_rate(Row::Group, 50_000.0);
    }
    Ok(())
}

fn hold(stage: &mut Stage, write: &Write) -> Result<()> {
    let tablerock = stage.fresh_tablerock("write")?;
    let azurites = stage.azurites(Service::Table)?;
    let mut contestants = Vec::new();
    let servers = [(Who::Tablerock, &tablerock)].into_iter().chain(azurites.iter().map(|(who, server)| (*who, server)));
    for (who, server) in servers {
        let port = server.at().port;
        create_table(port, write.table)?;
        let work: Box<dyn Workload> = match write.kind {
            Kind::Insert(partitions) => Box::new(Insert::new(port, write.table, partitions)),
            Kind::Group => Box::new(Group::endless(port, write.table)),
        };
        let load = stage.plan.write_load(write.connections, who);
        contestants.push(Contestant::Server { who, server, work, load });
    }
    let (source, directory) = (stage.directory("write"), stage.directory("fjall"));
    contestants.push(Contestant::Fjall(FjallAlone { source, directory }));
    let case = Case { row: write.row, name: connections_name(write.connections), is_judged: write.is_judged };
    contest::hold(&case, stage.plan.write_rounds, &contestants, &mut stage.results)?;
    drop(contestants);
    stage.retire(tablerock, write.row.title())
}

/// The latency of an insert without other writers. Next to fjall, which waits for the same sync, it shows that no insert
/// waits for a fuller group.
fn tell_latencies(results: &mut Results) {
    let latencies = results.series.iter().filter(|series| series.row == Row::InsertSingle).filter_map(|series| {
        let [p50, p99] = [0.5, 0.99].map(|share| series.percentile(share).map(micros));
        Some(format!("{} {} ({})", series.who.name(), p50?, p99?))
    });
    let told = latencies.collect::<Vec<_>>().join(", ");
    results.fact(Row::InsertSingle, "latency of the middle insert (and of the 99th in 100)", told);
}
