//! Messages that go through one queue: put, got and deleted, each alone or one after the other.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memchr::memmem;

use super::{Client, Step, Workload, expect_status};
use crate::Result;
use crate::data::entity::Text;
use crate::http::answer::Answer;
use crate::http::header_caller::{HeaderCall, HeaderCaller};
use crate::load;

const MESSAGE_BYTES: usize = 1024;
const RESOURCE: &str = "/bench/messages";
const BEGINNING: &[u8] = b"<QueueMessage><MessageText>";
const END: &[u8] = b"</MessageText></QueueMessage>";
/// A message that has been got stays invisible for longer than any run lasts.
const GET_QUERY: &str = "visibilitytimeout=3600";

/// One thing that is asked of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Put,
    Get,
    Delete,
}

/// The steps that clients repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errand {
    /// Puts until so many messages were put.
    Put(u64),
    /// Gets until nothing that was put is left to get.
    Get,
    /// Deletes until nothing that was got is left to delete.
    Delete,
    RoundTrip,
}

impl Errand {
    fn verbs(self) -> &'static [Verb] {
        match self {
            Errand::Put(_) => &[Verb::Put],
            Errand::Get => &[Verb::Get],
            Errand::Delete => &[Verb::Delete],
            Errand::RoundTrip => &[Verb::Put, Verb::Get, Verb::Delete],
        }
    }
}

/// A queue of one server, and what is known to be in it.
#[derive(Debug)]
pub struct Queue {
    port: u16,
    text: Text,
    put: AtomicU64,
    /// Messages that were put and that no connection has begun to get.
    visible: AtomicU64,
    got: Mutex<VecDeque<Receipt>>,
}

/// The address with which a message is deleted.
#[derive(Debug, PartialEq, Eq)]
struct Receipt {
    resource: String,
    query: String,
}

impl Queue {
    pub fn create(port: u16) -> Result<Self> {
        let mut request = Vec::new();
        HeaderCaller::new(port)?.write(&HeaderCall::new("PUT", "/bench", ""), &mut request);
        load::set_up(port, &request, &[201])?;
        Ok(Self::known(port))
    }

    fn known(port: u16) -> Self {
        let (text, put, visible, got) = Default::default();
        Self { port, text, put, visible, got }
    }

    fn got(&self) -> MutexGuard<'_, VecDeque<Receipt>> {
        self.got.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Claims one of the messages that can be got.
    fn claim(&self) -> bool {
        let less = |visible: u64| visible.checked_sub(1);
        self.visible.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// An errand at a queue.
#[derive(Debug)]
pub struct MessageWork {
    pub queue: Arc<Queue>,
    pub errand: Errand,
}

impl Workload for MessageWork {
    fn client(&self, _seed: u64) -> Result<Box<dyn Client>> {
        let (caller, queue) = (HeaderCaller::new(self.queue.port)?, Arc::clone(&self.queue));
        Ok(Box::new(Messenger { caller, queue, errand: self.errand, step: 0, is_answered: true, held: None }))
    }
}

struct Messenger {
    caller: HeaderCaller,
    queue: Arc<Queue>,
    errand: Errand,
    /// Which verb of the errand is next, or in progress.
    step: usize,
    is_answered: bool,
    /// The message that was got and not deleted yet.
    held: Option<Receipt>,
}

impl Messenger {
    fn verb(&self) -> Verb {
        self.errand.verbs()[self.step]
    }

    fn put(&mut self, out: &mut Vec<u8>) -> bool {
        let number = self.queue.put.fetch_add(1, Ordering::Relaxed);
        if matches!(self.errand, Errand::Put(count) if number >= count) {
            return false;
        }
        let body_bytes = BEGINNING.len() + MESSAGE_BYTES + END.len();
        let headers = &[("content-type", "application/xml")];
        self.caller.write(&HeaderCall { headers, body_bytes, ..HeaderCall::new("POST", RESOURCE, "") }, out);
        for part in [BEGINNING, self.queue.text.part(number, MESSAGE_BYTES), END] {
            out.extend_from_slice(part);
        }
        true
    }

    fn get(&mut self, out: &mut Vec<u8>) -> bool {
        let is_there = self.queue.claim();
        if is_there {
            self.caller.write(&HeaderCall::new("GET", RESOURCE, GET_QUERY), out);
        }
        is_there
    }

    fn delete(&mut self, out: &mut Vec<u8>) -> bool {
        let held = self.held.take().or_else(|| self.queue.got().pop_front());
        if let Some(Receipt { resource, query }) = &held {
            self.caller.write(&HeaderCall::new("DELETE", resource, query), out);
        }
        held.is_some()
    }
}

impl Client for Messenger {
    fn next(&mut self, out: &mut Vec<u8>) -> bool {
        if !std::mem::take(&mut self.is_answered) {
            // The response was lost, and with it what the rest of the errand needs.
            self.step = 0;
        }
        match self.verb() {
            Verb::Put => self.put(out),
            Verb::Get => self.get(out),
            Verb::Delete => self.delete(out),
        }
    }

    fn check(&mut self, answer: &Answer<'_>) -> Result<Step> {
        self.is_answered = true;
        match self.verb() {
            Verb::Put => {
                expect_status(answer, 201)?;
                self.queue.visible.fetch_add(1, Ordering::Relaxed);
            }
            Verb::Get => {
                expect_status(answer, 200)?;
                let receipt = receipt(answer.body).ok_or_else(|| format!("no message came\n{}", answer.text()))?;
                match self.errand {
                    Errand::RoundTrip => self.held = Some(receipt),
                    _ => self.queue.got().push_back(receipt),
                }
            }
            Verb::Delete => expect_status(answer, 204)?,
        }
        self.step = (self.step + 1) % self.errand.verbs().len();
        Ok(if self.step == 0 { Step::Done } else { Step::Continue })
    }
}

/// Reads what a message that was got is deleted with.
fn receipt(body: &[u8]) -> Option<Receipt> {
    let (id, pop_receipt) = (element(body, "MessageId")?, element(body, "PopReceipt")?);
    // Of the characters that a query would read otherwise, only those of Base64 occur in it.
    let encoded = pop_receipt.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    Some(Receipt { resource: format!("{RESOURCE}/{id}"), query: format!("popreceipt={encoded}") })
}

/// The text of the first element of a name.
fn element<'a>(body: &'a [u8], name: &str) -> Option<&'a str> {
    let start = format!("<{name}>");
    let from = memmem::find(body, start.as_bytes())? + start.len();
    let length = memchr::memchr(b'<', &body[from..])?;
    std::str::from_utf8(&body[from..from + length]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOT: &[u8] = b"<QueueMessagesList><QueueMessage><MessageId>1-2</MessageId><PopReceipt>a+/=</PopReceipt>\
        </QueueMessage></QueueMessagesList>";

    fn client(errand: Errand) -> Box<dyn Client> {
        MessageWork { queue: Arc::new(Queue::known(1)), errand }.client(0).unwrap()
    }

    fn requested(client: &mut dyn Client) -> String {
        let mut out = Vec::new();
        assert!(client.next(&mut out));
        String::from_utf8(out).unwrap()
    }

    fn answered(client: &mut dyn Client, status: u16, body: &[u8]) -> Result<Step> {
        client.check(&Answer { status, head: b"", body, body_bytes: body.len() })
    }

    #[test]
    fn a_round_trip_deletes_what_it_got() {
        let mut client = client(Errand::RoundTrip);
        let put = requested(client.as_mut());
        assert!(put.contains("content-length: 1080\r\n") && put.split("\r\n\r\n").nth(1).unwrap().len() == 1080);
        assert_eq!(answered(client.as_mut(), 201, b""), Ok(Step::Continue));
        assert!(requested(client.as_mut()).starts_with("GET /devstoreaccount1/bench/messages?visibilitytimeout=3600 "));
        assert_eq!(answered(client.as_mut(), 200, GOT), Ok(Step::Continue));
        let delete = requested(client.as_mut());
        assert!(delete.starts_with("DELETE /devstoreaccount1/bench/messages/1-2?popreceipt=a%2B%2F%3D "), "{delete}");
        assert_eq!(answered(client.as_mut(), 204, b""), Ok(Step::Done));
    }

    #[test]
    fn a_round_trip_whose_answer_was_lost_begins_anew() {
        let mut client = client(Errand::RoundTrip);
        requested(client.as_mut());
        answered(client.as_mut(), 201, b"").unwrap();
        requested(client.as_mut());
        assert!(requested(client.as_mut()).starts_with("POST "));
    }

    #[test]
    fn an_empty_queue_is_an_error_where_a_message_must_be() {
        let mut client = client(Errand::RoundTrip);
        requested(client.as_mut());
        answered(client.as_mut(), 201, b"").unwrap();
        requested(client.as_mut());
        assert!(answered(client.as_mut(), 200, b"<QueueMessagesList/>").is_err());
    }

    #[test]
    fn what_was_put_is_got_and_what_was_got_is_deleted_and_then_the_work_is_over() {
        let queue = Arc::new(Queue::known(1));
        let work = |errand| MessageWork { queue: Arc::clone(&queue), errand }.client(0).unwrap();
        for (errand, status, body) in
            [(Errand::Put(2), 201, b"".as_slice()), (Errand::Get, 200, GOT), (Errand::Delete, 204, b"")]
        {
            let mut client = work(errand);
            for _ in 0..2 {
                requested(client.as_mut());
                assert_eq!(answered(client.as_mut(), status, body), Ok(Step::Done));
            }
            assert!(!client.next(&mut Vec::new()), "{errand:?}");
        }
    }
}
