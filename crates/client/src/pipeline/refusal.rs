//! What an answer refuses, if it does: by its own status as a rule, by that of a part in the answer to a group, which
//! itself says 202 whatever became of its operations.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use tablerock_protocol::batch::{PartAnswer, parse_changeset_answer};
use tablerock_protocol::{ErrorAnswer, Uuid};

use crate::Error;
use crate::error::{ServiceFailure, TransactionFailure};
use crate::surroundings::now;

/// A refusal as the service words it.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(super) status: u16,
    /// The wait that the service asks for.
    pub(super) wait_asked: Option<Duration>,
    code: String,
    message: String,
    /// The operation at fault, if the call was a group.
    index: Option<usize>,
    request_id: Option<String>,
}

/// Tells whether an answer refuses its call.
pub(crate) type Verdict = fn(&Response<Bytes>) -> Option<Refusal>;

/// The verdict on a single operation.
pub(super) fn of_single(response: &Response<Bytes>) -> Option<Refusal> {
    if response.status().is_success() {
        return None;
    }
    let (code, message) = match ErrorAnswer::parse(response.body()) {
        Some(answer) => (answer.code, answer.message),
        // Answers to HEAD have no body, and a proxy's are its own.
        None => (header(response, "x-ms-error-code").unwrap_or_default().to_owned(), String::new()),
    };
    Some(Refusal {
        status: response.status().as_u16(),
        wait_asked: header(response, RETRY_AFTER.as_str()).and_then(retry_after),
        code,
        message,
        index: None,
        request_id: request_id(response),
    })
}

/// The verdict on a group: one part that is refused refuses all. What is no answer to a group is no refusal either, and
/// whoever reads it will say so.
pub(super) fn of_group(response: &Response<Bytes>) -> Option<Refusal> {
    if !response.status().is_success() {
        return of_single(response);
    }
    let parts = parse_changeset_answer(header(response, CONTENT_TYPE.as_str())?, response.body())?;
    let failed = parts.iter().find(|part| part.status >= 400)?;
    let answer = ErrorAnswer::parse(failed.body);
    // The service leaves out the index where there is nothing to choose from.
    let index = answer.as_ref().and_then(|answer| answer.index).unwrap_or_default();
    let (code, message) = answer.map(|answer| (answer.code, answer.message)).unwrap_or_default();
    Some(Refusal {
        status: failed.status,
        wait_asked: wait_of_part(failed).or_else(|| header(response, RETRY_AFTER.as_str()).and_then(retry_after)),
        code,
        message,
        index: Some(index),
        request_id: request_id(response),
    })
}

fn wait_of_part(part: &PartAnswer<'_>) -> Option<Duration> {
    part.header(RETRY_AFTER.as_str()).and_then(retry_after)
}

impl Refusal {
    pub(super) fn into_error(self, client_request_id: Uuid, tries: u32) -> Error {
        let Self { status, code, message, index, request_id, .. } = self;
        let client_request_id = client_request_id.to_string();
        let after_lost_answer = false;
        let cause = ServiceFailure { status, code, message, request_id, client_request_id, tries, after_lost_answer };
        match index {
            Some(index) => Error::Transaction(Arc::new(TransactionFailure { index, cause })),
            None => Error::Service(Arc::new(cause)),
        }
    }
}

/// The id under which the service logs a request.
pub(super) fn request_id(response: &Response<Bytes>) -> Option<String> {
    header(response, "x-ms-request-id").map(str::to_owned)
}

fn header<'a>(response: &'a Response<Bytes>, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

/// The wait that the service asks for, in seconds or as a date.
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
    fn the_service_may_ask_for_a_wait_in_seconds_or_by_date() {
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
    fn a_part_that_is_refused_refuses_its_group() {
        let busy = of_group(&group("HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n")).unwrap();
        assert_eq!((busy.status, busy.wait_asked, busy.index), (503, Some(Duration::from_secs(7)), Some(0)));
        let told = r#"{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en","value":"2:There."}}}"#;
        let there = of_group(&group(&format!("HTTP/1.1 409 Conflict\r\n\r\n{told}"))).unwrap();
        assert_eq!((there.status, there.index, there.code.as_str()), (409, Some(2), "EntityAlreadyExists"));
        assert!(of_group(&group("HTTP/1.1 204 No Content\r\nETag: x\r\n\r\n")).is_none());
        assert!(of_single(&group("HTTP/1.1 503 Busy\r\n\r\n")).is_none());
    }
}
