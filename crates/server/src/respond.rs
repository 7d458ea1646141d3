//! Answers and failures as HTTP. This is the one place that renders an error.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use tablerock_protocol::json::append_json_string;
use tablerock_protocol::xml::BOM;
use tablerock_protocol::{Accepted, DateTime, ErrorCode, ServiceError, ServiceVersion, Uuid, limits};

use crate::answer::{Answer, AnswerBody};
use crate::content::Content;
use crate::headers::{AnswerHeader, CLIENT_REQUEST_ID, REQUEST_ID, VERSION};
use crate::spelling::SpelledNames;

pub(crate) type HttpResponse = Response<Content>;

const SERVER_TABLE: HeaderValue = HeaderValue::from_static("Windows-Azure-Table/1.0 Microsoft-HTTPAPI/2.0");
const SERVER_QUEUE: HeaderValue = HeaderValue::from_static("Windows-Azure-Queue/1.0 Microsoft-HTTPAPI/2.0");
const SERVER_BLOB: HeaderValue = HeaderValue::from_static("Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0");
const SERVER_FRONT_END: HeaderValue = HeaderValue::from_static("Microsoft-HTTPAPI/2.0");
const CHALLENGE: &str = "Bearer authorization_uri=https://login.microsoftonline.com/common/oauth2/authorize \
                         resource_id=https://storage.azure.com";

/// When a client may come again whose request could not be served for now. It is the least that the header can say: the
/// SDKs wait longer from time to time by themselves.
const RETRY_AFTER_SECONDS: &str = "1";

/// Which part of the service speaks; its answers differ in headers and in the form of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// Authentication, and whatever fails before an operation is known.
    FrontEnd,
    /// Operations with XML bodies.
    Xml,
    /// Everything about tables and entities.
    OData,
    /// The Queue service, whatever it says.
    Queue,
    /// The Blob service, whatever it says.
    Blob,
}

impl Voice {
    const fn server(self) -> HeaderValue {
        match self {
            Self::FrontEnd => SERVER_FRONT_END,
            Self::Xml | Self::OData => SERVER_TABLE,
            Self::Queue => SERVER_QUEUE,
            Self::Blob => SERVER_BLOB,
        }
    }
}

/// What every response of a request needs.
#[derive(Debug)]
pub(crate) struct Envelope {
    pub(crate) request_id: Uuid,
    pub(crate) client_request_id: Option<HeaderValue>,
    pub(crate) version: ServiceVersion,
    pub(crate) accepted: Accepted,
    pub(crate) now: DateTime,
}

impl Envelope {
    pub(crate) fn new(request_id: Uuid, headers: &HeaderMap, now: DateTime) -> Self {
        let client_request_id = headers.get(CLIENT_REQUEST_ID).filter(|id| is_echoed(id)).cloned();
        let accepted = Accepted::negotiate(None, accept(headers), ServiceVersion::LATEST);
        Self { request_id, client_request_id, version: ServiceVersion::LATEST, accepted, now }
    }

    pub(crate) fn success(&self, voice: Voice, answer: Answer) -> HttpResponse {
        self.finish(voice, answer, true)
    }

    pub(crate) fn failure(&self, voice: Voice, error: &ServiceError, prefer: Option<&'static str>) -> HttpResponse {
        let mut answer = self.error_answer(voice, error);
        if let Some(applied) = prefer {
            answer = answer.with(AnswerHeader::PreferenceApplied, applied);
        }
        if voice != Voice::OData {
            answer = answer.with(AnswerHeader::ErrorCode, error.code.name());
        }
        if error.status == 401 {
            answer = answer.with(AnswerHeader::WwwAuthenticate, CHALLENGE);
        }
        if matches!(error.code, ErrorCode::ServerBusy | ErrorCode::OperationTimedOut) {
            answer = answer.with(AnswerHeader::RetryAfter, RETRY_AFTER_SECONDS);
        }
        if error.status == 304 {
            answer.body = AnswerBody::default();
            answer.headers.retain(|(header, _)| voice == Voice::Blob && *header == AnswerHeader::ErrorCode);
        }
        self.finish(voice, answer, !error.early)
    }

    /// An error as body and content type, in the format that the client reads.
    pub(crate) fn error_answer(&self, voice: Voice, error: &ServiceError) -> Answer {
        if matches!(voice, Voice::Queue | Voice::Blob) {
            return self.plain_error_answer(error);
        }
        let prefix = error.index.map_or(String::new(), |index| format!("{index}:"));
        let time = self.now.to_seven_digits();
        let message = format!("{prefix}{}\nRequestId:{}\nTime:{time}", error.message, self.request_id);
        let code = error.code.name();
        if self.accepted.wants_json() {
            let mut body =
                format!("{{\"odata.error\":{{\"code\":\"{code}\",\"message\":{{\"lang\":\"en-US\",\"value\":")
                    .into_bytes();
            append_json_string(&mut body, &message);
            body.extend_from_slice(b"}}}");
            if voice == Voice::FrontEnd {
                return Answer::new(error.status, body).with(AnswerHeader::ContentType, "application/json");
            }
            return Answer::json(error.status, self.accepted.error_level(), body);
        }
        const NAMESPACE: &str = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata";
        let message = escape_xml(&message);
        if voice == Voice::OData {
            let body = format!(
                "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?><error xmlns=\"{NAMESPACE}\">\
                 <code>{code}</code><message xml:lang=\"en-US\">{message}</message></error>"
            );
            return Answer::new(error.status, body.into_bytes())
                .with(AnswerHeader::ContentType, "application/xml;charset=utf-8");
        }
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><m:error xmlns:m=\"{NAMESPACE}\"><m:code>{code}</m:code>\
             <m:message xml:lang=\"en-US\">{message}</m:message></m:error>"
        );
        Answer::xml(error.status, body.into_bytes())
    }

    /// An error of queues and blobs, which have one format.
    fn plain_error_answer(&self, error: &ServiceError) -> Answer {
        let (code, time) = (error.code.name(), self.now.to_seven_digits());
        let message = escape_xml(&error.message);
        let mut body = format!(
            "{BOM}<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>{code}</Code><Message>{message}\n\
             RequestId:{}\nTime:{time}</Message>",
            self.request_id
        );
        for (element, text) in &error.details {
            let text = escape_xml(text);
            for piece in ["<", element, ">", &text, "</", element, ">"] {
                body.push_str(piece);
            }
        }
        body.push_str("</Error>");
        Answer::xml(error.status, body.into_bytes())
    }

    fn finish(&self, voice: Voice, answer: Answer, cacheable_header: bool) -> HttpResponse {
        let mut response = Response::new(answer.body.into_content(answer.place));
        *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.reserve(answer.headers.len() + 8);
        for (header, value) in answer.headers {
            headers.append(header.name(), header_value(value));
        }
        let spelled = SpelledNames::of(answer.metadata.iter().map(|(name, _)| name.as_str()));
        for (name, value) in answer.metadata {
            // A stored name came in as a header's; one that could not go out as such is left out.
            if let Ok(name) = HeaderName::try_from(["x-ms-meta-", &name].concat()) {
                headers.append(name, header_value(Cow::Owned(value)));
            }
        }
        headers.insert(header::SERVER, voice.server());
        if voice == Voice::OData {
            headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            if cacheable_header {
                headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            }
        }
        let mut request_id = [0; 36];
        self.request_id.hyphenated().encode_lower(&mut request_id);
        for (name, text) in [(REQUEST_ID, &request_id[..]), (VERSION, &self.version.to_ascii())] {
            headers.insert(name, HeaderValue::from_bytes(text).expect("hexadecimal digits, hyphens and digits"));
        }
        if let Some(id) = &self.client_request_id {
            headers.insert(CLIENT_REQUEST_ID, id.clone());
        }
        if !spelled.is_empty() {
            response.extensions_mut().insert(spelled);
        }
        response
    }
}

pub(crate) fn accept(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::ACCEPT).and_then(|value| value.to_str().ok())
}

/// A client's own id comes back if it is visible ASCII of reasonable length.
fn is_echoed(id: &HeaderValue) -> bool {
    let visible = id.as_bytes().iter().all(|byte| (0x20..0x7f).contains(byte));
    visible && (1..=limits::CLIENT_REQUEST_ID_BYTES_MAX).contains(&id.len())
}

fn header_value(text: Cow<'static, str>) -> HeaderValue {
    let value = match text {
        Cow::Borrowed(text) => return HeaderValue::from_static(text),
        Cow::Owned(text) => HeaderValue::from_maybe_shared(Bytes::from(text)),
    };
    // Keys in addresses are percent-encoded and the rest is ours, so this cannot fail; if it did, an empty header
    // would harm less than a panic.
    value.unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// Text as XML has it. What a client sent may hold characters that XML has no form for.
fn escape_xml(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace(|letter: char| letter.is_control() && !matches!(letter, '\n' | '\t'), "\u{fffd}")
}

/// A refusal of a token needs the status that makes clients fetch a new one.
pub(crate) fn bad_token() -> ServiceError {
    ServiceError::new(ErrorCode::InvalidAuthenticationInfo).status(401)
}
