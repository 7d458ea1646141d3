//! The engine events that a recording must contain, so that a scenario cannot silently lose its purpose.

use crate::disk::{Event, Line, Record};

/// An event of the storage engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineEvent {
    DirectoryCreated,
    TableWritten,
    TableRemoved,
    JournalCreated,
    JournalRemoved,
}

impl EngineEvent {
    fn is_in(self, line: &Line) -> bool {
        let is_table = line.path.contains("/keyspaces/1/tables/");
        let is_journal = line.path.ends_with(".jnl");
        match self {
            EngineEvent::DirectoryCreated => line.path.ends_with("/store.unfinished") && line.event == Event::Unlink,
            EngineEvent::TableWritten => is_table && line.event == Event::Create,
            EngineEvent::TableRemoved => is_table && line.event == Event::Unlink,
            EngineEvent::JournalCreated => is_journal && line.event == Event::Create,
            EngineEvent::JournalRemoved => is_journal && line.event == Event::Unlink,
        }
    }
}

/// Fails unless the record contains all of these events.
pub(super) fn check(record: &Record, events: &[EngineEvent]) -> Result<(), String> {
    let missing = events.iter().find(|event| !record.lines.iter().any(|line| event.is_in(line)));
    missing.map_or(Ok(()), |event| Err(format!("the recording does not contain {event:?}")))
}
