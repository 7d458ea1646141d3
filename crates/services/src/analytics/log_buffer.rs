//! Lines of logs that wait to be written, within a bound that all accounts share.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tablerock_kv::TICKS_PER_SECOND;
use tablerock_protocol::DateTime;
use tablerock_protocol::analytics::RequestKind;
use tablerock_protocol::xml::AnalyticsVersion;
use tokio::sync::Notify;

/// All lines that wait. What comes on top is dropped, and counted.
const BYTES_MAX: usize = 16 << 20;

/// When a service has this much, its lines do not wait for their time.
const BATCH_BYTES: usize = 256 << 10;

/// How long lines wait for others.
const WAIT_TICKS: u64 = 5 * TICKS_PER_SECOND;

/// The bound on the lines of all accounts.
#[derive(Debug, Default)]
pub(super) struct LogRoom {
    bytes: AtomicUsize,
    filling: Notify,
}

/// A line, and what the log that holds it has to know about it.
#[derive(Debug)]
pub struct LogLine<'a> {
    /// With its line feed.
    pub text: &'a str,
    pub version: AnalyticsVersion,
    pub kind: RequestKind,
    pub started: DateTime,
    /// When the request ended, which decides the log that it goes to.
    pub ended: DateTime,
}

/// Lines of one hour, kind of entry and stretch of time.
#[derive(Debug)]
pub(super) struct LogBatch {
    pub(super) hour: DateTime,
    pub(super) version: AnalyticsVersion,
    pub(super) lines: String,
    pub(super) about: LogSpan,
    since: DateTime,
}

/// The metadata of a log: when its requests began, and which kinds there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogSpan {
    pub(super) first: DateTime,
    pub(super) last: DateTime,
    /// In the order of [`RequestKind::ALL`].
    pub(super) kinds: [bool; 3],
}

impl LogSpan {
    fn of(line: &LogLine<'_>) -> Self {
        Self { first: line.started, last: line.started, kinds: RequestKind::ALL.map(|kind| kind == line.kind) }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        for (ours, theirs) in self.kinds.iter_mut().zip(other.kinds) {
            *ours |= theirs;
        }
    }
}

/// The lines of one service of one account.
#[derive(Debug)]
pub(super) struct LogBuffer {
    room: Arc<LogRoom>,
    batches: Mutex<VecDeque<LogBatch>>,
}

impl LogRoom {
    /// Waits until a service has enough lines that they should be written now.
    pub(super) async fn filling(&self) {
        self.filling.notified().await;
    }

    fn take(&self, bytes: usize) -> bool {
        let more = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= BYTES_MAX);
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

impl LogBuffer {
    pub(super) fn new(room: Arc<LogRoom>) -> Self {
        Self { room, batches: Mutex::default() }
    }

    /// Takes a line, if there is room for it.
    pub(super) fn add(&self, line: &LogLine<'_>) -> bool {
        if !self.room.take(line.text.len()) {
            return false;
        }
        let hour = hour_of(line.ended);
        let mut batches = self.batches.lock();
        let fits = |batch: &&mut LogBatch| batch.hour == hour && batch.version == line.version;
        let batch = match batches.back_mut().filter(fits) {
            Some(batch) => {
                batch.about.add(&LogSpan::of(line));
                batch
            }
            None => {
                let (version, lines, about) = (line.version, String::new(), LogSpan::of(line));
                batches.push_back(LogBatch { hour, version, lines, about, since: line.ended });
                batches.back_mut().expect("it has just been put there")
            }
        };
        let before = batch.lines.len();
        batch.lines.push_str(line.text);
        if before < BATCH_BYTES && batch.lines.len() >= BATCH_BYTES {
            self.room.filling.notify_one();
        }
        true
    }

    /// The oldest lines, if they are many or have waited long enough.
    pub(super) fn take(&self, now: DateTime, at_once: bool) -> Option<LogBatch> {
        let is_due = |batch: &LogBatch| {
            let waited = now.ticks().checked_sub(batch.since.ticks());
            // After a clock was set back, it is unknown how long they waited.
            at_once || batch.lines.len() >= BATCH_BYTES || waited.is_none_or(|waited| waited >= WAIT_TICKS)
        };
        let mut batches = self.batches.lock();
        if batches.front().is_some_and(is_due) || batches.len() > 1 { batches.pop_front() } else { None }
    }

    /// Frees the space of lines that are written.
    pub(super) fn written(&self, batch: &LogBatch) {
        self.room.bytes.fetch_sub(batch.lines.len(), Ordering::Relaxed);
    }
}

/// The start of the hour of a time.
pub(super) fn hour_of(time: DateTime) -> DateTime {
    DateTime::from_ticks(time.ticks() - time.ticks() % (3600 * TICKS_PER_SECOND))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, ended: DateTime) -> LogLine<'_> {
        LogLine { text, version: AnalyticsVersion::V1_0, kind: RequestKind::Read, started: ended, ended }
    }

    fn at(text: &str) -> DateTime {
        DateTime::parse(text).unwrap()
    }

    #[test]
    fn lines_wait_for_others_and_part_at_the_hour() {
        let buffer = LogBuffer::new(Arc::default());
        assert!(buffer.add(&line("a\n", at("2026-07-31T18:59:58"))));
        assert!(buffer.add(&line("b\n", at("2026-07-31T18:59:59"))));
        assert!(buffer.take(at("2026-07-31T18:59:59"), false).is_none());
        assert!(buffer.add(&line("c\n", at("2026-07-31T19:00:00"))));
        let batch = buffer.take(at("2026-07-31T19:00:00"), false).expect("an hour that is over does not wait");
        assert_eq!((batch.lines.as_str(), batch.hour), ("a\nb\n", at("2026-07-31T18:00")));
        assert!(buffer.take(at("2026-07-31T19:00:01"), false).is_none());
        assert!(buffer.take(at("2026-07-31T19:00:05"), false).is_some());
    }

    #[test]
    fn lines_beyond_the_bound_are_dropped_until_some_are_written() {
        let buffer = LogBuffer::new(Arc::default());
        let (text, now) = ("x".repeat(1 << 20), at("2026-07-31T18:00"));
        for _ in 0..16 {
            assert!(buffer.add(&line(&text, now)));
        }
        assert!(!buffer.add(&line("y", now)));
        let batch = buffer.take(now, false).expect("so many do not wait");
        buffer.written(&batch);
        assert!(buffer.add(&line("y", now)));
    }
}
