//! Entity group transactions: writing the multipart request, reading the multipart response.

use crate::expect::{Failure, Outcome, ensure, equal};
use crate::http::Answer;
use crate::request::Request;
use crate::response::Response;
use crate::session::Session;
use crate::table::Table;

pub const BATCH_BOUNDARY: &str = "batch_a1e9d677-b28b-435e-a89e-87e6a768a431";
pub const CHANGESET_BOUNDARY: &str = "changeset_8a28b620-b4bb-458c-a177-0959fb14c977";

/// One operation of a group.
#[derive(Clone, Debug)]
#[must_use]
pub struct Part {
    pub verb: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// Headers of the MIME part around the operation, in addition to the two that are always there.
    pub mime_headers: Vec<(String, String)>,
}

impl Part {
    #[expect(clippy::needless_pass_by_value, reason = "cases write the body in place")]
    pub fn new(verb: &str, url: impl Into<String>, body: impl ToString) -> Self {
        let mut part =
            Self { verb: verb.into(), url: url.into(), headers: vec![], body: body.to_string(), mime_headers: vec![] };
        part = part.header("Accept", "application/json;odata=minimalmetadata").header("DataServiceVersion", "3.0");
        if part.body.is_empty() { part } else { part.header("Content-Type", "application/json") }
    }

    /// An insert that asks for no content, as most clients do.
    pub fn insert(table: &Table, base: &str, entity: impl ToString) -> Self {
        Self::new("POST", format!("{base}{}", table.path()), entity).header("Prefer", "return-no-content")
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub fn mime_header(mut self, name: &str, value: &str) -> Self {
        self.mime_headers.push((name.into(), value.into()));
        self
    }

    /// The operation itself, from its request line to its body.
    pub fn operation_text(&self) -> String {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.verb, self.url);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        format!("{text}\r\n{}\r\n", self.body)
    }

    fn text(&self) -> String {
        let mut text = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n".to_owned();
        for (name, value) in &self.mime_headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        format!("{text}\r\n{}", self.operation_text())
    }
}

/// The body of a batch with one changeset.
pub fn changeset_body(parts: &[Part]) -> String {
    let mut body =
        format!("--{BATCH_BOUNDARY}\r\nContent-Type: multipart/mixed; boundary={CHANGESET_BOUNDARY}\r\n\r\n");
    for part in parts {
        body.push_str(&format!("--{CHANGESET_BOUNDARY}\r\n{}", part.text()));
    }
    body.push_str(&format!("--{CHANGESET_BOUNDARY}--\r\n--{BATCH_BOUNDARY}--\r\n"));
    body
}

/// The body of a batch with one query and no changeset.
pub fn query_body(part: &Part) -> String {
    format!("--{BATCH_BOUNDARY}\r\n{}--{BATCH_BOUNDARY}--\r\n", part.text())
}

/// A batch request with that body.
pub fn request<'s>(at: &'s Session, body: impl Into<Vec<u8>>) -> Request<'s> {
    let content_type = format!("multipart/mixed; boundary={BATCH_BOUNDARY}");
    at.post("/$batch").header("Content-Type", &content_type).body(body)
}

/// Sends one changeset.
pub async fn send(at: &Session, parts: &[Part]) -> Outcome<Response> {
    request(at, changeset_body(parts)).send().await
}

/// Sends one changeset that must succeed, and returns the responses of its operations.
pub async fn commit(at: &Session, parts: &[Part]) -> Outcome<Vec<Response>> {
    let answers = changeset_answers(&send(at, parts).await?)?;
    equal("responses of the changeset", answers.len(), parts.len())?;
    for answer in &answers {
        answer.expect_one_of(&[201, 204])?;
    }
    Ok(answers)
}

/// Fails unless the changeset was refused as a whole: 202 with a single part holding that error.
pub fn expect_failed(response: &Response, status: u16, code: &str, message: &str) -> Outcome {
    let answers = changeset_answers(response)?;
    equal("parts of a failed changeset", answers.len(), 1)?;
    answers[0].expect_error(status, code, message)?;
    Ok(())
}

/// The responses inside the changeset of a 202.
pub fn changeset_answers(response: &Response) -> Outcome<Vec<Response>> {
    response.expect(202)?;
    let content_type = response.header("Content-Type").unwrap_or_default();
    let outer = sections(&response.text(), content_type)?;
    equal("parts of the batch response", outer.len(), 1)?;
    let (head, body) = split_head(&outer[0])?;
    let inner = sections(body, header_of(head, "Content-Type").unwrap_or_default())?;
    inner.iter().enumerate().map(|(index, section)| operation_answer(index, section)).collect()
}

/// The response of a batch that held a single query.
pub fn query_answer(response: &Response) -> Outcome<Response> {
    response.expect(202)?;
    let outer = sections(&response.text(), response.header("Content-Type").unwrap_or_default())?;
    equal("parts of the batch response", outer.len(), 1)?;
    operation_answer(0, &outer[0])
}

/// The texts between the boundaries that a content type names.
fn sections(text: &str, content_type: &str) -> Outcome<Vec<String>> {
    let boundary = content_type.split("boundary=").nth(1).map(|rest| rest.trim_matches('"'));
    let boundary = boundary.ok_or_else(|| Failure::new(format!("no boundary in the content type {content_type:?}")))?;
    let delimiter = format!("--{boundary}");
    let mut pieces: Vec<&str> = text.split(&delimiter).collect();
    let closing = pieces.pop().unwrap_or_default();
    ensure(closing.starts_with("--"), || format!("the multipart body is not closed: {text}"))?;
    Ok(pieces.into_iter().skip(1).map(|piece| piece.trim_start_matches("\r\n").to_owned()).collect())
}

fn split_head(section: &str) -> Outcome<(&str, &str)> {
    section.split_once("\r\n\r\n").ok_or_else(|| Failure::new(format!("a part has no empty line: {section}")))
}

fn header_of<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let lines = head.split("\r\n").filter_map(|line| line.split_once(": "));
    lines.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

fn operation_answer(index: usize, section: &str) -> Outcome<Response> {
    let (mime_head, operation) = split_head(section)?;
    equal("type of a part", header_of(mime_head, "Content-Type"), Some("application/http"))?;
    let (head, body) = split_head(operation)?;
    let (status_line, headers) = head.split_once("\r\n").unwrap_or((head, ""));
    let status = status_line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.ok_or_else(|| Failure::new(format!("not a status line: {status_line}")))?;
    let pairs = headers.split("\r\n").filter_map(|line| line.split_once(": "));
    let answer = Answer {
        status,
        reason: status_line.get(13..).unwrap_or_default().to_owned(),
        headers: pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        body: body.trim_end_matches("\r\n").as_bytes().to_vec(),
    };
    Ok(Response::new(format!("part {index} of the batch"), answer))
}
