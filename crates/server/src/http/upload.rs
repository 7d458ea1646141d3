//! A body that is read piece by piece, within bounds of time and memory.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use tablerock_protocol::{ErrorCode, ServiceError};
use tokio::time::Instant;

use crate::http::body::GrowingBody;
use crate::http::progress::Progress;
use crate::http::request_body::RequestBody;
use crate::memory_budget::{ClientBudget, MemoryPermit, SMALL_BYTES};

/// How long a client may send nothing.
const IDLE_TIME: Duration = Duration::from_secs(20);
/// How long a client may take in addition to the time that its bytes account for.
const GRACE_TIME: Duration = Duration::from_secs(120);
/// The rate that a client has to reach after that.
const RATE_BYTES: u64 = 32 << 10;
/// How much of a rejected body is read, for a client that reads the response only after it has sent everything.
const DISCARD_BYTES_MAX: usize = 256 << 20;
/// The same for a client without credentials.
const STRANGER_DISCARD_BYTES_MAX: usize = 32 << 20;

/// The memory of content on its way to the store.
const CONTENT_BYTES: usize = 256 << 10;

/// The body of a request, read as fast as the store takes it.
#[derive(Debug)]
pub(crate) struct Upload {
    body: RequestBody,
    progress: Arc<Progress>,
    received: u64,
    /// The time spent waiting for the client. The time of the store does not count.
    waited: Duration,
    /// The memory of content, once it is large.
    content: MemoryPermit,
}

impl Upload {
    pub(crate) fn new(body: RequestBody, progress: Arc<Progress>) -> Self {
        Self { body, progress, received: 0, waited: Duration::ZERO, content: MemoryPermit::default() }
    }

    pub(crate) fn incoming(&self) -> &RequestBody {
        &self.body
    }

    /// The bytes that are still to arrive, if the client announced a length.
    pub(crate) fn announced_bytes(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// Returns the next bytes of content, however many arrived; `None` at the end. The store collects them in chunks, which
    /// need memory until the upload ends.
    pub(crate) async fn content(&mut self, memory: &ClientBudget<'_>) -> Result<Option<Bytes>, ServiceError> {
        let piece = self.piece().await?;
        if self.content.is_empty() && self.received > SMALL_BYTES as u64 {
            self.content = memory.take(CONTENT_BYTES, IDLE_TIME).await?;
        }
        Ok(piece)
    }

    async fn piece(&mut self) -> Result<Option<Bytes>, ServiceError> {
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

    /// Rejects a body. One without a length may turn out to be empty.
    pub(crate) async fn check_empty(&mut self) -> Result<(), ServiceError> {
        let bytes = match self.announced_bytes() {
            Some(announced) => announced,
            None => self.piece().await?.map_or(0, |piece| piece.len() as u64),
        };
        if bytes == 0 { Ok(()) } else { Err(ServiceError::invalid_header("Content-Length", &bytes.to_string())) }
    }

    /// Reads the whole body, up to `bytes_max`.
    pub(crate) async fn whole(&mut self, bytes_max: usize, memory: &ClientBudget<'_>) -> Result<Bytes, ServiceError> {
        let too_large = || ServiceError::body_too_large(bytes_max as u64);
        let announced = self.announced_bytes().unwrap_or(0);
        if announced > bytes_max as u64 {
            return Err(too_large());
        }
        let mut whole = GrowingBody::new(announced as usize, bytes_max, memory);
        while let Some(piece) = self.piece().await? {
            if whole.len() + piece.len() > bytes_max {
                return Err(too_large());
            }
            whole.append(&piece).await?;
        }
        Ok(whole.finish())
    }

    /// Reads the rest of the body, so that the sender gets to see the response.
    pub(crate) async fn finish(self, is_admitted: bool) {
        if !self.body.is_end_stream() {
            let bytes_max = if is_admitted { DISCARD_BYTES_MAX } else { STRANGER_DISCARD_BYTES_MAX };
            self.body.discard(bytes_max, IDLE_TIME).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Mutex;

    use http::{Request, Response};
    use http_body_util::Full;
    use hyper::body::Incoming;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncWriteExt, DuplexStream};

    use super::*;
    use crate::memory_budget::MemoryBudget;

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
            let (head, body) = request.into_parts();
            let upload = Upload::new(RequestBody::http1(body, &head.headers), Arc::new(Progress::new()));
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

    const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    async fn received(mut upload: Upload) -> Result<usize, ErrorCode> {
        let budget = MemoryBudget::default();
        let mut bytes = 0;
        while let Some(piece) = upload.content(&budget.of(ADDRESS, None)).await.map_err(|error| error.code)? {
            bytes += piece.len();
        }
        Ok(bytes)
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
    async fn a_whole_body_is_refused_as_soon_as_it_is_known_to_be_too_large() {
        async fn whole(mut upload: Upload, bytes_max: usize) -> Result<usize, ServiceError> {
            upload.whole(bytes_max, &MemoryBudget::default().of(ADDRESS, None)).await.map(|bytes| bytes.len())
        }
        let send = |stream| steadily(stream, 2, 50, Duration::ZERO);
        assert_eq!(sent(|upload| whole(upload, 100), send).await, Ok(100));
        assert_eq!(sent(|upload| whole(upload, 99), send).await, Err(ServiceError::body_too_large(99)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_nothing_is_given_up_and_a_steady_one_is_not() {
        let pause = Duration::from_secs(19);
        let steady = sent(received, move |stream| steadily(stream, 30, 1 << 20, pause)).await;
        assert_eq!(steady, Ok(30 << 20));
        let pause = Duration::from_secs(21);
        let idle = sent(received, move |stream| steadily(stream, 2, 10, pause)).await;
        assert_eq!(idle, Err(ErrorCode::OperationTimedOut));
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_a_little_now_and_then_is_given_up() {
        let pause = Duration::from_secs(10);
        let slow = sent(received, move |stream| steadily(stream, 30, 10, pause)).await;
        assert_eq!(slow, Err(ErrorCode::OperationTimedOut));
    }
}
