//! Page blobs: sparse content of pages of 512 bytes that are written in place.
//!
//! Pages are records in the blob's own partition, so a write of up to 4 MiB is one commit together with the ETag. A
//! *segment* is a record of up to 64 pages of one *layer*. A snapshot freezes the layer on top, and the next write begins a
//! new one above it; so a snapshot costs nothing, and the pages that changed since are those of the layers above.
//! [Decision 26](../../../../../docs/decisions/0026-page-blobs-as-layers-of-segments.md) has the reasons.
//!
//! | to follow | read |
//! | --- | --- |
//! | the records | `body.rs`, `layer.rs`, `segment.rs` on `stored_pages.rs`, `map.rs` |
//! | Put Page, Clear, resize | `write.rs` on `edit.rs`, `properties.rs` |
//! | a download | `reader.rs` on `window.rs` |
//! | Get Page Ranges | `ranges.rs` |
//! | copies | `copy.rs`, `incremental.rs` |
//! | how space is reclaimed | `tidy.rs`, `merge.rs` |

mod body;
mod copy;
mod create;
mod edit;
mod incremental;
mod layer;
mod map;
pub(super) mod merge;
mod properties;
mod ranges;
pub(super) mod reader;
mod segment;
mod span;
mod stored_pages;
pub(super) mod tidy;
mod transfer;
mod window;
mod write;

pub use body::PageBody;
pub use create::NewPages;
pub use incremental::IncrementalCopied;
pub use properties::PageProperties;
pub use ranges::{PageRange, PageRangeQuery, PageRanges};
pub use write::{PageTerms, PageWrite, PagesWritten};

#[cfg(test)]
pub(super) use body::Incremental;
pub(super) use transfer::{read_pages, renumber_body, renumber_record};

/// The bytes of a page.
pub(super) const PAGE_BYTES: u64 = 512;

/// The pages of a segment: as many as a word has bits.
pub(super) const SEGMENT_PAGES: u64 = 64;
pub(super) const SEGMENT_BYTES: u64 = SEGMENT_PAGES * PAGE_BYTES;

/// The segments of a region, which is what one map is about: 8 MiB.
pub(super) const REGION_SEGMENTS: u64 = 256;
pub(super) const REGION_PAGES: u64 = REGION_SEGMENTS * SEGMENT_PAGES;
