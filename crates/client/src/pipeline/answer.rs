//! What came back: an answer to be read, or a refusal.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response};
use tablerock_protocol::{ErrorAnswer, Uuid};

use crate::error::{ServiceFailure, TransactionFailure};
use crate::{Error, Result};

/// A successful answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) client_request_id: Uuid,
    pub(crate) tries: u32,
    pub(crate) after_lost_answer: bool,
}

impl Answer {
    /// A final answer is a success or an error.
    pub(super) fn read(
        response: Response<Bytes>,
        client_request_id: Uuid,
        tries: u32,
        after_lost_answer: bool,
    ) -> Result<Self> {
        if !response.status().is_success() {
            return Err(Self::failure(&response, client_request_id, tries, after_lost_answer));
        }
        let (head, body) = response.into_parts();
        Ok(Self { headers: head.headers, body, client_request_id, tries, after_lost_answer })
    }

    pub(super) fn failure(
        response: &Response<Bytes>,
        client_request_id: Uuid,
        tries: u32,
        after_lost_answer: bool,
    ) -> Error {
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let (code, message) = match ErrorAnswer::parse(response.body()) {
            Some(answer) => (answer.code, answer.message),
            // Answers to HEAD have no body, and a proxy's are its own.
            None => (header("x-ms-error-code").unwrap_or_default(), String::new()),
        };
        Error::Service(Arc::new(ServiceFailure {
            status: response.status().as_u16(),
            code,
            message,
            request_id: header("x-ms-request-id"),
            client_request_id: client_request_id.to_string(),
            tries,
            after_lost_answer,
        }))
    }

    /// The error of an operation in a group, which is told inside a successful answer.
    pub(crate) fn failure_in_group(&self, status: u16, body: &[u8]) -> Error {
        let answer = ErrorAnswer::parse(body);
        let index = answer.as_ref().and_then(|answer| answer.index);
        let (code, message) = answer.map(|answer| (answer.code, answer.message)).unwrap_or_default();
        let cause = ServiceFailure {
            status,
            code,
            message,
            request_id: self.header("x-ms-request-id").map(str::to_owned),
            client_request_id: self.client_request_id.to_string(),
            tries: self.tries,
            after_lost_answer: self.after_lost_answer,
        };
        match index {
            Some(index) => Error::Transaction(Arc::new(TransactionFailure { index, cause })),
            None => Error::Service(Arc::new(cause)),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}
