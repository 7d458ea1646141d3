//! Put, Get, Peek, Update, Delete and Clear Messages.

use tablerock_protocol::xml::{BOM, QueueMessageElement, parse_message_text, render_messages};
use tablerock_protocol::{ErrorCode, PopReceipt, QueueName, ServiceError, ServiceVersion, Uuid};
use tablerock_services::queue::{Message, MessageUpdate, NewMessage};

use super::request::MessageAddress;
use super::{QueueCall, parameters};
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

pub(super) async fn put_message(call: &QueueCall<'_>, queue: &QueueName) -> Result<Reply, ServiceError> {
    let (visibility_seconds, time_to_live) = parameters::put_times(call.query, call.cx.version)?;
    let text = parse_message_text(&call.body)?;
    let new = NewMessage { text, visibility_seconds, time_to_live };
    let message = call.server().queues.put_message(call.account(), queue, new).await?;
    if call.cx.version < ServiceVersion::PUT_MESSAGE_BODY {
        return Ok(Reply::empty(201));
    }
    let shown = QueueMessageElement { dequeue_count: None, text: None, ..got(&message) };
    Ok(list(201, [shown]))
}

pub(super) async fn get_messages(call: &QueueCall<'_>, queue: &QueueName) -> Result<Reply, ServiceError> {
    let (count, seconds) = (parameters::count(call.query)?, parameters::get_visibility(call.query)?);
    let messages = call.server().queues.get_messages(call.account(), queue, count, seconds).await?;
    Ok(list(200, messages.iter().map(got)))
}

pub(super) async fn peek_messages(call: &QueueCall<'_>, queue: &QueueName) -> Result<Reply, ServiceError> {
    let count = parameters::count(call.query)?;
    let messages = call.server().queues.peek_messages(call.account(), queue, count).await?;
    let peeked = |message| QueueMessageElement { receipt: None, next_visible: None, ..got(message) };
    Ok(list(200, messages.iter().map(peeked)))
}

pub(super) async fn update_message(call: &QueueCall<'_>, at: MessageAddress<'_>) -> Result<Reply, ServiceError> {
    let (id, receipt) = message(call, at).await?;
    let visibility_seconds = parameters::update_visibility(call.query)?;
    // Without a body the text stays as it is.
    let text = if call.body.is_empty() { None } else { Some(parse_message_text(&call.body)?) };
    let update = MessageUpdate { visibility_seconds, text };
    let message = call.server().queues.update_message(call.account(), at.queue, id, receipt, update).await?;
    let reply = Reply::empty(204).with(ResponseHeader::PopReceipt, message.receipt.to_string());
    Ok(reply.with(ResponseHeader::TimeNextVisible, message.next_visible.to_http_date()))
}

pub(super) async fn delete_message(call: &QueueCall<'_>, at: MessageAddress<'_>) -> Result<Reply, ServiceError> {
    let (id, receipt) = message(call, at).await?;
    call.server().queues.delete_message(call.account(), at.queue, id, receipt).await?;
    Ok(Reply::empty(204))
}

pub(super) async fn clear_messages(call: &QueueCall<'_>, queue: &QueueName) -> Result<Reply, ServiceError> {
    call.server().queues.clear_messages(call.account(), queue).await?;
    Ok(Reply::empty(204))
}

/// The id and the receipt of the addressed message. The service finds the message before it reads the receipt, so an unknown
/// message is not found whatever the receipt is. A malformed id is the id of no message.
async fn message(call: &QueueCall<'_>, at: MessageAddress<'_>) -> Result<(Uuid, PopReceipt), ServiceError> {
    let receipt = parameters::receipt(call.query)?;
    let id = Uuid::parse_str(at.id).map_err(|_| ErrorCode::MessageNotFound)?;
    match receipt {
        Ok(receipt) => Ok((id, receipt)),
        Err(malformed) => {
            let is_known = Box::pin(call.server().queues.has_message(call.account(), at.queue, id)).await?;
            Err(if is_known { malformed } else { ErrorCode::MessageNotFound.into() })
        }
    }
}

fn got(message: &Message) -> QueueMessageElement<'_> {
    QueueMessageElement {
        id: message.id,
        inserted: message.inserted,
        expires: message.expires,
        receipt: Some(message.receipt),
        next_visible: Some(message.next_visible),
        dequeue_count: Some(message.dequeue_count),
        text: Some(&message.text),
    }
}

fn list<'a>(status: u16, messages: impl IntoIterator<Item = QueueMessageElement<'a>>) -> Reply {
    Reply::xml(status, format!("{BOM}{}", render_messages(messages)).into_bytes())
}
