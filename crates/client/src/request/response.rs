//! A response with its status and headers.

use std::time::SystemTime;

use http::{HeaderMap, StatusCode};

use super::{Exchange, Operation};
use crate::{Error, Result};

/// The value of a call, with the status and the headers of its response. See
/// [`Request::with_response`](super::Request::with_response).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Response<T> {
    /// The value that the call returns without its response.
    pub value: T,
    head: ResponseHead,
}

/// The status and the headers of a response.
#[derive(Debug, Clone)]
pub(crate) struct ResponseHead {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
}

impl<T> Response<T> {
    /// Returns the HTTP status. It is an error's if the call expects that error, such as 404 for a value that is `None`.
    pub fn status(&self) -> u16 {
        self.head.status.as_u16()
    }

    /// Returns all headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// Returns a header's value, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.headers.get(name)?.to_str().ok()
    }

    /// Returns the id of the request in the service's logs.
    pub fn request_id(&self) -> Option<&str> {
        self.header("x-ms-request-id")
    }

    /// Returns the client's id of the request, as the service returns it.
    pub fn client_request_id(&self) -> Option<&str> {
        self.header("x-ms-client-request-id")
    }

    /// Returns the time of the response by the service's clock, in whole seconds.
    pub fn date(&self) -> Option<SystemTime> {
        httpdate::parse_http_date(self.header("date")?).ok()
    }

    /// Returns the version of the service that responded.
    pub fn version(&self) -> Option<&str> {
        self.header("x-ms-version")
    }

    /// Returns the value without the response.
    pub fn into_value(self) -> T {
        self.value
    }
}

/// The kind of a request that returns its [`Response`].
#[derive(Debug, Clone)]
pub struct WithResponse<K>(pub(super) K);

impl<T: Send, K: Operation<T>> Operation<Response<T>> for WithResponse<K> {
    async fn perform(self, exchange: &mut Exchange) -> Result<Response<T>> {
        exchange.keeps_head = true;
        let value = self.0.perform(exchange).await?;
        let unsent = || Error::invalid("the call needs no request, so it has no response: remove with_response");
        Ok(Response { value, head: exchange.head.take().ok_or_else(unsent)? })
    }
}
