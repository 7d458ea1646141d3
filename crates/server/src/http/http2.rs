//! HTTP/2 connections, on the `h2` crate itself.
//!
//! hyper's own server keeps a stream for as long as its client likes: it can neither end one that the client does not read
//! nor respond without waiting for the request's body. Here each stream has its own deadlines, and a rejected request ends
//! without its body.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderValue, Method, Request, Response, header};
use http_body_util::BodyExt;
use hyper::body::Body;
use tablerock_kv::Clock;
use tablerock_protocol::DateTime;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::listener::{ConnectionResult, HANDSHAKE_TIME, Handled, STOP_TIME};
use super::request_body::RequestBody;
use super::response_body::ResponseBody;
use crate::memory_budget::ConnectionBudget;

/// Streams of one connection at the same time.
const STREAMS_MAX: u32 = 100;
/// The size of a request's head, with 32 bytes for each header.
const HEAD_LIST_BYTES_MAX: u32 = 16 << 10;
/// The memory of a head, as a multiple of its size.
const HEAD_FACTOR: usize = 3;
/// Bytes of one response that wait in the connection.
const SEND_BYTES_MAX: usize = 16 << 10;
/// The memory of a connection at worst: the bytes of all streams that wait in it, and a window of bytes that came in.
pub(super) const CONNECTION_BYTES: usize = 2 << 20;
/// How long a stream may stand still.
const STALL_TIME: Duration = Duration::from_secs(30);
/// How long a client may take to confirm that it sends no more requests.
const CLOSE_TIME: Duration = Duration::from_secs(1);
/// How long a client may take in addition to the time that its bytes account for.
const GRACE_TIME: Duration = Duration::from_secs(120);
/// The rate that a reader has to reach after that.
const RATE_BYTES: u64 = 32 << 10;

/// The settings of a connection.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) idle_time: Duration,
    pub(super) budget: ConnectionBudget,
    pub(super) clock: Arc<dyn Clock>,
}

/// Serves the streams of a connection until the client closes it, no stream is open for the idle time, or `stop` turns true.
pub(super) async fn serve<I, H, F>(
    io: I,
    settings: Settings,
    mut stop: watch::Receiver<bool>,
    handle: H,
) -> ConnectionResult
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Fn(Request<RequestBody>) -> F + Clone + Send + 'static,
    F: Future<Output = Handled> + Send + 'static,
{
    let mut http = h2::server::Builder::new();
    http.max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_LIST_BYTES_MAX)
        .max_send_buffer_size(SEND_BYTES_MAX);
    let mut connection = timeout(HANDSHAKE_TIME, http.handshake::<I, Bytes>(io)).await??;
    let mut streams = JoinSet::new();
    let mut idle_since = Instant::now();
    let is_stopped = loop {
        tokio::select! {
            accepted = connection.accept() => {
                let Some(accepted) = accepted else { return Ok(()) };
                let (request, respond) = accepted?;
                streams.spawn(serve_stream(request, respond, settings.clone(), handle.clone()));
            }
            Some(_) = streams.join_next() => idle_since = Instant::now(),
            () = tokio::time::sleep_until(idle_since + settings.idle_time), if streams.is_empty() => break false,
            _ = stop.wait_for(|stop| *stop) => break true,
        }
    };
    connection.graceful_shutdown();
    let finish = async {
        loop {
            tokio::select! {
                accepted = connection.accept() => {
                    let Some(Ok((request, respond))) = accepted else { break };
                    streams.spawn(serve_stream(request, respond, settings.clone(), handle.clone()));
                }
                Some(_) = streams.join_next() => {}
                // The client has not confirmed the end, and nothing is left to send it.
                () = tokio::time::sleep(CLOSE_TIME), if streams.is_empty() => break,
            }
        }
    };
    // The tasks of streams that are still open end with the set.
    let _ = timeout(if is_stopped { STOP_TIME } else { STALL_TIME }, finish).await;
    Ok(())
}

async fn serve_stream<H, F>(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    settings: Settings,
    handle: H,
) where
    H: Fn(Request<RequestBody>) -> F,
    F: Future<Output = Handled>,
{
    let (head, stream) = request.into_parts();
    let Some(permit) = settings.budget.head_now(head_bytes(&head) * HEAD_FACTOR) else {
        respond.send_reset(Reason::REFUSED_STREAM);
        return;
    };
    let is_head = head.method == Method::HEAD;
    let body = RequestBody::http2(stream, &head.headers);
    let handled = tokio::select! {
        handled = handle(Request::from_parts(head, body)) => handled,
        // The client has cancelled the request.
        _ = poll_fn(|context| respond.poll_reset(context)) => return,
    };
    drop(permit);
    let Ok(response) = handled;
    let (mut head, body) = response.into_parts();
    add_framing(&mut head, &*settings.clock);
    if !is_head {
        add_length(&mut head, &body);
    }
    let is_empty = is_head || body.is_end_stream();
    let Ok(mut stream) = respond.send_response(Response::from_parts(head, ()), is_empty) else { return };
    if !is_empty && let Err(reason) = send(&mut stream, body).await {
        stream.send_reset(reason);
    }
}

/// The size of a head as HTTP/2 counts it.
fn head_bytes(head: &http::request::Parts) -> usize {
    let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
    let headers = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32);
    headers.sum::<usize>() + target
}

/// Adds the date, as hyper does to an HTTP/1.1 response, and removes the headers that HTTP/2 does not have.
fn add_framing(head: &mut http::response::Parts, clock: &dyn Clock) {
    for name in [header::CONNECTION, header::TRANSFER_ENCODING] {
        head.headers.remove(name);
    }
    if !head.headers.contains_key(header::DATE)
        && let Ok(date) = HeaderValue::from_str(&DateTime::from_ticks(clock.ticks()).to_http_date())
    {
        head.headers.insert(header::DATE, date);
    }
}

/// Adds the length of the body, where a response may have one.
fn add_length(head: &mut http::response::Parts, body: &ResponseBody) {
    if !head.headers.contains_key(header::CONTENT_LENGTH)
        && !head.status.is_informational()
        && head.status != http::StatusCode::NO_CONTENT
        && head.status != http::StatusCode::NOT_MODIFIED
        && let Some(length) = body.size_hint().exact()
    {
        head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
}

/// Sends a body as fast as the client takes it, within the time that it may take.
async fn send(stream: &mut SendStream<Bytes>, mut body: ResponseBody) -> Result<(), Reason> {
    let (mut sent, mut waited) = (0_u64, Duration::ZERO);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Reason::INTERNAL_ERROR)?;
        let Ok(mut data) = frame.into_data() else { continue };
        while data.has_remaining() {
            let asked = Instant::now();
            let capacity = timeout(STALL_TIME, capacity(stream, data.len())).await.map_err(|_| Reason::CANCEL)??;
            waited += asked.elapsed();
            if waited > GRACE_TIME + Duration::from_secs(sent / RATE_BYTES) {
                return Err(Reason::CANCEL);
            }
            // A copy, because a part of a chunk would keep all of it in memory.
            let piece = Bytes::copy_from_slice(&data.split_to(capacity.min(data.len())));
            sent += piece.len() as u64;
            let is_last = data.is_empty() && body.is_end_stream();
            stream.send_data(piece, is_last).map_err(|_| Reason::INTERNAL_ERROR)?;
            if is_last {
                return Ok(());
            }
        }
    }
    stream.send_data(Bytes::new(), true).map_err(|_| Reason::INTERNAL_ERROR)
}

/// Waits until the client takes more, and returns how much.
async fn capacity(stream: &mut SendStream<Bytes>, wanted: usize) -> Result<usize, Reason> {
    stream.reserve_capacity(wanted.min(SEND_BYTES_MAX));
    poll_fn(|context| {
        if let std::task::Poll::Ready(reset) = stream.poll_reset(context) {
            return std::task::Poll::Ready(Err(reset.unwrap_or(Reason::CANCEL)));
        }
        loop {
            match std::task::ready!(stream.poll_capacity(context)) {
                Some(Ok(0)) => {}
                Some(Ok(capacity)) => return std::task::Poll::Ready(Ok(capacity)),
                Some(Err(_)) | None => return std::task::Poll::Ready(Err(Reason::CANCEL)),
            }
        }
    })
    .await
}

const _: () = assert!(STREAMS_MAX as usize * (SEND_BYTES_MAX + (2 << 10)) + (64 << 10) <= CONNECTION_BYTES);
