//! The log record of a request, and the scope that gives its id to every event inside.

use std::cell::Cell;
use std::time::Duration;

use http::header;
use tablerock_protocol::{BlobResource, ErrorCode, QueryString, QueueResource, Service, TableResource, Uuid};
use tracing::Span;

use crate::http::respond::HttpResponse;
use crate::operation::Operation;
use crate::request_context::RequestContext;

/// The most of a path without an account that is logged.
const PATH_BYTES_MAX: usize = 128;

thread_local! {
    static CURRENT: Cell<Option<Uuid>> = const { Cell::new(None) };
}

/// The id of the request that the current thread works on. Log formatters add it to events that have no span.
pub fn current_request_id() -> Option<Uuid> {
    CURRENT.get()
}

/// The scope of a request: all events inside carry its id, at every level.
///
/// A span takes 3,200 instructions of a point read's 50,000, even if no event ever asks for it. So there is one only for
/// debugging; otherwise the id is a thread-local variable that each poll sets.
pub(crate) struct RequestScope {
    span: Span,
    request_id: Uuid,
}

impl RequestScope {
    pub(crate) fn new(cx: &RequestContext<'_>) -> Self {
        Self { span: tracing::debug_span!("request", request_id = %cx.request_id), request_id: cx.request_id }
    }

    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let _outer = Outer(CURRENT.replace(Some(self.request_id)));
        self.span.in_scope(work)
    }
}

/// The scope around the current one, which dropping this restores, also after a panic.
struct Outer(Option<Uuid>);

impl Drop for Outer {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Logs a request that has its response: failures of the server as errors, everything else for debugging.
///
/// The record names what the client knows of its request. It has neither keys nor signatures: of the URL only the name of
/// the table, queue or container.
pub(crate) fn record(cx: &RequestContext<'_>, response: &HttpResponse, duration: Duration) {
    let status = response.status().as_u16();
    macro_rules! record {
        ($level:ident, $message:literal) => {
            tracing::$level!(
                method = cx.head.method.as_str(),
                operation = cx.operation_name(),
                account = cx.account.unwrap_or_default(),
                resource = resource(cx, response).as_deref().unwrap_or_default(),
                path = misdirected_path(cx),
                status,
                error = cx.error.map_or("", ErrorCode::name),
                reason = reason(cx),
                client_request_id = cx.client_request_id.as_ref().and_then(|id| id.to_str().ok()).unwrap_or_default(),
                entities_read = cx.counts.entities_read(),
                ignored = ignored(cx).unwrap_or_default(),
                microseconds = duration.as_micros() as u64,
                $message
            )
        };
    }
    // 501 is a client that asks for what the server does not have; the server is well.
    if status >= 500 && status != 501 {
        record!(error, "request failed");
    } else {
        record!(debug, "request");
    }
}

/// The reason of the error, or what its code means. The message of the response may quote what the client sent.
fn reason<'a>(cx: &'a RequestContext<'_>) -> &'a str {
    cx.error_reason.as_deref().or(cx.error.map(ErrorCode::message)).unwrap_or_default()
}

/// The beginning of a path that leads to no account, which shows that a client has the wrong endpoint. It has at most two
/// segments, and ends before the keys of an entity.
fn misdirected_path<'a>(cx: &RequestContext<'a>) -> &'a str {
    if cx.account.is_some() {
        return "";
    }
    let path = cx.head.uri.path();
    let is_end = |(at, byte): (usize, u8)| (matches!(byte, b'(' | b'%' | 0x80..) || at >= PATH_BYTES_MAX).then_some(at);
    let end = path.bytes().enumerate().find_map(is_end).unwrap_or(path.len());
    let slashes = path[..end].bytes().enumerate().filter(|(_, byte)| *byte == b'/');
    let third = slashes.map(|(at, _)| at).nth(2);
    &path[..third.unwrap_or(end)]
}

/// The table, queue or container that a request addresses.
fn resource(cx: &RequestContext<'_>, response: &HttpResponse) -> Option<String> {
    if cx.operation == Some(Operation::CreateTable) {
        return created_table(response).map(str::to_owned);
    }
    match cx.service {
        Service::Table => match TableResource::parse(cx.path_below_root).ok()? {
            TableResource::Table { name: table }
            | TableResource::Entities { table }
            | TableResource::Entity { table, .. }
            | TableResource::Nested { table, .. } => Some(table),
            TableResource::Service | TableResource::Tables | TableResource::Batch => None,
        },
        Service::Queue => {
            let resource = QueueResource::parse(cx.path_below_root).ok()?;
            resource.queue().map(|queue| queue.to_string())
        }
        Service::Blob => {
            let query = QueryString::parse(cx.head.uri.query().unwrap_or_default()).unwrap_or_default();
            let has_restype = query.value("restype").is_some();
            let resource = BlobResource::parse(cx.path_below_root, has_restype).ok()?;
            resource.container().map(|container| container.to_string())
        }
    }
}

/// The table that a request created, which only its response names.
pub(crate) fn created_table(response: &HttpResponse) -> Option<&str> {
    let location = response.headers().get(header::LOCATION)?.to_str().ok()?;
    location.rsplit_once("/Tables('")?.1.strip_suffix("')")
}

/// The headers of the services' own that the operation does not know. They change nothing.
fn ignored(cx: &RequestContext<'_>) -> Option<String> {
    let operation = cx.operation?;
    let names = cx.head.headers.keys().map(|name| name.as_str());
    let ignored: Vec<&str> = names.filter(|name| name.starts_with("x-ms-") && !operation.knows_header(name)).collect();
    Some(ignored.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_known_inside_the_scope_alone() {
        let scope = |byte| RequestScope { span: Span::none(), request_id: Uuid::from_bytes([byte; 16]) };
        let (outer, inner) = (scope(1), scope(2));
        assert_eq!(current_request_id(), None);
        outer.run(|| {
            assert_eq!(current_request_id(), Some(outer.request_id));
            inner.run(|| assert_eq!(current_request_id(), Some(inner.request_id)));
            assert_eq!(current_request_id(), Some(outer.request_id));
        });
        assert_eq!(current_request_id(), None);
    }
}
