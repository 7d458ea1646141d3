//! Queue work: clients that put, get, update and delete messages of one queue.
//!
//! A message passes between clients, and a request without a response may have affected any message. No client owns
//! objects here, so there is no model per worker. All requests of all clients go into one history with their times, and the
//! checker searches it for contradictions. A drain at the end shows which messages are left.

mod checker;
mod history;
mod requests;
mod worker;
mod workers;

pub use checker::{check, check_drained};
pub use history::{MessageHandle, QueueEvent, QueueHistory, QueueOperation, QueueOutcome, ReceivedMessage};
pub(crate) use requests::{create, send};
pub use worker::QueueWorker;
pub use workers::QueueWorkers;
