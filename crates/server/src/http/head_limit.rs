//! Bounds on the head of an HTTP/1.1 request: its time, and the memory of all heads together.
//!
//! hyper keeps a head in a buffer that grows until the head is complete. Small heads fit into the buffer that each
//! connection has. A larger one needs a permit from the memory budget. Reads are short, because hyper's buffer grows when
//! they fill it and stays as large until the connection closes; only a limited number of connections may read more at once.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep};

use crate::http::pass_through::pass_on_writes;
use crate::memory_budget::{ConnectionBudget, HEAD_TIME, MemoryPermit, SMALL_BYTES};

/// The size of a request's head: its first line and all headers.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The memory of a large head: hyper's buffer doubles when it is full.
const LARGE_HEAD_BYTES: usize = 2 * HEAD_BYTES_MAX;

/// One byte less than hyper's first buffer, which grows only when a read fills it.
const SHORT_READ_BYTES: usize = SMALL_BYTES - 1;

/// How many requests of a connection have begun and ended. An odd sum means that one is being served.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestCount(Arc<AtomicUsize>);

impl RequestCount {
    /// Notes that a head is complete, and at the drop of the guard that its response is.
    pub(crate) fn begin(&self) -> RequestGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        RequestGuard(self.clone())
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A request that is being served.
#[derive(Debug)]
pub(crate) struct RequestGuard(RequestCount);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A connection whose heads are limited.
pub(crate) struct HeadLimit<S> {
    stream: S,
    budget: ConnectionBudget,
    requests: RequestCount,
    /// The count at the last read.
    seen: usize,
    /// The bytes of a head that have arrived, while no request is being served.
    head_bytes: usize,
    /// The end of the time for a head of which some has arrived.
    deadline: Option<Pin<Box<Sleep>>>,
    permit: MemoryPermit,
    waiting: Option<Pin<Box<dyn Future<Output = Option<MemoryPermit>> + Send>>>,
    wide: Option<OwnedSemaphorePermit>,
}

impl<S> HeadLimit<S> {
    pub(crate) fn new(stream: S, budget: ConnectionBudget, requests: RequestCount) -> Self {
        Self {
            stream,
            budget,
            requests,
            seen: 0,
            head_bytes: 0,
            deadline: None,
            permit: MemoryPermit::default(),
            waiting: None,
            wide: None,
        }
    }

    /// Whether a request is being served. A new state ends the head before it.
    fn is_serving(&mut self) -> bool {
        let count = self.requests.get();
        let is_serving = count % 2 == 1;
        if count != self.seen {
            (self.seen, self.head_bytes, self.deadline) = (count, 0, None);
            if !is_serving {
                // The request's headers are parts of the buffer, so the permit lives as long as the request.
                self.permit = MemoryPermit::default();
            }
        }
        is_serving
    }

    fn poll_permit(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.head_bytes < SHORT_READ_BYTES || !self.permit.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let budget = &self.budget;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(budget.clone().for_head(LARGE_HEAD_BYTES)));
        let permit = ready!(waiting.as_mut().poll(context));
        self.waiting = None;
        match permit {
            Some(permit) => {
                self.permit = permit;
                Poll::Ready(Ok(()))
            }
            None => Poll::Ready(Err(io::Error::new(io::ErrorKind::OutOfMemory, "no memory for the head of a request"))),
        }
    }

    /// Ends a connection whose client takes too long with a head.
    fn poll_deadline(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let sleep = || Box::pin(tokio::time::sleep_until(Instant::now() + HEAD_TIME));
        ready!(self.deadline.get_or_insert_with(sleep).as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client did not complete its head")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HeadLimit<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let is_serving = this.is_serving();
        if !is_serving {
            ready!(this.poll_permit(context))?;
        }
        let before = into.filled().len();
        let bytes_max = if this.wide.is_some() { usize::MAX } else { SHORT_READ_BYTES };
        let mut stream = (&mut this.stream).take(bytes_max as u64);
        if Pin::new(&mut stream).poll_read(context, into)?.is_pending() {
            return if is_serving || this.head_bytes == 0 { Poll::Pending } else { this.poll_deadline(context) };
        }
        let count = into.filled().len() - before;
        if !is_serving {
            this.head_bytes += count;
        } else if count == SHORT_READ_BYTES && this.wide.is_none() {
            this.wide = this.budget.widen();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HeadLimit<S> {
    pass_on_writes!();
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;
    use crate::memory_budget::MemoryBudget;

    const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn limited(memory: &MemoryBudget) -> (DuplexStream, HeadLimit<DuplexStream>, RequestCount) {
        let (client, server) = tokio::io::duplex(1 << 20);
        let requests = RequestCount::default();
        (client, HeadLimit::new(server, memory.of_connection(ADDRESS), requests.clone()), requests)
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_is_not_completed_ends_and_an_idle_connection_does_not() {
        let memory = MemoryBudget::default();
        let (mut client, mut server, requests) = limited(&memory);
        let mut buffer = [0; 100];
        let day = Duration::from_secs(24 * 3600);
        assert!(tokio::time::timeout(day, server.read(&mut buffer)).await.is_err(), "idle");
        client.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        assert!(server.read(&mut buffer).await.unwrap() > 0);
        drop(requests.begin());
        assert!(tokio::time::timeout(day, server.read(&mut buffer)).await.is_err(), "between two requests");
        client.write_all(b"GET / HT").await.unwrap();
        assert!(server.read(&mut buffer).await.unwrap() > 0);
        let began = Instant::now();
        assert_eq!(server.read(&mut buffer).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() >= HEAD_TIME && began.elapsed() < HEAD_TIME * 2);
    }

    #[tokio::test(start_paused = true)]
    async fn large_heads_share_a_bound_and_leave_it_with_their_request() {
        let memory = MemoryBudget::default();
        let mut open = Vec::new();
        let mut served = 0;
        // Each sends twice as much as is free of charge.
        for _ in 0..2000 {
            let (mut client, mut server, requests) = limited(&memory);
            client.write_all(&[b'x'; 2 * SMALL_BYTES]).await.unwrap();
            let mut buffer = vec![0; SMALL_BYTES];
            assert!(server.read(&mut buffer).await.unwrap() > 0);
            match tokio::time::timeout(Duration::ZERO, server.read(&mut buffer)).await {
                Ok(read) => served += read.map(|_| 1).unwrap(),
                Err(_) => break,
            }
            open.push((client, server, requests));
        }
        assert!((100..2000).contains(&served), "{served} heads got memory");
        let (mut client, mut server, requests) = open.pop().unwrap();
        drop(requests.begin());
        client.write_all(b"GET").await.unwrap();
        assert!(server.read(&mut [0; 10_000]).await.unwrap() > 0);
        let other = memory.of_connection(ADDRESS).for_head(LARGE_HEAD_BYTES).await;
        assert!(other.is_some(), "a request that has ended returns its memory");
    }

    #[tokio::test]
    async fn only_some_connections_read_much_at_once() {
        let memory = MemoryBudget::default();
        let mut sizes = Vec::new();
        let mut open = Vec::new();
        for _ in 0..300 {
            let (mut client, mut server, requests) = limited(&memory);
            let _serving = requests.begin();
            client.write_all(&[b'x'; 60_000]).await.unwrap();
            let mut buffer = vec![0; 64 << 10];
            assert!(server.read(&mut buffer).await.unwrap() > 0);
            sizes.push(server.read(&mut buffer).await.unwrap());
            open.push((client, server));
        }
        let wide = sizes.iter().filter(|size| **size > SHORT_READ_BYTES).count();
        assert!((1..300).contains(&wide), "{wide} of {}", sizes.len());
    }
}
