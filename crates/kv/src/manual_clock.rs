//! A clock for tests: time stands still until a test moves it.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::Clock;
use crate::clock::ticks_in;

/// A clock that moves only by [`advance`](Self::advance) and [`set`](Self::set).
///
/// ```
/// use std::time::Duration;
/// use tablerock_kv::{Clock, ManualClock, TICKS_PER_SECOND};
///
/// let clock = ManualClock::at(1_000);
/// let deadline = clock.instant() + Duration::from_secs(5);
/// clock.advance(Duration::from_secs(5));
/// assert_eq!(clock.ticks(), 1_000 + 5 * TICKS_PER_SECOND);
/// assert_eq!(clock.instant(), deadline);
/// ```
#[derive(Debug)]
pub struct ManualClock {
    now: Mutex<(u64, Instant)>,
}

impl ManualClock {
    /// Returns a clock that shows `ticks`.
    pub fn at(ticks: u64) -> Self {
        Self { now: Mutex::new((ticks, Instant::now())) }
    }

    /// Moves wall time and monotonic time forward together.
    pub fn advance(&self, by: Duration) {
        let (ticks, instant) = &mut *self.now.lock();
        *ticks += ticks_in(by);
        *instant += by;
    }

    /// Moves wall time alone, in either direction, as an administrator might.
    pub fn set(&self, ticks: u64) {
        self.now.lock().0 = ticks;
    }
}

impl Clock for ManualClock {
    fn ticks(&self) -> u64 {
        self.now.lock().0
    }

    fn instant(&self) -> Instant {
        self.now.lock().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_time_may_go_back_while_deadlines_do_not() {
        let clock = ManualClock::at(500);
        let before = clock.instant();
        clock.set(100);
        assert_eq!((clock.ticks(), clock.instant()), (100, before));
    }
}
