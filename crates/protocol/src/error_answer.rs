//! The body of an error as a client reads it: JSON or XML, depending on the service and the `Accept` header of the request.

use serde::Deserialize;

use crate::xml::reading::Element;

/// The content of an error body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorAnswer {
    /// As the wire spells it: there are codes that we do not know.
    pub code: String,
    /// The service's text, without the lines that repeat the request's id and the time, and without the index.
    pub message: String,
    /// The zero-based operation of a group transaction that failed.
    pub index: Option<usize>,
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "odata.error")]
    error: DocumentError,
}

#[derive(Deserialize)]
struct DocumentError {
    code: String,
    #[serde(default)]
    message: DocumentMessage,
}

#[derive(Deserialize, Default)]
struct DocumentMessage {
    #[serde(default)]
    value: String,
}

impl ErrorAnswer {
    /// Reads a body; `None` if it is not an error that the services send.
    pub fn parse(body: &[u8]) -> Option<Self> {
        let (code, text) = match serde_json::from_slice::<Document>(body) {
            Ok(Document { error }) => (error.code, error.message.value),
            Err(_) => parse_xml(body)?,
        };
        let message = text.split("\nRequestId:").next().unwrap_or_default().trim_end();
        let (index, message) = split_index(message);
        Some(Self { code, message: message.to_owned(), index })
    }
}

/// Roots and prefixes differ between the services, the two elements do not but for their case.
fn parse_xml(body: &[u8]) -> Option<(String, String)> {
    let root = Element::parse(body).ok()?;
    let text = |names: [&str; 2]| {
        let element = names.iter().find_map(|name| root.child(name))?;
        element.text().ok().map(str::to_owned)
    };
    if !root.is_named("error") && !root.is_named("Error") {
        return None;
    }
    Some((text(["code", "Code"])?, text(["message", "Message"]).unwrap_or_default()))
}

/// In a group the service writes `2:` before its message.
fn split_index(message: &str) -> (Option<usize>, &str) {
    match message.split_once(':').map(|(digits, rest)| (digits.parse(), rest)) {
        Some((Ok(index), rest)) => (Some(index), rest),
        _ => (None, message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_voice_of_the_service_is_understood() {
        let json = br#"{"odata.error":{"code":"EntityAlreadyExists","message":{"lang":"en-US",
            "value":"2:The specified entity already exists.\nRequestId:1\nTime:2020-09-15T23:02:11.9673908Z"}}}"#;
        let xml = "\u{feff}<?xml version=\"1.0\"?><m:error xmlns:m=\"x\"><m:code>EntityAlreadyExists</m:code>\
            <m:message xml:lang=\"en-US\">2:The specified entity already exists.\nRequestId:1</m:message></m:error>";
        let expected = ErrorAnswer {
            code: "EntityAlreadyExists".into(),
            message: "The specified entity already exists.".into(),
            index: Some(2),
        };
        assert_eq!(ErrorAnswer::parse(json).as_ref(), Some(&expected));
        assert_eq!(ErrorAnswer::parse(xml.as_bytes()), Some(expected));
        let queue = b"<Error><Code>QueueNotFound</Code><Message>Time: none.</Message></Error>";
        let answer = ErrorAnswer::parse(queue).unwrap();
        assert_eq!((answer.code.as_str(), answer.message.as_str()), ("QueueNotFound", "Time: none."));
    }

    #[test]
    fn what_a_proxy_says_is_no_answer_of_the_service() {
        for body in ["", "bad gateway", "<html><code>x</code></html>", "{}", "[1]"] {
            assert_eq!(ErrorAnswer::parse(body.as_bytes()), None, "{body}");
        }
    }
}
