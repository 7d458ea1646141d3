//! Three servers on one database. Servers are killed or frozen while the others run; the database is killed and
//! started again. Every server must show the writes that any server acknowledged, and the history of clients that use all
//! servers must be linearizable.

mod cluster;
mod histories;

use tablerock_testkit::postgres;
mod rounds;

use crate::run::Run;

/// The number of rounds under load, and of recorded histories.
fn effort(run: &Run) -> (usize, usize) {
    if run.is_long { (240, 60) } else { (8, 3) }
}

/// Fails if PostgreSQL is not installed on this machine.
pub fn check() -> Result<(), String> {
    let why = "PostgreSQL not found; install it, or set TABLEROCK_POSTGRES_BIN to the folder of its programs";
    postgres::is_installed().then_some(()).ok_or_else(|| why.to_owned())
}

pub async fn run(run: &Run) -> Result<String, String> {
    let (rounds, histories) = effort(run);
    let rounds = rounds::run(run, rounds).await?;
    let histories = histories::run(run, histories).await?;
    Ok(format!("{rounds}; {histories}"))
}
