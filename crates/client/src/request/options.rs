//! The options of one call.

use std::fmt;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::{Error, Result};

/// The longest id of a request that the services accept.
const REQUEST_ID_BYTES_MAX: usize = 1024;
/// The headers that the client sets itself.
const OWN: [&str; 8] = [
    "x-ms-date",
    "x-ms-version",
    "x-ms-client-request-id",
    "authorization",
    "content-length",
    "host",
    "transfer-encoding",
    "user-agent",
];

/// Whether the client sets a header itself.
pub(crate) fn is_own_header(name: &HeaderName) -> bool {
    OWN.contains(&name.as_str())
}

/// Options of one call, or of all pages of a query or a listing.
///
/// ```
/// use std::time::Duration;
/// use tablerock_client::CallOptions;
///
/// let options = CallOptions::new().timeout(Duration::from_secs(2)).request_id("import-17");
/// ```
#[derive(Clone, Default)]
#[must_use = "options have no effect before a call has them"]
pub struct CallOptions {
    timeout: Option<Duration>,
    request_id: Option<HeaderValue>,
    headers: HeaderMap,
    /// The first invalid option, which fails the call.
    invalid: Option<String>,
}

impl CallOptions {
    /// Returns options that change nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the timeout of a call with all its attempts and delays, instead of that of the client. In a stream, each page
    /// is a call.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the client's id of the request: up to 1,024 visible ASCII characters. In a stream, all pages have it.
    #[doc(alias = "client_request_id")]
    pub fn request_id(mut self, id: impl AsRef<str>) -> Self {
        let id = id.as_ref();
        let is_valid = !id.is_empty() && id.len() <= REQUEST_ID_BYTES_MAX && id.bytes().all(|b| b.is_ascii_graphic());
        match HeaderValue::from_str(id) {
            Ok(value) if is_valid => self.request_id = Some(value),
            _ => self.refuse(format!(
                "the request id {id:?} is invalid: use 1 to {REQUEST_ID_BYTES_MAX} visible ASCII characters"
            )),
        }
        self
    }

    /// Adds a header, which a signature covers. It replaces a header of the same name.
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let name = name.as_ref();
        match (HeaderName::try_from(name), HeaderValue::from_str(value.as_ref())) {
            (Ok(own), _) if is_own_header(&own) => {
                self.refuse(format!("the client sets the header {own} itself: remove it from the call"));
            }
            (Ok(name), Ok(value)) => {
                self.headers.insert(name, value);
            }
            (Ok(name), Err(_)) => self.refuse(format!("the value of the header {name} has invalid characters")),
            (Err(_), _) => self.refuse(format!("{name:?} is not the name of a header")),
        }
        self
    }

    fn refuse(&mut self, why: String) {
        self.invalid.get_or_insert(why);
    }

    /// Completes the options by others.
    pub(crate) fn or(self, others: &Self) -> Self {
        let mut headers = others.headers.clone();
        headers.extend(self.headers);
        Self {
            timeout: self.timeout.or(others.timeout),
            request_id: self.request_id.or_else(|| others.request_id.clone()),
            headers,
            invalid: self.invalid.or_else(|| others.invalid.clone()),
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        match &self.invalid {
            Some(why) => Err(Error::invalid(why.clone())),
            None => Ok(()),
        }
    }

    pub(crate) fn timeout_or(&self, default: Duration) -> Duration {
        self.timeout.unwrap_or(default)
    }

    pub(crate) fn given_request_id(&self) -> Option<&HeaderValue> {
        self.request_id.as_ref()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

/// Shows the names of headers only: a value may be a secret.
impl fmt::Debug for CallOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { timeout, request_id, headers, invalid } = self;
        let mut shown = f.debug_struct("CallOptions");
        shown.field("timeout", timeout).field("request_id", request_id);
        shown.field("headers", &headers.keys().collect::<Vec<_>>()).field("invalid", invalid).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_option_fails_the_call() {
        for (options, why) in [
            (CallOptions::new().request_id("a b"), "request id"),
            (CallOptions::new().request_id(""), "request id"),
            (CallOptions::new().request_id("x".repeat(1025)), "request id"),
            (CallOptions::new().header("a b", "x"), "not the name"),
            (CallOptions::new().header("x-ms-meta-a", "\n"), "x-ms-meta-a"),
            (CallOptions::new().header("X-Ms-Date", "x"), "itself"),
        ] {
            assert!(options.check().unwrap_err().to_string().contains(why), "{options:?}");
        }
        let options = CallOptions::new().header("x-ms-encryption-key", "c2VjcmV0").request_id("a-1");
        options.check().unwrap();
        assert!(!format!("{options:?}").contains("c2VjcmV0"));
    }
}
