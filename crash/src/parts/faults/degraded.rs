//! A server whose disk has failed: it rejects writes, reports the reason, and serves the data that it has.

use std::time::{Duration, Instant};

use crate::client::{Client, Reply};
use crate::model::{Model as _, resolve_all};
use crate::run::DataDirectory;
use crate::server::Server;
use crate::tables::{
    Address, Content, EntityChange, EntityOperation, IfMatch, ObservedTables, SHARED_TABLES, TableModel, TableWorkers,
    TableWrite, entity_difference, parse_point_read,
};

/// The text of `/health` after a failure of the database's own threads, whose reason is only in the log.
const IN_BACKGROUND: &str = "work in the background, failed";

/// The limit for `/health` to report a failure in the background.
const HEALTH_TIME: Duration = Duration::from_secs(12);

/// Checks that writes are rejected, that `/health` has the reason, and that reads return all acknowledged data.
pub(super) async fn check_degraded(
    workers: &mut TableWorkers,
    server: &Server,
    directory: &DataDirectory,
    failures: &[String],
    reason: &str,
) -> Result<(), String> {
    if failures.is_empty() {
        return Err("the disk failed, and no client got an error".to_owned());
    }
    let mut client = server.client();
    check_health(server, reason).await?;
    check_write_fails(&mut client).await?;

    let observed = ObservedTables::read(&mut client).await?;
    let mut resolved: Vec<TableModel> = workers.models().map(|model| model.clone()).collect();
    let (acks, violations) = resolve_all(&mut resolved.iter_mut().collect::<Vec<_>>(), &observed);
    directory.verify("with a failed disk", violations)?;
    // A visible write must stay. A write that is not visible may still be on the disk, and be visible after a restart.
    for ((model, resolved), ack) in workers.models().zip(resolved).zip(acks) {
        if ack.is_some() {
            *model = resolved;
        }
    }
    Ok(())
}

/// Checks that `/health` reports a read-only server and the reason.
pub(super) async fn check_health(server: &Server, reason: &str) -> Result<(), String> {
    let started = Instant::now();
    loop {
        let (status, text) = server.health().await?;
        let has_reason = text.contains(reason) || text.contains(IN_BACKGROUND);
        if status == 503 && text.starts_with("read only") && has_reason {
            return Ok(());
        }
        if started.elapsed() > HEALTH_TIME {
            return Err(format!("/health returns {status} {text}"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn check_write_fails(client: &mut Client) -> Result<(), String> {
    let write = |change| {
        let address = Address::new(SHARED_TABLES[0], "probe", "probe");
        TableWrite::Entities(vec![EntityOperation { address, change }])
    };
    let upsert = write(EntityChange::Replace(Content::default(), IfMatch::Upsert));
    match TableModel::send(client, &upsert).await? {
        Reply::ServerError(503, text) if text.contains("ServerBusy") => {}
        other => return Err(format!("a write to a failed disk got {other:?}")),
    }
    // A request that changes nothing may still succeed.
    TableModel::send(client, &write(EntityChange::Delete(IfMatch::Any))).await.map(drop)
}

/// Checks that each read returns the expected data or an error.
pub(super) async fn check_reads(
    workers: &mut TableWorkers,
    server: &Server,
    directory: &DataDirectory,
) -> Result<(), String> {
    let mut client = server.client();
    let mut violations = Vec::new();
    for model in workers.models() {
        violations.extend(wrong_reads(&mut client, model).await);
    }
    directory.verify("with a disk that cannot be read", violations)
}

/// Reads all entities of a model. Returns the responses that are neither correct nor an error.
pub(super) async fn wrong_reads(client: &mut Client, model: &TableModel) -> Vec<String> {
    let mut violations = Vec::new();
    for (address, version) in model.entities() {
        if model.is_pending(address) {
            continue;
        }
        match client.get(&address.path(), &[]).await {
            Reply::Response(answer) => match parse_point_read(address, &answer) {
                Ok(found) => violations.extend(entity_difference(address, Some(version), found.as_ref())),
                Err(why) => violations.push(why),
            },
            Reply::ServerError(500 | 503, _) => {}
            reply => violations.push(format!("{address}: {reply:?}")),
        }
    }
    violations
}
