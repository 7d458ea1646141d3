//! The table that has the records of a partition.
//!
//! On Citus, directories are in a table that every node has a copy of: each request reads a row of one, so with its shard on
//! one worker that worker would limit all others. A copy next to the records also lets one statement on one node read both.
//! Elsewhere one table has all records.

use tablerock_kv::{Position, Range};

use crate::kind::Kind;
use crate::schema::{DIRECTORY, RECORDS};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Records,
    /// The table that every node has a copy of.
    Directory,
}

/// The partitions that are directories of names, by their first byte. This is a part of the format of a database: a change
/// needs a migration.
const DIRECTORY_TAGS: [u8; 3] = *b"cdq";

impl Place {
    pub(crate) fn of(kind: Kind, partition: &[u8]) -> Self {
        let is_directory = partition.first().is_some_and(|tag| DIRECTORY_TAGS.contains(tag));
        if kind == Kind::Citus && is_directory { Self::Directory } else { Self::Records }
    }

    pub(crate) fn table(self) -> &'static str {
        match self {
            Self::Records => RECORDS,
            Self::Directory => DIRECTORY,
        }
    }
}

/// Returns the first part of a range that is in one table, and the rest of the range.
pub(crate) fn split_first(kind: Kind, range: &Range) -> (Place, Range, Option<Range>) {
    let place = Place::of(kind, &range.start.partition);
    if kind != Kind::Citus {
        return (place, range.clone(), None);
    }
    // The next tag whose records are in another table.
    let first = range.start.partition.first().copied().unwrap_or_default();
    let border = (first..=u8::MAX).find(|tag| Place::of(kind, &[*tag]) != place);
    let border = border.map(|tag| Position::new(vec![tag], vec![]));
    match border.filter(|border| range.end.as_ref().is_none_or(|end| border < end)) {
        None => (place, range.clone(), None),
        Some(border) => {
            let first = Range { start: range.start.clone(), end: Some(border.clone()) };
            (place, first, Some(Range { start: border, end: range.end.clone() }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(partition: &'static str) -> Position {
        Position::new(partition.as_bytes(), "")
    }

    #[test]
    fn a_range_is_split_where_the_table_changes() {
        let mut rest = Some(Range { start: at("a"), end: Some(at("qx")) });
        let mut parts = vec![];
        while let Some(range) = rest {
            let (place, first, after) = split_first(Kind::Citus, &range);
            parts.push((place, first.start, first.end.unwrap()));
            rest = after;
        }
        let expected = [
            (Place::Records, at("a"), at("c")),
            (Place::Directory, at("c"), at("e")),
            (Place::Records, at("e"), at("q")),
            (Place::Directory, at("q"), at("qx")),
        ];
        assert_eq!(parts, expected);
        let whole = Range { start: at(""), end: None };
        assert_eq!(split_first(Kind::Postgres, &whole), (Place::Records, whole, None));
    }
}
