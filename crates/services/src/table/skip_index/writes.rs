//! Writes and builds in progress: what a build must not have missed.
//!
//! A write is *announced* from before its commit until readers see its outcome. A build is registered from before it
//! reads until its blocks are kept or given up. A block is good if no write to it was announced at any time in between:
//! a write that ends leaves a mark with the builds of that time, and writes that are still announced when a build ends
//! count as well.

use std::collections::BTreeMap;
use std::sync::Arc;

use tablerock_kv::{Bytes, Position, Range};

/// Marks that a build collects before it is given up.
const MARKS_MAX: usize = 1024;

/// The records of one partition that a transaction may change.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) partition: Bytes,
    /// In order.
    pub(super) keys: Vec<Bytes>,
}

impl Written {
    pub(super) fn new(partition: Bytes, mut keys: Vec<Bytes>) -> Self {
        keys.sort_unstable();
        Self { partition, keys }
    }

    /// Whether one of the records lies in the range.
    pub(super) fn touches(&self, range: &Range) -> bool {
        let first = match self.partition.cmp(&range.start.partition) {
            std::cmp::Ordering::Less => return false,
            std::cmp::Ordering::Equal => self.keys.partition_point(|key| *key < range.start.key),
            std::cmp::Ordering::Greater => 0,
        };
        let before_end = |key: &Bytes| match &range.end {
            Some(Position { partition, key: end }) => (&self.partition, key) < (partition, end),
            None => true,
        };
        self.keys.get(first).is_some_and(before_end)
    }

    pub(super) fn positions(&self) -> impl Iterator<Item = Position> {
        self.keys.iter().map(|key| Position::new(self.partition.clone(), key.clone()))
    }
}

/// Names a registration.
pub(super) type Ticket = u64;

/// All writes and builds in progress.
#[derive(Debug, Default)]
pub(super) struct InProgress {
    next: Ticket,
    writes: BTreeMap<Ticket, Arc<Written>>,
    builders: BTreeMap<Ticket, Builder>,
}

#[derive(Debug)]
struct Builder {
    range: Range,
    marks: Vec<Arc<Written>>,
}

impl InProgress {
    pub(super) fn begin_write(&mut self, written: Arc<Written>) -> Ticket {
        let ticket = self.ticket();
        self.writes.insert(ticket, written);
        ticket
    }

    pub(super) fn end_write(&mut self, ticket: Ticket) {
        let Some(written) = self.writes.remove(&ticket) else { return };
        for builder in self.builders.values_mut() {
            if builder.marks.len() <= MARKS_MAX && written.touches(&builder.range) {
                builder.marks.push(written.clone());
            }
        }
    }

    pub(super) fn begin_build(&mut self, range: Range) -> Ticket {
        let ticket = self.ticket();
        self.builders.insert(ticket, Builder { range, marks: Vec::new() });
        ticket
    }

    /// Returns the writes that a build may have missed or read in part; `None` if there were too many.
    pub(super) fn end_build(&mut self, ticket: Ticket) -> Option<Vec<Arc<Written>>> {
        let Builder { range, mut marks } = self.builders.remove(&ticket)?;
        if marks.len() > MARKS_MAX {
            return None;
        }
        marks.extend(self.writes.values().filter(|written| written.touches(&range)).cloned());
        Some(marks)
    }

    fn ticket(&mut self) -> Ticket {
        self.next += 1;
        self.next
    }

    #[cfg(test)]
    pub(super) fn is_idle(&self) -> bool {
        self.writes.is_empty() && self.builders.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(partition: &'static str, keys: &[&'static str]) -> Arc<Written> {
        Arc::new(Written::new(partition.into(), keys.iter().map(|key| Bytes::from(*key)).collect()))
    }

    fn range(start: (&'static str, &'static str), end: (&'static str, &'static str)) -> Range {
        Range::between(Position::new(start.0, start.1), Position::new(end.0, end.1))
    }

    #[test]
    fn a_write_touches_the_ranges_that_one_of_its_records_is_in() {
        let written = written("p", &["f", "b"]);
        for touched in [
            range(("p", "a"), ("p", "c")),
            range(("p", "b"), ("p", "c")),
            range(("p", "c"), ("q", "")),
            range(("o", "z"), ("p", "b\0")),
            range(("", ""), ("z", "")),
            Range { start: Position::new("p", "f"), end: None },
        ] {
            assert!(written.touches(&touched), "{touched:?}");
        }
        for untouched in [
            range(("p", "a"), ("p", "b")),
            range(("p", "c"), ("p", "f")),
            range(("p", "g"), ("q", "")),
            range(("a", ""), ("p", "")),
            range(("p\0", ""), ("z", "")),
            Range { start: Position::new("p", "g"), end: None },
        ] {
            assert!(!written.touches(&untouched), "{untouched:?}");
        }
    }

    #[test]
    fn a_builder_hears_of_every_write_that_overlaps_it_in_time_and_place() {
        let mut in_progress = InProgress::default();
        let place = range(("p", "a"), ("p", "m"));
        let over_before = in_progress.begin_write(written("p", &["b"]));
        in_progress.end_write(over_before);
        let ends_during = in_progress.begin_write(written("p", &["c"]));
        let outlasts = in_progress.begin_write(written("p", &["d"]));
        let builder = in_progress.begin_build(place);
        in_progress.end_write(ends_during);
        let elsewhere = in_progress.begin_write(written("p", &["x"]));
        let within = in_progress.begin_write(written("p", &["e"]));
        in_progress.end_write(within);
        let marks = in_progress.end_build(builder).unwrap();
        let keys: Vec<&Bytes> = marks.iter().flat_map(|written| &written.keys).collect();
        assert_eq!(keys, ["c", "e", "d"]);
        in_progress.end_write(outlasts);
        in_progress.end_write(elsewhere);
        assert!(in_progress.is_idle());
    }

    #[test]
    fn a_builder_among_too_many_writes_is_given_up() {
        let mut in_progress = InProgress::default();
        let builder = in_progress.begin_build(range(("p", ""), ("q", "")));
        for _ in 0..2 * MARKS_MAX {
            let write = in_progress.begin_write(written("p", &["a"]));
            in_progress.end_write(write);
        }
        assert!(in_progress.builders[&builder].marks.len() <= MARKS_MAX + 1);
        assert!(in_progress.end_build(builder).is_none());
    }
}
