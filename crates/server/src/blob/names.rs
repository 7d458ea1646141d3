//! Names of request headers that only the Blob service reads.

use http::HeaderName;

macro_rules! names {
    ($($name:ident $text:literal,)*) => {
        $(pub(super) const $name: HeaderName = HeaderName::from_static($text);)*
    };
}

names! {
    ACCESS_TIER "x-ms-access-tier",
    APPEND_POSITION "x-ms-blob-condition-appendpos",
    BLOB_CACHE_CONTROL "x-ms-blob-cache-control",
    BLOB_CONTENT_DISPOSITION "x-ms-blob-content-disposition",
    BLOB_CONTENT_ENCODING "x-ms-blob-content-encoding",
    BLOB_CONTENT_LANGUAGE "x-ms-blob-content-language",
    BLOB_CONTENT_LENGTH "x-ms-blob-content-length",
    BLOB_CONTENT_MD5 "x-ms-blob-content-md5",
    BLOB_CONTENT_TYPE "x-ms-blob-content-type",
    BLOB_SEQUENCE_NUMBER "x-ms-blob-sequence-number",
    CONTENT_CRC64 "x-ms-content-crc64",
    DELETE_SNAPSHOTS "x-ms-delete-snapshots",
    IF_SEQUENCE_NUMBER_EQ "x-ms-if-sequence-number-eq",
    IF_SEQUENCE_NUMBER_LE "x-ms-if-sequence-number-le",
    IF_SEQUENCE_NUMBER_LT "x-ms-if-sequence-number-lt",
    IF_TAGS "x-ms-if-tags",
    LEASE_BREAK_PERIOD "x-ms-lease-break-period",
    LEASE_DURATION "x-ms-lease-duration",
    LEASE_ID "x-ms-lease-id",
    MAX_SIZE "x-ms-blob-condition-maxsize",
    PREVIOUS_SNAPSHOT_URL "x-ms-previous-snapshot-url",
    PROPOSED_LEASE_ID "x-ms-proposed-lease-id",
    PUBLIC_ACCESS "x-ms-blob-public-access",
    RANGE "x-ms-range",
    RANGE_CRC64 "x-ms-range-get-content-crc64",
    RANGE_MD5 "x-ms-range-get-content-md5",
    SEQUENCE_NUMBER_ACTION "x-ms-sequence-number-action",
    SOURCE_CONTENT_CRC64 "x-ms-source-content-crc64",
    SOURCE_CONTENT_MD5 "x-ms-source-content-md5",
    SOURCE_IF_MATCH "x-ms-source-if-match",
    SOURCE_IF_MODIFIED_SINCE "x-ms-source-if-modified-since",
    SOURCE_IF_NONE_MATCH "x-ms-source-if-none-match",
    SOURCE_IF_UNMODIFIED_SINCE "x-ms-source-if-unmodified-since",
    SOURCE_LEASE_ID "x-ms-source-lease-id",
    SOURCE_RANGE "x-ms-source-range",
    STRUCTURED_BODY "x-ms-structured-body",
    TAGS "x-ms-tags",
}
