//! The memory budget of all requests together.
//!
//! A body or a response may have 4 MiB and there may be thousands of connections, so a bound per request is not a bound
//! for the process. Heads, bodies and responses above a small size need a permit from one budget, and wait for it or get
//! `ServerBusy`. `ledger.rs` keeps a part of the budget free for clients that hold nothing.

mod ledger;
mod permit;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tablerock_protocol::{ErrorCode, ServiceError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

pub(crate) use self::ledger::network;
use self::ledger::{Holder, Ledger};
pub(crate) use self::permit::MemoryPermit;

/// The size up to which no permit is needed: as much as the smallest buffer of a connection has.
pub(crate) const SMALL_BYTES: usize = 8 << 10;

/// The budget for large heads, bodies and responses. One client gets half of it at most.
const BUDGET_BYTES: usize = 128 << 20;

/// Queries that run at the same time, each with up to a page of entities and its JSON. They compute and do not wait, so
/// more of them would not finish sooner.
const QUERIES_PER_CORE: usize = 4;
const QUERIES_MIN: usize = 8;

/// The memory that a query or a list reserves until the size of its response is known. Few have more, as the page itself is
/// limited to 4 MiB of stored data.
const PAGE_BYTES: usize = 6 << 20;

/// How long a query waits for its reservation. It holds nothing meanwhile.
const PAGE_TIME: Duration = Duration::from_secs(20);

/// How long a download, a copy or an uncommonly large page waits for its memory.
const CONTENT_TIME: Duration = Duration::from_secs(2);

/// How long a client may take to send the rest of a head.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(20);

/// Connections with large read buffers. The buffers stay with a connection until it closes; other connections upload with
/// small reads.
const WIDE_CONNECTIONS_MAX: usize = 256;

/// The memory budget of a server.
#[derive(Debug)]
pub struct MemoryBudget {
    ledger: Arc<Ledger>,
    queries: Semaphore,
    wide_connections: Arc<Semaphore>,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            ledger: Arc::new(Ledger::new(BUDGET_BYTES)),
            queries: Semaphore::new(QUERIES_MIN.max(cores * QUERIES_PER_CORE)),
            wide_connections: Arc::new(Semaphore::new(WIDE_CONNECTIONS_MAX)),
        }
    }
}

impl MemoryBudget {
    /// The budget as one client sees it: an address, with the account that its request names.
    pub(crate) fn of<'a>(&'a self, address: IpAddr, account: Option<&'a str>) -> ClientBudget<'a> {
        ClientBudget { ledger: &self.ledger, address, account }
    }

    /// The budget as a connection sees it, before it names an account.
    pub(crate) fn of_connection(&self, address: IpAddr) -> ConnectionBudget {
        ConnectionBudget {
            ledger: self.ledger.clone(),
            wide_connections: self.wide_connections.clone(),
            holder: Holder::new(address, None),
        }
    }

    /// Waits for the slot of a query. The request's timeout bounds the wait.
    pub(crate) async fn query_slot(&self) -> SemaphorePermit<'_> {
        self.queries.acquire().await.expect("the semaphore is never closed")
    }
}

/// The part of the budget that one client may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientBudget<'a> {
    ledger: &'a Arc<Ledger>,
    address: IpAddr,
    account: Option<&'a str>,
}

impl ClientBudget<'_> {
    /// Waits for memory, up to a time. Small sizes are free.
    pub(crate) async fn take(&self, bytes: usize, time: Duration) -> Result<MemoryPermit, ServiceError> {
        if bytes <= SMALL_BYTES {
            return Ok(MemoryPermit::default());
        }
        self.ledger.take(self.holder(), bytes, time).await.ok_or_else(|| ErrorCode::ServerBusy.into())
    }

    /// Takes memory for bytes that exist already. It does not wait: what waits would hold the bytes without a permit.
    pub(crate) fn take_now(&self, bytes: usize) -> Result<MemoryPermit, ServiceError> {
        if bytes <= SMALL_BYTES {
            return Ok(MemoryPermit::default());
        }
        self.ledger.take_now(self.holder(), bytes).ok_or_else(|| ErrorCode::ServerBusy.into())
    }

    /// Waits for the memory of a page, whose size is known only when it is complete.
    pub(crate) async fn reserve_page(&self) -> Result<MemoryPermit, ServiceError> {
        self.take(PAGE_BYTES, PAGE_TIME).await
    }

    /// Waits for the memory of content that is read from the store while it is sent or copied.
    pub(crate) async fn for_content(&self, bytes: usize) -> Result<MemoryPermit, ServiceError> {
        self.take(bytes, CONTENT_TIME).await
    }

    fn holder(&self) -> Holder {
        Holder::new(self.address, self.account)
    }
}

/// The part of the budget that the heads and buffers of a connection may use.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionBudget {
    ledger: Arc<Ledger>,
    wide_connections: Arc<Semaphore>,
    holder: Holder,
}

impl ConnectionBudget {
    /// Waits for the memory of a large head. The time that a head may take bounds the wait.
    pub(crate) async fn for_head(self, bytes: usize) -> Option<MemoryPermit> {
        self.ledger.take(self.holder, bytes, HEAD_TIME).await
    }

    /// Takes the memory of a connection that may need more than its buffers, if there is any.
    pub(crate) fn for_connection(&self, bytes: usize) -> Option<MemoryPermit> {
        self.ledger.take_now(self.holder, bytes)
    }

    /// Takes the memory of a head that has arrived.
    pub(crate) fn head_now(&self, bytes: usize) -> Option<MemoryPermit> {
        if bytes <= SMALL_BYTES { Some(MemoryPermit::default()) } else { self.ledger.take_now(self.holder, bytes) }
    }

    /// The right to large read buffers, if there is one left.
    pub(crate) fn widen(&self) -> Option<OwnedSemaphorePermit> {
        self.wide_connections.clone().try_acquire_owned().ok()
    }
}
