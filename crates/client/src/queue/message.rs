//! Messages: in, out, changed, done.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use http::header::CONTENT_TYPE;
use tablerock_protocol::limits;
use tablerock_protocol::xml::{AnsweredMessage, parse_messages, render_message_text};

use super::QueueClient;
use crate::pipeline::{Call, encode};
use crate::transport::BoxFuture;
use crate::{Error, Result};

const XML: &str = "application/xml";

/// A message as it was put, got or peeked at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Which message.
    pub id: String,
    /// Says who has the message: every get and update gives a new one, and only the newest counts. Empty in what a
    /// peek shows.
    pub pop_receipt: String,
    /// How often it has been got, this time included; a message that comes again and again is poison.
    pub dequeue_count: u32,
    /// What it says.
    pub text: String,
}

/// A put that waits to be awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct PutMessage {
    queue: QueueClient,
    text: String,
    invisible_seconds: Option<u64>,
    ttl_seconds: Option<i64>,
}

/// A get of one message that waits to be awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct GetMessage(GetMessages);

/// A get of several messages that waits to be awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct GetMessages {
    queue: QueueClient,
    count: usize,
    invisible_seconds: Option<u64>,
}

impl QueueClient {
    /// Puts a message at the end of the queue and returns it with a receipt, which is good at once.
    ///
    /// After a lost answer the message is put again, so there may be two of it.
    pub fn put_message(&self, text: impl Into<String>) -> PutMessage {
        PutMessage { queue: self.clone(), text: text.into(), invisible_seconds: None, ttl_seconds: None }
    }

    /// Takes the next message, if there is one, and hides it from others for a while: half a minute, unless it is said.
    pub fn get_message(&self) -> GetMessage {
        GetMessage(self.get_messages(1))
    }

    /// Takes up to so many messages, at most 32.
    pub fn get_messages(&self, count: usize) -> GetMessages {
        let count = count.clamp(*limits::MESSAGES_COUNT.start(), *limits::MESSAGES_COUNT.end());
        GetMessages { queue: self.clone(), count, invisible_seconds: None }
    }

    /// Shows up to so many messages that could be got, at most 32, and changes nothing.
    pub async fn peek_messages(&self, count: usize) -> Result<Vec<Message>> {
        let count = count.clamp(*limits::MESSAGES_COUNT.start(), *limits::MESSAGES_COUNT.end());
        let call = Call::new("PeekMessages", Method::GET, self.messages_path());
        self.read_messages(&call.query("peekonly", "true").query("numofmessages", &count.to_string())).await
    }

    /// Keeps a message for another while, or gives it back at once with [`Duration::ZERO`], and returns it with its new
    /// receipt. Fails with 404 if somebody else has got it meanwhile.
    pub async fn update_message(&self, message: &Message, invisible_for: Duration) -> Result<Message> {
        self.send_update(message, invisible_for, None).await
    }

    /// The same with another text, with which the next to get it can begin where this one stopped.
    pub async fn update_message_text(
        &self,
        message: &Message,
        invisible_for: Duration,
        text: impl Into<String>,
    ) -> Result<Message> {
        self.send_update(message, invisible_for, Some(text.into())).await
    }

    /// Deletes a message, which is done. Fails with 404 if somebody else has got it meanwhile.
    pub async fn delete_message(&self, message: &Message) -> Result<()> {
        let call = Call::new("DeleteMessage", Method::DELETE, self.message_path(message));
        self.pipeline.send(&call.query("popreceipt", &message.pop_receipt)).await.map(drop)
    }

    async fn send_update(&self, message: &Message, invisible_for: Duration, text: Option<String>) -> Result<Message> {
        let call = Call::new("UpdateMessage", Method::PUT, self.message_path(message));
        let mut call = call.query("popreceipt", &message.pop_receipt);
        call = call.query("visibilitytimeout", &whole_seconds(invisible_for).to_string());
        if let Some(text) = &text {
            call = call.own_header(CONTENT_TYPE, XML).body(render_message_text(text)?);
        }
        let answer = self.pipeline.send(&call).await?;
        let receipt = answer.header("x-ms-popreceipt").ok_or_else(|| Error::Answer("it has no receipt".to_owned()));
        let receipt = answer.reading(receipt)?;
        let text = text.unwrap_or_else(|| message.text.clone());
        Ok(Message { pop_receipt: receipt.to_owned(), text, ..message.clone() })
    }

    async fn read_messages(&self, call: &Call) -> Result<Vec<Message>> {
        let answer = self.pipeline.send(call).await?;
        let messages = parse_messages(&answer.body).map_err(|error| Error::Answer(error.to_string()));
        Ok(answer.reading(messages)?.into_iter().map(Message::from).collect())
    }

    fn message_path(&self, message: &Message) -> String {
        format!("{}/{}", self.messages_path(), encode(&message.id))
    }
}

impl PutMessage {
    /// Nobody sees the message for a while.
    pub fn invisible_for(mut self, time: Duration) -> Self {
        self.invisible_seconds = Some(whole_seconds(time));
        self
    }

    /// The message is gone after a while, done or not; after a week, unless it is said.
    pub fn expires_after(mut self, time: Duration) -> Self {
        self.ttl_seconds = Some(whole_seconds(time).try_into().unwrap_or(i64::MAX));
        self
    }

    /// The message stays until it is deleted.
    pub fn never_expires(mut self) -> Self {
        self.ttl_seconds = Some(-1);
        self
    }

    async fn send(self) -> Result<Message> {
        let mut call = Call::new("PutMessage", Method::POST, self.queue.messages_path());
        if let Some(seconds) = self.invisible_seconds {
            call = call.query("visibilitytimeout", &seconds.to_string());
        }
        if let Some(seconds) = self.ttl_seconds {
            call = call.query("messagettl", &seconds.to_string());
        }
        call = call.own_header(CONTENT_TYPE, XML).body(render_message_text(&self.text)?);
        let put = self.queue.read_messages(&call).await?.into_iter().next();
        let put = put.ok_or_else(|| Error::Unconfirmed(Arc::new(Error::Answer("it has no message".to_owned()))))?;
        Ok(Message { text: self.text, ..put })
    }
}

impl GetMessage {
    /// How long others do not see the message.
    pub fn invisible_for(self, time: Duration) -> Self {
        Self(self.0.invisible_for(time))
    }
}

impl GetMessages {
    /// How long others do not see the messages.
    pub fn invisible_for(mut self, time: Duration) -> Self {
        self.invisible_seconds = Some(whole_seconds(time));
        self
    }

    async fn send(self) -> Result<Vec<Message>> {
        let call = Call::new("GetMessages", Method::GET, self.queue.messages_path());
        let mut call = call.query("numofmessages", &self.count.to_string());
        if let Some(seconds) = self.invisible_seconds {
            call = call.query("visibilitytimeout", &seconds.to_string());
        }
        self.queue.read_messages(&call).await
    }
}

impl IntoFuture for PutMessage {
    type Output = Result<Message>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl IntoFuture for GetMessage {
    type Output = Result<Option<Message>>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { Ok(self.0.send().await?.into_iter().next()) })
    }
}

impl IntoFuture for GetMessages {
    type Output = Result<Vec<Message>>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl From<AnsweredMessage> for Message {
    fn from(AnsweredMessage { id, pop_receipt, dequeue_count, text }: AnsweredMessage) -> Self {
        Self { id, pop_receipt, dequeue_count, text }
    }
}

/// The service counts in seconds. A part of one is rounded up: less time than was asked for would be a surprise.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}
