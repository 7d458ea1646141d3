//! Three servers on one database. Servers are killed or frozen while the others run; the database is killed and
//! started again. Every server must show the writes that any server acknowledged, and the history of clients that use all
//! servers must be linearizable. No server shows a table that was dropped, or serves a policy that was revoked.

mod cluster;
mod histories;
mod promises;
mod requests;
mod rounds;

use tablerock_testkit::postgres;

use crate::run::Run;

/// The number of rounds under load, of recorded histories, and of drops and revocations.
fn effort(run: &Run) -> (usize, usize, usize) {
    if run.is_long { (240, 60, 900) } else { (8, 3, 15) }
}

/// Fails if PostgreSQL is not installed on this machine.
pub fn check() -> Result<(), String> {
    let why = "PostgreSQL not found; install it, or set TABLEROCK_POSTGRES_BIN to the folder of its programs";
    postgres::is_installed().then_some(()).ok_or_else(|| why.to_owned())
}

pub async fn run(run: &Run) -> Result<String, String> {
    let (rounds, histories, promises) = effort(run);
    let promises = promises::run(run, promises).await?;
    let rounds = rounds::run(run, rounds).await?;
    let histories = histories::run(run, histories).await?;
    Ok(format!("{rounds}; {histories}; {promises}"))
}
