//! What came back, and the usual questions about it.

use serde_json::Value;

use crate::expect::{Failure, Outcome, ensure, equal, shorten};
use crate::http::Answer;
use crate::{pattern, xml};

/// A response, with a summary of its request for the messages.
#[derive(Debug)]
pub struct Response {
    request: String,
    answer: Answer,
}

/// The error in a body, without the two lines that follow the message.
#[derive(Debug, PartialEq, Eq)]
pub struct ServiceError {
    pub code: String,
    pub message: String,
}

impl Response {
    pub fn new(request: String, answer: Answer) -> Self {
        Self { request, answer }
    }

    pub fn status(&self) -> u16 {
        self.answer.status
    }

    /// The reason phrase of the status line.
    pub fn reason(&self) -> &str {
        &self.answer.reason
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.answer.header(name)
    }

    /// The body as text; bytes that are not UTF-8 show as replacement characters.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.answer.body).into_owned()
    }

    fn failure(&self, expected: &str) -> Failure {
        let (status, reason) = (self.answer.status, &self.answer.reason);
        let body = shorten(&self.text());
        Failure::new(format!("{}: expected {expected}, got {status} {reason} {body}", shorten(&self.request)))
    }

    pub fn expect(&self, status: u16) -> Outcome<&Self> {
        if self.answer.status == status { Ok(self) } else { Err(self.failure(&status.to_string())) }
    }

    pub fn expect_one_of(&self, statuses: &[u16]) -> Outcome<&Self> {
        if statuses.contains(&self.answer.status) {
            Ok(self)
        } else {
            Err(self.failure(&format!("one of {statuses:?}")))
        }
    }

    /// Any response that rejects the request as the client's fault, or as not implemented.
    pub fn expect_refusal(&self) -> Outcome<&Self> {
        let refused = (400..500).contains(&self.answer.status) || self.answer.status == 501;
        if refused { Ok(self) } else { Err(self.failure("an error (4xx or 501)")) }
    }

    /// An error with that status and code.
    pub fn expect_code(&self, status: u16, code: &str) -> Outcome<&Self> {
        self.expect_any_code(&[(status, code)])
    }

    /// An error that is one of several the reference leaves open.
    pub fn expect_any_code(&self, accepted: &[(u16, &str)]) -> Outcome<&Self> {
        let code = self.error().map(|error| error.code).unwrap_or_default();
        if accepted.contains(&(self.answer.status, code.as_str())) {
            return Ok(self);
        }
        let names: Vec<String> = accepted.iter().map(|(status, code)| format!("{status} {code}")).collect();
        Err(self.failure(&names.join(" or ")))
    }

    /// An error with that status, code and message.
    pub fn expect_error(&self, status: u16, code: &str, message: &str) -> Outcome<&Self> {
        self.expect_code(status, code)?;
        if self.error()?.message != message {
            return Err(self.failure(&format!("the message {message:?}")));
        }
        Ok(self)
    }

    /// Reads the error of the body in any of the service's three forms, or in the one of blobs and queues: which
    /// form a response should have is the subject of other cases, so that these can check the code.
    pub fn error(&self) -> Outcome<ServiceError> {
        let text = self.text();
        let (code, message) = if text.starts_with('{') { json_error(&text) } else { xml_error(&text) }
            .ok_or_else(|| self.failure("an error body of the service"))?;
        let message = message.split("\nRequestId:").next().unwrap_or_default().to_owned();
        Ok(ServiceError { code, message })
    }

    pub fn expect_header(&self, name: &str, value: &str) -> Outcome<&Self> {
        equal(format_args!("{}: header {name}", self.request), self.header(name), Some(value))?;
        Ok(self)
    }

    pub fn expect_no_header(&self, name: &str) -> Outcome<&Self> {
        equal(format_args!("{}: header {name}", self.request), self.header(name), None::<&str>)?;
        Ok(self)
    }

    pub fn expect_no_body(&self) -> Outcome<&Self> {
        ensure(self.answer.body.is_empty(), || self.failure("no body").message)?;
        ensure(matches!(self.header("Content-Length"), None | Some("0")), || self.failure("no length").message)?;
        Ok(self)
    }

    /// The body is exactly what the template describes.
    pub fn expect_body(&self, template: &str) -> Outcome<&Self> {
        pattern::expect_matches(&self.request, &self.text(), template)?;
        Ok(self)
    }

    pub fn expect_body_contains(&self, part: &str) -> Outcome<&Self> {
        if self.text().contains(part) { Ok(self) } else { Err(self.failure(&format!("a body with {part}"))) }
    }

    pub fn expect_body_lacks(&self, part: &str) -> Outcome<&Self> {
        if self.text().contains(part) { Err(self.failure(&format!("a body without {part}"))) } else { Ok(self) }
    }

    pub fn json(&self) -> Outcome<Value> {
        serde_json::from_slice(&self.answer.body).map_err(|error| self.failure(&format!("JSON ({error})")))
    }

    pub fn xml(&self) -> Outcome<xml::Element> {
        xml::parse(&self.text())
    }

    /// The `ETag` header, which must be there.
    pub fn etag(&self) -> Outcome<String> {
        self.header("ETag").map(str::to_owned).ok_or_else(|| self.failure("an ETag header"))
    }

    /// The items of a collection.
    pub fn items(&self) -> Outcome<Vec<Value>> {
        self.expect(200)?;
        match self.json()?.get("value") {
            Some(Value::Array(items)) => Ok(items.clone()),
            _ => Err(self.failure("a collection")),
        }
    }

    /// One string property of each item of a collection, in order.
    pub fn column(&self, property: &str) -> Outcome<Vec<String>> {
        let text = |item: &Value| item[property].as_str().unwrap_or("(absent)").to_owned();
        Ok(self.items()?.iter().map(text).collect())
    }
}

fn json_error(text: &str) -> Option<(String, String)> {
    let body: Value = serde_json::from_str(text).ok()?;
    let error = body.get("odata.error")?;
    let field = |value: &Value| value.as_str().map(str::to_owned);
    Some((field(error.get("code")?)?, field(error.get("message")?.get("value")?)?))
}

fn xml_error(text: &str) -> Option<(String, String)> {
    let root = xml::parse(text).ok()?;
    let (code, message) = match root.name.as_str() {
        "error" => ("code", "message"),
        "m:error" => ("m:code", "m:message"),
        "Error" => ("Code", "Message"),
        _ => return None,
    };
    Some((root.at(code)?.to_owned(), root.at(message)?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(body: &str) -> Response {
        let answer = Answer { status: 404, reason: "Not Found".into(), headers: vec![], body: body.into() };
        Response::new("GET /x".into(), answer)
    }

    #[test]
    fn errors_are_read_in_every_form() {
        let json = r#"{"odata.error":{"code":"C","message":{"lang":"en-US","value":"M\nRequestId:1\nTime:2"}}}"#;
        let odata = "<error xmlns=\"x\"><code>C</code><message xml:lang=\"en-US\">M\nRequestId:1</message></error>";
        let front_end = "<m:error xmlns:m=\"x\"><m:code>C</m:code><m:message>M\nRequestId:1</m:message></m:error>";
        let of_blobs = "<Error><Code>C</Code><Message>M\nRequestId:1</Message></Error>";
        for body in [json, odata, front_end, of_blobs] {
            assert!(response(body).expect_error(404, "C", "M").is_ok(), "{body}");
        }
        assert!(response("<html></html>").error().is_err());
    }

    #[test]
    fn a_mismatch_names_both_sides() {
        let failure = response("{}").expect(200).unwrap_err();
        assert_eq!(failure.message, "GET /x: expected 200, got 404 Not Found {}");
    }
}
