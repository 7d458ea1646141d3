//! Cases of the Blob service.

pub(super) mod batch;
pub(super) mod blocks;
pub(super) mod checksums;
pub(super) mod containers;
pub(super) mod copy_options;
pub(super) mod copy_source;
pub(super) mod customer_keys;
pub(super) mod documented_headers;
pub(super) mod documented_page_headers;
pub(super) mod find_blobs;
pub(super) mod from_url;
pub(super) mod lease_terms;
pub(super) mod lifecycle;
pub(super) mod list_blobs;
pub(super) mod own_containers;
pub(super) mod page_copies;
pub(super) mod page_keys;
pub(super) mod page_ranges;
pub(super) mod page_resize;
pub(super) mod pages;
pub(super) mod properties;
pub(super) mod put_blob;
pub(super) mod sas;
pub(super) mod tag_terms;
pub(super) mod tiers;
pub(super) mod uncommitted;
