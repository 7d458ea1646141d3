//! Cases of the Blob service.

pub(super) mod blocks;
pub(super) mod containers;
pub(super) mod copy_source;
pub(super) mod customer_keys;
pub(super) mod find_blobs;
pub(super) mod lifecycle;
pub(super) mod list_blobs;
pub(super) mod put_blob;
