//! A body that is read piece by piece, within bounds of time and memory.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use tablerock_protocol::{ErrorCode, ServiceError};
use tokio::time::Instant;

use crate::http::body;
use crate::http::progress::Progress;
use crate::memory_budget::{BodyBudget, MemoryBudget};

/// How long a client may send nothing.
const IDLE_TIME: Duration = Duration::from_secs(20);
/// How long a client may take in addition to the time that its bytes account for.
const GRACE_TIME: Duration = Duration::from_secs(120);
/// The rate that a client has to reach after that.
const RATE_BYTES: u64 = 32 << 10;
/// How much of a rejected body is read, for a client that reads the response only after it has sent everything.
const DISCARD_BYTES_MAX: usize = 256 << 20;

/// The body of a request, read as fast as the store takes it.
#[derive(Debug)]
pub(crate) struct Upload {
    body: Incoming,
    memory: BodyBudget,
    progress: Arc<Progress>,
    received: u64,
    /// The time spent waiting for the client. The time of the store does not count.
    waited: Duration,
    /// Bytes that arrived and were not returned yet.
    rest: Bytes,
}

impl Upload {
    pub(crate) fn new(body: Incoming, memory: &MemoryBudget, progress: Arc<Progress>) -> Self {
        Self { body, memory: memory.bodies(), progress, received: 0, waited: Duration::ZERO, rest: Bytes::new() }
    }

    pub(crate) fn incoming(&self) -> &Incoming {
        &self.body
    }

    /// The bytes that are still to arrive, if the client announced a length.
    pub(crate) fn announced_bytes(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// Returns the next bytes, however many arrived; `None` at the end.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, ServiceError> {
        if !self.rest.is_empty() {
            return Ok(Some(std::mem::take(&mut self.rest)));
        }
        loop {
            let asked = Instant::now();
            let frame = tokio::time::timeout(IDLE_TIME, self.body.frame()).await;
            self.waited += asked.elapsed();
            let Some(frame) = frame.map_err(|_| ErrorCode::OperationTimedOut)? else { return Ok(None) };
            let frame = frame.map_err(|_| ServiceError::unreadable_body())?;
            // Trailers are ignored.
            let Ok(data) = frame.into_data() else { continue };
            self.received += data.len() as u64;
            if self.waited > GRACE_TIME + Duration::from_secs(self.received / RATE_BYTES) {
                return Err(ErrorCode::OperationTimedOut.into());
            }
            self.progress.note();
            if !data.is_empty() {
                return Ok(Some(data));
            }
        }
    }

    /// Returns the next `bytes`, fewer only at the end of the body; `None` after it. Large chunks hold a memory permit for
    /// as long as they are used.
    pub(crate) async fn chunk(&mut self, bytes: usize) -> Result<Option<Bytes>, ServiceError> {
        let Some(first) = self.piece().await? else { return Ok(None) };
        if first.len() >= bytes || self.body.is_end_stream() {
            return Ok(Some(self.take(first, bytes)));
        }
        let announced = self.announced_bytes().and_then(|left| usize::try_from(left).ok());
        let expected = announced.map_or(bytes, |left| bytes.min(first.len().saturating_add(left)));
        let permit = self.memory.take(expected, IDLE_TIME).await?;
        let mut chunk = BytesMut::with_capacity(expected);
        chunk.extend_from_slice(&first);
        while chunk.len() < bytes
            && let Some(piece) = self.piece().await?
        {
            let piece = self.take(piece, bytes - chunk.len());
            chunk.extend_from_slice(&piece);
        }
        Ok(Some(permit.hold(chunk.freeze())))
    }

    /// Reads the whole body, up to `bytes_max`.
    pub(crate) async fn whole(&mut self, bytes_max: usize) -> Result<Bytes, ServiceError> {
        let too_large = || ServiceError::body_too_large(bytes_max as u64);
        if self.announced_bytes().is_some_and(|announced| announced > bytes_max as u64) {
            return Err(too_large());
        }
        let whole = self.chunk(bytes_max).await?.unwrap_or_default();
        if self.piece().await?.is_some() { Err(too_large()) } else { Ok(whole) }
    }

    /// Returns at most `bytes` of a piece and keeps the rest.
    fn take(&mut self, mut piece: Bytes, bytes: usize) -> Bytes {
        if piece.len() > bytes {
            self.rest = piece.split_off(bytes);
        }
        piece
    }

    /// Reads the rest of the body, so that the sender gets to see the response.
    pub(crate) async fn finish(self) {
        if !self.body.is_end_stream() {
            body::discard(self.body, DISCARD_BYTES_MAX, IDLE_TIME).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Mutex;

    use http::{Request, Response};
    use http_body_util::Full;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncWriteExt, DuplexStream};

    use super::*;

    /// Sends a request by a script, and gives what a reader of its body made of it.
    async fn sent<T, R, S>(read: impl Fn(Upload) -> R, script: impl FnOnce(DuplexStream) -> S) -> T
    where
        R: Future<Output = T>,
        S: Future<Output = DuplexStream> + Send + 'static,
    {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let client = tokio::spawn(script(theirs));
        let result = Mutex::new(None);
        let service = service_fn(async |request: Request<Incoming>| {
            let upload = Upload::new(request.into_body(), &MemoryBudget::default(), Arc::new(Progress::new()));
            let read = read(upload).await;
            *result.lock().unwrap() = Some(read);
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
        });
        // The connection ends when the body breaks off or the client goes.
        let served = http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(ours), service).await;
        drop(served);
        client.await.unwrap();
        result.into_inner().unwrap().expect("the request was read")
    }

    async fn sizes(mut upload: Upload, bytes: usize) -> Result<Vec<usize>, ErrorCode> {
        let mut sizes = Vec::new();
        while let Some(chunk) = upload.chunk(bytes).await.map_err(|error| error.code)? {
            sizes.push(chunk.len());
        }
        Ok(sizes)
    }

    fn head(length: usize) -> Vec<u8> {
        format!("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n").into_bytes()
    }

    /// Sends `pieces` times `bytes`, with a pause before each.
    async fn steadily(mut stream: DuplexStream, pieces: usize, bytes: usize, pause: Duration) -> DuplexStream {
        stream.write_all(&head(pieces * bytes)).await.unwrap();
        for _ in 0..pieces {
            tokio::time::sleep(pause).await;
            if stream.write_all(&vec![7; bytes]).await.is_err() {
                break;
            }
        }
        stream
    }

    #[tokio::test]
    async fn chunks_have_the_size_that_was_asked_for_whatever_came_in() {
        let pause = Duration::ZERO;
        for (pieces, bytes, chunk, expected) in [
            (10, 1000, 2500, vec![2500; 4]),
            (10, 1000, 3000, vec![3000, 3000, 3000, 1000]),
            (1, 300_000, 100_000, vec![100_000; 3]),
            (1, 10, 100, vec![10]),
            (0, 0, 100, vec![]),
        ] {
            let read = sent(|upload| sizes(upload, chunk), move |stream| steadily(stream, pieces, bytes, pause)).await;
            assert_eq!(read, Ok(expected), "{pieces} of {bytes} by {chunk}");
        }
    }

    #[tokio::test]
    async fn a_whole_body_is_refused_as_soon_as_it_is_known_to_be_too_large() {
        async fn whole(mut upload: Upload, bytes_max: usize) -> Result<usize, ServiceError> {
            upload.whole(bytes_max).await.map(|bytes| bytes.len())
        }
        let send = |stream| steadily(stream, 2, 50, Duration::ZERO);
        assert_eq!(sent(|upload| whole(upload, 100), send).await, Ok(100));
        assert_eq!(sent(|upload| whole(upload, 99), send).await, Err(ServiceError::body_too_large(99)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_nothing_is_given_up_and_a_steady_one_is_not() {
        let pause = Duration::from_secs(19);
        let steady = sent(|upload| sizes(upload, 1 << 20), move |stream| steadily(stream, 30, 1 << 20, pause)).await;
        assert_eq!(steady, Ok(vec![1 << 20; 30]));
        let pause = Duration::from_secs(21);
        let idle = sent(|upload| sizes(upload, 1 << 20), move |stream| steadily(stream, 2, 10, pause)).await;
        assert_eq!(idle, Err(ErrorCode::OperationTimedOut));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_a_little_now_and_then_is_given_up() {
        let pause = Duration::from_secs(10);
        let slow = sent(|upload| sizes(upload, 1 << 20), move |stream| steadily(stream, 30, 10, pause)).await;
        assert_eq!(slow, Err(ErrorCode::OperationTimedOut));
    }
}
