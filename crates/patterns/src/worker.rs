//! The loop of a worker: resumes intents until it is shut down, with backoff and a span for each step.

use std::fmt;
use std::pin::pin;
use std::time::Duration;

use tablerock_client::Result;
use tablerock_client::transport::BoxFuture;
use tracing::Instrument as _;

use crate::intents::WorkOutcome;
use crate::optimistic::random;

/// The first delay after a step without work or with an error. Each further one is twice as long.
const INITIAL_DELAY: Duration = Duration::from_millis(250);
/// The default of the longest delay.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// A worker of a pattern, which [`run`](Self::run)s until it is shut down. Any number of workers can run concurrently,
/// in one process or in several.
///
/// Each step has a `tracing` span named `pattern_work`, with the name of the queue. An intent that failed is logged as
/// a warning, and one that was moved to the poison queue as an error.
///
/// ```no_run
/// # use std::time::Duration;
/// # use tablerock_patterns::Archive;
/// # async fn example(archive: Archive, stopped: tokio::sync::oneshot::Receiver<()>) {
/// let counts = archive.worker().max_delay(Duration::from_secs(5)).run(async { drop(stopped.await) }).await;
/// println!("{} requests were processed", counts.finished);
/// # }
/// ```
#[must_use = "it does nothing before it runs"]
pub struct Worker<'a> {
    queue: String,
    step: Box<dyn Fn() -> BoxFuture<'a, Result<WorkOutcome>> + Send + Sync + 'a>,
    max_delay: Duration,
}

/// The number of intents that a worker has processed, by their outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkCounts {
    /// The intents that were finished.
    pub finished: u64,
    /// The attempts that failed, and the queue's own errors.
    pub failed: u64,
    /// The intents that were moved to the poison queue.
    pub poisoned: u64,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(queue: &str, step: impl Fn() -> BoxFuture<'a, Result<WorkOutcome>> + Send + Sync + 'a) -> Self {
        Self { queue: queue.to_owned(), step: Box::new(step), max_delay: MAX_DELAY }
    }

    /// Sets the longest delay between two steps without work, or after errors; 30 seconds by default. It adds to the
    /// visibility timeout, after which the intent of a dead writer is visible.
    #[doc(alias = "poll_interval")]
    pub fn max_delay(mut self, delay: Duration) -> Self {
        self.max_delay = delay.max(INITIAL_DELAY);
        self
    }

    /// Processes intents until `shutdown` completes. A step in progress is finished first. Errors are logged and
    /// retried with backoff.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> WorkCounts {
        let mut shutdown = pin!(shutdown);
        let mut counts = WorkCounts::default();
        let mut idle_steps = 0;
        loop {
            let span = tracing::debug_span!("pattern_work", queue = self.queue);
            let outcome = (self.step)().instrument(span).await;
            idle_steps = match self.count(&outcome, &mut counts) {
                true => 0,
                false => idle_steps + 1,
            };
            // A delay of zero polls `shutdown` once.
            if tokio::time::timeout(self.delay(idle_steps), shutdown.as_mut()).await.is_ok() {
                return counts;
            }
        }
    }

    /// Counts and logs an outcome. Returns whether the next step can begin at once.
    fn count(&self, outcome: &Result<WorkOutcome>, counts: &mut WorkCounts) -> bool {
        let queue = &self.queue;
        match outcome {
            Ok(WorkOutcome::Nothing) => false,
            Ok(WorkOutcome::Finished) => {
                counts.finished += 1;
                tracing::debug!(queue, "an intent was finished");
                true
            }
            Ok(WorkOutcome::Poisoned) => {
                counts.poisoned += 1;
                tracing::error!(queue, "an intent was moved to the poison queue");
                true
            }
            Ok(WorkOutcome::Failed(error)) => {
                counts.failed += 1;
                tracing::warn!(queue, %error, "an intent failed and will be retried");
                false
            }
            Err(error) => {
                counts.failed += 1;
                tracing::warn!(queue, %error, "the queue of intents failed and will be retried");
                false
            }
        }
    }

    /// Returns the delay after some steps without progress, with jitter of up to a quarter.
    fn delay(&self, idle_steps: u32) -> Duration {
        if idle_steps == 0 {
            return Duration::ZERO;
        }
        let delay = INITIAL_DELAY.saturating_mul(1 << (idle_steps - 1).min(16)).min(self.max_delay);
        delay - delay.mul_f64(0.25 * (random() as f64 / u64::MAX as f64))
    }
}

impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue, max_delay, .. } = self;
        f.debug_struct("Worker").field("queue", queue).field("max_delay", max_delay).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_longest_with_jitter() {
        let worker = Worker::new("q", || Box::pin(async { Ok(WorkOutcome::Nothing) })).max_delay(MAX_DELAY);
        assert_eq!(worker.delay(0), Duration::ZERO);
        for (idle_steps, longest) in
            [(1, INITIAL_DELAY), (2, INITIAL_DELAY * 2), (40, MAX_DELAY), (u32::MAX, MAX_DELAY)]
        {
            let delay = worker.delay(idle_steps);
            assert!(longest.mul_f64(0.74) <= delay && delay <= longest, "{idle_steps}: {delay:?}");
        }
    }
}
