//! Messages: send, receive, peek, update and delete.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use http::header::CONTENT_TYPE;
use tablerock_protocol::limits;
use tablerock_protocol::xml::{AnsweredMessage, parse_messages, render_message_text};

use super::QueueClient;
use crate::pipeline::{Call, encode};
use crate::transport::send_when_awaited;
use crate::{Error, Result};

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
}

/// A send, which is performed when it is awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct SendMessage {
    queue: QueueClient,
    text: String,
    invisible_seconds: Option<u64>,
    ttl_seconds: Option<i64>,
}

/// A receive of one message, which is performed when it is awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct ReceiveMessage(ReceiveMessages);

/// A receive of several messages, which is performed when it is awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct ReceiveMessages {
    queue: QueueClient,
    count: usize,
    invisible_seconds: Option<u64>,
}

send_when_awaited! {
    SendMessage => Result<QueueMessage>;
    ReceiveMessage => Result<Option<QueueMessage>>;
    ReceiveMessages => Result<Vec<QueueMessage>>;
}

impl QueueClient {
    /// Adds a message to the end of the queue and returns it with a valid pop receipt.
    ///
    /// After a lost response the client sends the message again, so the queue may have it twice.
    #[doc(alias = "put_message")]
    #[doc(alias = "enqueue")]
    pub fn send_message(&self, text: impl Into<String>) -> SendMessage {
        SendMessage { queue: self.clone(), text: text.into(), invisible_seconds: None, ttl_seconds: None }
    }

    /// Receives the next message, if there is one, and makes it invisible: for 30 seconds by default.
    #[doc(alias = "get_message")]
    #[doc(alias = "dequeue")]
    pub fn receive_message(&self) -> ReceiveMessage {
        ReceiveMessage(self.receive_messages(1))
    }

    /// Receives up to `count` messages, at most 32.
    #[doc(alias = "get_messages")]
    pub fn receive_messages(&self, count: usize) -> ReceiveMessages {
        let count = count.clamp(*limits::MESSAGES_COUNT.start(), *limits::MESSAGES_COUNT.end());
        ReceiveMessages { queue: self.clone(), count, invisible_seconds: None }
    }

    /// Returns up to `count` visible messages, at most 32, without receiving them.
    pub async fn peek_messages(&self, count: usize) -> Result<Vec<QueueMessage>> {
        let count = count.clamp(*limits::MESSAGES_COUNT.start(), *limits::MESSAGES_COUNT.end());
        let call = Call::new("PeekMessages", Method::GET, self.messages_path());
        self.read_messages(&call.query("peekonly", "true").query("numofmessages", &count.to_string())).await
    }

    /// Sets the visibility timeout of a received message and returns it with its new pop receipt. [`Duration::ZERO`]
    /// makes it visible at once. Fails with 404 if the pop receipt is no longer valid.
    pub async fn update_message(&self, message: &QueueMessage, visibility_timeout: Duration) -> Result<QueueMessage> {
        self.send_update(message, visibility_timeout, None).await
    }

    /// Sets the text and the visibility timeout of a received message, for example to store the progress of its work.
    /// Returns it with its new pop receipt.
    pub async fn update_message_text(
        &self,
        message: &QueueMessage,
        text: impl Into<String>,
        visibility_timeout: Duration,
    ) -> Result<QueueMessage> {
        self.send_update(message, visibility_timeout, Some(text.into())).await
    }

    /// Deletes a received message. Fails with 404 if the pop receipt is no longer valid.
    pub async fn delete_message(&self, message: &QueueMessage) -> Result<()> {
        let call = Call::new("DeleteMessage", Method::DELETE, self.message_path(message));
        self.pipeline.send(&call.query("popreceipt", &message.pop_receipt)).await.map(drop)
    }

    async fn send_update(
        &self,
        message: &QueueMessage,
        visibility_timeout: Duration,
        text: Option<String>,
    ) -> Result<QueueMessage> {
        let call = Call::new("UpdateMessage", Method::PUT, self.message_path(message));
        let mut call = call.query("popreceipt", &message.pop_receipt);
        call = call.query("visibilitytimeout", &whole_seconds(visibility_timeout).to_string());
        if let Some(text) = &text {
            call = call.static_header(CONTENT_TYPE, XML).body(render_message_text(text)?);
        }
        let response = self.pipeline.send(&call).await?;
        let receipt = response.header("x-ms-popreceipt");
        let receipt =
            response.confirm(receipt.ok_or_else(|| Error::InvalidResponse("it has no x-ms-popreceipt".to_owned())))?;
        let text = text.unwrap_or_else(|| message.text.clone());
        Ok(QueueMessage { pop_receipt: receipt.to_owned(), text, ..message.clone() })
    }

    async fn read_messages(&self, call: &Call) -> Result<Vec<QueueMessage>> {
        let response = self.pipeline.send(call).await?;
        let messages = parse_messages(&response.body).map_err(|error| Error::InvalidResponse(error.to_string()));
        Ok(response.confirm(messages)?.into_iter().map(QueueMessage::from).collect())
    }

    fn message_path(&self, message: &QueueMessage) -> String {
        format!("{}/{}", self.messages_path(), encode(&message.id))
    }
}

impl SendMessage {
    /// Makes the message invisible for a time.
    pub fn visibility_timeout(mut self, time: Duration) -> Self {
        self.invisible_seconds = Some(whole_seconds(time));
        self
    }

    /// Sets the time after which the message expires; a week by default.
    pub fn time_to_live(mut self, time: Duration) -> Self {
        self.ttl_seconds = Some(whole_seconds(time).try_into().unwrap_or(i64::MAX));
        self
    }

    /// Keeps the message until it is deleted.
    pub fn never_expires(mut self) -> Self {
        self.ttl_seconds = Some(-1);
        self
    }

    async fn send(self) -> Result<QueueMessage> {
        let mut call = Call::new("PutMessage", Method::POST, self.queue.messages_path());
        if let Some(seconds) = self.invisible_seconds {
            call = call.query("visibilitytimeout", &seconds.to_string());
        }
        if let Some(seconds) = self.ttl_seconds {
            call = call.query("messagettl", &seconds.to_string());
        }
        call = call.static_header(CONTENT_TYPE, XML).body(render_message_text(&self.text)?);
        let sent = self.queue.read_messages(&call).await?.into_iter().next();
        let sent =
            sent.ok_or_else(|| Error::Unconfirmed(Arc::new(Error::InvalidResponse("it has no message".to_owned()))))?;
        Ok(QueueMessage { text: self.text, ..sent })
    }
}

impl ReceiveMessage {
    /// Sets how long the message stays invisible; 30 seconds by default.
    pub fn visibility_timeout(self, time: Duration) -> Self {
        Self(self.0.visibility_timeout(time))
    }

    async fn send(self) -> Result<Option<QueueMessage>> {
        Ok(self.0.send().await?.into_iter().next())
    }
}

impl ReceiveMessages {
    /// Sets how long the messages stay invisible; 30 seconds by default.
    pub fn visibility_timeout(mut self, time: Duration) -> Self {
        self.invisible_seconds = Some(whole_seconds(time));
        self
    }

    async fn send(self) -> Result<Vec<QueueMessage>> {
        let call = Call::new("GetMessages", Method::GET, self.queue.messages_path());
        let mut call = call.query("numofmessages", &self.count.to_string());
        if let Some(seconds) = self.invisible_seconds {
            call = call.query("visibilitytimeout", &seconds.to_string());
        }
        self.queue.read_messages(&call).await
    }
}

impl From<AnsweredMessage> for QueueMessage {
    fn from(AnsweredMessage { id, pop_receipt, dequeue_count, text }: AnsweredMessage) -> Self {
        Self { id, pop_receipt, dequeue_count, text }
    }
}

/// Rounds a time up to seconds, the service's unit.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}
