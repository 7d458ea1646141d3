//! Workers of one kind at work, each with a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::task::JoinHandle;

use crate::client::{Client, ClockOffset};
use crate::history::LogLength;
use crate::server::Server;

/// Somebody who sends one request after the other.
pub trait Work: Send + 'static {
    /// Sends a request of its own choice. `false` if no answer came: then the request is left open.
    fn step(&mut self, client: &mut Client, log: Option<&LogLength>) -> impl Future<Output = bool> + Send;

    /// Whether the server has answered what it should not have. Then there is no point in going on.
    fn has_violations(&self) -> bool;
}

#[derive(Debug)]
pub struct Shift<W> {
    tasks: Vec<JoinHandle<W>>,
    stop: Arc<AtomicBool>,
}

impl<W: Work> Shift<W> {
    /// Lets everyone work on a running server until called back, or until an answer does not come.
    pub fn begin(workers: Vec<W>, server: &Server, clock: &ClockOffset, log: Option<&LogLength>) -> Self {
        Self::begin_with(workers, &|_| server.client(clock), log)
    }

    /// The same, with a client for each worker by its number.
    pub fn begin_with(workers: Vec<W>, client: &dyn Fn(usize) -> Client, log: Option<&LogLength>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let begin = |(number, mut worker): (usize, W)| {
            let (mut client, stop, log) = (client(number), Arc::clone(&stop), log.cloned());
            tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed)
                    && !worker.has_violations()
                    && worker.step(&mut client, log.as_ref()).await
                {}
                worker
            })
        };
        Self { tasks: workers.into_iter().enumerate().map(begin).collect(), stop }
    }

    /// Whether somebody has stopped, because an answer did not come or told of a failure.
    pub fn is_anyone_back(&self) -> bool {
        self.tasks.iter().any(JoinHandle::is_finished)
    }

    /// Calls everyone back; requests under way are waited for.
    pub async fn end(self) -> Vec<W> {
        self.stop.store(true, Ordering::Relaxed);
        let mut workers = Vec::with_capacity(self.tasks.len());
        for task in self.tasks {
            workers.push(task.await.expect("a worker does not panic"));
        }
        workers
    }
}
