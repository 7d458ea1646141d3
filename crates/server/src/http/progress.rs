//! A timeout for work of unknown length: it expires when there is no progress for a while.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// The time of the last progress.
#[derive(Debug)]
pub(crate) struct Progress {
    began: Instant,
    moved_ms: AtomicU64,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), moved_ms: AtomicU64::new(0) }
    }

    /// Notes progress: bytes arrived, or a piece of long work is done.
    pub(crate) fn note(&self) {
        self.moved_ms.store(self.began.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// Runs work until it is done, or returns `None` after `time` without progress.
    pub(crate) async fn within<F: Future>(&self, time: Duration, work: F) -> Option<F::Output> {
        let mut work = std::pin::pin!(work);
        loop {
            let moved = self.began + Duration::from_millis(self.moved_ms.load(Ordering::Relaxed));
            match tokio::time::timeout_at(moved + time, &mut work).await {
                Ok(output) => return Some(output),
                Err(_) if self.moved_ms.load(Ordering::Relaxed) > (moved - self.began).as_millis() as u64 => {}
                Err(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn work_that_moves_goes_on_and_work_that_stands_still_ends() {
        let progress = Progress::new();
        let moving = async {
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_secs(29)).await;
                progress.note();
            }
            "done"
        };
        assert_eq!(progress.within(TIME, moving).await, Some("done"));

        let progress = Progress::new();
        let stuck = async {
            tokio::time::sleep(Duration::from_secs(20)).await;
            progress.note();
            std::future::pending::<()>().await;
        };
        let began = Instant::now();
        assert_eq!(progress.within(TIME, stuck).await, None);
        assert_eq!(began.elapsed().as_secs(), 50);
    }
}
