//! The requests of the Queue service, and what their answers say.

use std::time::Duration;

use tablerock_conformance::Target;
use tablerock_conformance::encode::percent;
use tablerock_conformance::http::Answer;
use tablerock_conformance::queue::{Message, body, messages};
use tablerock_conformance::request::Request;
use tablerock_conformance::response::Response;
use tablerock_conformance::target::Service;

use super::log::{Deed, Given, Outcome};
use crate::client::{Client, Reply};

/// The queue that everybody uses.
const QUEUE: &str = "shared";

/// The most that one Get Messages gives out.
pub(super) const GIVEN_MAX: usize = 32;

/// A request to do something, and how often.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) deed: Deed,
    /// Of the message that it is about, if it is about one.
    pub(crate) id: String,
    /// How many messages Get Messages is to give out.
    pub(crate) count: usize,
}

impl Wish {
    pub(crate) fn new(deed: Deed) -> Self {
        Self { deed, id: String::new(), count: 1 }
    }
}

/// What became of a wish. An error is an answer that no server should give.
#[derive(Debug)]
pub(crate) enum Fulfilment {
    /// With what the answer says filled in.
    Known(Deed, Outcome, Option<Message>),
    /// The server tells of its own failure.
    Failed(String),
    NotSent,
}

/// Creates the queue.
pub(crate) async fn create(client: &mut Client) -> Result<(), String> {
    let target = client.target();
    match client.send(Service::Queue, &request(&target, "PUT", &format!("/{QUEUE}"))).await {
        Reply::Answered(answer) if answer.status == 201 => Ok(()),
        other => Err(format!("the queue could not be created: {other:?}")),
    }
}

/// Asks the server.
pub(crate) async fn ask(client: &mut Client, wish: Wish) -> Result<Fulfilment, String> {
    let target = client.target();
    let request = wish_request(&target, &wish);
    let summary = request.summary();
    match client.send(Service::Queue, &request).await {
        Reply::Answered(answer) => understand(wish.deed, summary, answer),
        Reply::Failed(status, text) => Ok(Fulfilment::Failed(format!("{summary}: {status} {text}"))),
        Reply::Lost => Ok(Fulfilment::Known(wish.deed, Outcome::Lost, None)),
        Reply::NotSent => Ok(Fulfilment::NotSent),
    }
}

fn request<'t>(target: &'t Target, verb: &str, path: &str) -> Request<'t> {
    let queues = target.queue.as_ref().expect("the program's target names all services");
    Request::signing_headers(target, queues, verb, path)
}

fn wish_request<'t>(target: &'t Target, wish: &Wish) -> Request<'t> {
    let all = format!("/{QUEUE}/messages");
    let one = format!("{all}/{}", percent(&wish.id));
    let seconds = |hidden: &Duration| hidden.as_secs().to_string();
    match &wish.deed {
        Deed::Put { text, hidden, .. } => {
            let request = request(target, "POST", &all).query("visibilitytimeout", &seconds(hidden));
            request.xml(body(&escape(text)))
        }
        Deed::Get { hidden, .. } => {
            let request = request(target, "GET", &all).query("visibilitytimeout", &seconds(hidden));
            request.query("numofmessages", &wish.count.to_string())
        }
        Deed::Update { receipt, hidden, text, .. } => {
            let request = request(target, "PUT", &one).query("popreceipt", receipt);
            let request = request.query("visibilitytimeout", &seconds(hidden));
            text.iter().fold(request, |request, text| request.xml(body(&escape(text))))
        }
        Deed::Delete { receipt, .. } => request(target, "DELETE", &one).query("popreceipt", receipt),
        Deed::Count { .. } => request(target, "GET", &format!("/{QUEUE}")).raw_query("comp=metadata"),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn understand(deed: Deed, summary: String, answer: Answer) -> Result<Fulfilment, String> {
    let response = Response::new(summary, answer);
    let is_about_one = matches!(deed, Deed::Update { .. } | Deed::Delete { .. });
    if is_about_one && response.status() == 404 && response.text().contains("MessageNotFound") {
        return Ok(Fulfilment::Known(deed, Outcome::Refused, None));
    }
    // After a cut before the queue was there, it is as good as empty; who knows more of it misses its messages.
    let is_looking = matches!(deed, Deed::Get { .. } | Deed::Count { .. });
    if is_looking && response.status() == 404 && response.text().contains("QueueNotFound") {
        return Ok(Fulfilment::Known(deed, Outcome::Done, None));
    }
    fill_in(deed, &response).map_err(|failure| failure.message)
}

fn fill_in(mut deed: Deed, response: &Response) -> Result<Fulfilment, tablerock_conformance::Failure> {
    let mut own = None;
    match &mut deed {
        Deed::Put { receipt, .. } => {
            let message = messages(response.expect(201)?)?.pop().unwrap_or_default();
            *receipt = Some(message.receipt.clone());
            own = Some(message);
        }
        Deed::Get { given, .. } => *given = messages(response.expect(200)?)?.into_iter().map(as_given).collect(),
        Deed::Update { new_receipt, .. } => {
            response.expect(204)?;
            *new_receipt = response.header("x-ms-popreceipt").map(str::to_owned);
        }
        Deed::Delete { .. } => {
            response.expect(204)?;
        }
        Deed::Count { messages } => {
            let count = response.expect(200)?.header("x-ms-approximate-messages-count");
            *messages = count.and_then(|count| count.parse().ok()).unwrap_or(0);
        }
    }
    Ok(Fulfilment::Known(deed, Outcome::Done, own))
}

fn as_given(message: Message) -> Given {
    let dequeue_count = message.dequeue_count.parse().unwrap_or(0);
    Given { id: message.id, receipt: message.receipt, dequeue_count, text: message.text }
}
