//! Requests from inputs, and responses from the wire.

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use tablerock_protocol::signing::AccountKey;
use tablerock_protocol::{QueryString, Service};

use super::signing::{SIGNATURE_PLACE, Signed, sas_string};
use super::state::Places;

/// Headers that belong to the connection, which is the harness's.
const CONNECTION_HEADERS: [&str; 8] =
    ["connection", "content-length", "expect", "host", "http2-settings", "te", "transfer-encoding", "upgrade"];
const HEADERS_MAX: usize = 40;
/// The clock of the server under test, in the words of HTTP.
pub(super) const DATE: &str = "Wed, 28 Sep 2022 22:13:20 GMT";

/// The service that an input is for: that of tables unless its first word names another.
pub(super) fn service_of(data: &[u8]) -> (Service, &[u8]) {
    for (word, service) in [(&b"queue "[..], Service::Queue), (b"blob ", Service::Blob)] {
        if let Some(rest) = data.strip_prefix(word) {
            return (service, rest);
        }
    }
    (Service::Table, data)
}

pub(crate) struct Outgoing {
    pub(crate) service: Service,
    pub(crate) method: String,
    pub(crate) target: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Outgoing {
    /// `None` unless a client could send it: requests that HTTP itself rejects are hyper's business.
    pub(crate) fn parse(data: &[u8], places: &Places) -> Option<Self> {
        let (service, data) = service_of(data);
        let data = with_places(data, places);
        let mut rest = data.as_slice();
        let mut line = || {
            let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            let line = &rest[..end];
            rest = rest.get(end + 1..).unwrap_or_default();
            line
        };
        let (method, target) = std::str::from_utf8(line()).ok()?.split_once(' ')?;
        let is_request = Method::try_from(method).ok()? != Method::CONNECT && target.starts_with('/');
        if !is_request || !target.is_ascii() || target.contains('#') {
            return None;
        }
        Uri::try_from(target).ok()?;
        let mut headers = HeaderMap::new();
        loop {
            let line = line();
            if line.is_empty() {
                break;
            }
            let colon = line.iter().position(|&byte| byte == b':')?;
            let name = HeaderName::from_bytes(line[..colon].trim_ascii()).ok()?;
            if CONNECTION_HEADERS.contains(&name.as_str()) || headers.len() == HEADERS_MAX {
                return None;
            }
            headers.append(name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?);
        }
        Some(Self { service, method: method.to_owned(), target: target.to_owned(), headers, body: rest.to_vec() })
    }

    /// The request as it goes out, signed unless it has credentials of its own.
    pub(crate) fn to_wire(&self, key: &AccountKey, date: &str) -> Vec<u8> {
        let target = self.target_with_sas(key).unwrap_or_else(|| self.target.clone());
        let mut out = format!("{} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n", self.method).into_bytes();
        let mut line = |name: &str, value: &[u8]| {
            out.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
        };
        for (name, value) in &self.headers {
            line(name.as_str(), value.as_bytes());
        }
        for (name, value) in self.signed(key, date) {
            line(name, value.as_bytes());
        }
        if let Some(length) = self.announced_length() {
            line("content-length", length.to_string().as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.body);
        out
    }

    fn announced_length(&self) -> Option<usize> {
        let is_usual = !matches!(self.method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS");
        (is_usual || !self.body.is_empty()).then_some(self.body.len())
    }

    /// The target with the signature that its SAS needs in the place that is kept for it.
    fn target_with_sas(&self, key: &AccountKey) -> Option<String> {
        let (path, query) = self.target.split_once('?').filter(|(_, query)| query.contains(SIGNATURE_PLACE))?;
        let signed = sas_string(self.service, path, &QueryString::parse(query).ok()?)?;
        let signature = key.sign(&signed).replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
        Some(self.target.replace(SIGNATURE_PLACE, &format!("sig={signature}")))
    }

    /// Whether the request is about a part of its resource, which `comp` names.
    pub(super) fn has_part(&self) -> bool {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        QueryString::parse(query).is_ok_and(|query| query.value("comp").is_some())
    }

    /// Whether the request only reads. A GET of messages hides them from others.
    pub(super) fn is_read(&self) -> bool {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let query = QueryString::parse(query).unwrap_or_default();
        let only_looks = query.value("peekonly").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let gives_out = self.service == Service::Queue && query.value("comp").is_none() && !only_looks;
        match self.method.as_str() {
            "GET" => !gives_out,
            method => matches!(method, "HEAD" | "OPTIONS"),
        }
    }

    /// Whether the request comes with a SAS for reading and listing only.
    pub(super) fn is_bound_to_read(&self) -> bool {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let Ok(query) = QueryString::parse(query) else { return false };
        let permissions = query.raw_value("sp").unwrap_or_default();
        let has_sas = query.raw_value("sig").is_some() && !self.headers.contains_key("authorization");
        has_sas && permissions.chars().all(|letter| matches!(letter, 'r' | 'l'))
    }

    /// The headers that a signature adds; none for a request with credentials of its own, or with a word that asks for
    /// none.
    fn signed(&self, key: &AccountKey, date: &str) -> Vec<(&'static str, String)> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let query = QueryString::parse(query).unwrap_or_default();
        let is_anonymous = self.service == Service::Blob && query.raw_value("anonymous").is_some();
        if self.headers.contains_key("authorization") || query.raw_value("sig").is_some() || is_anonymous {
            return vec![];
        }
        let (method, target) = (self.method.as_str(), self.target.as_str());
        let body_length = self.announced_length();
        Signed { service: self.service, method, target, headers: &self.headers, body_length, date }.headers(key)
    }
}

/// The input with the server's own texts where words stand for them.
fn with_places(data: &[u8], places: &Places) -> Vec<u8> {
    let mut data = data.to_vec();
    for (word, text) in places {
        let word = word.as_bytes();
        while let Some(at) = data.windows(word.len()).position(|window| window == word) {
            data.splice(at..at + word.len(), text.bytes());
        }
    }
    data
}

pub(crate) struct Incoming {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Incoming {
    /// Reads a response's head, if all of it is there; and how many bytes it takes.
    pub(crate) fn parse_head(bytes: &[u8]) -> Option<(Self, usize)> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).expect("a response's head is text");
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(':').expect("a header has a colon");
            (name.to_ascii_lowercase(), value.trim().to_owned())
        });
        let status = status.expect("a response has a status");
        Some((Self { status, headers: headers.collect(), body: Vec::new() }, end + 4))
    }

    pub(crate) fn body_length(&self, method: &str) -> usize {
        if method == "HEAD" || matches!(self.status, 204 | 304) {
            return 0;
        }
        let length = self.header("content-length").and_then(|length| length.parse().ok());
        length.expect("our responses announce their length")
    }

    pub(crate) fn header(&self, wanted: &str) -> Option<&str> {
        self.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    pub(super) fn text(&self) -> String {
        format!("{:?} {}", self.headers, String::from_utf8_lossy(&self.body))
    }

    /// The statuses of the parts of a batch's response. JSON has no line that could be taken for one.
    pub(super) fn part_statuses(&self) -> Vec<u16> {
        if !self.header("content-type").is_some_and(|value| value.starts_with("multipart/mixed")) {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(&self.body);
        let lines = text.lines().filter_map(|line| line.strip_prefix("HTTP/1.1 "));
        lines.filter_map(|line| line.split(' ').next()?.parse().ok()).collect()
    }

    /// Whether the server will close the connection after this response.
    pub(crate) fn is_last(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}
