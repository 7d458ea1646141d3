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
    BLOB_CONTENT_MD5 "x-ms-blob-content-md5",
    BLOB_CONTENT_TYPE "x-ms-blob-content-type",
    CONTENT_CRC64 "x-ms-content-crc64",
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
    SOURCE_CONTENT_CRC64 "x-ms-source-content-crc64",
    SOURCE_CONTENT_MD5 "x-ms-source-content-md5",
    SOURCE_ENCRYPTION_ALGORITHM "x-ms-source-encryption-algorithm",
    SOURCE_ENCRYPTION_KEY "x-ms-source-encryption-key",
    SOURCE_ENCRYPTION_KEY_SHA256 "x-ms-source-encryption-key-sha256",
    SOURCE_IF_MATCH "x-ms-source-if-match",
    SOURCE_IF_MODIFIED_SINCE "x-ms-source-if-modified-since",
    SOURCE_IF_NONE_MATCH "x-ms-source-if-none-match",
    SOURCE_IF_UNMODIFIED_SINCE "x-ms-source-if-unmodified-since",
    SOURCE_LEASE_ID "x-ms-source-lease-id",
    SOURCE_RANGE "x-ms-source-range",
    STRUCTURED_BODY "x-ms-structured-body",
    TAGS "x-ms-tags",
}
