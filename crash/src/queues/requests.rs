//! The requests of the Queue service, and their responses.

use std::time::Duration;

use tablerock_conformance::Target;
use tablerock_conformance::encode::percent;
use tablerock_conformance::http::Answer;
use tablerock_conformance::queue::{Message, body, messages};
use tablerock_conformance::request::Request;
use tablerock_conformance::response::Response;
use tablerock_conformance::target::Service;

use super::history::{QueueOperation, QueueOutcome, ReceivedMessage};
use crate::client::{Client, Reply};

/// The queue that all workers share.
const QUEUE: &str = "shared";

/// The most messages that one Get Messages returns.
pub(super) const RECEIVED_MAX: usize = 32;

#[derive(Debug, Clone)]
pub(crate) struct QueueRequest {
    pub(crate) operation: QueueOperation,
    /// The id of the message, for an update or a delete.
    pub(crate) id: String,
    /// The number of messages that Get Messages requests.
    pub(crate) count: usize,
}

impl QueueRequest {
    pub(crate) fn new(operation: QueueOperation) -> Self {
        Self { operation, id: String::new(), count: 1 }
    }
}

/// The result of a request.
#[derive(Debug)]
pub(crate) enum QueueReply {
    /// The operation with the data of the response, and the id of a new message.
    Known(QueueOperation, QueueOutcome, Option<String>),
    /// A 5xx response.
    ServerError(String),
    NotSent,
}

/// Creates the queue.
pub(crate) async fn create(client: &mut Client) -> Result<(), String> {
    let target = client.target();
    match client.send(Service::Queue, &signed(&target, "PUT", &format!("/{QUEUE}"))).await {
        Reply::Response(answer) if answer.status == 201 => Ok(()),
        other => Err(format!("cannot create the queue: {other:?}")),
    }
}

/// Sends a request. An error is a response that no server may give.
pub(crate) async fn send(client: &mut Client, request: QueueRequest) -> Result<QueueReply, String> {
    let target = client.target();
    let http = http_request(&target, &request);
    let summary = http.summary();
    match client.send(Service::Queue, &http).await {
        Reply::Response(answer) => interpret(request.operation, summary, answer),
        Reply::ServerError(status, text) => Ok(QueueReply::ServerError(format!("{summary}: {status} {text}"))),
        Reply::NoResponse => Ok(QueueReply::Known(request.operation, QueueOutcome::Unknown, None)),
        Reply::NotSent => Ok(QueueReply::NotSent),
    }
}

fn signed<'t>(target: &'t Target, verb: &str, path: &str) -> Request<'t> {
    let queues = target.queue.as_ref().expect("the program's target names all services");
    Request::signing_headers(target, queues, verb, path)
}

fn http_request<'t>(target: &'t Target, request: &QueueRequest) -> Request<'t> {
    let all = format!("/{QUEUE}/messages");
    let one = format!("{all}/{}", percent(&request.id));
    let with_timeout =
        |http: Request<'t>, time: &Duration| http.query("visibilitytimeout", &time.as_secs().to_string());
    match &request.operation {
        QueueOperation::Put { text, invisible_for, .. } => {
            with_timeout(signed(target, "POST", &all), invisible_for).xml(body(&escape(text)))
        }
        QueueOperation::Get { invisible_for, .. } => {
            let http = with_timeout(signed(target, "GET", &all), invisible_for);
            http.query("numofmessages", &request.count.to_string())
        }
        QueueOperation::Update { receipt, invisible_for, text, .. } => {
            let http = with_timeout(signed(target, "PUT", &one).query("popreceipt", receipt), invisible_for);
            text.iter().fold(http, |http, text| http.xml(body(&escape(text))))
        }
        QueueOperation::Delete { receipt, .. } => signed(target, "DELETE", &one).query("popreceipt", receipt),
        QueueOperation::Count { .. } => signed(target, "GET", &format!("/{QUEUE}")).raw_query("comp=metadata"),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn interpret(operation: QueueOperation, summary: String, answer: Answer) -> Result<QueueReply, String> {
    let response = Response::new(summary, answer);
    let has_message = matches!(operation, QueueOperation::Update { .. } | QueueOperation::Delete { .. });
    if has_message && response.status() == 404 && response.text().contains("MessageNotFound") {
        return Ok(QueueReply::Known(operation, QueueOutcome::Rejected, None));
    }
    // After a power cut before its creation, the queue counts as empty. The checker reports missing messages.
    let is_read = matches!(operation, QueueOperation::Get { .. } | QueueOperation::Count { .. });
    if is_read && response.status() == 404 && response.text().contains("QueueNotFound") {
        return Ok(QueueReply::Known(operation, QueueOutcome::Done, None));
    }
    fill_in(operation, &response).map_err(|failure| failure.message)
}

fn fill_in(mut operation: QueueOperation, response: &Response) -> Result<QueueReply, tablerock_conformance::Failure> {
    let mut id = None;
    match &mut operation {
        QueueOperation::Put { receipt, .. } => {
            let message = messages(response.expect(201)?)?.pop().unwrap_or_default();
            *receipt = Some(message.receipt);
            id = Some(message.id);
        }
        QueueOperation::Get { received, .. } => {
            *received = messages(response.expect(200)?)?.into_iter().map(as_received).collect()
        }
        QueueOperation::Update { new_receipt, .. } => {
            response.expect(204)?;
            *new_receipt = response.header("x-ms-popreceipt").map(str::to_owned);
        }
        QueueOperation::Delete { .. } => {
            response.expect(204)?;
        }
        QueueOperation::Count { messages } => {
            let count = response.expect(200)?.header("x-ms-approximate-messages-count");
            *messages = count.and_then(|count| count.parse().ok()).unwrap_or(0);
        }
    }
    Ok(QueueReply::Known(operation, QueueOutcome::Done, id))
}

fn as_received(message: Message) -> ReceivedMessage {
    let dequeue_count = message.dequeue_count.parse().unwrap_or(0);
    ReceivedMessage { id: message.id, receipt: message.receipt, dequeue_count, text: message.text }
}
