//! Error responses. A single operation fails by the status of its response. A group transaction fails by the status of
//! a part: its response has the status 202 in any case.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use tablerock_protocol::ErrorAnswer;
use tablerock_protocol::batch::parse_changeset_answer;

use super::response::PartEtags;
use crate::environment::now;
use crate::error::{ServiceFailure, TransactionFailure};
use crate::{Error, Etag};

/// An error response of the service.
#[derive(Debug)]
pub(crate) struct ErrorResponse {
    pub(super) status: u16,
    /// The delay of the `Retry-After` header.
    pub(super) retry_after: Option<Duration>,
    code: String,
    message: String,
    /// The index of the operation that failed, if the call was a group transaction.
    index: Option<usize>,
    request_id: Option<String>,
}

/// Checks a response for errors, and returns the ETags of its parts if it is a batch response.
pub(crate) type Check = fn(&Response<Bytes>) -> Result<PartEtags, ErrorResponse>;

/// Checks the response to a single operation.
pub(super) fn check_single(response: &Response<Bytes>) -> Result<PartEtags, ErrorResponse> {
    if response.status().is_success() {
        return Ok(None);
    }
    let (code, message) = match ErrorAnswer::parse(response.body()) {
        Some(error) => (error.code, error.message),
        // Responses to HEAD have no body, and those of a proxy have another format.
        None => (header(response, "x-ms-error-code").unwrap_or_default().to_owned(), String::new()),
    };
    Err(ErrorResponse {
        status: response.status().as_u16(),
        retry_after: header(response, RETRY_AFTER.as_str()).and_then(retry_after),
        code,
        message,
        index: None,
        request_id: request_id(response),
    })
}

/// Checks the response to a group transaction. One failed part fails the group. A response that is not a batch response
/// has no ETags, which the caller reports.
pub(super) fn check_group(response: &Response<Bytes>) -> Result<PartEtags, ErrorResponse> {
    check_single(response)?;
    let content_type = header(response, CONTENT_TYPE.as_str()).unwrap_or_default();
    let Some(parts) = parse_changeset_answer(content_type, response.body()) else { return Ok(None) };
    let Some(failed) = parts.iter().find(|part| part.status >= 400) else {
        return Ok(Some(parts.iter().map(|part| part.header("etag").map(Etag::from)).collect()));
    };
    let error = ErrorAnswer::parse(failed.body);
    // The service omits the index if the group has one operation.
    let index = error.as_ref().and_then(|error| error.index).unwrap_or_default();
    let (code, message) = error.map(|error| (error.code, error.message)).unwrap_or_default();
    let delay = failed.header(RETRY_AFTER.as_str()).and_then(retry_after);
    Err(ErrorResponse {
        status: failed.status,
        retry_after: delay.or_else(|| header(response, RETRY_AFTER.as_str()).and_then(retry_after)),
        code,
        message,
        index: Some(index),
        request_id: request_id(response),
    })
}

impl ErrorResponse {
    pub(super) fn into_error(self, client_request_id: &str, attempts: u32) -> Error {
        let Self { status, code, message, index, request_id, .. } = self;
        let client_request_id = client_request_id.to_owned();
        let after_lost_response = false;
        let cause =
            ServiceFailure { status, code, message, request_id, client_request_id, attempts, after_lost_response };
        match index {
            Some(index) => Error::Transaction(Arc::new(TransactionFailure { index, cause })),
            None => Error::Service(Arc::new(cause)),
        }
    }
}

/// Returns the id under which the service logs a request.
pub(super) fn request_id(response: &Response<Bytes>) -> Option<String> {
    header(response, "x-ms-request-id").map(str::to_owned)
}

fn header<'a>(response: &'a Response<Bytes>, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

/// Parses the value of `Retry-After`, which is a number of seconds or a date.
fn retry_after(value: &str) -> Option<Duration> {
    match value.trim().parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(value).ok()?.duration_since(now()).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(retry_after("7"), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("soon"), None);
        assert_eq!(retry_after("Thu, 01 Jan 1970 00:00:00 GMT"), None);
        assert!(retry_after("Fri, 31 Dec 9999 23:59:59 GMT").unwrap() > Duration::from_secs(3600));
    }

    fn group(part: &str) -> Response<Bytes> {
        let body = format!(
            "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\
             Content-Transfer-Encoding: binary\r\n\r\n{part}\r\n--c--\r\n--b--\r\n"
        );
        let response = Response::builder().status(202).header("content-type", "multipart/mixed; boundary=b");
        response.body(Bytes::from(body)).unwrap()
    }

    #[test]
    fn a_failed_part_fails_its_group() {
        let busy = check_group(&group("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n")).unwrap_err();
        assert_eq!((busy.status, busy.retry_after, busy.index), (503, Some(Duration::from_secs(7)), Some(0)));
        let body = r#"{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en","value":"2:There."}}}"#;
        let there = check_group(&group(&format!("HTTP/1.1 409 Conflict\r\n\r\n{body}"))).unwrap_err();
        assert_eq!((there.status, there.index, there.code.as_str()), (409, Some(2), "EntityAlreadyExists"));
        let etags = check_group(&group("HTTP/1.1 204 No Content\r\nETag: x\r\n\r\n")).unwrap();
        assert_eq!(etags, Some(vec![Some(Etag::from("x"))]));
        assert!(check_single(&group("HTTP/1.1 503 Busy\r\n\r\n")).is_ok());
    }
}
