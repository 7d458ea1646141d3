//! Drops of tables and revocations of stored access policies while a server stands still.
//!
//! Clients use all servers all the time. One of the servers is frozen in the middle of its requests and wakes after the
//! table was dropped, dropped and created again, or its policy revoked. The promise: each request that begins after the 2xx
//! sees the change, through any server. A request that was in progress ends as if before, or is rejected.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use serde_json::json;
use tablerock_conformance::Target;
use tablerock_conformance::request::Request;
use tablerock_conformance::target::Service;

use super::cluster::{Cluster, SERVERS};
use super::requests::{Progress, RequestKind, Requests, rows_body};
use crate::client::{Client, Reply};
use crate::run::Run;

/// The time for which a server stands still, at most.
const FREEZE_MAX: Duration = Duration::from_millis(700);
/// The time of load before and after the change, at most.
const LOAD_TIME_MAX: Duration = Duration::from_millis(150);
/// How often a request is sent that gets a 5xx response because a server stands still with a lock.
const ATTEMPTS_MAX: usize = 20;
/// Deletes some rows of each dropped range, as a sweep that is in progress does.
const SWEEP_SOME: &str = "DELETE FROM crash.tablerock_records r USING crash.tablerock_drops d \
     WHERE (r.partition, r.key) >= (d.start_partition, d.start_key) AND (r.partition, r.key) < (d.end_partition, d.end_key) \
     AND random() < 0.5";

/// The change that requests have to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Drop,
    /// The table is dropped, and created again with other entities.
    Recreate,
    Revoke,
}

/// Returns a summary.
pub(super) async fn run(run: &Run, trials: usize) -> Result<String, String> {
    let mut rng = run.rng("many servers, promises");
    let mut cluster = Cluster::start(run, "many-servers-promises").await?;
    let mut counts = [0; 3];
    for trial in 0..trials {
        let change = [Change::Drop, Change::Recreate, Change::Revoke][trial % 3];
        let step = format!("trial {trial}, {change:?}");
        let outcome = one_trial(&cluster, trial, change, &mut rng).await;
        let Outcome { violations, before, after } = outcome.map_err(|why| format!("{step}: {why}"))?;
        run.print_step(&format!("{step}: {before} requests began before and {after} after the change"));
        cluster.directory.verify(&step, violations)?;
        let violations = cluster.take_violations();
        cluster.directory.verify(&format!("{step}, error responses"), violations)?;
        counts[0] += 1;
        counts[1] += before;
        counts[2] += after;
    }
    cluster.stop().await?;
    let [trials, before, after] = counts;
    Ok(format!("{trials} drops and revocations with a frozen server, {before} requests before and {after} after them"))
}

/// The result of one trial.
struct Outcome {
    violations: Vec<String>,
    /// The requests that began before the change was acknowledged, and after it.
    before: usize,
    after: usize,
}

async fn one_trial(cluster: &Cluster, trial: usize, change: Change, rng: &mut Rng) -> Result<Outcome, String> {
    let table = format!("Promise{trial}");
    let changer = rng.usize(0..SERVERS);
    let mut owner = Owner { client: cluster.client(changer), table: table.clone() };
    owner.create().await?;
    owner.fill("old").await?;
    owner.set_policy(true).await?;

    let progress = Arc::new(Progress::default());
    let mut workers = vec![];
    for server in 0..SERVERS {
        for kind in RequestKind::ALL {
            let requests = Requests::new(kind, change, &table, server, Arc::clone(&progress));
            workers.push(tokio::spawn(requests.run(cluster.client(server))));
        }
    }
    tokio::time::sleep(LOAD_TIME_MAX.mul_f64(rng.f64())).await;

    let (victim, frozen) = (rng.usize(0..SERVERS), FREEZE_MAX.mul_f64(rng.f64()));
    let settle = LOAD_TIME_MAX.mul_f64(rng.f64());
    cluster.freeze(victim, true);
    let changed = async {
        let changed = owner.change(change, &progress).await;
        if change != Change::Revoke {
            cluster.sweep_some(SWEEP_SOME);
        }
        changed
    };
    let wakes = async {
        tokio::time::sleep(frozen).await;
        cluster.freeze(victim, false);
    };
    let (changed, ()) = tokio::join!(changed, wakes);
    changed?;
    tokio::time::sleep(settle).await;
    progress.stop();
    let mut outcome = Outcome { violations: vec![], before: 0, after: 0 };
    for worker in workers {
        let mut report = worker.await.map_err(|error| error.to_string())?;
        outcome.violations.append(&mut report.violations);
        outcome.before += report.before;
        outcome.after += report.after;
        if change == Change::Recreate {
            let (violations, row) = (&mut outcome.violations, &report.row);
            for server in 0..SERVERS {
                let found = value(&mut cluster.client(server), &table, row).await?;
                if !report.may_be(found.as_deref()) {
                    violations.push(format!("server {server}: row {row} has {found:?}, not {:?}", report.written));
                }
            }
        }
    }
    if change == Change::Revoke {
        let found = value(&mut cluster.client(victim), &table, "shared").await?;
        if found.as_deref() != Some("owner") {
            outcome.violations.push(format!("what the owner wrote after the revocation was replaced by {found:?}"));
        }
    }
    if change != Change::Drop {
        owner.drop_table().await?;
    }
    Ok(outcome)
}

/// The value of an entity.
async fn value(client: &mut Client, table: &str, row: &str) -> Result<Option<String>, String> {
    for _ in 0..ATTEMPTS_MAX {
        match client.get(&format!("/{table}(PartitionKey='p',RowKey='{row}')"), &[]).await {
            Reply::Response(answer) if answer.status == 404 => return Ok(None),
            Reply::Response(answer) if answer.status == 200 => {
                let entity: serde_json::Value = serde_json::from_slice(&answer.body).map_err(|why| why.to_string())?;
                return Ok(entity["Value"].as_str().map(str::to_owned));
            }
            Reply::Response(answer) => return Err(format!("a read failed: {}", answer.status)),
            _ => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    Err("a read failed again and again".to_owned())
}

/// The client that has the account's key, and makes the change.
struct Owner {
    client: Client,
    table: String,
}

impl Owner {
    /// Sends a request until a server responds. `done` are the statuses of success.
    async fn send(&mut self, done: &[u16], request: impl Fn(&Target) -> Request<'_>) -> Result<(), String> {
        let target = self.client.target();
        let mut last = String::new();
        for _ in 0..ATTEMPTS_MAX {
            match self.client.send(Service::Table, &request(&target)).await {
                Reply::Response(answer) if done.contains(&answer.status) => return Ok(()),
                Reply::Response(answer) => return Err(format!("the owner's request failed: {}", answer.status)),
                other => last = format!("{other:?}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err(format!("the owner's request failed again and again: {last}"))
    }

    async fn create(&mut self) -> Result<(), String> {
        let body = json!({ "TableName": self.table });
        // An attempt with an unknown outcome may have created it.
        self.send(&[201, 204, 409], |target| Request::new(target, "POST", "/Tables").json(&body)).await
    }

    async fn drop_table(&mut self) -> Result<(), String> {
        let path = format!("/Tables('{}')", self.table);
        self.send(&[204, 404], |target| Request::new(target, "DELETE", &path)).await
    }

    /// Writes all rows, in one transaction.
    async fn fill(&mut self, value: &str) -> Result<(), String> {
        let table = self.table.clone();
        let content_type = format!("multipart/mixed; boundary={}", tablerock_conformance::batch::BATCH_BOUNDARY);
        self.send(&[202], |target| {
            let body = rows_body(target, &table, value);
            Request::new(target, "POST", "/$batch").header("Content-Type", &content_type).body(body)
        })
        .await
    }

    async fn set_policy(&mut self, is_there: bool) -> Result<(), String> {
        let policy = "<SignedIdentifier><Id>policy</Id><AccessPolicy><Expiry>2099-01-01T00:00:00Z</Expiry>\
             <Permission>raud</Permission></AccessPolicy></SignedIdentifier>";
        let body = format!("<SignedIdentifiers>{}</SignedIdentifiers>", if is_there { policy } else { "" });
        let path = format!("/{}", self.table);
        self.send(&[204], |target| Request::new(target, "PUT", &path).query("comp", "acl").xml(body.clone())).await
    }

    async fn change(&mut self, change: Change, progress: &Progress) -> Result<(), String> {
        match change {
            Change::Drop => {
                self.drop_table().await?;
                progress.acknowledge();
            }
            Change::Recreate => {
                self.drop_table().await?;
                progress.acknowledge();
                self.create().await?;
                self.fill("new").await?;
            }
            Change::Revoke => {
                self.set_policy(false).await?;
                progress.acknowledge();
                let path = format!("/{}(PartitionKey='p',RowKey='shared')", self.table);
                let body = json!({ "Value": "owner" });
                self.send(&[204], |target| Request::new(target, "PUT", &path).json(&body)).await?;
            }
        }
        Ok(())
    }
}
