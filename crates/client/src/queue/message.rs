//! Messages: send, receive, peek, update and delete.

use std::time::Duration;

use http::Method;
use http::header::CONTENT_TYPE;
use tablerock_protocol::limits;
use tablerock_protocol::xml::{AnsweredMessage, parse_messages, render_message_text};

use super::QueueClient;
use crate::pipeline::{Call, ServiceResponse, date, encode};
use crate::request::{Exchange, Operation};
use crate::{DateTime, Error, Request, Result};

const XML: &str = "application/xml";

/// A message of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueMessage {
    /// The id of the message.
    pub id: String,
    /// The receipt that an update or a delete needs. Every receive and update returns a new one, and only the newest is
    /// valid. It is empty after a peek.
    pub pop_receipt: String,
    /// The number of times that the message was received, including this one.
    pub dequeue_count: u32,
    /// The content.
    #[doc(alias = "body")]
    pub text: String,
    /// The time of the insertion, in whole seconds.
    #[doc(alias = "InsertionTime")]
    pub inserted_on: Option<DateTime>,
    /// The time at which the service deletes the message; the year 9999 for one that never expires.
    #[doc(alias = "ExpirationTime")]
    pub expires_on: Option<DateTime>,
    /// The time from which the message is visible again; `None` after a peek.
    #[doc(alias = "TimeNextVisible")]
    pub next_visible_on: Option<DateTime>,
}

/// A send of a message.
#[derive(Debug, Clone)]
pub struct SendMessage {
    queue: QueueClient,
    text: String,
    invisible_seconds: Option<u64>,
    ttl_seconds: Option<i64>,
}

/// A receive of one message.
#[derive(Debug, Clone)]
pub struct ReceiveMessage(ReceiveMessages);

/// A receive of several messages.
#[derive(Debug, Clone)]
pub struct ReceiveMessages {
    queue: QueueClient,
    count: usize,
    invisible_seconds: Option<u64>,
}

impl QueueClient {
    /// Adds a message to the end of the queue and returns it with a valid pop receipt.
    ///
    /// After a lost response the client sends the message again, so the queue may have it twice.
    #[doc(alias = "put_message")]
    #[doc(alias = "enqueue")]
    pub fn send_message(&self, text: impl Into<String>) -> Request<QueueMessage, SendMessage> {
        let (queue, text) = (self.clone(), text.into());
        Request::new(SendMessage { queue, text, invisible_seconds: None, ttl_seconds: None })
    }

    /// Receives the next message, if there is one, and makes it invisible: for 30 seconds by default.
    #[doc(alias = "get_message")]
    #[doc(alias = "dequeue")]
    pub fn receive_message(&self) -> Request<Option<QueueMessage>, ReceiveMessage> {
        self.receive_messages(1).map_kind(ReceiveMessage)
    }

    /// Receives up to `count` messages, at most 32.
    #[doc(alias = "get_messages")]
    pub fn receive_messages(&self, count: usize) -> Request<Vec<QueueMessage>, ReceiveMessages> {
        let count = count.clamp(*limits::MESSAGES_COUNT.start(), *limits::MESSAGES_COUNT.end());
        Request::new(ReceiveMessages { queue: self.clone(), count, invisible_seconds: None })
    }

    /// Returns up to `count` visible messages, at most 32, without receiving them.
    pub fn peek_messages(&self, count: usize) -> Request<Vec<QueueMessage>> {
        let count = count.clamp(*limits::MESSAGES_COUNT.start(), *limits::MESSAGES_COUNT.end());
        let call = Call::new("PeekMessages", Method::GET, self.messages_path());
        let call = call.query("peekonly", "true").query("numofmessages", &count.to_string());
        Request::single(&self.pipeline, Ok(call), |response| read_messages(&response))
    }

    /// Sets the visibility timeout of a received message and returns it with its new pop receipt. [`Duration::ZERO`]
    /// makes it visible at once. Fails with 404 if the pop receipt is no longer valid.
    pub fn update_message(&self, message: &QueueMessage, visibility_timeout: Duration) -> Request<QueueMessage> {
        self.update(message, visibility_timeout, None)
    }

    /// Sets the text and the visibility timeout of a received message, for example to store the progress of its work.
    /// Returns it with its new pop receipt.
    pub fn update_message_text(
        &self,
        message: &QueueMessage,
        text: impl Into<String>,
        visibility_timeout: Duration,
    ) -> Request<QueueMessage> {
        self.update(message, visibility_timeout, Some(text.into()))
    }

    /// Deletes a received message. Fails with 404 if the pop receipt is no longer valid.
    pub fn delete_message(&self, message: &QueueMessage) -> Request<()> {
        let call = Call::new("DeleteMessage", Method::DELETE, self.message_path(message));
        Request::single(&self.pipeline, Ok(call.query("popreceipt", &message.pop_receipt)), |_| Ok(()))
    }

    fn update(
        &self,
        message: &QueueMessage,
        visibility_timeout: Duration,
        text: Option<String>,
    ) -> Request<QueueMessage> {
        let call = Call::new("UpdateMessage", Method::PUT, self.message_path(message));
        let call = call.query("popreceipt", &message.pop_receipt);
        let call = call.query("visibilitytimeout", &whole_seconds(visibility_timeout).to_string());
        let call = match &text {
            Some(text) => {
                let body = render_message_text(text).map_err(Error::from);
                body.map(|body| call.static_header(CONTENT_TYPE, XML).body(body))
            }
            None => Ok(call),
        };
        let updated = QueueMessage { text: text.unwrap_or_else(|| message.text.clone()), ..message.clone() };
        Request::single(&self.pipeline, call, move |response| {
            let receipt = response.header("x-ms-popreceipt").map(str::to_owned);
            let absent = || Error::InvalidResponse("it has no x-ms-popreceipt".to_owned());
            let pop_receipt = response.confirm(receipt.ok_or_else(absent))?;
            let next_visible_on = response.header("x-ms-time-next-visible").and_then(date);
            Ok(QueueMessage { pop_receipt, next_visible_on, ..updated })
        })
    }

    fn message_path(&self, message: &QueueMessage) -> String {
        format!("{}/{}", self.messages_path(), encode(&message.id))
    }
}

impl Request<QueueMessage, SendMessage> {
    /// Makes the message invisible for a time.
    pub fn visibility_timeout(mut self, time: Duration) -> Self {
        self.kind.invisible_seconds = Some(whole_seconds(time));
        self
    }

    /// Sets the time after which the message expires; a week by default.
    pub fn time_to_live(mut self, time: Duration) -> Self {
        self.kind.ttl_seconds = Some(whole_seconds(time).try_into().unwrap_or(i64::MAX));
        self
    }

    /// Keeps the message until it is deleted.
    pub fn never_expires(mut self) -> Self {
        self.kind.ttl_seconds = Some(-1);
        self
    }
}

impl Operation<QueueMessage> for SendMessage {
    async fn perform(self, exchange: &mut Exchange) -> Result<QueueMessage> {
        let mut call = Call::new("PutMessage", Method::POST, self.queue.messages_path());
        if let Some(seconds) = self.invisible_seconds {
            call = call.query("visibilitytimeout", &seconds.to_string());
        }
        if let Some(seconds) = self.ttl_seconds {
            call = call.query("messagettl", &seconds.to_string());
        }
        call = call.static_header(CONTENT_TYPE, XML).body(render_message_text(&self.text)?);
        let response = exchange.send(&self.queue.pipeline, &call).await?;
        let sent = read_messages(&response)?.into_iter().next();
        let sent = response.confirm(sent.ok_or_else(|| Error::InvalidResponse("it has no message".to_owned())))?;
        Ok(QueueMessage { text: self.text, ..sent })
    }
}

impl Request<Option<QueueMessage>, ReceiveMessage> {
    /// Sets how long the message stays invisible; 30 seconds by default.
    pub fn visibility_timeout(mut self, time: Duration) -> Self {
        self.kind.0.invisible_seconds = Some(whole_seconds(time));
        self
    }
}

impl Operation<Option<QueueMessage>> for ReceiveMessage {
    async fn perform(self, exchange: &mut Exchange) -> Result<Option<QueueMessage>> {
        Ok(self.0.perform(exchange).await?.into_iter().next())
    }
}

impl Request<Vec<QueueMessage>, ReceiveMessages> {
    /// Sets how long the messages stay invisible; 30 seconds by default.
    pub fn visibility_timeout(mut self, time: Duration) -> Self {
        self.kind.invisible_seconds = Some(whole_seconds(time));
        self
    }
}

impl Operation<Vec<QueueMessage>> for ReceiveMessages {
    async fn perform(self, exchange: &mut Exchange) -> Result<Vec<QueueMessage>> {
        let call = Call::new("GetMessages", Method::GET, self.queue.messages_path());
        let mut call = call.query("numofmessages", &self.count.to_string());
        if let Some(seconds) = self.invisible_seconds {
            call = call.query("visibilitytimeout", &seconds.to_string());
        }
        read_messages(&exchange.send(&self.queue.pipeline, &call).await?)
    }
}

fn read_messages(response: &ServiceResponse) -> Result<Vec<QueueMessage>> {
    let messages = parse_messages(&response.body).map_err(|error| Error::InvalidResponse(error.to_string()));
    Ok(response.confirm(messages)?.into_iter().map(QueueMessage::from).collect())
}

impl From<AnsweredMessage> for QueueMessage {
    fn from(message: AnsweredMessage) -> Self {
        let AnsweredMessage { id, pop_receipt, dequeue_count, text, inserted_on, expires_on, next_visible_on } =
            message;
        let (inserted_on, expires_on) = (date(&inserted_on), date(&expires_on));
        Self { id, pop_receipt, dequeue_count, text, inserted_on, expires_on, next_visible_on: date(&next_visible_on) }
    }
}

/// Rounds a time up to seconds, the service's unit.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}
