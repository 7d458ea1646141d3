//! What a recording must contain, so that a scene cannot stop showing what it is there for.

use crate::disk::{Event, Line, Record};

/// Something that the engine does now and then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    DirectoryMade,
    TableWritten,
    TableRemoved,
    JournalBegun,
    JournalRemoved,
}

impl Deed {
    fn is_done_by(self, line: &Line) -> bool {
        let is_table = line.path.contains("/keyspaces/1/tables/");
        let is_journal = line.path.ends_with(".jnl");
        match self {
            Deed::DirectoryMade => line.path.ends_with("/store.unfinished") && line.event == Event::Unlink,
            Deed::TableWritten => is_table && line.event == Event::Create,
            Deed::TableRemoved => is_table && line.event == Event::Unlink,
            Deed::JournalBegun => is_journal && line.event == Event::Create,
            Deed::JournalRemoved => is_journal && line.event == Event::Unlink,
        }
    }
}

/// Fails unless all of these were done.
pub(super) fn check(record: &Record, deeds: &[Deed]) -> Result<(), String> {
    let missing = deeds.iter().find(|deed| !record.lines.iter().any(|line| deed.is_done_by(line)));
    missing.map_or(Ok(()), |deed| Err(format!("the recording does not show what it should: {deed:?}")))
}
