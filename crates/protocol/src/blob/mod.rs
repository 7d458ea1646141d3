//! The headers and parameters of the Blob service, as checked types.
//!
//! | module | owns |
//! | --- | --- |
//! | `conditions` | `If-Match` and its siblings: their meaning and their responses |
//! | `range` | `Range` and `x-ms-range` |
//! | `checksum` | MD5 and CRC-64/NVME: given, computed and compared |
//! | `content_headers` | the six headers that describe a blob's content |
//! | `copy_source_url` | the source of a copy, without credentials |
//! | `customer_key` | keys that clients provide for content |
//! | `lease` | ids, durations and actions of leases |
//! | `block_id` | ids of blocks |
//! | `access_tier` | the tiers of block blobs |
//! | `tier_condition` | conditions on the time of a tier |
//! | `tags`, `tag_condition`, `tag_query` | index tags, conditions on them, and searches by them |
//! | `pages` | ranges, lengths and sequence numbers of page blobs |
//! | `etag` | ETags and dates of containers and blobs |

mod access_tier;
mod block_id;
mod checksum;
mod conditions;
mod content_headers;
mod copy_source_url;
mod customer_key;
mod etag;
mod lease;
mod numbers;
mod pages;
mod range;
mod tag_condition;
mod tag_query;
mod tags;
mod tier_condition;

pub use access_tier::{AccessTier, RehydratePriority};
pub use block_id::{BLOCK_ID_BYTES_MAX, BlockId};
pub use checksum::{Checksums, Crc64, Digests, Md5};
pub use conditions::{Conditions, EtagList};
pub use content_headers::{CONTENT_TYPE_DEFAULT, ContentHeaders, ContentMd5, ContentType};
pub use copy_source_url::CopySourceUrl;
pub use customer_key::{CUSTOMER_KEY_ALGORITHM, CustomerKey, KeyDigest, check_customer_key};
pub use etag::{parse_http_date, strong_etag, unquoted_etag};
pub use lease::{LeaseAction, LeaseDuration, LeaseId};
pub use pages::{
    PAGE_BLOB_BYTES_MAX, PAGE_BYTES, PageRangeMarker, SequenceAction, SequenceConditions, parse_page_length,
    parse_page_range, parse_sequence_number,
};
pub use range::{ByteRange, RangeAsked};
pub use tag_condition::TagCondition;
pub use tag_query::{TagQuery, TagRange};
pub use tags::Tags;
pub use tier_condition::TierCondition;
