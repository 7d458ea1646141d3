//! Blobs of three lengths, put and got. Those of 100 MiB also show what memory they take, which must not grow with them.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tablerock_protocol::Service;

use super::start::IDLE_TIME;
use crate::Result;
use crate::contest::plan::Plan;
use crate::contest::rows::Row;
use crate::contest::server::Server;
use crate::contest::stage::Stage;
use crate::contest::{self, Case, Contestant};
use crate::data::content::Content;
use crate::load::{self, Load};
use crate::report::{connections_name, megabytes};
use crate::results::series::{Series, Who};
use crate::results::{Measured, Results, times};
use crate::workload::{GetBlob, PutBlob};

const MORE_BYTES_MAX: u64 = 100_000_000;

/// Blobs of one length.
#[derive(Debug, Clone, Copy)]
struct Size {
    put: Row,
    get: Row,
    bytes: usize,
    connections: usize,
    /// How many of them there are to be got.
    blobs: u64,
    /// How many times as fast as Azurite both have to be.
    least: Option<f64>,
}

const SMALL: Size = Size {
    put: Row::PutSmallBlob,
    get: Row::GetSmallBlob,
    bytes: 4 << 10,
    connections: 16,
    blobs: 1_600,
    least: Some(8.0),
};

const MEDIUM: Size =
    Size { put: Row::PutMediumBlob, get: Row::GetMediumBlob, bytes: 1 << 20, connections: 4, blobs: 64, least: None };

/// So few of them fit into a run that they are counted and not timed.
const LARGE: Size = Size {
    put: Row::PutLargeBlob,
    get: Row::GetLargeBlob,
    bytes: 100 << 20,
    connections: 1,
    blobs: 2,
    least: Some(2.0),
};

impl Size {
    fn is_counted(self) -> bool {
        self.bytes == LARGE.bytes
    }

    /// The most requests of one connection in one run.
    fn requests_max(self, plan: &Plan) -> u64 {
        if self.is_counted() { plan.large_blobs } else { u64::MAX }
    }

    fn put_load(self, plan: &Plan, who: Who) -> Load {
        if self.is_counted() { plan.whole_load(self.connections, who) } else { plan.write_load(self.connections, who) }
    }

    /// Nothing changes, so there is nothing to rest from.
    fn get_load(self, plan: &Plan, who: Who) -> Load {
        match self.is_counted() {
            true => Load { rest: Duration::ZERO, ..plan.whole_load(self.connections, who) },
            false => plan.load(self.connections),
        }
    }

    fn case(self, row: Row) -> Case {
        Case { row, name: connections_name(self.connections), is_judged: true }
    }
}

pub(super) fn measure(stage: &mut Stage, wants: &dyn Fn(Row) -> bool) -> Result<()> {
    for size in [SMALL, MEDIUM, LARGE] {
        let content = Arc::new(Content::of(size.bytes));
        let mut more_bytes = None;
        for (row, hold) in [(size.put, hold_put as Hold), (size.get, hold_get)] {
            if wants(row) {
                more_bytes = more_bytes.max(Some(hold(stage, size, &content)?));
                tell_throughput(&mut stage.results, row, size);
                if let Some(least) = size.least {
                    stage.results.require_ratio(row, Who::Azurite, least, times);
                }
            }
        }
        if size.is_counted() && more_bytes.is_some() {
            let shown = |bytes: u64| format!("{} more than idle", megabytes(bytes));
            let target = format!("blobs of 100 MiB: under {}", shown(MORE_BYTES_MAX));
            let is_met = more_bytes < Some(MORE_BYTES_MAX);
            stage.results.judge(Row::Memory, target, more_bytes.map(|bytes| Measured { shown: shown(bytes), is_met }));
        }
    }
    Ok(())
}

/// Measures blobs of one size, and returns how much more memory than idle Tablerock has held meanwhile.
type Hold = fn(&mut Stage, Size, &Arc<Content>) -> Result<u64>;

fn hold_put(stage: &mut Stage, size: Size, content: &Arc<Content>) -> Result<u64> {
    let (tablerock, idle_bytes) = idle_tablerock(stage)?;
    let azurites = stage.azurites(Service::Blob)?;
    let mut contestants = Vec::new();
    for (who, server) in all(&tablerock, &azurites) {
        let (port, blobs_max) = (server.at().port, size.requests_max(&stage.plan));
        let work = Box::new(PutBlob::begin(port, Arc::clone(content), blobs_max)?);
        contestants.push(Contestant::Server { who, server, work, load: size.put_load(&stage.plan, who) });
    }
    contest::hold(&size.case(size.put), stage.plan.write_rounds, &contestants, &mut stage.results)?;
    drop(contestants);
    retire(stage, tablerock, idle_bytes, size.put)
}

fn hold_get(stage: &mut Stage, size: Size, content: &Arc<Content>) -> Result<u64> {
    let (tablerock, idle_bytes) = idle_tablerock(stage)?;
    let azurites = stage.azurites(Service::Blob)?;
    let mut contestants = Vec::new();
    for (who, server) in all(&tablerock, &azurites) {
        let (port, each) = (server.at().port, size.blobs / size.connections as u64);
        let filling = PutBlob::begin(port, Arc::clone(content), each)?;
        load::drive(server.at(), &filling, &stage.plan.whole_load(size.connections, who))?;
        let gets_max = size.requests_max(&stage.plan);
        let work = Box::new(GetBlob { port, content: Arc::clone(content), blobs: size.blobs, gets_max });
        contestants.push(Contestant::Server { who, server, work, load: size.get_load(&stage.plan, who) });
    }
    thread::sleep(stage.plan.azurite_rest);
    contest::hold(&size.case(size.get), stage.plan.write_rounds, &contestants, &mut stage.results)?;
    drop(contestants);
    retire(stage, tablerock, idle_bytes, size.get)
}

fn all<'a>(tablerock: &'a Server, azurites: &'a [(Who, Server)]) -> impl Iterator<Item = (Who, &'a Server)> {
    [(Who::Tablerock, tablerock)].into_iter().chain(azurites.iter().map(|(who, server)| (*who, server)))
}

/// A Tablerock that has come to rest after its start, and the memory that it holds.
fn idle_tablerock(stage: &Stage) -> Result<(Server, u64)> {
    let server = stage.fresh_tablerock_for(Service::Blob, "blobs")?;
    thread::sleep(IDLE_TIME);
    let idle_bytes = server.memory_now();
    Ok((server, idle_bytes))
}

fn retire(stage: &Stage, tablerock: Server, idle_bytes: u64, row: Row) -> Result<u64> {
    let more_bytes = tablerock.memory_peak().saturating_sub(idle_bytes);
    stage.retire(tablerock, row.title())?;
    Ok(more_bytes)
}

/// The rates in bytes, which show more where blobs are large.
fn tell_throughput(results: &mut Results, row: Row, size: Size) {
    let of_row = results.series.iter().filter(|series| series.row == row && !series.runs.is_empty());
    let rate =
        |series: &Series| format!("{} {}/s", series.who.name(), megabytes((series.rate() * size.bytes as f64) as u64));
    let told = of_row.map(rate).collect::<Vec<_>>().join(", ");
    results.fact(row, "in bytes", told);
}
