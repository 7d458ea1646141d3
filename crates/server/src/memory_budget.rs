//! The memory budget of all requests together.
//!
//! A body or a response may have 4 MiB, and there may be thousands of connections, so a bound per request is not a bound
//! for the process. Large bodies, queries and large responses need a permit; they wait for one or get `ServerBusy`. Small
//! ones never do, so a client that holds permits and neither sends nor reads delays only other large requests.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tablerock_protocol::{ErrorCode, ServiceError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// The size up to which no permit is needed: as much as the head of a request may have.
pub(crate) const SMALL_BYTES: usize = 64 << 10;

/// The budget for large bodies; large responses have another of the same size.
const BUDGET_BYTES: usize = 64 << 20;

/// Queries that run at the same time, each with up to a page of entities and its JSON. They compute and do not wait, so
/// more of them would not finish sooner.
const QUERIES_PER_CORE: usize = 4;
const QUERIES_MIN: usize = 8;

/// How long a response waits for its permit. Its query keeps its slot meanwhile.
const RESPONSE_TIME: Duration = Duration::from_secs(2);

/// The unit of the budget.
const UNIT_BYTES: usize = 1 << 10;

/// The memory budget of a server.
#[derive(Debug)]
pub struct MemoryBudget {
    bodies: Arc<Semaphore>,
    responses: Arc<Semaphore>,
    queries: Semaphore,
}

/// The budget for bodies, for a body that takes permits piece by piece.
#[derive(Debug, Clone)]
pub(crate) struct BodyBudget(Arc<Semaphore>);

/// The memory of one body or response; empty if that is small.
#[derive(Debug, Default)]
pub(crate) struct MemoryPermit(Option<OwnedSemaphorePermit>);

impl Default for MemoryBudget {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let budget = || Arc::new(Semaphore::new(BUDGET_BYTES / UNIT_BYTES));
        let queries = Semaphore::new(QUERIES_MIN.max(cores * QUERIES_PER_CORE));
        Self { bodies: budget(), responses: budget(), queries }
    }
}

impl MemoryBudget {
    /// Waits for the memory of a body. Nothing is read from the connection meanwhile, so the client waits as well.
    pub(crate) async fn for_body(&self, bytes: usize, time: Duration) -> Result<MemoryPermit, ServiceError> {
        take(&self.bodies, bytes, time).await
    }

    pub(crate) fn bodies(&self) -> BodyBudget {
        BodyBudget(self.bodies.clone())
    }

    /// Waits for the memory of a response, which is held until all of it is written.
    pub(crate) async fn for_response(&self, bytes: usize) -> Result<MemoryPermit, ServiceError> {
        take(&self.responses, bytes, RESPONSE_TIME).await
    }

    /// Waits for the slot of a query, which is held until its response has a permit. The request's timeout bounds the wait.
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
    // Never more than the whole budget, which would wait forever.
    let units = bytes.min(BUDGET_BYTES).div_ceil(UNIT_BYTES) as u32;
    match tokio::time::timeout(time, memory.clone().acquire_many_owned(units)).await {
        Ok(permit) => Ok(MemoryPermit(Some(permit.expect("the semaphore is never closed")))),
        Err(_) => Err(ErrorCode::ServerBusy.into()),
    }
}

impl MemoryPermit {
    /// Ties the permit to the bytes: it is released with the last reference to them.
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
