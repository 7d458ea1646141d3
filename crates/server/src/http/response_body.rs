//! The body of a response: complete, or read piece by piece while it is sent.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use tablerock_protocol::{ServiceError, limits};
use tokio::time::Timeout;

use crate::memory_budget::MemoryPermit;

/// How long the store may take to read the next piece.
const PIECE_TIME: Duration = Duration::from_secs(limits::REQUEST_SECONDS_MAX);

/// The body of a response, as hyper takes it.
#[derive(Debug)]
pub(crate) enum ResponseBody {
    Whole(Full<Bytes>),
    Stream(BodyStream),
}

impl ResponseBody {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole(Full::new(bytes))
    }
}

/// A body of a known length that is read piece by piece. The next piece is read when the one before has been handed to
/// the connection, so that one piece at a time is in memory.
pub(crate) struct BodyStream {
    bytes_left: u64,
    /// The memory of one piece.
    pub(crate) piece_bytes: usize,
    pieces: Pin<Box<dyn Pieces>>,
    /// The memory of a piece, until all of them are sent.
    pub(crate) permit: MemoryPermit,
}

/// The body is incomplete because the store could not be read. The connection is closed, so that no client takes a part
/// for the whole.
#[derive(Debug)]
pub(crate) struct Incomplete;

impl BodyStream {
    /// A body of `length` bytes. `next` takes a state and returns the next piece with the state after it, or `None` at the
    /// end. No piece has more than `piece_bytes`.
    pub(crate) fn new<S, N, F>(length: u64, piece_bytes: usize, state: S, next: N) -> Self
    where
        S: Send + 'static,
        N: FnMut(S) -> F + Send + 'static,
        F: Future<Output = Result<Option<(Bytes, S)>, ServiceError>> + Send + 'static,
    {
        let pieces = Box::pin(Unfold { next, state: Some(state), reading: None });
        Self { bytes_left: length, piece_bytes, pieces, permit: MemoryPermit::default() }
    }

    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Incomplete>>> {
        if self.bytes_left == 0 {
            return Poll::Ready(None);
        }
        let piece = match ready!(self.pieces.as_mut().poll_next(context)) {
            Ok(Some(piece)) if piece.len() as u64 <= self.bytes_left => piece,
            Ok(_) => {
                tracing::error!(bytes_left = self.bytes_left, "response body has the wrong length");
                return Poll::Ready(Some(Err(Incomplete)));
            }
            Err(error) => {
                tracing::error!(%error, bytes_left = self.bytes_left, "response body incomplete");
                return Poll::Ready(Some(Err(Incomplete)));
            }
        };
        self.bytes_left -= piece.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

/// The pieces of any source, whose type is erased here.
trait Pieces: Send {
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, ServiceError>>;
}

struct Unfold<S, N, F> {
    next: N,
    state: Option<S>,
    reading: Option<Pin<Box<Timeout<F>>>>,
}

/// The only pinned part is in a box of its own.
impl<S, N, F> Unpin for Unfold<S, N, F> {}

impl<S, N, F> Pieces for Unfold<S, N, F>
where
    S: Send,
    N: FnMut(S) -> F + Send,
    F: Future<Output = Result<Option<(Bytes, S)>, ServiceError>> + Send,
{
    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, ServiceError>> {
        let this = self.get_mut();
        if this.reading.is_none() {
            let Some(state) = this.state.take() else { return Poll::Ready(Ok(None)) };
            this.reading = Some(Box::pin(tokio::time::timeout(PIECE_TIME, (this.next)(state))));
        }
        let reading = this.reading.as_mut().expect("it has just been started");
        let read = ready!(reading.as_mut().poll(context));
        this.reading = None;
        let read = read.unwrap_or_else(|_| Err(tablerock_protocol::ErrorCode::OperationTimedOut.into()))?;
        Poll::Ready(Ok(read.map(|(piece, state)| {
            this.state = Some(state);
            piece
        })))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Incomplete;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.get_mut() {
            Self::Whole(whole) => Pin::new(whole).poll_frame(context).map_err(|never| match never {}),
            Self::Stream(stream) => stream.poll_piece(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(whole) => whole.is_end_stream(),
            Self::Stream(stream) => stream.bytes_left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(whole) => whole.size_hint(),
            Self::Stream(stream) => SizeHint::with_exact(stream.bytes_left),
        }
    }
}

impl fmt::Debug for BodyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BodyStream").field("bytes_left", &self.bytes_left).finish_non_exhaustive()
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the response body is incomplete")
    }
}

impl std::error::Error for Incomplete {}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tablerock_protocol::ErrorCode;

    use super::*;

    /// A stream that announces `length` bytes and has pieces of the given sizes.
    fn stream(length: u64, sizes: &'static [usize]) -> ResponseBody {
        ResponseBody::Stream(BodyStream::new(length, 10, sizes, |sizes: &'static [usize]| async move {
            Ok(sizes.split_first().map(|(size, rest)| (Bytes::from(vec![7; *size]), rest)))
        }))
    }

    #[tokio::test]
    async fn pieces_follow_each_other_to_the_announced_length() {
        let content = stream(12, &[5, 5, 2]);
        assert_eq!(content.size_hint().exact(), Some(12));
        assert_eq!(content.collect().await.unwrap().to_bytes(), vec![7; 12]);
        assert!(stream(0, &[]).is_end_stream());
    }

    #[tokio::test]
    async fn another_length_than_announced_breaks_off() {
        assert!(stream(12, &[5, 5]).collect().await.is_err());
        assert!(stream(8, &[5, 5]).collect().await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_piece_that_fails_or_never_comes_breaks_off() {
        let failing = BodyStream::new(1, 1, (), |()| async { Err(ErrorCode::ServerBusy.into()) });
        assert!(ResponseBody::Stream(failing).collect().await.is_err());
        let stuck = BodyStream::new(1, 1, (), |()| std::future::pending());
        assert!(ResponseBody::Stream(stuck).collect().await.is_err());
    }
}
