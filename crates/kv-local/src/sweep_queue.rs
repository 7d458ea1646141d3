//! Dropped ranges to sweep: as records in the engine's own keyspace, and as a queue that the sweeper waits on.

use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::{Condvar, Mutex};
use tablerock_kv::key::{KeyBuilder, KeyReader};
use tablerock_kv::{Error, Position, Range, Result};

use crate::failure::translate;
use crate::overlay::Write;

/// The first byte of every record, which leaves space for other forms.
const FORM: u8 = 1;

/// A range to sweep, recorded before any of its records is deleted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SweepIntent {
    pub(crate) id: u64,
    pub(crate) range: Range,
    /// The journal in use when the range had been swept; see [`sweeper`](crate::sweeper) for why the intent stays until
    /// that journal is deleted.
    pub(crate) swept_at_journal: Option<u64>,
}

impl SweepIntent {
    /// Returns the write that records the intent.
    pub(crate) fn record(&self) -> Write {
        let mut value = KeyBuilder::new().tag(FORM).number(self.swept_at_journal.map_or(0, |journal| journal + 1));
        for position in [Some(&self.range.start), self.range.end.as_ref()].into_iter().flatten() {
            value = value.bytes(&position.partition).bytes(&position.key);
        }
        Write { key: intent_key(self.id), value: Some(value.finish()) }
    }

    /// Returns the write that deletes the intent.
    pub(crate) fn removal(&self) -> Write {
        Write { key: intent_key(self.id), value: None }
    }

    pub(crate) fn read(key: &[u8], value: &[u8]) -> Result<Self> {
        let id = key.try_into().map(u64::from_be_bytes).map_err(|_| Error::corrupt("a sweep intent has no id"))?;
        let mut reader = KeyReader::new(value);
        if reader.tag()? != FORM {
            return Err(Error::corrupt("a sweep intent has an unknown form"));
        }
        let swept_at_journal = reader.number()?.checked_sub(1);
        let start = position(&mut reader)?;
        let end = if reader.clone().tail().is_empty() { None } else { Some(position(&mut reader)?) };
        reader.finish()?;
        Ok(Self { id, range: Range { start, end }, swept_at_journal })
    }
}

fn intent_key(id: u64) -> Bytes {
    Bytes::copy_from_slice(&id.to_be_bytes())
}

fn position(reader: &mut KeyReader<'_>) -> Result<Position> {
    Ok(Position::new(reader.bytes()?.into_owned(), reader.bytes()?.into_owned()))
}

/// The intents that the sweeper waits for.
#[derive(Debug, Default)]
pub(crate) struct SweepQueue {
    state: Mutex<SweepQueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SweepQueueState {
    due: Vec<(Instant, SweepIntent)>,
    next_id: u64,
    /// Whether the sweeper works on an intent that is not in `due`.
    in_progress: bool,
    stopped: bool,
}

/// The next task of the sweeper.
pub(crate) enum SweepTask {
    Sweep(SweepIntent),
    /// The interval between two checks for garbage has passed.
    CheckGarbage,
    Stop,
}

impl SweepQueue {
    /// Loads the intents of earlier processes. No write of theirs is in progress, so all intents are due.
    pub(crate) fn load(own: &fjall::Keyspace) -> Result<Self> {
        let queue = Self::default();
        for record in own.iter() {
            let (key, value) =
                record.into_inner().map_err(|error| translate("cannot read the ranges to sweep", error))?;
            let intent = SweepIntent::read(&key, &value)?;
            let mut state = queue.state.lock();
            state.next_id = state.next_id.max(intent.id + 1);
            state.due.push((Instant::now(), intent));
        }
        Ok(queue)
    }

    pub(crate) fn create(&self, range: Range) -> SweepIntent {
        let mut state = self.state.lock();
        state.next_id += 1;
        SweepIntent { id: state.next_id, range, swept_at_journal: None }
    }

    pub(crate) fn add(&self, intent: SweepIntent, delay: Duration) {
        self.state.lock().due.push((Instant::now() + delay, intent));
        self.changed.notify_one();
    }

    /// Waits for the first intent that is due, or for the next check for garbage.
    pub(crate) fn next(&self, next_check: Instant) -> SweepTask {
        let mut state = self.state.lock();
        state.in_progress = false;
        loop {
            if state.stopped {
                return SweepTask::Stop;
            }
            let now = Instant::now();
            if now >= next_check {
                return SweepTask::CheckGarbage;
            }
            let earliest =
                state.due.iter().enumerate().min_by_key(|(_, (due, _))| *due).map(|(at, (due, _))| (at, *due));
            match earliest {
                Some((at, due)) if due <= now => {
                    state.in_progress = true;
                    return SweepTask::Sweep(state.due.swap_remove(at).1);
                }
                _ => {
                    let until = earliest.map_or(next_check, |(_, due)| due.min(next_check));
                    self.changed.wait_until(&mut state, until);
                }
            }
        }
    }

    pub(crate) fn stop(&self) {
        self.state.lock().stopped = true;
        self.changed.notify_one();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.state.lock().stopped
    }

    /// Returns the number of ranges that are not swept yet.
    pub(crate) fn unswept(&self) -> u64 {
        let state = self.state.lock();
        state.due.len() as u64 + u64::from(state.in_progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intents_are_read_as_written() {
        let start = Position::new("a\0", "k");
        for end in [None, Some(Position::new("b", "")), Some(Position::new("", "\0"))] {
            for swept_at_journal in [None, Some(0), Some(1_000)] {
                let intent =
                    SweepIntent { id: 7, range: Range { start: start.clone(), end: end.clone() }, swept_at_journal };
                let record = intent.record();
                assert_eq!(SweepIntent::read(&record.key, &record.value.unwrap()).unwrap(), intent);
            }
        }
    }

    #[test]
    fn a_malformed_intent_is_corrupt() {
        for (key, value) in [(&b"short"[..], &b"\x01\x00"[..]), (b"12345678", b"\x02"), (b"12345678", b"\x01\x00a")] {
            assert!(SweepIntent::read(key, value).is_err());
        }
    }
}
