//! Messages of one queue: put, got and deleted, first one after the other for all of them, then for each of them.

use std::sync::Arc;

use tablerock_protocol::Service;

use crate::Result;
use crate::contest::rows::Row;
use crate::contest::server::Server;
use crate::contest::stage::Stage;
use crate::contest::{self, Case, Contestant};
use crate::load;
use crate::report::{connections_name, thousands};
use crate::results::series::Who;
use crate::results::times;
use crate::workload::{Errand, MessageWork, Queue};

const CONNECTIONS: usize = 16;

/// A contestant with its queue.
struct Holder<'a> {
    who: Who,
    server: &'a Server,
    queue: Arc<Queue>,
}

pub(super) fn measure(stage: &mut Stage, wants: &dyn Fn(Row) -> bool) -> Result<()> {
    single_steps(stage, wants)?;
    if wants(Row::MessageRoundTrip) {
        round_trips(stage)?;
        round_trips_through_a_long_queue(stage)?;
        stage.results.require_ratio(Row::MessageRoundTrip, Who::Azurite, 10.0, times);
    }
    Ok(())
}

/// All messages are put before the first is got, and all that time allows are got before the first is deleted. So each
/// step needs the ones before it, even if only that one is wanted.
fn single_steps(stage: &mut Stage, wants: &dyn Fn(Row) -> bool) -> Result<()> {
    let steps = [
        (Row::PutMessage, Errand::Put(u64::MAX)),
        (Row::GetMessage, Errand::Get),
        (Row::DeleteMessage, Errand::Delete),
    ];
    let Some(last) = steps.iter().rposition(|(row, _)| wants(*row)) else { return Ok(()) };
    let (tablerock, azurites) = servers(stage)?;
    let holders = holders(&tablerock, &azurites)?;
    for &(row, errand) in &steps[..=last] {
        hold(stage, row, connections_name(CONNECTIONS), errand, &holders)?;
    }
    drop(holders);
    stage.retire(tablerock, "messages")
}

fn round_trips(stage: &mut Stage) -> Result<()> {
    let (tablerock, azurites) = servers(stage)?;
    let holders = holders(&tablerock, &azurites)?;
    hold(stage, Row::MessageRoundTrip, connections_name(CONNECTIONS), Errand::RoundTrip, &holders)?;
    drop(holders);
    stage.retire(tablerock, Row::MessageRoundTrip.title())
}

/// Tablerock alone: it would take Azurite minutes to get as far as the first round trip.
fn round_trips_through_a_long_queue(stage: &mut Stage) -> Result<()> {
    let tablerock = stage.fresh_tablerock_for(Service::Queue, "messages")?;
    let holders = holders(&tablerock, &[])?;
    let messages = stage.plan.queued_messages;
    for Holder { who, server, queue } in &holders {
        let work = MessageWork { queue: Arc::clone(queue), errand: Errand::Put(messages) };
        load::drive(server.at(), &work, &stage.plan.whole_load(CONNECTIONS, *who))?;
    }
    let name = format!("{}, behind {} messages", connections_name(CONNECTIONS), thousands(messages as f64));
    hold(stage, Row::MessageRoundTrip, name, Errand::RoundTrip, &holders)?;
    drop(holders);
    stage.retire(tablerock, "messages in a long queue")
}

fn servers(stage: &Stage) -> Result<(Server, Vec<(Who, Server)>)> {
    Ok((stage.fresh_tablerock_for(Service::Queue, "messages")?, stage.azurites(Service::Queue)?))
}

fn holders<'a>(tablerock: &'a Server, azurites: &'a [(Who, Server)]) -> Result<Vec<Holder<'a>>> {
    let servers = [(Who::Tablerock, tablerock)].into_iter().chain(azurites.iter().map(|(who, server)| (*who, server)));
    servers.map(|(who, server)| Ok(Holder { who, server, queue: Arc::new(Queue::create(server.at().port)?) })).collect()
}

fn hold(stage: &mut Stage, row: Row, name: String, errand: Errand, holders: &[Holder<'_>]) -> Result<()> {
    let mut contestants = Vec::new();
    for Holder { who, server, queue } in holders {
        let work = Box::new(MessageWork { queue: Arc::clone(queue), errand });
        let load = stage.plan.write_load(CONNECTIONS, *who);
        contestants.push(Contestant::Server { who: *who, server, work, load });
    }
    let case = Case { row, name, is_judged: true };
    contest::hold(&case, stage.plan.write_rounds, &contestants, &mut stage.results)
}
