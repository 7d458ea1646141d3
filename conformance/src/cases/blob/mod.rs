//! Cases of the Blob service.

pub(super) mod blocks;
pub(super) mod containers;
pub(super) mod copy_source;
pub(super) mod lifecycle;
pub(super) mod list_blobs;
pub(super) mod page_copies;
pub(super) mod page_ranges;
pub(super) mod page_resize;
pub(super) mod pages;
pub(super) mod put_blob;
