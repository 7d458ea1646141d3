//! Request headers and parameters, in the groups that operations share.

use tablerock_protocol::METADATA_PREFIX;

// Request headers of the services' own, in the groups that operations share. Those that every operation knows:
pub(super) const COMMON: &[&str] = &["x-ms-date", "x-ms-version", "x-ms-client-request-id"];
pub(super) const METADATA: &[&str] = &[METADATA_PREFIX];
pub(super) const LEASE: &[&str] = &["x-ms-lease-id"];
pub(super) const LEASING: &[&str] =
    &["x-ms-lease-action", "x-ms-lease-id", "x-ms-proposed-lease-id", "x-ms-lease-duration", "x-ms-lease-break-period"];
pub(super) const TAG_CONDITION: &[&str] = &["x-ms-if-tags"];
/// The conditions of requests for tags, which are about the blob.
pub(super) const BLOB_CONDITIONS: &[&str] =
    &["x-ms-blob-if-match", "x-ms-blob-if-modified-since", "x-ms-blob-if-none-match", "x-ms-blob-if-unmodified-since"];
pub(super) const PUBLIC_ACCESS: &[&str] = &["x-ms-blob-public-access"];
pub(super) const BLOB_TYPE: &[&str] = &["x-ms-blob-type"];
pub(super) const TIER: &[&str] = &["x-ms-access-tier"];
pub(super) const REHYDRATE: &[&str] = &["x-ms-rehydrate-priority"];
pub(super) const TIER_CONDITION: &[&str] =
    &["x-ms-access-tier-if-modified-since", "x-ms-access-tier-if-unmodified-since"];
pub(super) const TAGS: &[&str] = &["x-ms-tags"];
pub(super) const RANGE: &[&str] = &["x-ms-range", "x-ms-range-get-content-md5", "x-ms-range-get-content-crc64"];
pub(super) const CHECKSUM: &[&str] = &["x-ms-content-crc64"];
pub(super) const PAGES: &[&str] = &["x-ms-page-write", "x-ms-range"];
pub(super) const SEQUENCE_CONDITIONS: &[&str] =
    &["x-ms-if-sequence-number-eq", "x-ms-if-sequence-number-le", "x-ms-if-sequence-number-lt"];
pub(super) const PAGE_BLOB: &[&str] = &["x-ms-blob-content-length", "x-ms-blob-sequence-number"];
pub(super) const SEQUENCE_ACTION: &[&str] = &["x-ms-sequence-number-action"];
pub(super) const PAGE_RANGES: &[&str] = &["x-ms-range", "x-ms-previous-snapshot-url"];
pub(super) const APPEND: &[&str] = &["x-ms-blob-condition-appendpos", "x-ms-blob-condition-maxsize"];
pub(super) const SNAPSHOTS: &[&str] = &["x-ms-delete-snapshots"];
pub(super) const CONTENT: &[&str] = &[
    "x-ms-blob-cache-control",
    "x-ms-blob-content-disposition",
    "x-ms-blob-content-encoding",
    "x-ms-blob-content-language",
    "x-ms-blob-content-md5",
    "x-ms-blob-content-type",
];
pub(super) const SOURCE: &[&str] = &[
    "x-ms-copy-source",
    "x-ms-source-content-crc64",
    "x-ms-source-content-md5",
    "x-ms-source-if-match",
    "x-ms-source-if-modified-since",
    "x-ms-source-if-none-match",
    "x-ms-source-if-unmodified-since",
    "x-ms-source-range",
];
pub(super) const CUSTOMER_KEY: &[&str] =
    &["x-ms-encryption-key", "x-ms-encryption-key-sha256", "x-ms-encryption-algorithm"];
pub(super) const SOURCE_KEY: &[&str] =
    &["x-ms-source-encryption-key", "x-ms-source-encryption-key-sha256", "x-ms-source-encryption-algorithm"];
pub(super) const SCOPE: &[&str] = &["x-ms-encryption-scope"];
pub(super) const CONTAINER_SCOPE: &[&str] = &["x-ms-default-encryption-scope", "x-ms-deny-encryption-scope-override"];
pub(super) const COPY: &[&str] = &["x-ms-requires-sync", "x-ms-source-if-tags", "x-ms-source-lease-id"];

pub(super) const SOURCE_TOKEN: &[&str] = &["x-ms-copy-source-authorization"];
pub(super) const COPY_TAGS: &[&str] = &["x-ms-copy-source-tag-option"];
pub(super) const COPY_PROPERTIES: &[&str] = &["x-ms-copy-source-blob-properties"];
pub(super) const SEAL: &[&str] = &["x-ms-seal-blob"];

// Headers and parameters that Azure documents and that are refused, for lack of the feature.
pub(super) const STRUCTURE: &[&str] = &["x-ms-structured-body", "x-ms-structured-content-length"];
pub(super) const IMMUTABILITY: &[&str] =
    &["x-ms-immutability-policy-until-date", "x-ms-immutability-policy-mode", "x-ms-legal-hold"];
// Accounts with a hierarchical namespace have these:
pub(super) const EXPIRY: &[&str] = &["x-ms-expiry-option", "x-ms-expiry-time"];
pub(super) const ENCRYPTION_CONTEXT: &[&str] = &["x-ms-encryption-context"];
pub(super) const USER_NAMES: &[&str] = &["x-ms-upn"];
// The source would be a file of the File service.
pub(super) const FILE_SOURCE: &[&str] = &["x-ms-file-request-intent"];
pub(super) const SOFT_DELETE: &[&str] = &["deletetype"];
pub(super) const SHOW_ONLY: &[&str] = &["showonly"];

/// Query parameters that every operation knows. Those of a SAS are the business of authentication.
pub(super) const COMMON_PARAMETERS: &[&str] = &["api-version", "comp", "restype", "timeout"];
