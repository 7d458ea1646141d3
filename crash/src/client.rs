//! An HTTP client of the server under test: it keeps connections open and classifies each response.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use tablerock_conformance::http::{Answer, Connection};
use tablerock_conformance::request::Request;
use tablerock_conformance::target::{Endpoint, Service};
use tablerock_conformance::{Target, clock};

use crate::history::LogicalClock;

/// Longer than any request may take: the server times out after 30 seconds.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The limit for an error response: the server's own timeout, and some time for a busy machine.
const ERROR_TIME_MAX: Duration = Duration::from_secs(32);

/// How often one request is signed again because the clock was stepped in the meantime.
const SIGNATURES_MAX: usize = 10;

/// The difference between the server's clock and ours, in seconds. Requests are signed with the server's time.
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

/// The result of sending a request.
#[derive(Debug)]
pub enum Reply<T> {
    Response(T),
    /// A 5xx response. The outcome of the request is unknown.
    ServerError(u16, String),
    /// The request was sent and no response came. Its outcome is unknown.
    NoResponse,
    /// No connection could be opened, so the request had no effect.
    NotSent,
}

impl<T> Reply<T> {
    /// Interprets a response, if there is one.
    pub fn and_then<U>(self, interpret: impl FnOnce(T) -> Result<Reply<U>, String>) -> Result<Reply<U>, String> {
        match self {
            Reply::Response(response) => interpret(response),
            Reply::ServerError(status, text) => Ok(Reply::ServerError(status, text)),
            Reply::NoResponse => Ok(Reply::NoResponse),
            Reply::NotSent => Ok(Reply::NotSent),
        }
    }
}

/// Checks how a server fails. An error response must have a documented code and must come in time.
#[derive(Debug, Default)]
pub struct FailureMonitor {
    improper: Mutex<Vec<String>>,
    unanswered: Mutex<Vec<String>>,
}

impl FailureMonitor {
    /// Checks a 5xx response, or a 5xx part of a batch response: only the response as a whole has a `Retry-After`.
    fn check(&self, status: u16, text: &str, has_retry_after: bool, took: Duration) {
        let is_known = match status {
            503 => text.contains("ServerBusy"),
            500 => text.contains("OperationTimedOut"),
            _ => false,
        };
        if !is_known || !has_retry_after || took > ERROR_TIME_MAX {
            lock(&self.improper).push(format!("{status} after {took:?}: {text}"));
        }
    }

    /// Takes the error responses with a wrong code, without `Retry-After`, or too late.
    pub fn take_improper(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.improper))
    }

    /// Takes the requests that got no response.
    pub fn take_unanswered(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.unanswered))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug)]
pub struct Client {
    target: Arc<Target>,
    clock: ClockOffset,
    logical_clock: Option<LogicalClock>,
    monitor: Option<Arc<FailureMonitor>>,
    /// The open connections, at most one for each service.
    connections: Vec<(Service, Connection)>,
    /// The duration of the last exchange.
    took: Duration,
}

impl Client {
    pub fn new(target: Arc<Target>) -> Self {
        let (clock, took) = (ClockOffset::default(), Duration::ZERO);
        Self { target, clock, logical_clock: None, monitor: None, connections: Vec::new(), took }
    }

    /// Signs requests with this clock.
    #[must_use]
    pub fn with_clock(self, clock: ClockOffset) -> Self {
        Self { clock, ..self }
    }

    /// Gives histories of this client's requests the times of this clock.
    #[must_use]
    pub fn with_logical_clock(self, clock: Option<LogicalClock>) -> Self {
        Self { logical_clock: clock, ..self }
    }

    /// Reports error responses to this monitor.
    #[must_use]
    pub fn with_monitor(self, monitor: Arc<FailureMonitor>) -> Self {
        Self { monitor: Some(monitor), ..self }
    }

    pub fn target(&self) -> Arc<Target> {
        Arc::clone(&self.target)
    }

    /// The time of the logical clock, if there is one.
    pub fn logical_time(&self) -> Option<u64> {
        self.logical_clock.as_ref().map(LogicalClock::now)
    }

    /// Reads a path of the Table service with a query.
    pub async fn get(&mut self, path: &str, query: &[(&str, &str)]) -> Reply<Answer> {
        let target = Arc::clone(&self.target);
        let request = Request::new(&target, "GET", path);
        let request = query.iter().fold(request, |request, (name, value)| request.query(name, value));
        self.send(Service::Table, &request).await
    }

    /// Sends a request to a service.
    pub async fn send(&mut self, service: Service, request: &Request<'_>) -> Reply<Answer> {
        let mut reply = Reply::NotSent;
        for _ in 0..SIGNATURES_MAX {
            let request = request.clone().header("x-ms-date", &clock::rfc1123(self.clock.now()));
            reply = self.exchange(service, &request.bytes()).await;
            // The clock was stepped between signing and checking. The request had no effect, so it is sent again.
            if !matches!(&reply, Reply::Response(answer) if is_skewed(answer)) {
                break;
            }
        }
        reply
    }

    /// Reports a 5xx part of the last batch response to the monitor.
    pub fn report_failed_part(&self, status: u16, text: &str) {
        if let Some(monitor) = &self.monitor {
            monitor.check(status, text, true, self.took);
        }
    }

    async fn exchange(&mut self, service: Service, request: &[u8]) -> Reply<Answer> {
        let Some(mut connection) = self.connection(service).await else { return Reply::NotSent };
        let started = Instant::now();
        let exchanged = tokio::time::timeout(TIMEOUT, connection.exchange(request)).await;
        self.took = started.elapsed();
        match exchanged {
            Ok(Ok(answer)) => {
                let is_closed = answer.header("Connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
                if !is_closed {
                    self.connections.push((service, connection));
                }
                if answer.status < 500 {
                    return Reply::Response(answer);
                }
                let text = String::from_utf8_lossy(&answer.body).into_owned();
                if let Some(monitor) = &self.monitor {
                    monitor.check(answer.status, &text, answer.header("Retry-After").is_some(), self.took);
                }
                Reply::ServerError(answer.status, text)
            }
            other => {
                if let Some(monitor) = &self.monitor {
                    let line = String::from_utf8_lossy(request.split(|byte| *byte == b'\r').next().unwrap_or_default());
                    let why = other.map_or("timeout".to_owned(), |broken| format!("{:?}", broken.err()));
                    lock(&monitor.unanswered).push(format!("{line} after {:?}: {why}", self.took));
                }
                Reply::NoResponse
            }
        }
    }

    async fn connection(&mut self, service: Service) -> Option<Connection> {
        let open = self.connections.iter().position(|(open, _)| *open == service);
        match open {
            Some(index) => Some(self.connections.swap_remove(index).1),
            None => Connection::open(endpoint(&self.target, service)).await.ok(),
        }
    }
}

fn endpoint(target: &Target, service: Service) -> &Endpoint {
    let endpoints = match service {
        Service::Table => return &target.primary,
        Service::Queue => &target.queue,
        Service::Blob => &target.blob,
    };
    &endpoints.as_ref().expect("the program's target names all services").primary
}

fn is_skewed(answer: &Answer) -> bool {
    answer.status == 403 && String::from_utf8_lossy(&answer.body).contains("AuthenticationFailed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_with_a_wrong_code_or_without_retry_after_or_too_late_is_reported() {
        let second = Duration::from_secs(1);
        for (status, code, retry_after, took, is_proper) in [
            (503, "ServerBusy", true, second, true),
            (500, "OperationTimedOut", true, 30 * second, true),
            (503, "ServerBusy", false, second, false),
            (500, "InternalError", true, second, false),
            (503, "ServerBusy", true, 40 * second, false),
        ] {
            let monitor = FailureMonitor::default();
            monitor.check(status, code, retry_after, took);
            assert_eq!(monitor.take_improper().is_empty(), is_proper, "{status} {code} {retry_after} {took:?}");
        }
    }
}
