//! An admitted request on its way through its service: what decoding, running and encoding need.

use http::{HeaderMap, HeaderName, HeaderValue};
use tablerock_protocol::{Accepted, Keyword, QueryString, ServiceError};

use crate::auth::Caller;
use crate::http::endpoint::Endpoint;
use crate::http::headers::Given;
use crate::operation::Operation;
use crate::pipeline::Server;
use crate::request_context::{Address, RequestContext};

/// A request, or a part of a batch, that has been admitted, with its body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a, B> {
    pub(crate) cx: &'a RequestContext<'a>,
    pub(crate) operation: Operation,
    pub(crate) endpoint: &'a Endpoint<'a>,
    pub(crate) query: &'a QueryString<'a>,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) caller: &'a Caller,
    /// The formats that the client reads.
    pub(crate) accepted: Accepted,
    pub(crate) body: B,
}

impl<'a, B> Call<'a, B> {
    /// The call of a request that is not a part of another.
    pub(crate) fn new(
        cx: &'a RequestContext<'a>,
        address: &'a Address<'a>,
        operation: Operation,
        caller: &'a Caller,
        body: B,
    ) -> Self {
        let (endpoint, query, headers) = (&address.endpoint, &address.query, &cx.head.headers);
        Self { cx, operation, endpoint, query, headers, caller, accepted: cx.accepted, body }
    }

    pub(crate) fn server(&self) -> &'a Server {
        self.cx.server
    }

    pub(crate) fn account(&self) -> &'a str {
        self.endpoint.account.name.as_str()
    }

    /// The text of a header. Headers of the service's own have to be in the operation's row.
    pub(crate) fn header(&self, name: &HeaderName) -> Option<&'a str> {
        self.header_value(name).and_then(|value| value.to_str().ok())
    }

    /// The value of a header that is not empty, text or not.
    pub(crate) fn header_value(&self, name: &HeaderName) -> Option<&'a HeaderValue> {
        #[cfg(debug_assertions)]
        assert!(self.may_read(name), "{:?} reads {name}, which its row does not name", self.operation);
        self.headers.given(name)
    }

    /// Whether the operation's row names a header. To find out takes longer than to read it.
    #[cfg(debug_assertions)]
    fn may_read(&self, name: &HeaderName) -> bool {
        !name.as_str().starts_with("x-ms-") || self.operation.knows_header(name.as_str())
    }

    /// The value of a header that is one of a few words.
    pub(crate) fn keyword<T: Keyword>(&self, name: &HeaderName) -> Result<Option<T>, ServiceError> {
        let Some(value) = self.header_value(name) else { return Ok(None) };
        let text = value.to_str().unwrap_or_default();
        T::parse_keyword(text).map(Some).ok_or_else(|| ServiceError::invalid_header(name.as_str(), text))
    }

    /// The value of a query parameter that is one of a few words.
    pub(crate) fn keyword_parameter<T: Keyword>(&self, name: &str) -> Result<Option<T>, ServiceError> {
        let Some(text) = self.parameter(name) else { return Ok(None) };
        let unknown = || ServiceError::invalid_parameter(name, text, "The value is not known.");
        T::parse_keyword(text).map(Some).ok_or_else(unknown)
    }

    /// The value of a query parameter, which has to be in the operation's row.
    pub(crate) fn parameter(&self, name: &str) -> Option<&'a str> {
        debug_assert!(self.operation.knows_parameter(name), "{:?} reads {name}", self.operation);
        self.query.value(name)
    }
}
