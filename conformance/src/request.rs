//! Writing one request: what the service needs by default, and a way to change each part of it.

use crate::Outcome;
use crate::clock;
use crate::encode::percent;
use crate::http::Connection;
use crate::response::Response;
use crate::target::{Endpoint, Endpoints, Target};
use crate::{sign, sign_headers};

/// The protocol version sent unless a case says otherwise: what the official clients send.
pub const VERSION: &str = "2019-02-02";
pub const MINIMAL: &str = "application/json;odata=minimalmetadata";
pub const NONE: &str = "application/json;odata=nometadata";
pub const FULL: &str = "application/json;odata=fullmetadata";

#[derive(Clone, Debug)]
enum Credential {
    SharedKey(Vec<u8>),
    SharedKeyLite(Vec<u8>),
    /// Whatever the case itself put in the headers or the query.
    AsGiven,
}

/// The parts that a signature covers, which differ between the services.
#[derive(Clone, Copy, Debug)]
enum Signed {
    /// Of the headers only a few: tables.
    ForTables,
    /// All `x-ms-` headers, and the whole query: queues and blobs.
    WithHeaders,
}

/// A request being written. Paths are relative to the service root and already percent-encoded.
#[derive(Clone, Debug)]
#[must_use]
pub struct Request<'a> {
    target: &'a Target,
    endpoint: &'a Endpoint,
    secondary: &'a Endpoint,
    signed: Signed,
    verb: String,
    path: String,
    query: Vec<String>,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
    credential: Credential,
}

impl<'a> Request<'a> {
    /// A request to the Table service.
    pub fn new(target: &'a Target, verb: &str, path: impl Into<String>) -> Self {
        let signed = Signed::ForTables;
        Self::plain(target, (&target.primary, &target.secondary), signed, verb, path.into())
            .header("Accept", MINIMAL)
            .header("DataServiceVersion", "3.0")
            .header("MaxDataServiceVersion", "3.0;NetFx")
    }

    /// A request to the Queue or the Blob service, which sign alike.
    pub fn signing_headers(target: &'a Target, at: &'a Endpoints, verb: &str, path: impl Into<String>) -> Self {
        Self::plain(target, (&at.primary, &at.secondary), Signed::WithHeaders, verb, path.into())
    }

    fn plain(
        target: &'a Target,
        (endpoint, secondary): (&'a Endpoint, &'a Endpoint),
        signed: Signed,
        verb: &str,
        path: String,
    ) -> Self {
        let request = Self {
            target,
            endpoint,
            secondary,
            signed,
            verb: verb.to_owned(),
            path,
            query: Vec::new(),
            headers: Vec::new(),
            body: None,
            credential: Credential::SharedKey(target.key.clone()),
        };
        request.header("x-ms-version", VERSION).header("x-ms-date", &clock::rfc1123(clock::now()))
    }

    /// Sets a header, replacing one of the same name.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a header in addition to any of the same name.
    pub fn another_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Adds a query parameter, encoding its value.
    pub fn query(self, name: &str, value: &str) -> Self {
        self.raw_query(&format!("{name}={}", percent(value)))
    }

    /// Adds parameters exactly as given, joined by `&`.
    pub fn raw_query(mut self, parameters: &str) -> Self {
        self.query.push(parameters.to_owned());
        self
    }

    pub fn version(self, version: &str) -> Self {
        self.header("x-ms-version", version)
    }

    pub fn accept(self, media_type: &str) -> Self {
        self.header("Accept", media_type)
    }

    pub fn if_match(self, etag: &str) -> Self {
        self.header("If-Match", etag)
    }

    pub fn prefer(self, preference: &str) -> Self {
        self.header("Prefer", preference)
    }

    /// A JSON body, as text or as a value.
    #[expect(clippy::needless_pass_by_value, reason = "cases write the body in place")]
    pub fn json(self, body: impl ToString) -> Self {
        self.header("Content-Type", "application/json").body(body.to_string())
    }

    pub fn xml(self, body: impl Into<Vec<u8>>) -> Self {
        self.header("Content-Type", "application/xml").accept("application/xml").body(body)
    }

    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    pub fn lite(mut self) -> Self {
        self.credential = Credential::SharedKeyLite(self.target.key.clone());
        self
    }

    /// Signs with another key than the account's, in the form already chosen.
    pub fn key(mut self, key: &[u8]) -> Self {
        self.credential = match self.credential {
            Credential::SharedKeyLite(_) => Credential::SharedKeyLite(key.to_vec()),
            _ => Credential::SharedKey(key.to_vec()),
        };
        self
    }

    /// No credential but what the case puts in headers and query itself.
    pub fn anonymous(mut self) -> Self {
        self.credential = Credential::AsGiven;
        self
    }

    pub fn authorization(self, value: &str) -> Self {
        self.anonymous().header("Authorization", value)
    }

    /// Authorised by the parameters of a shared access signature alone.
    pub fn sas(self, parameters: &str) -> Self {
        self.anonymous().without("x-ms-date").raw_query(parameters)
    }

    /// Sent to the secondary endpoint.
    pub fn at_secondary(mut self) -> Self {
        self.endpoint = self.secondary;
        self
    }

    /// The path on the wire, which is also the path that is signed.
    pub fn raw_path(&self) -> String {
        format!("{}{}", self.endpoint.prefix, self.path)
    }

    /// The request line's target.
    pub fn request_target(&self) -> String {
        match (self.query.is_empty(), self.raw_path()) {
            (true, path) if path.is_empty() => "/".to_owned(),
            (true, path) => path,
            (false, path) => format!("{path}?{}", self.query.join("&")),
        }
    }

    fn header_value(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    /// The right value of `Authorization`, for a case that sends it after changing something else.
    pub fn signed_authorization(&self) -> Option<String> {
        match self.signed {
            Signed::ForTables => self.authorization_for_tables(),
            Signed::WithHeaders => self.authorization_with_headers(),
        }
    }

    fn authorization_with_headers(&self) -> Option<String> {
        let parts = sign_headers::Parts {
            verb: &self.verb,
            account: &self.target.account,
            raw_path: &self.raw_path(),
            query: &self.query.join("&"),
            headers: &self.headers,
            content_length: self.body_bytes().len(),
        };
        let (scheme, key, string_to_sign) = match &self.credential {
            Credential::AsGiven => return None,
            Credential::SharedKeyLite(key) => ("SharedKeyLite", key, parts.shared_key_lite_string()),
            Credential::SharedKey(key) => ("SharedKey", key, parts.shared_key_string()),
        };
        Some(format!("{scheme} {}:{}", self.target.account, sign::signature(key, &string_to_sign)))
    }

    fn authorization_for_tables(&self) -> Option<String> {
        let mut pairs = self.query.iter().flat_map(|part| part.split('&')).filter_map(|pair| pair.split_once('='));
        let comp = pairs.find(|(name, _)| name.eq_ignore_ascii_case("comp")).map(|(_, value)| value);
        let resource = sign::canonical_resource(&self.target.account, &self.raw_path(), comp);
        let date = match self.header_value("x-ms-date") {
            "" => self.header_value("Date"),
            date => date,
        };
        let (scheme, key, string_to_sign) = match &self.credential {
            Credential::AsGiven => return None,
            Credential::SharedKeyLite(key) => ("SharedKeyLite", key, sign::shared_key_lite_string(date, &resource)),
            Credential::SharedKey(key) => {
                let (md5, content_type) = (self.header_value("Content-MD5"), self.header_value("Content-Type"));
                ("SharedKey", key, sign::shared_key_string(&self.verb, md5, content_type, date, &resource))
            }
        };
        Some(format!("{scheme} {}:{}", self.target.account, sign::signature(key, &string_to_sign)))
    }

    /// The request line and headers up to and including the empty line, without any framing of a body.
    pub fn head_with(&self, framing: &str) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: {}\r\n", self.verb, self.request_target(), self.host());
        if let Some(authorization) = self.signed_authorization() {
            head.push_str(&format!("Authorization: {authorization}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(framing);
        head.push_str("\r\n");
        head.into_bytes()
    }

    fn host(&self) -> String {
        self.endpoint.authority()
    }

    pub fn body_bytes(&self) -> &[u8] {
        self.body.as_deref().unwrap_or_default()
    }

    /// The whole request as bytes, framed by `Content-Length` as every client does.
    pub fn bytes(&self) -> Vec<u8> {
        let carries_body = self.body.is_some() || !matches!(self.verb.as_str(), "GET" | "HEAD" | "OPTIONS" | "DELETE");
        let framing = if carries_body && self.header_value("Content-Length").is_empty() {
            format!("Content-Length: {}\r\n", self.body_bytes().len())
        } else {
            String::new()
        };
        [self.head_with(&framing).as_slice(), self.body_bytes()].concat()
    }

    /// A line that names the request in messages.
    pub fn summary(&self) -> String {
        format!("{} {}", self.verb, self.request_target())
    }

    /// Sends it on a connection of its own.
    pub async fn send(self) -> Outcome<Response> {
        let summary = self.summary();
        let mut connection = Connection::open(self.endpoint).await?;
        let answer = connection.exchange(&self.bytes()).await;
        let answer = answer.map_err(|error| crate::Failure::new(format!("{summary}: no response: {error}")))?;
        Ok(Response::new(summary, answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_signed_over_the_path_as_sent() {
        let target = Target::parse("UseDevelopmentStorage=true").unwrap();
        let request = Request::new(&target, "GET", "/Tables").header("x-ms-date", "Wed, 01 Jan 2025 00:00:00 GMT");
        let expected = "SharedKey devstoreaccount1:G8Vl8edRL3EpFJRT9yz1V5CVUXYttoz8vvrt0i/gf5k=";
        assert_eq!(request.signed_authorization().as_deref(), Some(expected));
    }

    #[test]
    fn bodies_are_framed_by_their_length() {
        let target = Target::parse("UseDevelopmentStorage=true").unwrap();
        let text = |request: &Request| String::from_utf8(request.bytes()).unwrap();
        let insert = Request::new(&target, "POST", "/T").json("{}");
        assert!(text(&insert).ends_with("Content-Length: 2\r\n\r\n{}"));
        let read = Request::new(&target, "GET", "/T").query("$filter", "A eq 1");
        assert!(!text(&read).contains("Content-Length"));
        assert!(text(&read).starts_with("GET /devstoreaccount1/T?$filter=A%20eq%201 HTTP/1.1\r\n"));
    }
}
