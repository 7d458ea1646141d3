//! Messages of a queue: the body of Put and Update Message, and the lists that Put, Get and Peek return.

use super::reading::Element;
use super::writing::{DECLARATION, push_element, push_text};
use crate::{DateTime, ErrorCode, PopReceipt, ServiceError, Uuid, limits};

const MESSAGE: &str = "QueueMessage";

/// The text of the message in a body, exactly as it was before XML had to carry it. Markup that was not escaped is
/// not part of it.
pub fn parse_message_text(document: &[u8]) -> Result<String, ServiceError> {
    if document.len() > limits::MESSAGE_BODY_BYTES_MAX {
        return Err(ServiceError::body_too_large(limits::MESSAGE_BODY_BYTES_MAX as u64));
    }
    let root = Element::parse_within(document, limits::MESSAGE_BODY_BYTES_MAX)?;
    let text = root.into_child(MESSAGE, "MessageText").ok_or(ErrorCode::InvalidXmlDocument)?.into_own_text();
    if text.len() > limits::MESSAGE_BYTES_MAX {
        return Err(ServiceError::body_too_large(limits::MESSAGE_BYTES_MAX as u64));
    }
    Ok(text)
}

/// A message of a response. Fields that the operation does not return are omitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueMessageElement<'a> {
    /// The id.
    pub id: Uuid,
    /// The time at which the message was put.
    pub inserted: DateTime,
    /// The time at which the message is deleted.
    pub expires: DateTime,
    /// Not in what Peek shows, and neither is the time below.
    pub receipt: Option<PopReceipt>,
    /// The time at which the message becomes visible again.
    pub next_visible: Option<DateTime>,
    /// Not in the response to Put, and neither is the text.
    pub dequeue_count: Option<u32>,
    /// The text.
    pub text: Option<&'a str>,
}

/// The document, without a byte order mark.
pub fn render_messages<'a>(messages: impl IntoIterator<Item = QueueMessageElement<'a>>) -> String {
    let mut out = DECLARATION.to_owned();
    push_element(&mut out, "QueueMessagesList", |out| {
        for message in messages {
            push_element(out, MESSAGE, |out| message.push(out));
        }
    });
    out
}

impl QueueMessageElement<'_> {
    fn push(&self, out: &mut String) {
        push_text(out, "MessageId", &self.id.to_string());
        push_text(out, "InsertionTime", &self.inserted.to_http_date());
        push_text(out, "ExpirationTime", &self.expires.to_http_date());
        if let Some(receipt) = self.receipt {
            push_text(out, "PopReceipt", &receipt.to_string());
        }
        if let Some(next_visible) = self.next_visible {
            push_text(out, "TimeNextVisible", &next_visible.to_http_date());
        }
        if let Some(count) = self.dequeue_count {
            push_text(out, "DequeueCount", &count.to_string());
        }
        if let Some(text) = self.text {
            push_text(out, "MessageText", text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &str) -> Result<String, ErrorCode> {
        parse_message_text(body.as_bytes()).map_err(|error| error.code)
    }

    fn wrapped(text: &str) -> String {
        format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>")
    }

    #[test]
    fn text_is_kept_to_the_last_blank() {
        let declared = "\u{feff}<?xml version='1.0' encoding='utf-8'?>\n<QueueMessage> <MessageText>x</MessageText> </QueueMessage>";
        assert_eq!(text(declared).as_deref(), Ok("x"));
        for (written, read) in [
            ("", ""),
            (" \t\n x \n", " \t\n x \n"),
            ("&amp;lt;a&gt; &#xD;&#10;", "&lt;a> \r\n"),
            ("<![CDATA[<b>]]>c", "<b>c"),
            ("東京 😀", "東京 😀"),
            ("a<b>gone</b>c", "ac"),
        ] {
            assert_eq!(text(&wrapped(written)).as_deref(), Ok(read), "{written}");
        }
        assert_eq!(text("<QueueMessage><MessageText /></QueueMessage>").as_deref(), Ok(""));
    }

    #[test]
    fn bodies_without_a_text_are_refused() {
        for body in
            ["", "x", "<QueueMessage />", "<QueueMessage><Text>x</Text></QueueMessage>", "<MessageText>x</MessageText>"]
        {
            assert_eq!(text(body), Err(ErrorCode::InvalidXmlDocument), "{body}");
        }
        assert_eq!(text(&wrapped("\u{1}")), Err(ErrorCode::InvalidXmlDocument));
        assert_eq!(text(&wrapped("&#0;")), Err(ErrorCode::InvalidXmlDocument));
    }

    #[test]
    fn the_limits_are_of_the_text_and_of_the_body() {
        let refused = |body: &str| {
            let error = parse_message_text(body.as_bytes()).unwrap_err();
            (error.code, error.details)
        };
        let escaped = wrapped(&("&lt;".repeat(8 * 1024) + &"a".repeat(56 * 1024)));
        assert_eq!(text(&escaped).unwrap().len(), limits::MESSAGE_BYTES_MAX);
        let too_large = |limit: &str| (ErrorCode::RequestBodyTooLarge, vec![("MaxLimit", limit.to_owned())]);
        assert_eq!(refused(&wrapped(&"a".repeat(limits::MESSAGE_BYTES_MAX + 1))), too_large("65536"));
        assert_eq!(refused(&wrapped(&"a".repeat(limits::MESSAGE_BODY_BYTES_MAX))), too_large("131584"));
    }

    #[test]
    fn a_list_shows_what_the_operation_tells() {
        assert!(render_messages([]).ends_with("<QueueMessagesList />"));
        let time = DateTime::parse("2019-05-09T01:19:44.5Z").unwrap();
        let peeked = QueueMessageElement {
            id: Uuid::from_bytes([0x11; 16]),
            inserted: time,
            expires: DateTime::MAX,
            receipt: None,
            next_visible: None,
            dequeue_count: Some(0),
            text: Some(" <a>\r"),
        };
        let elements = "<QueueMessage><MessageId>11111111-1111-1111-1111-111111111111</MessageId>\
            <InsertionTime>Thu, 09 May 2019 01:19:44 GMT</InsertionTime>\
            <ExpirationTime>Fri, 31 Dec 9999 23:59:59 GMT</ExpirationTime>\
            <DequeueCount>0</DequeueCount><MessageText> &lt;a&gt;&#xD;</MessageText></QueueMessage>";
        let document = render_messages([peeked.clone()]);
        assert!(document.contains(elements), "{document}");
        let receipt = PopReceipt { visible: 1, number: 2, changes: 3 };
        let put = QueueMessageElement {
            receipt: Some(receipt),
            next_visible: Some(time),
            dequeue_count: None,
            text: None,
            ..peeked
        };
        let tail = format!(
            "</ExpirationTime><PopReceipt>{receipt}</PopReceipt><TimeNextVisible>Thu, 09 May 2019 01:19:44 GMT</TimeNextVisible></QueueMessage></QueueMessagesList>"
        );
        assert!(render_messages([put]).ends_with(&tail));
    }
}
