//! Throttling a client can understand: `ServerBusy` above a configured rate. Off by default.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tablerock_kv::{Bytes, Clock};
use tablerock_protocol::{ErrorCode, ServiceError};

/// Rates above which requests are throttled; `None` means no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThrottleTargets {
    /// Requests per second of one account. Azure publishes 20,000.
    pub account_requests_per_second: Option<u32>,
    /// Entities per second of one partition. Azure publishes 2,000. Each operation of a group counts.
    pub partition_entities_per_second: Option<u32>,
}

/// Partitions whose rate is remembered. Beyond that, the ones that have been idle are forgotten.
const PARTITIONS_MAX: usize = 10_000;
/// How much of a second may be used up at once.
const BURST: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Throttle {
    clock: Arc<dyn Clock>,
    targets: ThrottleTargets,
    accounts: Mutex<HashMap<String, Instant>>,
    partitions: Mutex<HashMap<Bytes, Instant>>,
}

impl Throttle {
    pub(crate) fn new(clock: Arc<dyn Clock>, targets: ThrottleTargets) -> Self {
        Self { clock, targets, accounts: Mutex::default(), partitions: Mutex::default() }
    }

    /// Counts one request of an account.
    pub(crate) fn check_account(&self, account: &str) -> Result<(), ServiceError> {
        let Some(rate) = self.targets.account_requests_per_second else { return Ok(()) };
        let now = self.clock.instant();
        let mut accounts = self.accounts.lock();
        if !accounts.contains_key(account) {
            accounts.insert(account.to_owned(), now);
        }
        let paid_until = accounts.get_mut(account).expect("it has just been inserted");
        pay(paid_until, now, rate, 1)
    }

    /// Counts `entities` on a partition.
    pub(crate) fn check_partition(&self, partition: &Bytes, entities: usize) -> Result<(), ServiceError> {
        let Some(rate) = self.targets.partition_entities_per_second else { return Ok(()) };
        let now = self.clock.instant();
        let mut partitions = self.partitions.lock();
        if partitions.len() >= PARTITIONS_MAX {
            partitions.retain(|_, paid_until| *paid_until > now);
            if partitions.len() >= PARTITIONS_MAX {
                partitions.clear();
            }
        }
        pay(partitions.entry(partition.clone()).or_insert(now), now, rate, entities)
    }
}

/// Each entity costs its share of a second. A partition may run into debt by one burst, no further.
fn pay(paid_until: &mut Instant, now: Instant, rate: u32, entities: usize) -> Result<(), ServiceError> {
    let cost = Duration::from_secs(1) * u32::try_from(entities).unwrap_or(u32::MAX) / rate.max(1);
    let start = (*paid_until).max(now);
    if start > now + BURST {
        return Err(ErrorCode::ServerBusy.into());
    }
    *paid_until = start + cost;
    Ok(())
}

#[cfg(test)]
mod tests {
    use tablerock_kv::ManualClock;

    use super::*;

    fn throttle(clock: &Arc<ManualClock>, targets: ThrottleTargets) -> Throttle {
        Throttle::new(clock.clone(), targets)
    }

    #[test]
    fn a_busy_partition_is_refused_until_time_has_paid_for_it() {
        let clock = Arc::new(ManualClock::at(0));
        let targets = ThrottleTargets { partition_entities_per_second: Some(100), ..Default::default() };
        let throttle = throttle(&clock, targets);
        let (busy, quiet) = (Bytes::from_static(b"busy"), Bytes::from_static(b"quiet"));
        let admitted = (0..1000).take_while(|_| throttle.check_partition(&busy, 1).is_ok()).count();
        assert!((100..=102).contains(&admitted), "{admitted}");
        assert!(throttle.check_partition(&quiet, 1).is_ok());
        clock.advance(Duration::from_millis(100));
        assert!(throttle.check_partition(&busy, 1).is_ok());
    }

    #[test]
    fn without_targets_nothing_is_refused() {
        let clock = Arc::new(ManualClock::at(0));
        let throttle = throttle(&clock, ThrottleTargets::default());
        assert!((0..100_000).all(|_| throttle.check_account("a").is_ok()));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let clock = Arc::new(ManualClock::at(0));
        let targets = ThrottleTargets { partition_entities_per_second: Some(1), ..Default::default() };
        let throttle = throttle(&clock, targets);
        for number in 0..3 * PARTITIONS_MAX {
            let _ = throttle.check_partition(&Bytes::from(number.to_be_bytes().to_vec()), 1);
        }
        assert!(throttle.partitions.lock().len() <= PARTITIONS_MAX);
    }
}
