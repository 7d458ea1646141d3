//! Names of request headers that only the Blob service reads.

use http::HeaderName;

macro_rules! names {
    ($($name:ident $text:literal,)*) => {
        $(pub(super) const $name: HeaderName = HeaderName::from_static($text);)*
    };
}

names! {
    ACCESS_TIER "x-ms-access-tier",
    ACCESS_TIER_IF_MODIFIED_SINCE "x-ms-access-tier-if-modified-since",
    ACCESS_TIER_IF_UNMODIFIED_SINCE "x-ms-access-tier-if-unmodified-since",
    APPEND_POSITION "x-ms-blob-condition-appendpos",
    BLOB_CACHE_CONTROL "x-ms-blob-cache-control",
    BLOB_CONTENT_DISPOSITION "x-ms-blob-content-disposition",
    BLOB_CONTENT_ENCODING "x-ms-blob-content-encoding",
    BLOB_CONTENT_LANGUAGE "x-ms-blob-content-language",
    BLOB_CONTENT_MD5 "x-ms-blob-content-md5",
    BLOB_CONTENT_TYPE "x-ms-blob-content-type",
    BLOB_IF_MATCH "x-ms-blob-if-match",
    BLOB_IF_MODIFIED_SINCE "x-ms-blob-if-modified-since",
    BLOB_IF_NONE_MATCH "x-ms-blob-if-none-match",
    BLOB_IF_UNMODIFIED_SINCE "x-ms-blob-if-unmodified-since",
    CONTENT_CRC64 "x-ms-content-crc64",
    COPY_SOURCE_PROPERTIES "x-ms-copy-source-blob-properties",
    COPY_SOURCE_TAGS "x-ms-copy-source-tag-option",
    DEFAULT_ENCRYPTION_SCOPE "x-ms-default-encryption-scope",
    DELETE_SNAPSHOTS "x-ms-delete-snapshots",
    DENY_ENCRYPTION_SCOPE_OVERRIDE "x-ms-deny-encryption-scope-override",
    ENCRYPTION_ALGORITHM "x-ms-encryption-algorithm",
    ENCRYPTION_KEY "x-ms-encryption-key",
    ENCRYPTION_KEY_SHA256 "x-ms-encryption-key-sha256",
    ENCRYPTION_SCOPE "x-ms-encryption-scope",
    IF_TAGS "x-ms-if-tags",
    LEASE_BREAK_PERIOD "x-ms-lease-break-period",
    LEASE_DURATION "x-ms-lease-duration",
    LEASE_ID "x-ms-lease-id",
    MAX_SIZE "x-ms-blob-condition-maxsize",
    PROPOSED_LEASE_ID "x-ms-proposed-lease-id",
    PUBLIC_ACCESS "x-ms-blob-public-access",
    RANGE "x-ms-range",
    RANGE_CRC64 "x-ms-range-get-content-crc64",
    RANGE_MD5 "x-ms-range-get-content-md5",
    REHYDRATE_PRIORITY "x-ms-rehydrate-priority",
    SEAL_BLOB "x-ms-seal-blob",
    SOURCE_AUTHORIZATION "x-ms-copy-source-authorization",
    SOURCE_CONTENT_CRC64 "x-ms-source-content-crc64",
    SOURCE_CONTENT_MD5 "x-ms-source-content-md5",
    SOURCE_ENCRYPTION_ALGORITHM "x-ms-source-encryption-algorithm",
    SOURCE_ENCRYPTION_KEY "x-ms-source-encryption-key",
    SOURCE_ENCRYPTION_KEY_SHA256 "x-ms-source-encryption-key-sha256",
    SOURCE_IF_MATCH "x-ms-source-if-match",
    SOURCE_IF_MODIFIED_SINCE "x-ms-source-if-modified-since",
    SOURCE_IF_NONE_MATCH "x-ms-source-if-none-match",
    SOURCE_IF_TAGS "x-ms-source-if-tags",
    SOURCE_IF_UNMODIFIED_SINCE "x-ms-source-if-unmodified-since",
    SOURCE_LEASE_ID "x-ms-source-lease-id",
    SOURCE_RANGE "x-ms-source-range",
    TAGS "x-ms-tags",
}
