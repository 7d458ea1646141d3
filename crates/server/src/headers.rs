//! Headers by name. Looking one up by its text would check and hash that text on every request, so the names are
//! made once, here.

use http::{HeaderName, header};

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

macro_rules! answer_headers {
    ($($header:ident $spelling:literal $name:expr,)*) => {
        /// A header that an operation's answer may have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum AnswerHeader { $($header),* }

        impl AnswerHeader {
            /// As the service spells it, which the parts of a batch show.
            pub(crate) const fn spelling(self) -> &'static str {
                match self { $(Self::$header => $spelling),* }
            }

            /// As HTTP compares it.
            pub(crate) const fn name(self) -> HeaderName {
                match self { $(Self::$header => const { $name }),* }
            }

            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$header),*];
        }
    };
}

answer_headers! {
    AccountKind "x-ms-account-kind" HeaderName::from_static("x-ms-account-kind"),
    AllowCredentials "Access-Control-Allow-Credentials" header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
    AllowHeaders "Access-Control-Allow-Headers" header::ACCESS_CONTROL_ALLOW_HEADERS,
    AllowMethods "Access-Control-Allow-Methods" header::ACCESS_CONTROL_ALLOW_METHODS,
    AllowOrigin "Access-Control-Allow-Origin" header::ACCESS_CONTROL_ALLOW_ORIGIN,
    CacheControl "Cache-Control" header::CACHE_CONTROL,
    ContentId "Content-ID" HeaderName::from_static("content-id"),
    ContentType "Content-Type" header::CONTENT_TYPE,
    ContentTypeOptions "X-Content-Type-Options" header::X_CONTENT_TYPE_OPTIONS,
    DataServiceId "DataServiceId" HeaderName::from_static("dataserviceid"),
    DataServiceVersion "DataServiceVersion" HeaderName::from_static("dataserviceversion"),
    ErrorCode "x-ms-error-code" HeaderName::from_static("x-ms-error-code"),
    Etag "ETag" header::ETAG,
    IsHnsEnabled "x-ms-is-hns-enabled" HeaderName::from_static("x-ms-is-hns-enabled"),
    Location "Location" header::LOCATION,
    MaxAge "Access-Control-Max-Age" header::ACCESS_CONTROL_MAX_AGE,
    NextPartitionKey "x-ms-continuation-NextPartitionKey" HeaderName::from_static("x-ms-continuation-nextpartitionkey"),
    NextRowKey "x-ms-continuation-NextRowKey" HeaderName::from_static("x-ms-continuation-nextrowkey"),
    NextTableName "x-ms-continuation-NextTableName" HeaderName::from_static("x-ms-continuation-nexttablename"),
    PreferenceApplied "Preference-Applied" HeaderName::from_static("preference-applied"),
    SkuName "x-ms-sku-name" HeaderName::from_static("x-ms-sku-name"),
    WwwAuthenticate "WWW-Authenticate" header::WWW_AUTHENTICATE,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_spelling_in_lower_case() {
        for header in AnswerHeader::ALL {
            assert_eq!(header.name().as_str(), header.spelling().to_ascii_lowercase());
        }
    }
}
