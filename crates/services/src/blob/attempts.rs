//! The pause before another attempt to read what others change.

use std::time::Duration;

/// The longest pause.
const PAUSE_MS_MAX: u64 = 32;

/// Waits before all attempts but the first, twice as long each time. The change that the reader met may belong to a task that
/// no thread runs at the moment, and attempts that follow each other at once would all meet the same half of it.
pub(super) async fn pause_before(attempt: u32) {
    if attempt > 0 {
        let pause = 1_u64.checked_shl(attempt - 1).map_or(PAUSE_MS_MAX, |pause| pause.min(PAUSE_MS_MAX));
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
}
