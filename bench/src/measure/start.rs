//! How long a start takes, from the process to its first successful response, and what memory it then holds.

use std::fs::{self, File};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use crate::Result;
use crate::contest::rows::Row;
use crate::contest::server::Server;
use crate::contest::stage::{Place, Stage};
use crate::fjall_alone;
use crate::report::{micros, micros_of_all};
use crate::results::Measured;

const EMPTY_TIME_MAX: Duration = Duration::from_millis(50);
const IDLE_BYTES_MAX: u64 = 25_000_000;
/// The time after which all work of a start is done.
pub(super) const IDLE_TIME: Duration = Duration::from_secs(2);

/// Starts on an empty directory.
pub(super) fn measure_empty(stage: &mut Stage, wants: &dyn Fn(Row) -> bool) -> Result<()> {
    if wants(Row::Start) {
        let start = |number| stage.tablerock(Place::Usual, &new_directory(stage, "empty", number)?);
        let times = start_times(stage.plan.starts, start, Server::stop)?;
        judge(stage, Row::Start, "under 50 ms", EMPTY_TIME_MAX, median(&times));
        stage.results.fact(Row::Start, "each of them, in order", micros_of_all(&times));
        let times = fjall_times(stage)?;
        let what = "opening an empty database with fjall alone, in the same way";
        stage.results.fact(Row::Start, what, micros(median(&times)));
    }
    if wants(Row::Memory) {
        let server = stage.fresh_tablerock("idle")?;
        thread::sleep(IDLE_TIME);
        let idle = Some(server.memory_now()).filter(|&bytes| bytes > 0);
        server.stop()?;
        stage.results.judge_size(Row::Memory, "idle: ", IDLE_BYTES_MAX, idle);
    }
    Ok(())
}

/// A directory that was never there before. Those of the last time go before the first of them is made, and what the
/// file system has to do for that is waited for: a start is not to pay for it.
fn new_directory(stage: &Stage, kind: &str, number: usize) -> Result<PathBuf> {
    let all = if number == 0 { stage.emptied(kind)? } else { stage.directory(kind) };
    let directory = all.join(number.to_string());
    let created = fs::create_dir(&directory);
    // Where a directory cannot be synced there is nothing to wait for.
    let _ = File::open(&all).and_then(|all| all.sync_all());
    created.map(|()| directory.clone()).map_err(|error| format!("{}: {error}", directory.display()))
}

fn fjall_times(stage: &Stage) -> Result<Vec<Duration>> {
    let open = |number| fjall_alone::open_time(&new_directory(stage, "empty-fjall", number)?.join("store"));
    (0..stage.plan.starts).map(open).collect()
}

/// Holds a start against the time that it may take.
pub(super) fn judge(stage: &mut Stage, row: Row, target: &str, limit: Duration, time: Duration) {
    println!("{}, {target}: {}", row.title(), micros(time));
    let measured = Measured { shown: micros(time), is_met: time < limit };
    stage.results.judge(row, target.to_owned(), Some(measured));
}

/// The times of several starts, each of which gets its number and is ended in some way.
pub(super) fn start_times(
    count: usize,
    start: impl Fn(usize) -> Result<Server>,
    end: impl Fn(Server) -> Result<()>,
) -> Result<Vec<Duration>> {
    let timed = |number| {
        let server = start(number)?;
        let time = server.start_time;
        end(server).map(|()| time)
    };
    (0..count).map(timed).collect()
}

/// The middle one, of an even number the later of the two in the middle.
pub(super) fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_start_counts() {
        assert_eq!(median(&[9, 1, 2].map(Duration::from_millis)), Duration::from_millis(2));
    }
}
