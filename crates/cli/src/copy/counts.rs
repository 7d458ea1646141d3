//! Counts of copied and skipped items.

use serde::{Deserialize, Serialize};

/// The counts of one table, container or queue, or of all. The resume file stores them under these serialized names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Counts {
    pub(super) entities: u64,
    pub(super) blobs: u64,
    pub(super) bytes: u64,
    #[serde(rename = "left")]
    pub(super) skipped: Skipped,
}

/// Items that an endpoint does not return, or not unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Skipped {
    pub(super) messages: u64,
    pub(super) snapshots: u64,
    pub(super) archived_blobs: u64,
    pub(super) huge_blobs: u64,
    pub(super) encrypted_blobs: u64,
    pub(super) incremental_copies: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Self) {
        self.entities += other.entities;
        self.blobs += other.blobs;
        self.bytes += other.bytes;
    }

    pub(super) fn mib(&self) -> f64 {
        self.bytes as f64 / f64::from(1 << 20)
    }
}

impl Skipped {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the counts that are not zero, as text.
    pub(super) fn describe(&self) -> String {
        let Self { messages, snapshots, archived_blobs, huge_blobs, encrypted_blobs, incremental_copies } = *self;
        let named = [
            (messages, "about ", "messages"),
            (snapshots, "", "snapshots"),
            (archived_blobs, "", "archived blobs"),
            (huge_blobs, "", "blobs that are too large"),
            (encrypted_blobs, "", "blobs encrypted with a customer-provided key"),
            (incremental_copies, "", "targets of incremental copies"),
        ];
        let present = named.iter().filter(|(count, ..)| *count > 0);
        present.map(|(count, about, what)| format!("{about}{count} {what}")).collect::<Vec<_>>().join(", ")
    }
}
