//! Memory for what is under way, over all connections together.
//!
//! A body or an reply may have 4 MiB, and there may be thousands of connections, so what each of them may do is no
//! bound for the process. Here is one: large bodies, queries and large replies need room, and wait for it or are told
//! that the server is busy. Small ones never do, so that clients who take up all the room, and then neither send nor
//! read, hold up nobody but their like.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tablerock_protocol::{ErrorCode, ServiceError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// What counts as small: no more than the head of a request may have, which nobody needs room for either.
pub(crate) const SMALL_BYTES: usize = 64 << 10;

/// For large bodies, and as much for large replies.
const BUDGET_BYTES: usize = 64 << 20;

/// Queries that gather entities at the same time, each up to a page and its JSON. They are busy and not waiting, so
/// that more of them than this would not be done sooner.
const QUERIES_PER_CORE: usize = 4;
const QUERIES_MIN: usize = 8;

/// How long an reply may wait: the query that it belongs to keeps its place meanwhile.
const RESPONSE_TIME: Duration = Duration::from_secs(2);

/// MemoryBudget is counted in these.
const UNIT_BYTES: usize = 1 << 10;

/// The room of a server.
#[derive(Debug)]
pub struct MemoryBudget {
    bodies: Arc<Semaphore>,
    responses: Arc<Semaphore>,
    queries: Semaphore,
}

/// The room for bodies, to be taken along by one that comes in piece by piece.
#[derive(Debug, Clone)]
pub(crate) struct BodyBudget(Arc<Semaphore>);

/// The room of one body or reply; none if it is small.
#[derive(Debug, Default)]
pub(crate) struct MemoryPermit(Option<OwnedSemaphorePermit>);

impl Default for MemoryBudget {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let room = || Arc::new(Semaphore::new(BUDGET_BYTES / UNIT_BYTES));
        let queries = Semaphore::new(QUERIES_MIN.max(cores * QUERIES_PER_CORE));
        Self { bodies: room(), responses: room(), queries }
    }
}

impl MemoryBudget {
    /// MemoryBudget for a body. Whoever waits here does not read from its connection, so the client waits as well.
    pub(crate) async fn for_body(&self, bytes: usize, time: Duration) -> Result<MemoryPermit, ServiceError> {
        take(&self.bodies, bytes, time).await
    }

    pub(crate) fn bodies(&self) -> BodyBudget {
        BodyBudget(self.bodies.clone())
    }

    /// MemoryBudget for an reply, until all of it is written.
    pub(crate) async fn for_response(&self, bytes: usize) -> Result<MemoryPermit, ServiceError> {
        take(&self.responses, bytes, RESPONSE_TIME).await
    }

    /// The turn of a query, which lasts until its reply has room. The request's own time limits the wait.
    pub(crate) async fn query_slot(&self) -> SemaphorePermit<'_> {
        self.queries.acquire().await.expect("the semaphore is never closed")
    }
}

impl BodyBudget {
    pub(crate) async fn take(&self, bytes: usize, time: Duration) -> Result<MemoryPermit, ServiceError> {
        take(&self.0, bytes, time).await
    }
}

async fn take(memory: &Arc<Semaphore>, bytes: usize, time: Duration) -> Result<MemoryPermit, ServiceError> {
    if bytes <= SMALL_BYTES {
        return Ok(MemoryPermit(None));
    }
    // Nothing needs more than all of it, or it would wait for ever.
    let units = bytes.min(BUDGET_BYTES).div_ceil(UNIT_BYTES) as u32;
    match tokio::time::timeout(time, memory.clone().acquire_many_owned(units)).await {
        Ok(permit) => Ok(MemoryPermit(Some(permit.expect("the semaphore is never closed")))),
        Err(_) => Err(ErrorCode::ServerBusy.into()),
    }
}

impl MemoryPermit {
    /// The same bytes; the room is free again when the last reference to them is gone, wherever they went.
    pub(crate) fn hold(self, bytes: Bytes) -> Bytes {
        match self.0 {
            None => bytes,
            Some(permit) => Bytes::from_owner(Held { bytes, _permit: permit }),
        }
    }
}

struct Held {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 4 << 20;

    #[tokio::test(start_paused = true)]
    async fn who_finds_no_room_hears_that_the_server_is_busy_and_small_ones_do_not() {
        let memory = MemoryBudget::default();
        let mut held = Vec::new();
        for _ in 0..BUDGET_BYTES / LARGE {
            let permit = memory.for_response(LARGE).await.unwrap();
            held.push(permit.hold(Bytes::from(vec![0; LARGE])));
        }
        assert_eq!(memory.for_response(SMALL_BYTES + 1).await.unwrap_err().code, ErrorCode::ServerBusy);
        memory.for_response(SMALL_BYTES).await.unwrap();
        memory.for_body(LARGE, Duration::ZERO).await.unwrap();

        let part = held.pop().unwrap().slice(..10);
        assert!(memory.for_response(LARGE).await.is_err(), "a part of the bytes is still somewhere");
        drop(part);
        memory.for_response(LARGE).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_larger_than_all_the_room_gets_all_of_it() {
        let memory = MemoryBudget::default();
        let permit = memory.for_body(BUDGET_BYTES * 2, Duration::ZERO).await.unwrap();
        assert!(memory.for_body(LARGE, Duration::from_secs(1)).await.is_err());
        drop(permit);
        memory.for_body(LARGE, Duration::ZERO).await.unwrap();
    }
}
