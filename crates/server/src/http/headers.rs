//! Header names. A lookup by text would check and hash that text on every request, so the names are constants.

use http::{HeaderMap, HeaderName, HeaderValue, header};

pub(crate) const BLOB_TYPE: HeaderName = HeaderName::from_static("x-ms-blob-type");
pub(crate) const CLIENT_REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-client-request-id");
pub(crate) const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");
pub(crate) const COPY_SOURCE: HeaderName = HeaderName::from_static("x-ms-copy-source");
pub(crate) const LEASE_ACTION: HeaderName = HeaderName::from_static("x-ms-lease-action");
pub(crate) const METHOD_TUNNELLED: HeaderName = HeaderName::from_static("x-http-method");
pub(crate) const PAGE_WRITE: HeaderName = HeaderName::from_static("x-ms-page-write");
pub(crate) const PREFER: HeaderName = HeaderName::from_static("prefer");
pub(crate) const REQUEST_DATE: HeaderName = HeaderName::from_static("x-ms-date");
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");
pub(crate) const REQUIRES_SYNC: HeaderName = HeaderName::from_static("x-ms-requires-sync");
pub(crate) const VERSION: HeaderName = HeaderName::from_static("x-ms-version");

/// Reads request headers. An empty one counts as absent: clients send it for a value that they do not have. Only
/// signatures, framing and metadata read the map itself.
pub(crate) trait Given {
    /// The value of a header that is not empty.
    fn given(&self, name: &HeaderName) -> Option<&HeaderValue>;

    /// The same as text; `None` unless it is visible ASCII.
    fn given_text(&self, name: &HeaderName) -> Option<&str> {
        self.given(name).and_then(|value| value.to_str().ok())
    }
}

impl Given for HeaderMap {
    fn given(&self, name: &HeaderName) -> Option<&HeaderValue> {
        self.get(name).filter(|value| !value.is_empty())
    }
}

macro_rules! response_headers {
    ($($header:ident $canonical:literal $name:expr,)*) => {
        /// A header of a response.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum ResponseHeader { $($header),* }

        impl ResponseHeader {
            /// The name with the service's capitals, which the parts of a batch show.
            pub(crate) const fn canonical(self) -> &'static str {
                match self { $(Self::$header => $canonical),* }
            }

            /// The name as HTTP compares it.
            pub(crate) const fn name(self) -> HeaderName {
                match self { $(Self::$header => const { $name }),* }
            }

            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$header),*];
        }
    };
}

response_headers! {
    AcceptRanges "Accept-Ranges" HeaderName::from_static("accept-ranges"),
    AccessTier "x-ms-access-tier" HeaderName::from_static("x-ms-access-tier"),
    AccessTierChangeTime "x-ms-access-tier-change-time" HeaderName::from_static("x-ms-access-tier-change-time"),
    AccessTierInferred "x-ms-access-tier-inferred" HeaderName::from_static("x-ms-access-tier-inferred"),
    AccountKind "x-ms-account-kind" HeaderName::from_static("x-ms-account-kind"),
    AllowCredentials "Access-Control-Allow-Credentials" header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
    AllowHeaders "Access-Control-Allow-Headers" header::ACCESS_CONTROL_ALLOW_HEADERS,
    AllowMethods "Access-Control-Allow-Methods" header::ACCESS_CONTROL_ALLOW_METHODS,
    AllowOrigin "Access-Control-Allow-Origin" header::ACCESS_CONTROL_ALLOW_ORIGIN,
    AppendOffset "x-ms-blob-append-offset" HeaderName::from_static("x-ms-blob-append-offset"),
    ApproximateMessagesCount "x-ms-approximate-messages-count" HeaderName::from_static("x-ms-approximate-messages-count"),
    ArchiveStatus "x-ms-archive-status" HeaderName::from_static("x-ms-archive-status"),
    BlobContentLength "x-ms-blob-content-length" HeaderName::from_static("x-ms-blob-content-length"),
    BlobContentMd5 "x-ms-blob-content-md5" HeaderName::from_static("x-ms-blob-content-md5"),
    BlobSealed "x-ms-blob-sealed" HeaderName::from_static("x-ms-blob-sealed"),
    BlobSequenceNumber "x-ms-blob-sequence-number" HeaderName::from_static("x-ms-blob-sequence-number"),
    BlobType "x-ms-blob-type" HeaderName::from_static("x-ms-blob-type"),
    CacheControl "Cache-Control" header::CACHE_CONTROL,
    CommittedBlockCount "x-ms-blob-committed-block-count" HeaderName::from_static("x-ms-blob-committed-block-count"),
    ContentCrc64 "x-ms-content-crc64" HeaderName::from_static("x-ms-content-crc64"),
    ContentDisposition "Content-Disposition" HeaderName::from_static("content-disposition"),
    ContentEncoding "Content-Encoding" HeaderName::from_static("content-encoding"),
    ContentId "Content-ID" HeaderName::from_static("content-id"),
    ContentLanguage "Content-Language" HeaderName::from_static("content-language"),
    ContentLength "Content-Length" HeaderName::from_static("content-length"),
    ContentMd5 "Content-MD5" HeaderName::from_static("content-md5"),
    ContentRange "Content-Range" HeaderName::from_static("content-range"),
    ContentType "Content-Type" header::CONTENT_TYPE,
    ContentTypeOptions "X-Content-Type-Options" header::X_CONTENT_TYPE_OPTIONS,
    CopyCompletionTime "x-ms-copy-completion-time" HeaderName::from_static("x-ms-copy-completion-time"),
    CopyDestinationSnapshot "x-ms-copy-destination-snapshot" HeaderName::from_static("x-ms-copy-destination-snapshot"),
    CopyId "x-ms-copy-id" HeaderName::from_static("x-ms-copy-id"),
    CopyProgress "x-ms-copy-progress" HeaderName::from_static("x-ms-copy-progress"),
    CopySource "x-ms-copy-source" HeaderName::from_static("x-ms-copy-source"),
    CopySourceErrorCode "x-ms-copy-source-error-code" HeaderName::from_static("x-ms-copy-source-error-code"),
    CopySourceStatusCode "x-ms-copy-source-status-code" HeaderName::from_static("x-ms-copy-source-status-code"),
    CopyStatus "x-ms-copy-status" HeaderName::from_static("x-ms-copy-status"),
    CreationTime "x-ms-creation-time" HeaderName::from_static("x-ms-creation-time"),
    DataServiceId "DataServiceId" HeaderName::from_static("dataserviceid"),
    DataServiceVersion "DataServiceVersion" HeaderName::from_static("dataserviceversion"),
    DefaultEncryptionScope "x-ms-default-encryption-scope" HeaderName::from_static("x-ms-default-encryption-scope"),
    DeleteTypePermanent "x-ms-delete-type-permanent" HeaderName::from_static("x-ms-delete-type-permanent"),
    EncryptionKeySha256 "x-ms-encryption-key-sha256" HeaderName::from_static("x-ms-encryption-key-sha256"),
    DenyEncryptionScopeOverride "x-ms-deny-encryption-scope-override" HeaderName::from_static("x-ms-deny-encryption-scope-override"),
    ErrorCode "x-ms-error-code" HeaderName::from_static("x-ms-error-code"),
    Etag "ETag" header::ETAG,
    HasImmutabilityPolicy "x-ms-has-immutability-policy" HeaderName::from_static("x-ms-has-immutability-policy"),
    HasLegalHold "x-ms-has-legal-hold" HeaderName::from_static("x-ms-has-legal-hold"),
    ImmutableStorageWithVersioning "x-ms-immutable-storage-with-versioning-enabled" HeaderName::from_static("x-ms-immutable-storage-with-versioning-enabled"),
    IncrementalCopy "x-ms-incremental-copy" HeaderName::from_static("x-ms-incremental-copy"),
    IsHnsEnabled "x-ms-is-hns-enabled" HeaderName::from_static("x-ms-is-hns-enabled"),
    LastModified "Last-Modified" HeaderName::from_static("last-modified"),
    LeaseDuration "x-ms-lease-duration" HeaderName::from_static("x-ms-lease-duration"),
    LeaseId "x-ms-lease-id" HeaderName::from_static("x-ms-lease-id"),
    LeaseState "x-ms-lease-state" HeaderName::from_static("x-ms-lease-state"),
    LeaseStatus "x-ms-lease-status" HeaderName::from_static("x-ms-lease-status"),
    LeaseTime "x-ms-lease-time" HeaderName::from_static("x-ms-lease-time"),
    Location "Location" header::LOCATION,
    MaxAge "Access-Control-Max-Age" header::ACCESS_CONTROL_MAX_AGE,
    NextPartitionKey "x-ms-continuation-NextPartitionKey" HeaderName::from_static("x-ms-continuation-nextpartitionkey"),
    NextRowKey "x-ms-continuation-NextRowKey" HeaderName::from_static("x-ms-continuation-nextrowkey"),
    NextTableName "x-ms-continuation-NextTableName" HeaderName::from_static("x-ms-continuation-nexttablename"),
    PopReceipt "x-ms-popreceipt" HeaderName::from_static("x-ms-popreceipt"),
    PreferenceApplied "Preference-Applied" HeaderName::from_static("preference-applied"),
    PublicAccess "x-ms-blob-public-access" HeaderName::from_static("x-ms-blob-public-access"),
    RehydratePriority "x-ms-rehydrate-priority" HeaderName::from_static("x-ms-rehydrate-priority"),
    RequestId "x-ms-request-id" HeaderName::from_static("x-ms-request-id"),
    RequestServerEncrypted "x-ms-request-server-encrypted" HeaderName::from_static("x-ms-request-server-encrypted"),
    RetryAfter "Retry-After" header::RETRY_AFTER,
    ServerEncrypted "x-ms-server-encrypted" HeaderName::from_static("x-ms-server-encrypted"),
    SkuName "x-ms-sku-name" HeaderName::from_static("x-ms-sku-name"),
    SmartAccessTier "x-ms-smart-access-tier" HeaderName::from_static("x-ms-smart-access-tier"),
    Snapshot "x-ms-snapshot" HeaderName::from_static("x-ms-snapshot"),
    TagCount "x-ms-tag-count" HeaderName::from_static("x-ms-tag-count"),
    TimeNextVisible "x-ms-time-next-visible" HeaderName::from_static("x-ms-time-next-visible"),
    Version "x-ms-version" HeaderName::from_static("x-ms-version"),
    WwwAuthenticate "WWW-Authenticate" header::WWW_AUTHENTICATE,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_canonical_form_in_lower_case() {
        for header in ResponseHeader::ALL {
            assert_eq!(header.name().as_str(), header.canonical().to_ascii_lowercase());
        }
    }
}
