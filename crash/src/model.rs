//! The oracle: a model of the objects that one worker writes, updated by the responses that the worker gets.
//!
//! A worker writes its own objects only, one request at a time. Its model therefore knows the state exactly, except for
//! the one request that got no response: that request either took effect or did not. Reading the server back resolves
//! it, and the resolved state must not change afterwards.

use std::fmt::{Debug, Display};

use fastrand::Rng;

use crate::client::{Client, Reply};

/// The response to a write: done, with the data of the acknowledgement, or rejected with a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome<A> {
    Done(A),
    Rejected(u16),
}

pub type Response<M> = Outcome<<M as Model>::Ack>;

/// The expected state of one worker's objects. `tables` and `blobs` implement it.
pub trait Model: Clone + Debug + Send + Sync + 'static {
    /// One request that writes.
    type Write: Clone + Debug + Display + Send + Sync;
    /// What an acknowledgement adds to the write: ETags, the time of a snapshot.
    type Ack: Clone + Debug + Send + Sync;
    /// The change that a write makes to the current state.
    type Effect: Clone + Debug + Send;
    /// Everything that the server shows.
    type Observed: Sync;

    /// Sends a write. An error is a response that no server may give.
    fn send(
        client: &mut Client,
        write: &Self::Write,
    ) -> impl Future<Output = Result<Reply<Response<Self>>, String>> + Send;

    /// Reads everything that the server has.
    fn observe(client: &mut Client) -> impl Future<Output = Result<Self::Observed, String>> + Send;

    /// Reads some objects again through another code path of the server.
    fn spot_check(
        _observed: &Self::Observed,
        _client: &mut Client,
        _rng: &mut Rng,
    ) -> impl Future<Output = Result<(), String>> + Send {
        async { Ok(()) }
    }

    /// The effect of a write on the current state, or the status of the expected rejection.
    fn effect(&self, write: &Self::Write) -> Result<Self::Effect, u16>;

    /// Applies an acknowledged effect. An error is a violation in the acknowledgement.
    fn apply(&mut self, effect: Self::Effect, ack: &Self::Ack) -> Result<(), String>;

    /// The acknowledgement that an unacknowledged effect would have had, if the server shows that it took place. An error
    /// if the server shows neither the state before nor the state after.
    fn find_ack(&self, effect: &Self::Effect, observed: &Self::Observed) -> Result<Option<Self::Ack>, String>;

    /// The differences between the expected and the observed state of this worker's objects.
    fn differences(&self, observed: &Self::Observed) -> Vec<String>;

    /// The checks that need the models of all workers, such as the search for objects that belong to none of them.
    fn check_together(models: &mut [&mut Self], observed: &Self::Observed) -> Vec<String>;

    /// The effect of the request that got no response.
    fn pending(&mut self) -> &mut Option<Self::Effect>;

    /// Takes in the response to a write. An error is a violation.
    fn on_response(&mut self, write: &Self::Write, response: &Response<Self>) -> Result<(), String> {
        match (self.effect(write), response) {
            (Ok(effect), Outcome::Done(ack)) => self.apply(effect, ack),
            (Err(expected), Outcome::Rejected(status)) if expected == *status => Ok(()),
            (Ok(_), Outcome::Rejected(status)) => Err(format!("{write}: rejected with {status}, expected success")),
            (Err(expected), got) => Err(format!("{write}: expected a rejection with {expected}, got {got:?}")),
        }
    }

    /// Notes a write whose outcome is unknown. A write that would have been rejected has no effect either way.
    fn on_no_response(&mut self, write: &Self::Write) {
        assert!(self.pending().is_none(), "a worker without a response sends nothing more before the next resolution");
        *self.pending() = self.effect(write).ok();
    }

    /// Resolves the unknown outcome and compares the model with the observed state. Returns the acknowledgement of the
    /// pending write if it took effect, and the violations.
    fn resolve(&mut self, observed: &Self::Observed) -> (Option<Self::Ack>, Vec<String>) {
        let mut violations = Vec::new();
        let ack = self.pending().take().and_then(|effect| match self.find_ack(&effect, observed) {
            Ok(ack) => {
                violations.extend(ack.as_ref().and_then(|ack| self.apply(effect, ack).err()));
                ack
            }
            Err(violation) => {
                violations.push(violation);
                None
            }
        });
        violations.extend(self.differences(observed));
        (ack, violations)
    }
}

/// Resolves all models against one observation. Returns the acknowledgement of each pending write that took effect, and the
/// violations.
pub fn resolve_all<M: Model>(models: &mut [&mut M], observed: &M::Observed) -> (Vec<Option<M::Ack>>, Vec<String>) {
    let (acks, violations): (Vec<_>, Vec<_>) = models.iter_mut().map(|model| model.resolve(observed)).unzip();
    let mut violations = violations.concat();
    violations.extend(M::check_together(models, observed));
    (acks, violations)
}
