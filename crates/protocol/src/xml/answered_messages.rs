//! The client's side of messages: the body that puts or updates one, and the lists that come back.

use super::reading::Element;
use super::writing::{push_element, push_text};
use crate::{ErrorCode, ServiceError, limits};

/// A list has at most so many messages, each in a body at most this large, and as much again around them.
const LIST_BYTES_MAX: usize = *limits::MESSAGES_COUNT.end() * limits::MESSAGE_BODY_BYTES_MAX * 2;

/// A message as a client reads it. Fields that the operation does not return are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AnsweredMessage {
    /// The id.
    pub id: String,
    /// The pop receipt, which an update or a deletion needs.
    pub pop_receipt: String,
    /// The number of times that the message was received.
    pub dequeue_count: u32,
    /// The text.
    pub text: String,
    /// The time of the insertion, as an HTTP date.
    pub inserted_on: String,
    /// The time of the expiry, as an HTTP date.
    pub expires_on: String,
    /// The time from which the message is visible, as an HTTP date.
    pub next_visible_on: String,
}

/// The body of Put and Update Message. Text that XML cannot represent, or that is too long, is an error.
pub fn render_message_text(text: &str) -> Result<String, ServiceError> {
    if text.len() > limits::MESSAGE_BYTES_MAX {
        return Err(ServiceError::body_too_large(limits::MESSAGE_BYTES_MAX as u64));
    }
    let is_char =
        |c: char| !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    if !text.chars().all(is_char) {
        return Err(ErrorCode::InvalidXmlDocument.into());
    }
    let mut out = String::with_capacity(text.len() + 64);
    push_element(&mut out, "QueueMessage", |out| push_text(out, "MessageText", text));
    Ok(out)
}

/// Parses the messages of a response to Put, Get or Peek.
pub fn parse_messages(document: &[u8]) -> Result<Vec<AnsweredMessage>, ServiceError> {
    let root = Element::parse_within(document, LIST_BYTES_MAX)?;
    if !root.is_named("QueueMessagesList") {
        return Err(ErrorCode::InvalidXmlDocument.into());
    }
    root.children().iter().map(AnsweredMessage::read).collect()
}

impl AnsweredMessage {
    fn read(element: &Element) -> Result<Self, ServiceError> {
        let text = |name: &str| element.child(name).map(Element::text).transpose().map(Option::unwrap_or_default);
        Ok(Self {
            id: element.required("MessageId")?.text()?.to_owned(),
            pop_receipt: text("PopReceipt")?.to_owned(),
            dequeue_count: element.child("DequeueCount").map(Element::number).transpose()?.unwrap_or_default(),
            text: text("MessageText")?.to_owned(),
            inserted_on: text("InsertionTime")?.to_owned(),
            expires_on: text("ExpirationTime")?.to_owned(),
            next_visible_on: text("TimeNextVisible")?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::{parse_message_text, render_messages};

    #[test]
    fn text_survives_its_body() {
        for text in ["", " x ", "a<b>&amp;\r\n\t", "東京 😀"] {
            let body = render_message_text(text).unwrap();
            assert_eq!(parse_message_text(body.as_bytes()).unwrap(), text);
        }
        assert!(render_message_text("\u{1}").is_err());
        assert!(render_message_text(&"a".repeat(limits::MESSAGE_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn lists_are_read_with_and_without_what_an_operation_tells() {
        let put = "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?><QueueMessagesList><QueueMessage>\
                   <MessageId>84cf0d9e</MessageId><InsertionTime>Thu, 09 May 2019 01:19:44 GMT</InsertionTime>\
                   <PopReceipt>AgAA+1QE=</PopReceipt></QueueMessage></QueueMessagesList>";
        let read = parse_messages(put.as_bytes()).unwrap();
        assert_eq!((read[0].id.as_str(), read[0].pop_receipt.as_str(), read.len()), ("84cf0d9e", "AgAA+1QE=", 1));
        assert_eq!((read[0].inserted_on.as_str(), read[0].expires_on.as_str()), ("Thu, 09 May 2019 01:19:44 GMT", ""));
        let got = put
            .replace("</PopReceipt>", "</PopReceipt><DequeueCount>3</DequeueCount><MessageText> &lt;x </MessageText>");
        let read = parse_messages(got.as_bytes()).unwrap();
        assert_eq!((read[0].dequeue_count, read[0].text.as_str()), (3, " <x "));
        assert!(parse_messages(render_messages([]).as_bytes()).unwrap().is_empty());
        assert!(parse_messages(b"<Other />").is_err());
    }
}
