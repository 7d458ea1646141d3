//! What a new blob has besides its content and HTTP headers.

use http::HeaderName;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::Result;
use crate::pipeline::Call;

const TAGS: HeaderName = HeaderName::from_static("x-ms-tags");
const ACCESS_TIER: HeaderName = HeaderName::from_static("x-ms-access-tier");

/// The setters that all requests for a new blob have, for their fields `headers` and `settings`.
macro_rules! new_blob_setters {
    () => {
        /// Sets the blob's HTTP headers.
        pub fn headers(mut self, headers: $crate::blob::BlobHttpHeaders) -> Self {
            self.headers = headers;
            self
        }

        /// Sets the blob's metadata.
        pub fn metadata(mut self, pairs: Vec<(String, String)>) -> Self {
            self.settings.metadata = pairs;
            self
        }

        /// Sets the blob's index tags.
        pub fn tags(mut self, pairs: Vec<(String, String)>) -> Self {
            self.settings.tags = pairs;
            self
        }
    };
}

/// The setter of the requests for a block blob, which alone has a tier.
macro_rules! access_tier_setter {
    () => {
        /// Sets the blob's access tier, such as `Cool`.
        pub fn access_tier(mut self, tier: impl Into<String>) -> Self {
            self.settings.access_tier = tier.into();
            self
        }
    };
}

pub(super) use {access_tier_setter, new_blob_setters};

/// Metadata, index tags and the tier. An empty one is not set.
#[derive(Debug, Clone, Default)]
pub(super) struct BlobSettings {
    pub(super) metadata: Vec<(String, String)>,
    pub(super) tags: Vec<(String, String)>,
    pub(super) access_tier: String,
}

impl BlobSettings {
    pub(super) fn add_to(&self, call: Call) -> Result<Call> {
        let mut call = call.metadata(&self.metadata)?;
        if !self.tags.is_empty() {
            let encode = |text: &String| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
            let pairs = self.tags.iter().map(|(key, value)| format!("{}={}", encode(key), encode(value)));
            call = call.header(TAGS, &pairs.collect::<Vec<_>>().join("&"))?;
        }
        if !self.access_tier.is_empty() {
            call = call.header(ACCESS_TIER, &self.access_tier)?;
        }
        Ok(call)
    }
}
