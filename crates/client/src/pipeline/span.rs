//! The span of a call, with the names of OpenTelemetry and of Azure's SDKs.

use bytes::Bytes;
use http::{HeaderValue, Response};
use tracing::Span;

use super::{Call, Pipeline, error_response, text};
use crate::{Error, Result};

/// The namespace of storage accounts in Azure's conventions for traces.
const NAMESPACE: &str = "Microsoft.Storage";

/// Returns the span of a call. It has no path and no query: keys of entities and names of blobs may be personal data.
pub(super) fn of_call(pipeline: &Pipeline, call: &Call, id: &HeaderValue) -> Span {
    tracing::debug_span!(
        "storage_call",
        otel.name = call.operation,
        otel.kind = "client",
        otel.status_code = tracing::field::Empty,
        az.namespace = NAMESPACE,
        az.client_request_id = text(id),
        az.service_request_id = tracing::field::Empty,
        http.request.method = call.method.as_str(),
        http.request.resend_count = tracing::field::Empty,
        http.response.status_code = tracing::field::Empty,
        server.address = pipeline.endpoint.host(),
        server.port = pipeline.endpoint.port(),
        "error.type" = tracing::field::Empty,
        service = pipeline.service.name(),
        operation = call.operation,
        resource = call.resource(),
        attempts = tracing::field::Empty,
    )
}

/// Records the beginning of an attempt.
pub(super) fn record_attempt(span: &Span, number: u32) {
    span.record("attempts", number);
    if number > 1 {
        span.record("http.request.resend_count", number - 1);
    }
}

/// Records the status of a response, or that of its failed part, and its request id.
pub(super) fn record_response(span: &Span, status: u16, response: &Response<Bytes>) {
    if !span.is_disabled() {
        span.record("http.response.status_code", status);
        span.record("az.service_request_id", error_response::request_id(response));
    }
}

/// Records the error of the call.
pub(super) fn record_outcome<T>(span: &Span, outcome: &Result<T>) {
    let Err(error) = outcome else { return };
    if span.is_disabled() {
        return;
    }
    span.record("otel.status_code", "ERROR");
    span.record(
        "error.type",
        match error {
            Error::Timeout { .. } => "timeout",
            Error::Transport { .. } => "transport",
            Error::Token { .. } => "token",
            _ => match error.service_failure() {
                Some(failure) if !failure.code.is_empty() => failure.code.as_str(),
                Some(_) => "status",
                None => "_OTHER",
            },
        },
    );
}
