//! A line now and then about work that takes minutes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::report::thousands;

const INTERVAL: Duration = Duration::from_secs(10);

/// Prints how far a counter is on its way to a total, until it is dropped.
#[derive(Debug)]
pub struct Progress {
    /// Nothing is ever sent: that it is gone is the sign to stop.
    stop: Option<Sender<()>>,
    teller: Option<JoinHandle<()>>,
}

impl Progress {
    pub fn watch(counter: Arc<AtomicU64>, total: u64) -> Self {
        let (stop, stopped) = mpsc::channel();
        let begin = Instant::now();
        let teller = thread::spawn(move || {
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                println!("  {}", line(counter.load(Ordering::Relaxed), total, begin.elapsed()));
            }
        });
        Self { stop: Some(stop), teller: Some(teller) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(teller) = self.teller.take() {
            let _ = teller.join();
        }
    }
}

/// `2,500,000 of 10,000,000, 50,000/s, 150 s left`
fn line(done: u64, total: u64, time: Duration) -> String {
    let rate = done as f64 / time.as_secs_f64();
    let left = if done == 0 { f64::INFINITY } else { total.saturating_sub(done) as f64 / rate };
    let [done, total, rate] = [done as f64, total as f64, rate].map(thousands);
    format!("{done} of {total}, {rate}/s, {left:.0} s left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_the_rate() {
        let shown = line(2_500_000, 10_000_000, Duration::from_secs(50));
        assert_eq!(shown, "2,500,000 of 10,000,000, 50,000/s, 150 s left");
    }

    #[test]
    fn watching_ends_at_once_when_it_is_dropped() {
        let begin = Instant::now();
        drop(Progress::watch(Arc::default(), 1));
        assert!(begin.elapsed() < INTERVAL / 2);
    }
}
