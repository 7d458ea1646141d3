//! Responses: replies and errors as HTTP. Errors are rendered here and nowhere else.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use tablerock_protocol::json::append_json_string;
use tablerock_protocol::xml::BOM;
use tablerock_protocol::{Accepted, ErrorCode, Service, ServiceError};

use crate::http::header_case::HeaderCase;
use crate::http::headers::{CLIENT_REQUEST_ID, REQUEST_ID, ResponseHeader, VERSION};
use crate::http::prefer::prefer;
use crate::http::reason_phrase;
use crate::http::reply::{Reply, ReplyBody};
use crate::http::response_body::ResponseBody;
use crate::operation::Operation;
use crate::request_context::RequestContext;

pub(crate) type HttpResponse = Response<ResponseBody>;

const SERVER_TABLE: HeaderValue = HeaderValue::from_static("Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0");
const SERVER_QUEUE: HeaderValue = HeaderValue::from_static("Windows-Azure-Queue/1.0 Microsoft-HTTPAPI/2.0");
const SERVER_BLOB: HeaderValue = HeaderValue::from_static("Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0");
const SERVER_FRONT_END: HeaderValue = HeaderValue::from_static("Microsoft-HTTPAPI/2.0");
/// The JavaScript SDK reads the tenant only if it is a UUID. The server has no tenant, so it names the one that is none.
const CHALLENGE: &str = "Bearer authorization_uri=https://login.microsoftonline.com/00000000-0000-0000-0000-000000000000/oauth2/authorize \
     resource_id=https://storage.azure.com";

/// The `Retry-After` of a busy server. It is the least that the header can hold; the SDKs back off by themselves.
const RETRY_AFTER_SECONDS: &str = "1";

/// The headers that repeat elements of an error about the source of a copy.
const COPY_SOURCE_HEADERS: [(ResponseHeader, &str); 2] = [
    (ResponseHeader::CopySourceErrorCode, ServiceError::COPY_SOURCE_CODE),
    (ResponseHeader::CopySourceStatusCode, ServiceError::COPY_SOURCE_STATUS),
];

/// The part of a service that responds. Its headers and its error bodies differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorFormat {
    /// Authentication, and errors before an operation is known.
    FrontEnd,
    /// Operations with XML bodies.
    Xml,
    /// Everything about tables and entities.
    OData,
    Queue,
    Blob,
}

impl ErrorFormat {
    /// The format of an operation's errors, or of a service's where the operation is not known.
    pub(crate) fn of(service: Service, operation: Option<Operation>) -> Self {
        match (service, operation) {
            (Service::Queue, _) => Self::Queue,
            (Service::Blob, _) => Self::Blob,
            (Service::Table, None | Some(Operation::TablePreflightRequest)) => Self::FrontEnd,
            (Service::Table, Some(operation)) if operation.is_xml() => Self::Xml,
            (Service::Table, Some(_)) => Self::OData,
        }
    }

    const fn server(self) -> HeaderValue {
        match self {
            Self::FrontEnd => SERVER_FRONT_END,
            Self::Xml | Self::OData => SERVER_TABLE,
            Self::Queue => SERVER_QUEUE,
            Self::Blob => SERVER_BLOB,
        }
    }
}

/// The response to a request that succeeded.
pub(crate) fn success(cx: &RequestContext<'_>, reply: Reply) -> HttpResponse {
    finish(cx, ErrorFormat::of(cx.service, cx.operation), reply, true)
}

/// The response to a request that failed.
pub(crate) fn failure(cx: &RequestContext<'_>, error: &ServiceError) -> HttpResponse {
    let format = cx.error_format;
    let mut reply = error_reply(cx, cx.accepted, format, error);
    if let Some(applied) = prefer(&cx.head.headers).filter(|_| cx.is_insert()) {
        reply = reply.with(ResponseHeader::PreferenceApplied, applied);
    }
    if format != ErrorFormat::OData {
        reply = reply.with(ResponseHeader::ErrorCode, error.code.name());
    }
    for (header, element) in COPY_SOURCE_HEADERS {
        if let Some(text) = error.detail_text(element) {
            reply = reply.with(header, text.to_owned());
        }
    }
    if error.status == 401 && error.code != ErrorCode::CannotVerifyCopySource {
        reply = reply.with(ResponseHeader::WwwAuthenticate, CHALLENGE);
    }
    if matches!(error.code, ErrorCode::ServerBusy | ErrorCode::OperationTimedOut) {
        reply = reply.with(ResponseHeader::RetryAfter, RETRY_AFTER_SECONDS);
    }
    if error.status == 304 {
        reply.body = ReplyBody::default();
        let is_kept = |kept: &ResponseHeader| {
            *kept == ResponseHeader::ErrorCode || COPY_SOURCE_HEADERS.iter().any(|(header, _)| header == kept)
        };
        reply.headers.retain(|(header, _)| format == ErrorFormat::Blob && is_kept(header));
    }
    if cx.head.method == Method::HEAD {
        // A type without a body makes the SDKs for .NET and C++ parse nothing as XML.
        reply.body = ReplyBody::default();
        reply.headers.retain(|(header, _)| *header != ResponseHeader::ContentType);
    }
    finish(cx, format, reply, !error.early)
}

/// An error as status, body and content type, in the format that the client reads.
pub(crate) fn error_reply(
    cx: &RequestContext<'_>,
    accepted: Accepted,
    format: ErrorFormat,
    error: &ServiceError,
) -> Reply {
    let reason = if format == ErrorFormat::OData { None } else { reason_phrase::of(error) };
    Reply { reason, ..rendered_error(cx, accepted, format, error) }
}

fn rendered_error(cx: &RequestContext<'_>, accepted: Accepted, format: ErrorFormat, error: &ServiceError) -> Reply {
    if matches!(format, ErrorFormat::Queue | ErrorFormat::Blob) {
        return xml_error_reply(cx, error);
    }
    let prefix = error.index.map_or(String::new(), |index| format!("{index}:"));
    let time = cx.now.to_seven_digits();
    let message = format!("{prefix}{}\nRequestId:{}\nTime:{time}", error.message, cx.request_id);
    let code = error.code.name();
    if accepted.wants_json() {
        let mut body =
            format!("{{\"odata.error\":{{\"code\":\"{code}\",\"message\":{{\"lang\":\"en-US\",\"value\":").into_bytes();
        append_json_string(&mut body, &message);
        body.extend_from_slice(b"}}}");
        if format == ErrorFormat::FrontEnd {
            return Reply::new(error.status, body).with(ResponseHeader::ContentType, "application/json");
        }
        return Reply::json(error.status, accepted.error_level(), body);
    }
    const NAMESPACE: &str = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata";
    let message = escape_xml(&message);
    if format == ErrorFormat::OData {
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?><error xmlns=\"{NAMESPACE}\">\
                 <code>{code}</code><message xml:lang=\"en-US\">{message}</message></error>"
        );
        return Reply::new(error.status, body.into_bytes())
            .with(ResponseHeader::ContentType, "application/xml;charset=utf-8");
    }
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><m:error xmlns:m=\"{NAMESPACE}\"><m:code>{code}</m:code>\
             <m:message xml:lang=\"en-US\">{message}</m:message></m:error>"
    );
    Reply::xml(error.status, body.into_bytes())
}

/// An error of queues and blobs, which have one format.
fn xml_error_reply(cx: &RequestContext<'_>, error: &ServiceError) -> Reply {
    let (code, time) = (error.code.name(), cx.now.to_seven_digits());
    let message = escape_xml(&error.message);
    let mut body = format!(
        "{BOM}<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>{code}</Code><Message>{message}\n\
             RequestId:{}\nTime:{time}</Message>",
        cx.request_id
    );
    for (element, text) in &error.details {
        let text = escape_xml(text);
        for piece in ["<", element, ">", &text, "</", element, ">"] {
            body.push_str(piece);
        }
    }
    body.push_str("</Error>");
    Reply::xml(error.status, body.into_bytes())
}

fn finish(cx: &RequestContext<'_>, format: ErrorFormat, reply: Reply, with_cache_control: bool) -> HttpResponse {
    let mut response = Response::new(reply.body.into_body(reply.permit));
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.reserve(reply.headers.len() + 8);
    for (header, value) in reply.headers {
        if let Some(value) = header_value(value) {
            headers.append(header.name(), value);
        }
    }
    let case = HeaderCase::of(reply.metadata.iter().map(|(name, _)| name.as_str()));
    for (name, value) in reply.metadata {
        // Stored names came in as headers. A name that cannot be one any more is left out.
        let name = HeaderName::try_from(["x-ms-meta-", &name].concat()).ok();
        if let (Some(name), Some(value)) = (name, header_value(Cow::Owned(value))) {
            headers.append(name, value);
        }
    }
    headers.insert(header::SERVER, format.server());
    if format == ErrorFormat::OData {
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if with_cache_control {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
    }
    let mut request_id = [0; 36];
    cx.request_id.hyphenated().encode_lower(&mut request_id);
    for (name, text) in [(REQUEST_ID, &request_id[..]), (VERSION, &cx.version.to_ascii())] {
        headers.insert(name, HeaderValue::from_bytes(text).expect("hexadecimal digits, hyphens and digits"));
    }
    if let Some(id) = &cx.client_request_id {
        headers.insert(CLIENT_REQUEST_ID, id.clone());
    }
    if !case.is_empty() {
        response.extensions_mut().insert(case);
    }
    if let Some(reason) = reply.reason {
        reason_phrase::set(response.extensions_mut(), reason);
    }
    response
}

/// The value of a header, or `None` if none can hold the text. Keys in addresses are percent-encoded, metadata came in as
/// headers and the rest is ours, so that does not happen; if it did, no header would be better than a wrong one.
fn header_value(text: Cow<'static, str>) -> Option<HeaderValue> {
    match text {
        Cow::Borrowed(text) => Some(HeaderValue::from_static(text)),
        Cow::Owned(text) => HeaderValue::from_maybe_shared(Bytes::from(text)).ok(),
    }
}

/// Escapes text for XML. Characters that XML cannot hold are replaced.
fn escape_xml(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let is_missing = |letter: char| letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}');
    text.replace(|letter: char| is_missing(letter) && !matches!(letter, '\n' | '\t'), "\u{fffd}")
}

/// The error for a token. Its status makes clients fetch a new one.
pub(crate) fn bad_token() -> ServiceError {
    ServiceError::new(ErrorCode::InvalidAuthenticationInfo).status(401)
}
