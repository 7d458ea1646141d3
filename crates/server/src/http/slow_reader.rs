//! A timeout for peers that do not read.
//!
//! hyper bounds the time in which a head arrives, and the server that of a body. Without this bound, a response that the
//! peer does not read would stay in memory for as long as the connection is open.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::http::pass_through::pass_on_flushes;

/// How long a peer that is behind may take to catch up, or to read as much as the largest page of a query has: about
/// 35 KB per second. The reader of a large blob is behind all the time, at a speed that is fast enough.
const STALL_TIME: Duration = Duration::from_secs(120);
const SENDING_BYTES: usize = 4 << 20;

pub(crate) struct SlowReader<S> {
    stream: S,
    /// The deadline of a peer that is behind.
    behind: Option<Pin<Box<Sleep>>>,
    /// The bytes that it read since the deadline was set.
    taken_bytes: usize,
}

impl<S> SlowReader<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, behind: None, taken_bytes: 0 }
    }

    /// Judges a write of `length` bytes. A peer is behind while not all of them could be written.
    fn judge(
        &mut self,
        written: Poll<io::Result<usize>>,
        length: usize,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(count)) if *count < length => {
                self.taken_bytes += count;
                if self.taken_bytes >= SENDING_BYTES {
                    self.behind = None;
                }
                self.limit();
            }
            Poll::Ready(_) => self.behind = None,
            Poll::Pending => {
                ready!(self.limit().as_mut().poll(context));
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client did not read its reply")));
            }
        }
        written
    }

    fn limit(&mut self) -> &mut Pin<Box<Sleep>> {
        if self.behind.is_none() {
            self.taken_bytes = 0;
        }
        self.behind.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + STALL_TIME)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for SlowReader<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SlowReader<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(written, bytes.len(), context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.judge(written, pieces.iter().map(|piece| piece.len()).sum(), context)
    }

    pass_on_flushes!();
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_a_little_now_and_then_is_given_up() {
        let (ours, mut theirs) = tokio::io::duplex(1000);
        let mut sending = SlowReader::new(ours);
        let reader = tokio::spawn(async move {
            for _ in 0..1000 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                if theirs.read_u8().await.is_err() {
                    break;
                }
            }
        });
        let began = Instant::now();
        let error = sending.write_all(&[0; 5000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() >= STALL_TIME && began.elapsed() < STALL_TIME + Duration::from_secs(5));
        drop(sending);
        reader.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_catches_up_has_all_the_time_again() {
        let (ours, mut theirs) = tokio::io::duplex(1000);
        let mut sending = SlowReader::new(ours);
        let reader = tokio::spawn(async move {
            let mut bytes = [0; 1000];
            for _ in 0..30 {
                tokio::time::sleep(Duration::from_secs(20)).await;
                theirs.read_exact(&mut bytes).await.unwrap();
            }
        });
        for _ in 0..10 {
            sending.write_all(&[0; 3000]).await.unwrap();
        }
        reader.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_is_always_behind_may_be_so_while_it_takes_enough() {
        let (ours, mut theirs) = tokio::io::duplex(64 << 10);
        let mut sending = SlowReader::new(ours);
        let reader = tokio::spawn(async move {
            let mut bytes = vec![0; 1 << 20];
            for _ in 0..32 {
                tokio::time::sleep(Duration::from_secs(20)).await;
                theirs.read_exact(&mut bytes).await.unwrap();
            }
        });
        sending.write_all(&vec![0; 32 << 20]).await.unwrap();
        reader.await.unwrap();
    }
}
