//! The service's published limits. Nothing here is a matter of taste: each is part of the protocol.

/// Properties of an entity besides PartitionKey, RowKey and Timestamp.
pub const ENTITY_PROPERTIES_MAX: usize = 252;
/// An entity's size by the service's formula, see [`crate::entity::property_size`].
pub const ENTITY_BYTES_MAX: usize = 1024 * 1024;
/// The name of a property, in UTF-16 code units.
pub const PROPERTY_NAME_UNITS_MAX: usize = 255;
/// A String value, in UTF-16 code units (64 KiB).
pub const STRING_UNITS_MAX: usize = 32 * 1024;
/// A Binary value.
pub const BINARY_BYTES_MAX: usize = 64 * 1024;
/// A PartitionKey or RowKey, in UTF-16 code units. The data model documents 1 KiB (512 units), the scalability page
/// 1,024 characters; we take the larger, as the reference advises.
pub const KEY_UNITS_MAX: usize = 1024;
/// Operations of one entity group transaction.
pub const GROUP_OPERATIONS_MAX: usize = 100;
/// The body of a group transaction, and of any other request with entities.
pub const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The body of an XML operation.
pub const XML_BODY_BYTES_MAX: usize = 64 * 1024;
/// Entities or tables of one page.
pub const PAGE_ITEMS_MAX: usize = 1000;
/// Bytes of stored entities in one page.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long a query may run before it returns what it has, with a continuation.
pub const QUERY_SECONDS_MAX: u64 = 5;
/// How long any request may take, network included.
pub const REQUEST_SECONDS_MAX: u64 = 30;
/// Names in a `$select`.
pub const SELECT_NAMES_MAX: usize = 255;
/// The request target: path and query.
pub const URL_BYTES_MAX: usize = 32 * 1024;
/// Characters of an `x-ms-client-request-id` that is echoed.
pub const CLIENT_REQUEST_ID_BYTES_MAX: usize = 1024;
/// The length of a table's name.
pub const TABLE_NAME_CHARS: std::ops::RangeInclusive<usize> = 3..=63;
/// The length of a queue's or a container's name.
pub const LOWER_CASE_NAME_CHARS: std::ops::RangeInclusive<usize> = 3..=63;
/// The length of a blob's name.
pub const BLOB_NAME_CHARS: std::ops::RangeInclusive<usize> = 1..=1024;
/// Segments of a blob's name, parted by slashes.
pub const BLOB_NAME_SEGMENTS_MAX: usize = 254;
/// The length of an account's name.
pub const ACCOUNT_NAME_CHARS: std::ops::RangeInclusive<usize> = 3..=24;
/// How deep a filter may nest. The service has a bound too; its value is not published.
pub const FILTER_DEPTH_MAX: usize = 100;
/// Names and values of one resource's metadata together.
pub const METADATA_BYTES_MAX: usize = 8 * 1024;
/// The text of a message in UTF-8, after XML has been undone.
pub const MESSAGE_BYTES_MAX: usize = 64 * 1024;
/// The body that carries a message: room for the text twice over, and 512 bytes.
pub const MESSAGE_BODY_BYTES_MAX: usize = 128 * 1024 + 512;
/// Messages of one Get or Peek.
pub const MESSAGES_COUNT: std::ops::RangeInclusive<usize> = 1..=32;
/// For how long Get hides a message, in seconds.
pub const GET_VISIBILITY_SECONDS: std::ops::RangeInclusive<u32> = 1..=7 * 24 * 3600;
/// For how long Put and Update hide a message, in seconds.
pub const VISIBILITY_SECONDS: std::ops::RangeInclusive<u32> = 0..=7 * 24 * 3600;
/// The default time for which Get hides a message.
pub const GET_VISIBILITY_SECONDS_DEFAULT: u32 = 30;
/// The default lifetime of a message, and the maximum before 2017-07-29.
pub const MESSAGE_SECONDS_DEFAULT: u32 = 7 * 24 * 3600;
/// Queues of one page of List Queues.
pub const QUEUES_PAGE_MAX: usize = 5000;
