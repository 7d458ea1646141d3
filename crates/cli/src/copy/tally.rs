//! What was copied and what was left, in numbers.

use serde::{Deserialize, Serialize};

/// The numbers of one table, container or queue, or of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Tally {
    pub(super) entities: u64,
    pub(super) blobs: u64,
    pub(super) bytes: u64,
    /// What is not copied.
    pub(super) left: Left,
}

/// What an endpoint does not give out, or not as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Left {
    pub(super) messages: u64,
    pub(super) append_blobs: u64,
    pub(super) page_blobs: u64,
    pub(super) snapshots: u64,
    pub(super) archived_blobs: u64,
    pub(super) huge_blobs: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.entities += other.entities;
        self.blobs += other.blobs;
        self.bytes += other.bytes;
    }

    pub(super) fn mib(&self) -> f64 {
        self.bytes as f64 / f64::from(1 << 20)
    }
}

impl Left {
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What there is of it, in words.
    pub(super) fn describe(&self) -> String {
        let Self { messages, append_blobs, page_blobs, snapshots, archived_blobs, huge_blobs } = *self;
        let named = [
            (messages, "about ", "messages"),
            (append_blobs, "", "append blobs"),
            (page_blobs, "", "page blobs"),
            (snapshots, "", "snapshots"),
            (archived_blobs, "", "archived blobs"),
            (huge_blobs, "", "blobs of more than 2.9 TiB"),
        ];
        let there = named.iter().filter(|(count, ..)| *count > 0);
        there.map(|(count, about, what)| format!("{about}{count} {what}")).collect::<Vec<_>>().join(", ")
    }
}
