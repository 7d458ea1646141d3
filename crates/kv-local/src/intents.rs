//! Ranges that are to be swept: as notes in the engine's own keyspace, and as a list the sweeper waits on.

use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::{Condvar, Mutex};
use tablerock_kv::key::{KeyBuilder, KeyReader};
use tablerock_kv::{Error, Position, Range, Result};

use crate::failure::translate;
use crate::overlay::Write;

/// The first byte of every note, in case there will be others.
const FORM: u8 = 1;

/// A range to sweep.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Intent {
    pub(crate) id: u64,
    pub(crate) range: Range,
    /// The journal that was written to when the range had been swept; see [`sweeper`](crate::sweeper) for why the
    /// note stays until that journal is gone.
    pub(crate) swept_at_journal: Option<u64>,
}

impl Intent {
    /// The write that notes it.
    pub(crate) fn note(&self) -> Write {
        let mut value = KeyBuilder::new().tag(FORM).number(self.swept_at_journal.map_or(0, |journal| journal + 1));
        for position in [Some(&self.range.start), self.range.end.as_ref()].into_iter().flatten() {
            value = value.bytes(&position.partition).bytes(&position.key);
        }
        Write { key: note_key(self.id), value: Some(value.finish()) }
    }

    /// The write that forgets it.
    pub(crate) fn forget(&self) -> Write {
        Write { key: note_key(self.id), value: None }
    }

    pub(crate) fn read(key: &[u8], value: &[u8]) -> Result<Self> {
        let id = key.try_into().map(u64::from_be_bytes).map_err(|_| Error::corrupt("a note of a range has no id"))?;
        let mut pieces = KeyReader::new(value);
        if pieces.tag()? != FORM {
            return Err(Error::corrupt("a note of a range has an unknown form"));
        }
        let swept_at_journal = pieces.number()?.checked_sub(1);
        let start = position(&mut pieces)?;
        let end = if pieces.clone().tail().is_empty() { None } else { Some(position(&mut pieces)?) };
        pieces.finish()?;
        Ok(Self { id, range: Range { start, end }, swept_at_journal })
    }
}

fn note_key(id: u64) -> Bytes {
    Bytes::copy_from_slice(&id.to_be_bytes())
}

fn position(pieces: &mut KeyReader<'_>) -> Result<Position> {
    Ok(Position::new(pieces.bytes()?.into_owned(), pieces.bytes()?.into_owned()))
}

/// The list the sweeper waits on.
#[derive(Debug, Default)]
pub(crate) struct Intents {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    due: Vec<(Instant, Intent)>,
    next_id: u64,
    /// Whether the sweeper is at work on one that is not in the list any more.
    in_hand: bool,
    stopped: bool,
}

/// What the sweeper is to do next.
pub(crate) enum Next {
    Sweep(Intent),
    /// It is time to look around.
    Look,
    Stop,
}

impl Intents {
    /// The notes of earlier lives. No write of theirs is under way any more, so all are due.
    pub(crate) fn load(own: &fjall::Keyspace) -> Result<Self> {
        let intents = Self::default();
        for note in own.iter() {
            let (key, value) =
                note.into_inner().map_err(|error| translate("cannot read the ranges to sweep", error))?;
            let intent = Intent::read(&key, &value)?;
            let mut state = intents.state.lock();
            state.next_id = state.next_id.max(intent.id + 1);
            state.due.push((Instant::now(), intent));
        }
        Ok(intents)
    }

    pub(crate) fn create(&self, range: Range) -> Intent {
        let mut state = self.state.lock();
        state.next_id += 1;
        Intent { id: state.next_id, range, swept_at_journal: None }
    }

    pub(crate) fn add(&self, intent: Intent, delay: Duration) {
        self.state.lock().due.push((Instant::now() + delay, intent));
        self.changed.notify_one();
    }

    /// Waits for the first intent that is due, or for the time to look around.
    pub(crate) fn next(&self, next_look: Instant) -> Next {
        let mut state = self.state.lock();
        state.in_hand = false;
        loop {
            if state.stopped {
                return Next::Stop;
            }
            let now = Instant::now();
            if now >= next_look {
                return Next::Look;
            }
            let earliest =
                state.due.iter().enumerate().min_by_key(|(_, (due, _))| *due).map(|(at, (due, _))| (at, *due));
            match earliest {
                Some((at, due)) if due <= now => {
                    state.in_hand = true;
                    return Next::Sweep(state.due.swap_remove(at).1);
                }
                _ => {
                    let until = earliest.map_or(next_look, |(_, due)| due.min(next_look));
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

    /// How many have not been swept yet.
    pub(crate) fn unswept(&self) -> u64 {
        let state = self.state.lock();
        state.due.len() as u64 + u64::from(state.in_hand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back() {
        let start = Position::new("a\0", "k");
        for end in [None, Some(Position::new("b", "")), Some(Position::new("", "\0"))] {
            for swept_at_journal in [None, Some(0), Some(1_000)] {
                let intent =
                    Intent { id: 7, range: Range { start: start.clone(), end: end.clone() }, swept_at_journal };
                let note = intent.note();
                assert_eq!(Intent::read(&note.key, &note.value.unwrap()).unwrap(), intent);
            }
        }
    }

    #[test]
    fn a_note_that_is_no_note_is_corrupt() {
        for (key, value) in [(&b"short"[..], &b"\x01\x00"[..]), (b"12345678", b"\x02"), (b"12345678", b"\x01\x00a")] {
            assert!(Intent::read(key, value).is_err());
        }
    }
}
