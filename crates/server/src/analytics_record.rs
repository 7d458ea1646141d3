//! The record of a request in Storage Analytics.
//!
//! Most accounts count requests and log none, so the fields of a log line are computed only for a log. Nothing here waits.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, header};
use hyper::body::Body as _;
use tablerock_protocol::analytics::{Authentication, LogEntry, RequestStatus};
use tablerock_protocol::blob::CopySourceUrl;
use tablerock_protocol::has_signature;
use tablerock_protocol::xml::AnalyticsVersion;
use tablerock_services::analytics::{LogLine, Measured, Watched};

use crate::http::headers::{CONTENT_MD5, COPY_SOURCE, Given};
use crate::http::respond::HttpResponse;
use crate::operation::{Operation, kind_of_method};
use crate::request_context::RequestContext;
use crate::request_log::created_table;

/// The largest body that an operation accepts, a block blob. One that announces more is rejected unread, and its length
/// would make the totals overflow.
const BODY_BYTES_MAX: u64 = 5000 << 20;

const BLOB_CONTENT_MD5: HeaderName = HeaderName::from_static("x-ms-blob-content-md5");
/// The bytes between the name and the value of a header, and after it.
const HEADER_FRAME_BYTES: u64 = 4;

/// A request that has its response.
pub(crate) struct AnalyticsRecord<'a> {
    pub(crate) cx: &'a RequestContext<'a>,
    pub(crate) account: &'a str,
    pub(crate) response: &'a HttpResponse,
    pub(crate) duration: Duration,
}

/// The sizes of a request and of its response.
struct Sizes {
    request_head: u64,
    request_body: u64,
    response_head: u64,
    response_body: u64,
}

impl AnalyticsRecord<'_> {
    /// Counts and logs the request, as its account's service properties say.
    pub(crate) fn emit(&self, watched: &Watched) {
        let http_status = self.response.status().as_u16();
        let status = RequestStatus::of(http_status, self.cx.error);
        let authentication = self.authentication();
        let sizes = self.sizes();
        if watched.is_counting() {
            watched.count(&Measured {
                operation: self.cx.operation.map(Operation::index_in_service),
                status,
                authentication,
                ingress_bytes: sizes.request_head + sizes.request_body,
                egress_bytes: sizes.response_head + sizes.response_body,
                duration: self.duration,
            });
        }
        let kind = self.cx.operation.map_or_else(|| kind_of_method(&self.cx.head.method), Operation::kind);
        let Some(version) = watched.logging(kind).filter(|_| status.is_logged(authentication, http_status)) else {
            return;
        };
        let lines = self.lines(version, status, authentication, &sizes);
        let (started, ended) = (self.cx.now, self.cx.server.now());
        if !watched.log(&LogLine { text: &lines, version, kind, started, ended }) {
            self.cx.server.metrics.count_dropped_log_entry();
        }
    }

    fn lines(
        &self,
        version: AnalyticsVersion,
        status: RequestStatus,
        authentication: Authentication,
        sizes: &Sizes,
    ) -> String {
        let (request, response) = (&self.cx.head.headers, self.response.headers());
        let status = status.logged(authentication.logged_prefix(version), self.cx.error, self.cx.version);
        let milliseconds = u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX);
        let entry = LogEntry {
            started: self.cx.now,
            operation: self.cx.operation.map_or("Unknown", Operation::name),
            status: &status,
            http_status: self.response.status().as_u16(),
            end_to_end_ms: milliseconds,
            server_ms: milliseconds,
            authentication,
            account: self.account,
            service: self.cx.service,
            url: &self.url(),
            object_key: &self.object_key(),
            request_id: self.cx.request_id,
            operation_count: 0,
            client_address: (self.cx.peer.address, self.cx.peer.port).into(),
            version: self.cx.version,
            request_header_bytes: sizes.request_head,
            request_bytes: sizes.request_body,
            response_header_bytes: sizes.response_head,
            response_bytes: sizes.response_body,
            request_content_length: sizes.request_body,
            request_md5: text(request, &CONTENT_MD5).or_else(|| text(request, &BLOB_CONTENT_MD5)).unwrap_or_default(),
            server_md5: text(response, &CONTENT_MD5).unwrap_or_default(),
            etag: text(response, &header::ETAG).unwrap_or_default(),
            last_modified: text(response, &header::LAST_MODIFIED).unwrap_or_default(),
            conditions: &conditions(request),
            user_agent: text(request, &header::USER_AGENT).unwrap_or_default(),
            referrer: text(request, &header::REFERER).unwrap_or_default(),
            client_request_id: self.cx.client_request_id.as_ref().and_then(as_text).unwrap_or_default(),
        };
        let mut lines = entry.to_line(version);
        if self.cx.operation == Some(Operation::CopyBlob) {
            let url = CopySourceUrl::without_credentials(text(request, &COPY_SOURCE).unwrap_or_default());
            let object_key = url.as_str();
            let source = LogEntry { operation: "CopyBlobSource", operation_count: 1, object_key, ..entry.clone() };
            let destination = LogEntry { operation: "CopyBlobDestination", operation_count: 2, ..entry };
            lines.push_str(&source.to_line(version));
            lines.push_str(&destination.to_line(version));
        }
        lines
    }

    /// The kind of credentials, valid or not.
    fn authentication(&self) -> Authentication {
        match self.cx.head.headers.given(&header::AUTHORIZATION) {
            Some(value) if value.as_bytes().starts_with(b"Bearer ") => Authentication::Bearer,
            Some(_) => Authentication::Authenticated,
            None if self.cx.head.uri.query().is_some_and(has_signature) => Authentication::Sas,
            None => Authentication::Anonymous,
        }
    }

    fn sizes(&self) -> Sizes {
        let length = text(&self.cx.head.headers, &header::CONTENT_LENGTH).and_then(|text| text.parse().ok());
        let length = length.filter(|length| *length <= BODY_BYTES_MAX);
        let target = self.cx.head.uri.path_and_query().map_or(0, |target| target.as_str().len());
        Sizes {
            request_head: header_bytes(&self.cx.head.headers) + target as u64,
            request_body: length.unwrap_or_default(),
            response_head: header_bytes(self.response.headers()),
            response_body: self.response.body().size_hint().exact().unwrap_or_default(),
        }
    }

    fn url(&self) -> String {
        let uri = &self.cx.head.uri;
        let scheme = if self.cx.peer.is_https { "https" } else { "http" };
        let host = uri.authority().map(|authority| authority.as_str());
        let host = host.or_else(|| text(&self.cx.head.headers, &header::HOST)).unwrap_or_default();
        let target = uri.path_and_query().map_or("", |target| target.as_str());
        [scheme, "://", host, target].concat()
    }

    /// The account and the path below it. Only the response names a table that was created.
    fn object_key(&self) -> String {
        let is_create = self.cx.operation == Some(Operation::CreateTable);
        match created_table(self.response).filter(|_| is_create) {
            Some(table) => ["/", self.account, "/", table].concat(),
            None => ["/", self.account, self.cx.path_below_root].concat(),
        }
    }
}

fn conditions(headers: &HeaderMap) -> String {
    let names = [
        ("If-Match", header::IF_MATCH),
        ("If-None-Match", header::IF_NONE_MATCH),
        ("If-Modified-Since", header::IF_MODIFIED_SINCE),
        ("If-Unmodified-Since", header::IF_UNMODIFIED_SINCE),
    ];
    let given = names.into_iter().filter_map(|(name, header)| Some([name, "=", text(headers, &header)?].concat()));
    given.collect::<Vec<_>>().join(";")
}

fn header_bytes(headers: &HeaderMap) -> u64 {
    headers.iter().map(|(name, value)| (name.as_str().len() + value.len()) as u64 + HEADER_FRAME_BYTES).sum()
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.given_text(name)
}

fn as_text(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}
