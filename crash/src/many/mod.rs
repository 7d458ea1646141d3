//! Three servers on one database. Servers are killed and started again while the others work on; the database is ended as a
//! crash would and comes back. Whatever was acknowledged by any server must be shown by every other, and what many
//! clients saw through all of them must have one order.

mod fleet;
mod histories;
mod lives;

use tablerock_testkit::postgres;

use crate::run::Run;

/// How many lives the servers lead under load, and how many histories are recorded.
fn effort(run: &Run) -> (usize, usize) {
    if run.is_long { (240, 60) } else { (8, 3) }
}

/// Fails if there is no database to start on this machine.
pub fn check() -> Result<(), String> {
    let why = "no PostgreSQL on this machine; install it, or name the folder of its programs in TABLEROCK_POSTGRES_BIN";
    postgres::is_installed().then_some(()).ok_or_else(|| why.to_owned())
}

pub async fn run(run: &Run) -> Result<String, String> {
    let (rounds, histories) = effort(run);
    let lived = lives::run(run, rounds).await?;
    let recorded = histories::run(run, histories).await?;
    Ok(format!("{lived}; {recorded}"))
}
