//! The requests of the Queue service, and their responses.

use std::time::Duration;

use tablerock_conformance::Target;
use tablerock_conformance::encode::percent;
use tablerock_conformance::http::Answer;
use tablerock_conformance::queue::{Message, body, messages};
use tablerock_conformance::request::Request;
use tablerock_conformance::response::Response;
use tablerock_conformance::target::Service;

use super::history::{MessageHandle, QueueOperation, QueueOutcome, ReceivedMessage, mark};
use crate::client::{Client, Reply};

/// The queue that all workers share.
const QUEUE: &str = "shared";

/// The most messages that one Get Messages returns.
pub(super) const RECEIVED_MAX: usize = 32;

/// An operation with the data of its response.
type Completed = (QueueOperation, QueueOutcome);

/// Creates the queue.
pub(crate) async fn create(client: &mut Client) -> Result<(), String> {
    let target = client.target();
    match client.send(Service::Queue, &signed(&target, "PUT", &format!("/{QUEUE}"))).await {
        Reply::Response(answer) if answer.status == 201 => Ok(()),
        other => Err(format!("cannot create the queue: {other:?}")),
    }
}

/// Sends a request. Returns the operation with the data of the response. An error is a response that no server may give.
pub(crate) async fn send(client: &mut Client, operation: QueueOperation) -> Result<Reply<Completed>, String> {
    let target = client.target();
    let request = http_request(&target, &operation);
    let summary = request.summary();
    client.send(Service::Queue, &request).await.and_then(|answer| interpret(operation, summary, answer))
}

fn signed<'t>(target: &'t Target, verb: &str, path: &str) -> Request<'t> {
    let queues = target.queue.as_ref().expect("the program's target names all services");
    Request::signing_headers(target, queues, verb, path)
}

fn http_request<'t>(target: &'t Target, operation: &QueueOperation) -> Request<'t> {
    let all = format!("/{QUEUE}/messages");
    let one = |verb, message: &MessageHandle| {
        let request = signed(target, verb, &format!("{all}/{}", percent(&message.id)));
        request.query("popreceipt", &message.receipt)
    };
    let with_timeout =
        |request: Request<'t>, time: &Duration| request.query("visibilitytimeout", &time.as_secs().to_string());
    match operation {
        QueueOperation::Put { text, invisible_for, .. } => {
            with_timeout(signed(target, "POST", &all), invisible_for).xml(body(&escape(text)))
        }
        QueueOperation::Get { count, invisible_for, .. } => {
            with_timeout(signed(target, "GET", &all), invisible_for).query("numofmessages", &count.to_string())
        }
        QueueOperation::Update { message, invisible_for, text, .. } => {
            let request = with_timeout(one("PUT", message), invisible_for);
            text.iter().fold(request, |request, text| request.xml(body(&escape(text))))
        }
        QueueOperation::Delete(message) => one("DELETE", message),
        QueueOperation::Count { .. } => signed(target, "GET", &format!("/{QUEUE}")).raw_query("comp=metadata"),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn interpret(operation: QueueOperation, summary: String, answer: Answer) -> Result<Reply<Completed>, String> {
    let response = Response::new(summary, answer);
    let is_not_found = |code: &str| response.status() == 404 && response.text().contains(code);
    let outcome = match operation {
        QueueOperation::Update { .. } | QueueOperation::Delete(_) if is_not_found("MessageNotFound") => {
            Ok((operation, QueueOutcome::Rejected))
        }
        // After a power cut before its creation, the queue counts as empty. The checker reports missing messages.
        QueueOperation::Get { .. } | QueueOperation::Count { .. } if is_not_found("QueueNotFound") => {
            Ok((operation, QueueOutcome::Done))
        }
        _ => complete(operation, &response).map(|operation| (operation, QueueOutcome::Done)),
    };
    outcome.map(Reply::Response).map_err(|failure| failure.message)
}

/// Adds the data of a successful response.
fn complete(
    mut operation: QueueOperation,
    response: &Response,
) -> Result<QueueOperation, tablerock_conformance::Failure> {
    match &mut operation {
        QueueOperation::Put { text, created, .. } => {
            let Message { id, receipt, .. } = messages(response.expect(201)?)?.pop().unwrap_or_default();
            *created = Some(MessageHandle { id, mark: mark(text).to_owned(), receipt });
        }
        QueueOperation::Get { received, .. } => {
            *received = messages(response.expect(200)?)?.into_iter().map(as_received).collect();
        }
        QueueOperation::Update { new_receipt, .. } => {
            *new_receipt = response.expect(204)?.header("x-ms-popreceipt").map(str::to_owned);
        }
        QueueOperation::Delete(_) => {
            response.expect(204)?;
        }
        QueueOperation::Count { messages } => {
            let count = response.expect(200)?.header("x-ms-approximate-messages-count");
            *messages = count.and_then(|count| count.parse().ok()).unwrap_or(0);
        }
    }
    Ok(operation)
}

fn as_received(message: Message) -> ReceivedMessage {
    let dequeue_count = message.dequeue_count.parse().unwrap_or(0);
    ReceivedMessage { id: message.id, receipt: message.receipt, dequeue_count, text: message.text }
}
