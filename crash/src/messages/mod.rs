//! Queue work: clients that put, get, update and delete messages of one queue, and what must hold of all of it.
//!
//! Unlike an entity of the other workloads, a message passes from hand to hand, and a request without an answer may have
//! taken any of them. So nobody owns anything here: all requests of all clients go into one log, with their times, and the
//! oracle looks for what cannot have happened. A drain at the end shows what is left.

mod client;
mod crew;
mod log;
mod oracle;
mod worker;

pub(crate) use client::{Fulfilment, Wish, ask, create};
pub use crew::{MessageCrew, MessageShift};
pub use log::{Deed, Event, Given, MessageLog, Outcome};
pub use oracle::{judge, judge_drained};
pub use worker::MessageWorker;
