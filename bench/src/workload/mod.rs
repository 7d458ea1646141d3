//! The requests to a server: each kind of work knows its requests and the right responses to them.

mod blob;
mod group;
mod insert;
mod message;
mod point_read;
mod query;

use crate::Result;
use crate::http::answer::Answer;

pub use blob::{GetBlob, PutBlob};
pub use group::Group;
pub use insert::Insert;
pub use message::{Errand, MessageWork, Queue};
pub use point_read::PointRead;
pub use query::{Query, Wanted};

/// The rest of the work for a request when its response has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Done,
    /// `next` writes another that belongs to it: for the page that follows, or for what is to be done then.
    Continue,
}

/// The requests of one connection.
pub trait Client: Send {
    /// Replaces what `out` holds by the next request; `false` if there is none.
    fn next(&mut self, out: &mut Vec<u8>) -> bool;

    /// A body that is sent behind what `next` wrote. Small ones are a part of that.
    fn large_body(&self) -> &[u8] {
        b""
    }

    /// Checks the response; an error ends the run.
    fn check(&mut self, answer: &Answer<'_>) -> Result<Step>;
}

/// A kind of work that any number of connections share.
pub trait Workload {
    /// A client for one more connection.
    fn client(&self, seed: u64) -> Result<Box<dyn Client>>;

    /// The number of entities of one request, where the rate counts entities.
    fn entities_per_request(&self) -> u64 {
        1
    }
}

fn expect_status(answer: &Answer<'_>, status: u16) -> Result<()> {
    if answer.status == status { Ok(()) } else { Err(format!("{status} expected, but came\n{}", answer.text())) }
}
