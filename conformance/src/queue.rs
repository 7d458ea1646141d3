//! A queue of the case's own, and the usual requests on it.

use crate::encode::percent;
use crate::expect::{Failure, Outcome, equal};
use crate::request::Request;
use crate::response::Response;
use crate::session::Session;
use crate::xml::Element;

#[derive(Debug)]
pub struct Queue<'s> {
    session: &'s Session,
    pub name: String,
}

/// A message as a response shows it; what the response leaves out is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    pub inserted: String,
    pub expires: String,
    pub receipt: String,
    pub next_visible: String,
    pub dequeue_count: String,
    pub text: String,
}

/// A body with a text in it, which is written as it is.
pub fn body(text: &str) -> String {
    format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>")
}

/// The messages of a response, in order.
pub fn messages(response: &Response) -> Outcome<Vec<Message>> {
    let root = response.xml()?;
    equal("root", root.name.as_str(), "QueueMessagesList")?;
    Ok(root.children.iter().map(message).collect())
}

fn message(element: &Element) -> Message {
    let at = |name: &str| element.at(name).unwrap_or_default().to_owned();
    Message {
        id: at("MessageId"),
        inserted: at("InsertionTime"),
        expires: at("ExpirationTime"),
        receipt: at("PopReceipt"),
        next_visible: at("TimeNextVisible"),
        dequeue_count: at("DequeueCount"),
        text: at("MessageText"),
    }
}

impl<'s> Queue<'s> {
    pub fn new(session: &'s Session, name: String) -> Self {
        Self { session, name }
    }

    /// A request on the queue itself.
    pub fn request(&self, verb: &str) -> Outcome<Request<'s>> {
        self.session.to_queues(verb, format!("/{}", self.name))
    }

    /// A request on its messages.
    pub fn on_messages(&self, verb: &str) -> Outcome<Request<'s>> {
        self.session.to_queues(verb, format!("/{}/messages", self.name))
    }

    /// A request on one message.
    pub fn on_message(&self, verb: &str, id: &str, receipt: &str) -> Outcome<Request<'s>> {
        let request = self.session.to_queues(verb, format!("/{}/messages/{}", self.name, percent(id)))?;
        Ok(request.query("popreceipt", receipt))
    }

    pub fn create(&self) -> Outcome<Request<'s>> {
        self.request("PUT")
    }

    pub fn metadata(&self) -> Outcome<Request<'s>> {
        Ok(self.request("GET")?.raw_query("comp=metadata"))
    }

    pub fn set_metadata(&self) -> Outcome<Request<'s>> {
        Ok(self.request("PUT")?.raw_query("comp=metadata"))
    }

    pub fn acl(&self) -> Outcome<Request<'s>> {
        Ok(self.request("GET")?.raw_query("comp=acl"))
    }

    pub fn set_acl(&self, body: impl Into<Vec<u8>>) -> Outcome<Request<'s>> {
        Ok(self.request("PUT")?.raw_query("comp=acl").xml(body))
    }

    pub fn put(&self, text: &str) -> Outcome<Request<'s>> {
        Ok(self.on_messages("POST")?.xml(body(text)))
    }

    pub fn get(&self) -> Outcome<Request<'s>> {
        self.on_messages("GET")
    }

    pub fn peek(&self) -> Outcome<Request<'s>> {
        Ok(self.on_messages("GET")?.raw_query("peekonly=true"))
    }

    pub fn delete(&self, message: &Message) -> Outcome<Request<'s>> {
        self.on_message("DELETE", &message.id, &message.receipt)
    }

    pub fn update(&self, message: &Message, seconds: &str) -> Outcome<Request<'s>> {
        Ok(self.on_message("PUT", &message.id, &message.receipt)?.query("visibilitytimeout", seconds))
    }

    /// Puts a message that must be accepted.
    pub async fn seed(&self, text: &str) -> Outcome<Message> {
        self.sent(self.put(text)?).await
    }

    /// Sends a Put Message that must be accepted.
    pub async fn sent(&self, put: Request<'_>) -> Outcome<Message> {
        let response = put.send().await?;
        first(messages(response.expect(201)?)?)
    }

    /// Gets up to 32 messages for a minute.
    pub async fn take(&self) -> Outcome<Vec<Message>> {
        let get = self.get()?.raw_query("numofmessages=32&visibilitytimeout=60");
        messages(get.send().await?.expect(200)?)
    }

    /// Gets the one message that must be there.
    pub async fn take_one(&self) -> Outcome<Message> {
        first(self.take().await?)
    }

    /// The texts of the messages that Peek shows.
    pub async fn peeked(&self) -> Outcome<Vec<String>> {
        let response = self.peek()?.raw_query("numofmessages=32").send().await?;
        Ok(messages(response.expect(200)?)?.into_iter().map(|message| message.text).collect())
    }

    /// The approximate count of messages.
    pub async fn count(&self) -> Outcome<String> {
        let response = self.metadata()?.send().await?;
        Ok(response.expect(200)?.header("x-ms-approximate-messages-count").unwrap_or("(absent)").to_owned())
    }
}

/// The one message of a list.
fn first(mut messages: Vec<Message>) -> Outcome<Message> {
    match messages.len() {
        1 => Ok(messages.remove(0)),
        other => Err(Failure::new(format!("expected one message, got {other}"))),
    }
}
