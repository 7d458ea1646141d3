//! Time as a value that constructors take, so that a test can hold it still.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Ticks of 100 ns, the resolution of the service's timestamps.
pub const TICKS_PER_SECOND: u64 = 10_000_000;

/// 1970-01-01 in ticks since 0001-01-01, both at midnight UTC.
pub const TICKS_AT_UNIX_EPOCH: u64 = 621_355_968_000_000_000;

/// Where time comes from.
pub trait Clock: Send + Sync + fmt::Debug + 'static {
    /// Wall time as ticks of 100 ns since 0001-01-01. It may stand still or jump back: a caller that needs order keeps
    /// the last value and goes on from there.
    fn ticks(&self) -> u64;

    /// Time that never goes back, for deadlines.
    fn instant(&self) -> Instant;

    /// The maximum difference between [`ticks`](Clock::ticks) here and on other servers with the same clock at the same moment.
    fn error_ticks(&self) -> u64 {
        0
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn ticks(&self) -> u64 {
        (**self).ticks()
    }

    fn instant(&self) -> Instant {
        (**self).instant()
    }

    fn error_ticks(&self) -> u64 {
        (**self).error_ticks()
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn ticks(&self) -> u64 {
        #[expect(clippy::disallowed_methods, reason = "the one place where wall time enters")]
        let now = SystemTime::now();
        // A machine whose clock stands before 1970 has no battery and no network yet; 1970 will do.
        TICKS_AT_UNIX_EPOCH + ticks_in(now.duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    fn instant(&self) -> Instant {
        Instant::now()
    }
}

pub(crate) fn ticks_in(duration: Duration) -> u64 {
    duration.as_secs() * TICKS_PER_SECOND + u64::from(duration.subsec_nanos()) / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_lives_in_this_century() {
        let ticks_in_2020 = 637_134_336_000_000_000;
        let ticks_in_2100 = 662_380_416_000_000_000;
        assert!((ticks_in_2020..ticks_in_2100).contains(&SystemClock.ticks()));
    }
}
