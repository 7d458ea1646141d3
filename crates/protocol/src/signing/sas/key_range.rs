//! The entities to which the SAS of a table is limited: `spk`, `srk`, `epk`, `erk`.

use std::cmp::Ordering;

use crate::compare_utf16;

/// One contiguous range in the order of (PartitionKey, RowKey), both ends included.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyRange {
    /// Where the range begins; `None` is the beginning of the table.
    pub start: Option<KeyBound>,
    /// Where the range ends; `None` is the end of the table.
    pub end: Option<KeyBound>,
}

/// An end of a [`KeyRange`]: one entity, or a whole partition when there is no RowKey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyBound {
    /// The partition key.
    pub partition_key: String,
    /// The row key; `None` for all rows of the partition.
    pub row_key: Option<String>,
}

impl KeyRange {
    /// Whether the range is the whole table.
    pub const fn is_everything(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    /// Whether an entity with these keys is in the range.
    pub fn contains(&self, partition_key: &str, row_key: &str) -> bool {
        self.start.as_ref().is_none_or(|start| start.compare(partition_key, row_key).is_le())
            && self.end.as_ref().is_none_or(|end| end.compare(partition_key, row_key).is_ge())
    }
}

impl KeyBound {
    /// This end against an entity's keys. Without a RowKey it equals every entity of its partition.
    fn compare(&self, partition_key: &str, row_key: &str) -> Ordering {
        compare_utf16(&self.partition_key, partition_key)
            .then_with(|| self.row_key.as_ref().map_or(Ordering::Equal, |bound| compare_utf16(bound, row_key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(partition_key: &str, row_key: Option<&str>) -> Option<KeyBound> {
        Some(KeyBound { partition_key: partition_key.to_owned(), row_key: row_key.map(str::to_owned) })
    }

    #[test]
    fn partitions_alone_bound_a_range_with_all_their_rows() {
        let range = KeyRange { start: bound("b", None), end: bound("d", None) };
        for (partition_key, inside) in [("a", false), ("b", true), ("c", true), ("d", true), ("d0", false)] {
            for row_key in ["", "m", "zzz"] {
                assert_eq!(range.contains(partition_key, row_key), inside, "{partition_key} {row_key}");
            }
        }
    }

    #[test]
    fn row_keys_cut_the_first_and_the_last_partition_only() {
        let range = KeyRange { start: bound("b", Some("5")), end: bound("d", Some("5")) };
        for (partition_key, row_key, inside) in [
            ("b", "4", false),
            ("b", "5", true),
            ("b", "9", true),
            ("c", "", true),
            ("c", "9", true),
            ("d", "1", true),
            ("d", "5", true),
            ("d", "50", false),
        ] {
            assert_eq!(range.contains(partition_key, row_key), inside, "{partition_key} {row_key}");
        }
    }

    #[test]
    fn order_is_that_of_utf16() {
        let range = KeyRange { start: bound("\u{10000}", None), end: bound("\u{e000}", None) };
        assert!(range.contains("\u{1f600}", ""));
        assert!(!range.contains("\u{ffff}", ""));
    }

    #[test]
    fn no_bounds_mean_everything() {
        assert!(KeyRange::default().is_everything());
        assert!(KeyRange::default().contains("", ""));
    }
}
