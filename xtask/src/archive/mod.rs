//! Archives with the same bytes whenever they are made from the same files: entries are sorted, owned by root and dated by the
//! commit.

pub(crate) mod ar;
pub(crate) mod digest;
pub(crate) mod file_tree;
pub(crate) mod gzip;
pub(crate) mod zip;
