//! The time of the database, estimated on this machine.
//!
//! Servers that share a database also share its clock: a message that one of them hides for thirty seconds is visible on the
//! others after thirty seconds. The clock is read with each health check, and between two readings time advances by this
//! machine's monotonic clock. The error of a reading is at most half of its round trip, so fast readings are preferred.
//!
//! The nodes of a Citus cluster have clocks of their own, and servers are connected to different nodes. There the clock is that
//! of the coordinator, which the node asks for it; the clocks of the workers do not matter. While the coordinator is away,
//! time advances as between two readings.

use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use tablerock_kv::{Clock, Error, Result, SystemClock, TICKS_AT_UNIX_EPOCH, TICKS_PER_SECOND};
use tokio_postgres::Client;

use crate::failure::translate;
use crate::kind::Kind;

/// Ticks of 100 ns since 1970.
pub(crate) const ASK: &str = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 10000000 AS bigint)";

/// The same of a coordinator of Citus, at any node. A failure is a row without a number.
const ASK_COORDINATOR: &str = "SELECT CASE WHEN citus_is_coordinator() \
     THEN CAST(extract(epoch FROM clock_timestamp()) * 10000000 AS bigint) \
     ELSE (SELECT CAST(substring(result FROM '^[0-9]+$') AS bigint) FROM run_command_on_coordinator(\
     'SELECT CAST(extract(epoch FROM clock_timestamp()) * 10000000 AS bigint)')) END";

/// The readings of a start, of which the fastest counts.
const READINGS_AT_START: u32 = 5;

/// The assumed drift between two clocks, one part in so many.
const DRIFT_PARTS: u32 = 5_000;

/// The difference between this machine's clock and the database's from which a warning is logged.
const DIFFERENCE_WARNED: Duration = Duration::from_secs(30);

/// A clock that shows the database's time.
#[derive(Debug)]
pub struct DatabaseClock {
    kind: Kind,
    known: Mutex<ClockReading>,
}

/// The time of the database at some moment, with its error.
#[derive(Debug, Clone, Copy)]
struct ClockReading {
    ticks: u64,
    at: Instant,
    error: Duration,
}

impl ClockReading {
    fn ticks_at(&self, moment: Instant) -> u64 {
        self.ticks.saturating_add(ticks_in(moment.saturating_duration_since(self.at)))
    }

    /// Returns the error at a later moment.
    fn error_at(&self, moment: Instant) -> Duration {
        self.error + moment.saturating_duration_since(self.at) / DRIFT_PARTS
    }
}

impl DatabaseClock {
    /// Reads the clock of the database, a few times: the first round trip is often a slow one.
    pub(crate) async fn start(client: &Client, kind: Kind) -> Result<Self> {
        let mut first = ask(client, kind).await?;
        for _ in 1..READINGS_AT_START {
            let next = ask(client, kind).await?;
            if next.error <= first.error {
                first = next;
            }
        }
        let ours = SystemClock.ticks();
        let difference = ours.abs_diff(first.ticks_at(Instant::now()));
        if difference > ticks_in(DIFFERENCE_WARNED) {
            let seconds = difference / TICKS_PER_SECOND;
            tracing::warn!(seconds, "the clock of this machine differs from that of the database, which is used");
        }
        Ok(Self { kind, known: Mutex::new(first) })
    }

    /// Reads the clock again.
    pub(crate) async fn refresh(&self, client: &Client) -> Result<()> {
        let fresh = ask(client, self.kind).await?;
        self.learn(fresh);
        Ok(())
    }

    /// Returns the time as a value for a statement.
    pub(crate) fn time(&self) -> SystemTime {
        let ticks = self.ticks().saturating_sub(TICKS_AT_UNIX_EPOCH);
        let (seconds, rest) = (ticks / TICKS_PER_SECOND, (ticks % TICKS_PER_SECOND) as u32);
        SystemTime::UNIX_EPOCH + Duration::new(seconds, rest * 100)
    }

    /// Takes a reading that is more exact than the known one, or contradicts it: then the clock of the database was set, or
    /// the database has moved to another machine.
    fn learn(&self, fresh: ClockReading) {
        let mut known = self.known.lock();
        let (expected, error) = (known.ticks_at(fresh.at), known.error_at(fresh.at));
        let contradicts = fresh.ticks.abs_diff(expected) > ticks_in(error + fresh.error);
        if contradicts || fresh.error <= error {
            *known = fresh;
        }
    }
}

impl Clock for DatabaseClock {
    fn ticks(&self) -> u64 {
        self.known.lock().ticks_at(Instant::now())
    }

    fn instant(&self) -> Instant {
        Instant::now()
    }

    fn error_ticks(&self) -> u64 {
        ticks_in(self.known.lock().error_at(Instant::now()))
    }
}

async fn ask(client: &Client, kind: Kind) -> Result<ClockReading> {
    let failed = |error| translate("cannot read the clock of the database", error);
    let statement = if kind == Kind::Citus { ASK_COORDINATOR } else { ASK };
    let asked = Instant::now();
    let answer: Option<i64> = client.query_one(statement, &[]).await.and_then(|row| row.try_get(0)).map_err(failed)?;
    let error = asked.elapsed() / 2;
    let answer = answer.ok_or_else(|| {
        Error::unavailable(
            "cannot read the clock of the coordinator, which all servers of a Citus cluster use: check that this node \
             reaches the coordinator",
        )
    })?;
    Ok(ClockReading { ticks: TICKS_AT_UNIX_EPOCH.saturating_add_signed(answer), at: asked + error, error })
}

fn ticks_in(duration: Duration) -> u64 {
    duration.as_secs() * TICKS_PER_SECOND + u64::from(duration.subsec_nanos()) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(seconds: u64, at: Instant, error_ms: u64) -> ClockReading {
        ClockReading { ticks: seconds * TICKS_PER_SECOND, at, error: Duration::from_millis(error_ms) }
    }

    #[test]
    fn a_slow_answer_does_not_replace_a_quick_one_and_a_contradiction_does() {
        let start = Instant::now();
        let clock = DatabaseClock { kind: Kind::Postgres, known: Mutex::new(known(1_000, start, 1)) };
        let later = start + Duration::from_secs(10);
        clock.learn(known(1_010, later, 400));
        assert_eq!(clock.known.lock().at, start, "it says nothing new");
        clock.learn(known(1_010, later, 2));
        assert_eq!(clock.known.lock().at, later, "what is known has become less exact than this");
        clock.learn(known(900, later, 400));
        assert_eq!(clock.known.lock().ticks, 900 * TICKS_PER_SECOND, "the clock was set back");
    }
}
