//! One client of the server: connections to its services that are kept open, and what came of each request.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use tablerock_conformance::batch::changeset_answers;
use tablerock_conformance::http::{Answer, Connection};
use tablerock_conformance::request::Request;
use tablerock_conformance::response::Response;
use tablerock_conformance::target::{Endpoint, Service};
use tablerock_conformance::{Target, clock};

use crate::content::Etag;
use crate::operation::Attempt;

/// Longer than any request may take: the server gives up after 30 seconds by itself.
const PATIENCE: Duration = Duration::from_secs(60);

/// Within this a server has said that it failed: the time that it gives itself, and a little for a busy machine.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(32);

/// How often one request is signed anew because the clock was stepped meanwhile.
const SIGNATURES_MAX: usize = 10;

/// How far the server's clock is from ours, in seconds, for requests are signed with the time. Shared by all clients.
#[derive(Debug, Clone, Default)]
pub struct ClockOffset(Arc<AtomicI64>);

impl ClockOffset {
    pub fn set_seconds(&self, seconds: i64) {
        self.0.store(seconds, Ordering::SeqCst);
    }

    fn now(&self) -> SystemTime {
        let offset = self.0.load(Ordering::SeqCst);
        let distance = Duration::from_secs(offset.unsigned_abs());
        if offset < 0 { clock::now() - distance } else { clock::now() + distance }
    }
}

/// What came back for a request.
#[derive(Debug)]
pub enum Reply<T> {
    Answered(T),
    /// The server said that it failed (5xx): the request may have had its effect or not.
    Failed(u16, String),
    /// It was sent, and no answer came: the same.
    Lost,
    /// There was nobody to send it to, so it had no effect.
    NotSent,
}

/// The answer to a write: done, with one ETag for each entity that was written, or refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Done(Vec<Option<Etag>>),
    Refused(u16),
}

/// How a server fails, as its clients see it. Whoever fails has to say so in a way that clients understand, and in time.
#[derive(Debug, Default)]
pub struct Witness {
    /// Failures that were told in another way, or too late.
    improper: Mutex<Vec<String>>,
    /// Requests that were sent and never answered.
    lost: Mutex<Vec<String>>,
}

impl Witness {
    fn answered(&self, answer: &Answer, took: Duration) {
        let text = String::from_utf8_lossy(&answer.body);
        let is_known = match answer.status {
            503 => text.contains("ServerBusy"),
            500 => text.contains("OperationTimedOut"),
            _ => false,
        };
        if !is_known || answer.header("Retry-After").is_none() || took > ANSWER_TIME_MAX {
            self.improper.lock().expect("nobody panics here").push(format!("{} after {took:?}: {text}", answer.status));
        }
    }

    /// Everything that was told badly since the last time.
    pub fn take_improper(&self) -> Vec<String> {
        std::mem::take(&mut self.improper.lock().expect("nobody panics here"))
    }

    /// Everything that was not answered since the last time.
    pub fn take_lost(&self) -> Vec<String> {
        std::mem::take(&mut self.lost.lock().expect("nobody panics here"))
    }
}

#[derive(Debug)]
pub struct Client {
    target: Arc<Target>,
    clock: ClockOffset,
    witness: Option<Arc<Witness>>,
    /// Of each service that was spoken to, and still listens.
    connections: Vec<(Service, Connection)>,
}

impl Client {
    pub fn new(target: Arc<Target>, clock: ClockOffset) -> Self {
        Self { target, clock, witness: None, connections: Vec::new() }
    }

    /// One whose failures somebody else looks at as well.
    #[must_use]
    pub fn with_witness(mut self, witness: Arc<Witness>) -> Self {
        self.witness = Some(witness);
        self
    }

    pub fn target(&self) -> Arc<Target> {
        Arc::clone(&self.target)
    }

    /// Asks for a write. An error is an answer that no server should give.
    pub async fn attempt(&mut self, attempt: &Attempt) -> Result<Reply<Verdict>, String> {
        let target = Arc::clone(&self.target);
        match self.send(Service::Table, &attempt.request(&target)).await {
            Reply::Answered(answer) => verdict(attempt, answer),
            Reply::Failed(status, text) => Ok(Reply::Failed(status, text)),
            Reply::Lost => Ok(Reply::Lost),
            Reply::NotSent => Ok(Reply::NotSent),
        }
    }

    /// Reads a path of the Table service with a query.
    pub async fn get(&mut self, path: &str, query: &[(&str, &str)]) -> Reply<Answer> {
        let target = Arc::clone(&self.target);
        let request = Request::new(&target, "GET", path);
        let request = query.iter().fold(request, |request, (name, value)| request.query(name, value));
        self.send(Service::Table, &request).await
    }

    /// Sends a request to the service that it is written for.
    pub async fn send(&mut self, service: Service, request: &Request<'_>) -> Reply<Answer> {
        let mut reply = Reply::NotSent;
        for _ in 0..SIGNATURES_MAX {
            let request = request.clone().header("x-ms-date", &clock::rfc1123(self.clock.now()));
            reply = self.exchange(service, &request.bytes()).await;
            // The clock was stepped between signing and checking; nothing was done, so it is sent again.
            if !matches!(&reply, Reply::Answered(answer) if is_skewed(answer)) {
                break;
            }
        }
        reply
    }

    async fn exchange(&mut self, service: Service, request: &[u8]) -> Reply<Answer> {
        let Some(mut connection) = self.connection(service).await else { return Reply::NotSent };
        let started = Instant::now();
        match tokio::time::timeout(PATIENCE, connection.exchange(request)).await {
            Ok(Ok(answer)) => {
                let is_closed = answer.header("Connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
                if !is_closed {
                    self.connections.push((service, connection));
                }
                if answer.status >= 500 {
                    if let Some(witness) = &self.witness {
                        witness.answered(&answer, started.elapsed());
                    }
                    return Reply::Failed(answer.status, String::from_utf8_lossy(&answer.body).into_owned());
                }
                Reply::Answered(answer)
            }
            other => {
                if let Some(witness) = &self.witness {
                    let line = String::from_utf8_lossy(request.split(|byte| *byte == b'\r').next().unwrap_or_default());
                    let why = other.map_or("no answer in time".to_owned(), |broken| format!("{:?}", broken.err()));
                    let lost = format!("{line} after {:?}: {why}", started.elapsed());
                    witness.lost.lock().expect("nobody panics here").push(lost);
                }
                Reply::Lost
            }
        }
    }

    async fn connection(&mut self, service: Service) -> Option<Connection> {
        let known = self.connections.iter().position(|(known, _)| *known == service);
        match known {
            Some(index) => Some(self.connections.swap_remove(index).1),
            None => Connection::open(endpoint(&self.target, service)).await.ok(),
        }
    }
}

fn endpoint(target: &Target, service: Service) -> &Endpoint {
    let beside_tables = match service {
        Service::Table => return &target.primary,
        Service::Queue => &target.queue,
        Service::Blob => &target.blob,
    };
    &beside_tables.as_ref().expect("the program's target names all services").primary
}

fn is_skewed(answer: &Answer) -> bool {
    answer.status == 403 && String::from_utf8_lossy(&answer.body).contains("AuthenticationFailed")
}

/// What an answer says: of a group, the answers inside are what counts.
fn verdict(attempt: &Attempt, answer: Answer) -> Result<Reply<Verdict>, String> {
    let response = Response::new(attempt.to_string(), answer);
    if !attempt.is_group() {
        return single_verdict(&response);
    }
    let mut etags = Vec::new();
    for part in changeset_answers(&response).map_err(|failure| failure.message)? {
        match single_verdict(&part)? {
            Reply::Answered(Verdict::Done(mut one)) => etags.append(&mut one),
            // A group that was refused or failed has one answer, which speaks for all of it.
            other => return Ok(other),
        }
    }
    Ok(Reply::Answered(Verdict::Done(etags)))
}

fn single_verdict(response: &Response) -> Result<Reply<Verdict>, String> {
    match response.status() {
        200..=299 => {
            let etag = response.header("ETag").map(Etag::parse).transpose()?;
            Ok(Reply::Answered(Verdict::Done(vec![etag])))
        }
        status @ (404 | 409 | 412) => Ok(Reply::Answered(Verdict::Refused(status))),
        status @ 500.. => Ok(Reply::Failed(status, response.text())),
        status => Err(format!("unexpected answer {status}: {}", response.text())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_is_told_badly_or_late_is_noticed() {
        let second = Duration::from_secs(1);
        for (status, code, retry_after, took, is_proper) in [
            (503, "ServerBusy", true, second, true),
            (500, "OperationTimedOut", true, 30 * second, true),
            (503, "ServerBusy", false, second, false),
            (500, "InternalError", true, second, false),
            (503, "ServerBusy", true, 40 * second, false),
        ] {
            let headers = if retry_after { vec![("Retry-After".to_owned(), "1".to_owned())] } else { vec![] };
            let witness = Witness::default();
            let (reason, body) = (String::new(), code.as_bytes().to_vec());
            witness.answered(&Answer { status, reason, headers, body }, took);
            assert_eq!(witness.take_improper().is_empty(), is_proper, "{status} {code} {retry_after} {took:?}");
        }
    }
}
