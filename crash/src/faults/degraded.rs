//! A server whose disk has failed: it refuses writes, says why, and shows what it has.

use std::time::{Duration, Instant};

use crate::client::{Client, ClockOffset, Reply};
use crate::content::{Address, Content};
use crate::crew::{Crew, settle_all};
use crate::ledger::{Ledger, Settlement, difference};
use crate::observed::{Observed, point_version};
use crate::operation::{Attempt, Change, Match, Operation};
use crate::run::Place;
use crate::server::Server;
use crate::workload::SHARED_TABLES;

/// What `/health` says if the failure was one of the database's own threads, which keep the reason to the log.
const IN_BACKGROUND: &str = "work in the background, failed";

/// Within this time a failure in the background has shown in `/health`.
const HEALTH_TIME: Duration = Duration::from_secs(12);

/// Writes are refused, `/health` says why, and reads go on and show all that was acknowledged.
pub(super) async fn check_refusals(
    crew: &mut Crew,
    server: &Server,
    place: &Place,
    failures: &[String],
    reason: &str,
) -> Result<(), String> {
    if failures.is_empty() {
        return Err("the disk failed, and no client was told".to_owned());
    }
    let mut client = server.client(&ClockOffset::default());
    check_health(server, reason).await?;
    check_write_is_refused(&mut client).await?;

    let observed = Observed::read(&mut client).await?;
    let mut seen: Vec<Ledger> = crew.ledgers().map(|ledger| ledger.clone()).collect();
    let mut all: Vec<&mut Ledger> = seen.iter_mut().collect();
    let (settlements, violations) = settle_all(&mut all, &observed);
    place.judge("with a failed disk", violations)?;
    // What is shown must stay. What is not shown may still be on the disk, and be there after a restart.
    for ((ledger, seen), settlement) in crew.ledgers().zip(seen).zip(settlements) {
        if matches!(settlement, Some(Settlement::Happened(_))) {
            *ledger = seen;
        }
    }
    Ok(())
}

/// `/health` says that nothing is written any more, and why.
pub(super) async fn check_health(server: &Server, reason: &str) -> Result<(), String> {
    let started = Instant::now();
    loop {
        let (status, text) = server.health().await?;
        let has_reason = text.contains(reason) || text.contains(IN_BACKGROUND);
        if status == 503 && text.starts_with("read only") && has_reason {
            return Ok(());
        }
        if started.elapsed() > HEALTH_TIME {
            return Err(format!("/health says {status} {text}"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn check_write_is_refused(client: &mut Client) -> Result<(), String> {
    let address = Address::new(SHARED_TABLES[0], "probe", "probe");
    let change = Change::Delete(Match::Any);
    let missing = Attempt::Entities(vec![Operation { address: address.clone(), change }]);
    let content = Content::default();
    let change = Change::Replace(content, Match::Upsert);
    let write = Attempt::Entities(vec![Operation { address, change }]);
    match client.attempt(&write).await? {
        Reply::Failed(503, text) if text.contains("ServerBusy") => {}
        other => return Err(format!("a write to a failed disk came to {other:?}")),
    }
    // A request that changes nothing may still be answered.
    client.attempt(&missing).await.map(drop)
}

/// Each read gives what is there, or an error; never nothing, never something else.
pub(super) async fn check_reads(crew: &mut Crew, server: &Server, place: &Place) -> Result<(), String> {
    let mut client = server.client(&ClockOffset::default());
    let mut violations = Vec::new();
    for ledger in crew.ledgers() {
        violations.extend(wrong_reads(&mut client, ledger).await);
    }
    place.judge("with a disk that cannot be read", violations)
}

/// What a server shows of a ledger's entities that is neither right nor an error.
pub(super) async fn wrong_reads(client: &mut Client, ledger: &Ledger) -> Vec<String> {
    let mut violations = Vec::new();
    for (address, version) in ledger.entities() {
        if ledger.is_open(address) {
            continue;
        }
        match client.get(&address.path(), &[]).await {
            Reply::Answered(answer) => match point_version(address, &answer) {
                Ok(found) => violations.extend(difference(address, Some(version), found.as_ref())),
                Err(why) => violations.push(why),
            },
            Reply::Failed(500 | 503, _) => {}
            reply => violations.push(format!("{address}: {reply:?}")),
        }
    }
    violations
}
