//! Workers with a model: each sends generated writes and compares the responses and the server's data with its model.

use std::fmt::Debug;

use fastrand::Rng;

use crate::client::Client;
use crate::history::History;
use crate::model::{Model, resolve_all};
use crate::running_workers::{Findings, Work, WorkerGroup};

/// Chooses the requests of one worker. `tables` and `blobs` implement it.
pub trait Generator: Debug + Send + Sized + 'static {
    type Model: Model;
    type Options;

    /// The generator of the worker of this name, which marks its objects.
    fn new(name: String, seed: u64, options: &Self::Options) -> Self;

    /// The state that the worker expects before its first request.
    fn initial_model(&self) -> Self::Model;

    /// The next write.
    fn choose(&mut self, model: &Self::Model) -> <Self::Model as Model>::Write;

    /// Sees a write that got a response, before the model takes it in.
    fn on_response(&mut self, _model: &Self::Model, _write: &<Self::Model as Model>::Write) {}

    /// Sends one request: a write, unless the service has other requests to mix in.
    fn step(worker: &mut Worker<Self>, client: &mut Client) -> impl Future<Output = bool> + Send {
        worker.write(client)
    }

    /// Creates the objects that all workers share.
    fn set_up(worker: &mut Worker<Self>, client: &mut Client) -> impl Future<Output = Result<(), String>>;
}

#[derive(Debug)]
pub struct Worker<G: Generator> {
    pub(crate) generator: G,
    pub model: G::Model,
    /// All writes, if the client has a logical clock.
    history: History<G::Model>,
    pub findings: Findings,
}

impl<G: Generator> Worker<G> {
    pub fn new(name: impl Into<String>, seed: u64, options: &G::Options) -> Self {
        let generator = G::new(name.into(), seed, options);
        let model = generator.initial_model();
        Self { generator, history: History::new(model.clone()), model, findings: Findings::default() }
    }

    /// Sends a generated write. Returns `false` if no response came.
    pub async fn write(&mut self, client: &mut Client) -> bool {
        let write = self.generator.choose(&self.model);
        self.send(client, write).await
    }

    /// Sends one write and takes in its response. Returns `false` if there was none.
    pub async fn send(&mut self, client: &mut Client, write: <G::Model as Model>::Write) -> bool {
        let sent_at = client.logical_time();
        let reply = G::Model::send(client, &write).await;
        let Some(response) = self.findings.take_reply(&write, reply) else { return false };
        if let (Some(sent_at), Some(now)) = (sent_at, client.logical_time()) {
            self.history.add(write.clone(), sent_at, response.clone().map(|response| (response, now)));
        }
        let Some(response) = response else {
            self.model.on_no_response(&write);
            return false;
        };
        self.generator.on_response(&self.model, &write);
        self.findings.violations.extend(self.model.on_response(&write, &response).err());
        true
    }
}

impl<G: Generator> Work for Worker<G> {
    async fn step(&mut self, client: &mut Client) -> bool {
        G::step(self, client).await
    }

    fn findings(&mut self) -> &mut Findings {
        &mut self.findings
    }
}

/// All workers of one service, and the one that created the shared objects.
#[derive(Debug)]
pub struct Workers<G: Generator> {
    pub workers: Vec<Worker<G>>,
    set_up_by: Worker<G>,
    rng: Rng,
}

impl<G: Generator> WorkerGroup for Workers<G> {
    type Worker = Worker<G>;

    fn workers(&mut self) -> &mut Vec<Worker<G>> {
        &mut self.workers
    }
}

impl<G: Generator> Workers<G> {
    pub fn new(count: usize, rng: &mut Rng, options: &G::Options) -> Self {
        let worker = |number| Worker::new(format!("w{number}"), rng.u64(..), options);
        let workers = (0..count).map(worker).collect();
        Self { workers, set_up_by: Worker::new("setup", 0, options), rng: Rng::with_seed(rng.u64(..)) }
    }

    /// Creates the objects that the workers share.
    pub async fn set_up(&mut self, client: &mut Client) -> Result<(), String> {
        G::set_up(&mut self.set_up_by, client).await
    }

    /// Returns all violations: responses that the server may not give, and data that differs from the models.
    pub async fn check(&mut self, client: &mut Client) -> Vec<String> {
        let mut violations = self.take_violations();
        violations.append(&mut self.set_up_by.findings.violations);
        let observed = match G::Model::observe(client).await {
            Ok(observed) => observed,
            Err(error) => {
                violations.push(error);
                return violations;
            }
        };
        let (acks, wrong) = resolve_all(&mut self.models().collect::<Vec<_>>(), &observed);
        violations.extend(wrong);
        if let Some(now) = client.logical_time() {
            self.all().zip(acks).for_each(|(worker, ack)| worker.history.resolve(ack, now));
        }
        violations.extend(G::Model::spot_check(&observed, client, &mut self.rng).await.err());
        violations
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Worker<G>> {
        self.workers.iter_mut().chain([&mut self.set_up_by])
    }

    pub fn models(&mut self) -> impl Iterator<Item = &mut G::Model> {
        self.all().map(|worker| &mut worker.model)
    }

    /// The histories of all writes that were sent with a logical clock.
    pub fn into_histories(self) -> Vec<History<G::Model>> {
        self.workers.into_iter().chain([self.set_up_by]).map(|worker| worker.history).collect()
    }
}
