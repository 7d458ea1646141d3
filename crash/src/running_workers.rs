//! Groups of workers that run concurrently, each with its own connections.

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use tokio::task::JoinHandle;

use crate::client::{Client, Reply};
use crate::server::Server;

const POLL: Duration = Duration::from_millis(5);

/// The problems that a worker has seen.
#[derive(Debug, Default)]
pub struct Findings {
    /// Responses that the server may not give.
    pub violations: Vec<String>,
    /// The last 5xx response.
    pub failure: Option<String>,
}

impl Findings {
    /// Takes in the reply to a request. Returns the response, `Some(None)` for an unknown outcome, and `None` for a request
    /// without an effect or with a violation.
    pub fn take_reply<T>(&mut self, request: impl Display, reply: Result<Reply<T>, String>) -> Option<Option<T>> {
        match reply {
            Ok(Reply::Response(response)) => Some(Some(response)),
            Ok(Reply::NoResponse) => Some(None),
            Ok(Reply::ServerError(status, text)) => {
                self.failure = Some(format!("{request}: {status} {text}"));
                Some(None)
            }
            Ok(Reply::NotSent) => None,
            Err(violation) => {
                self.violations.push(violation);
                None
            }
        }
    }
}

/// A client that sends one request after the other.
pub trait Work: Send + 'static {
    /// Sends one request of the worker's choice. Returns `false` if no response came.
    fn step(&mut self, client: &mut Client) -> impl Future<Output = bool> + Send;

    fn findings(&mut self) -> &mut Findings;
}

/// The workers of one service.
pub trait WorkerGroup: Sized {
    type Worker: Work;

    fn workers(&mut self) -> &mut Vec<Self::Worker>;

    /// Starts all workers on a running server.
    fn start(self, server: &Server) -> RunningWorkers<Self> {
        self.start_with(&|_| server.client())
    }

    /// Starts all workers, each with the client of its number.
    fn start_with(mut self, client: &dyn Fn(usize) -> Client) -> RunningWorkers<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let start = |(number, mut worker): (usize, Self::Worker)| {
            let (mut client, stop) = (client(number), Arc::clone(&stop));
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed)
                    && worker.findings().violations.is_empty()
                    && worker.step(&mut client).await
                {}
                worker
            })
        };
        let tasks = std::mem::take(self.workers()).into_iter().enumerate().map(start).collect();
        RunningWorkers { group: self, tasks, stop }
    }

    /// Sends one request of a random worker.
    fn step_one(&mut self, client: &mut Client, rng: &mut Rng) -> impl Future<Output = bool> {
        let number = rng.usize(0..self.workers().len());
        self.workers()[number].step(client)
    }

    /// Takes the 5xx responses that the workers got, the last of each.
    fn take_failures(&mut self) -> Vec<String> {
        self.workers().iter_mut().filter_map(|worker| worker.findings().failure.take()).collect()
    }

    /// Takes the responses that the server may not give.
    fn take_violations(&mut self) -> Vec<String> {
        self.workers().iter_mut().flat_map(|worker| std::mem::take(&mut worker.findings().violations)).collect()
    }
}

/// A group at work. A worker stops by itself after a missing response or a violation.
#[derive(Debug)]
pub struct RunningWorkers<G: WorkerGroup> {
    /// The group without its workers.
    group: G,
    tasks: Vec<JoinHandle<G::Worker>>,
    stop: Arc<AtomicBool>,
}

impl<G: WorkerGroup> RunningWorkers<G> {
    pub async fn run_for(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    /// Runs until one worker has stopped, but no longer than this.
    pub async fn run_until_failure(&self, time_max: Duration) {
        let started = Instant::now();
        while started.elapsed() < time_max && !self.tasks.iter().any(JoinHandle::is_finished) {
            tokio::time::sleep(POLL).await;
        }
    }

    /// Stops all workers, each after its current request.
    pub async fn stop(mut self) -> G {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            self.group.workers().push(task.await.expect("a worker does not panic"));
        }
        self.group
    }
}
