//! Counters that requests add to and the writer empties.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tablerock_protocol::analytics::{Authentication, RequestStatus};

use super::counts::{AUTHENTICATIONS, Counts, STATUSES};

/// A request, as far as it is counted.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// The place of its operation among those of the service; `None` if it asked for none.
    pub operation: Option<usize>,
    pub status: RequestStatus,
    pub authentication: Authentication,
    pub ingress_bytes: u64,
    pub egress_bytes: u64,
    pub duration: Duration,
}

/// The counters of a service. Those of an operation are made when it is used for the first time.
#[derive(Debug)]
pub(super) struct Counters {
    names: Vec<&'static str>,
    operations: Box<[OnceLock<Box<Counter>>]>,
    unknown: Counter,
    /// The requests of analytics itself.
    system: Counter,
}

/// Counts of a service since they were last taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    pub(super) user: Counts,
    pub(super) system: Counts,
    pub(super) operations: Vec<(&'static str, Counts)>,
}

impl Counters {
    pub(super) fn new(names: Vec<&'static str>) -> Self {
        let operations = names.iter().map(|_| OnceLock::new()).collect();
        Self { names, operations, unknown: Counter::default(), system: Counter::default() }
    }

    pub(super) fn add(&self, measured: &Measured) {
        let counter: &Counter = match measured.operation.and_then(|index| self.operations.get(index)) {
            Some(counter) => counter.get_or_init(Box::default),
            None => &self.unknown,
        };
        counter.add(measured);
    }

    /// Counts a write of our own.
    pub(super) fn add_system(&self, bytes: u64) {
        self.system.add(&Measured {
            operation: None,
            status: RequestStatus::Success,
            authentication: Authentication::Authenticated,
            ingress_bytes: bytes,
            egress_bytes: 0,
            duration: Duration::ZERO,
        });
    }

    /// Takes what has been counted; the next count begins at zero.
    pub(super) fn take(&self) -> Tally {
        let used = self.names.iter().zip(&self.operations).filter_map(|(name, counter)| {
            let counts = counter.get()?.take();
            (counts.requests() > 0).then_some((*name, counts))
        });
        let operations: Vec<_> = used.collect();
        let mut user = self.unknown.take();
        operations.iter().for_each(|(_, counts)| user.add(counts));
        Tally { user, system: self.system.take(), operations }
    }
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.user.add(&other.user);
        self.system.add(&other.system);
        for (name, counts) in &other.operations {
            match self.operations.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => known.add(counts),
                None => self.operations.push((*name, *counts)),
            }
        }
    }
}

/// The counts of one row. Each number is right; requests that end while the counts are taken may be partly in this count
/// and partly in the next.
#[derive(Debug, Default)]
struct Counter {
    statuses: [[AtomicU64; AUTHENTICATIONS]; STATUSES],
    ingress_bytes: AtomicU64,
    egress_bytes: AtomicU64,
    success_us: AtomicU64,
}

impl Counter {
    fn add(&self, measured: &Measured) {
        let add = |counter: &AtomicU64, number: u64| {
            counter.fetch_add(number, Ordering::Relaxed);
        };
        add(&self.statuses[measured.status.index()][measured.authentication.index()], 1);
        add(&self.ingress_bytes, measured.ingress_bytes);
        add(&self.egress_bytes, measured.egress_bytes);
        if measured.status == RequestStatus::Success {
            add(&self.success_us, u64::try_from(measured.duration.as_micros()).unwrap_or(u64::MAX));
        }
    }

    fn take(&self) -> Counts {
        let take = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        Counts {
            statuses: self.statuses.each_ref().map(|of_status| of_status.each_ref().map(take)),
            ingress_bytes: take(&self.ingress_bytes),
            egress_bytes: take(&self.egress_bytes),
            success_us: take(&self.success_us),
        }
    }
}
