//! Connections: accept, TLS, HTTP, limits, and a graceful shutdown.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tablerock_protocol::Service;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use crate::http::header_case::{CasePreserving, HeaderCase, SharedCase};
use crate::http::response_body::ResponseBody;
use crate::http::slow_reader::SlowReader;
use crate::pipeline::Server;
use crate::request_context::Peer;

/// The size of a request's head: its first line and all headers.
const HEAD_BYTES_MAX: usize = 64 * 1024;
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// How long a shutdown waits for running requests.
const STOP_TIME: Duration = Duration::from_secs(30);
/// Concurrent streams of one HTTP/2 connection.
const STREAMS_MAX: u32 = 256;
/// The pause after a failed accept, which usually means that file descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The result of a handler. It never fails, which hyper needs as a type. The handler returns it itself, because each future
/// around another moves all of it once more.
pub(crate) type Handled = Result<Response<ResponseBody>, Infallible>;

/// The settings of a port.
#[derive(Clone)]
pub struct Listening {
    pub tls: Option<TlsAcceptor>,
    pub connections_max: usize,
    /// How long a connection may be idle, and how long a client may take to send a request's head.
    pub idle_time: Duration,
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listening")
            .field("tls", &self.tls.is_some())
            .field("connections_max", &self.connections_max)
            .field("idle_time", &self.idle_time)
            .finish()
    }
}

/// Serves one of the services on a port until `stop` turns true, then lets running requests finish.
pub async fn serve_service(
    service: Service,
    server: Arc<Server>,
    listener: TcpListener,
    listening: Listening,
    stop: watch::Receiver<bool>,
) {
    let is_https = listening.tls.is_some();
    let counted = server.clone();
    let handle = move |request: Request<Incoming>, address: SocketAddr| {
        let peer = Peer { address: address.ip().to_canonical(), port: address.port(), is_https };
        server.clone().handle(service, request, peer)
    };
    // Tables have no metadata.
    let keeps_case = service != Service::Table;
    serve(listener, listening, keeps_case, stop, move || counted.metrics.count_connection(), handle).await;
}

/// Accepts connections and runs `handle` for each request on them. The value of `open` lives as long as the
/// connection. With `keeps_case`, metadata names keep their case.
pub(crate) async fn serve<H, F, G>(
    listener: TcpListener,
    listening: Listening,
    keeps_case: bool,
    mut stop: watch::Receiver<bool>,
    open: impl Fn() -> G,
    handle: H,
) where
    H: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Handled> + Send + 'static,
    G: Send + 'static,
{
    let graceful = GracefulShutdown::new();
    let permits = Arc::new(Semaphore::new(listening.connections_max));
    loop {
        // At the limit no connection is accepted; the kernel's backlog holds the others.
        let accepted = tokio::select! {
            accepted = accept(&listener, &permits) => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let (stream, address, permit) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (watcher, counted) = (graceful.watcher(), open());
        let (tls, idle_time, handle) = (listening.tls.clone(), listening.idle_time, handle.clone());
        tokio::spawn(async move {
            if let Err(error) = connection(stream, address, tls, idle_time, keeps_case, watcher, handle).await {
                tracing::debug!(%address, %error, "connection failed");
            }
            drop((permit, counted));
        });
    }
    drop(listener);
    if tokio::time::timeout(STOP_TIME, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests still running at shutdown");
    }
}

async fn accept(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = permits.clone().acquire_owned().await.expect("the semaphore is never closed");
    let (stream, address) = listener.accept().await?;
    Ok((stream, address, permit))
}

type ConnectionResult = Result<(), Box<dyn std::error::Error + Send + Sync>>;

async fn connection<H, F>(
    stream: TcpStream,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    idle_time: Duration,
    keeps_case: bool,
    watcher: Watcher,
    handle: H,
) -> ConnectionResult
where
    H: Fn(Request<Incoming>, SocketAddr) -> F + Clone + Send + 'static,
    F: Future<Output = Handled> + Send + 'static,
{
    // Small responses must not wait for more bytes to fill a segment.
    stream.set_nodelay(true)?;
    let stream = SlowReader::new(stream);
    let handle = move |request| handle(request, address);
    let http1 = Http1 { idle_time, keeps_case, watcher };
    let Some(tls) = tls else { return http1.serve(stream, handle).await };
    let stream = tokio::time::timeout(HANDSHAKE_TIME, tls.accept(stream)).await??;
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        let mut http = http2::Builder::new(TokioExecutor::new());
        http.timer(TokioTimer::new()).max_header_list_size(HEAD_BYTES_MAX as u32).max_concurrent_streams(STREAMS_MAX);
        http.keep_alive_interval(idle_time);
        let served = http.serve_connection(TokioIo::new(stream), service_fn(handle));
        return Ok(http1.watcher.watch(served).await?);
    }
    http1.serve(stream, handle).await
}

/// The settings of an HTTP/1.1 connection.
struct Http1 {
    idle_time: Duration,
    keeps_case: bool,
    watcher: Watcher,
}

impl Http1 {
    async fn serve<I, H, F>(self, stream: I, handle: H) -> ConnectionResult
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        H: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
        F: Future<Output = Handled> + Send + 'static,
    {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.idle_time).max_buf_size(HEAD_BYTES_MAX);
        if !self.keeps_case {
            let served = http.serve_connection(TokioIo::new(stream), service_fn(handle));
            return Ok(self.watcher.watch(served).await?);
        }
        let case = SharedCase::default();
        let stream = CasePreserving::new(stream, case.clone(), HEAD_BYTES_MAX);
        let service = service_fn(move |request| keep_case(case.clone(), request, handle.clone()));
        Ok(self.watcher.watch(http.serve_connection(TokioIo::new(stream), service)).await?)
    }
}

async fn keep_case<F: Future<Output = Handled>>(
    case: SharedCase,
    mut request: Request<Incoming>,
    handle: impl FnOnce(Request<Incoming>) -> F,
) -> Handled {
    let names = case.take_incoming();
    if !names.is_empty() {
        request.extensions_mut().insert(names);
    }
    let mut response = handle(request).await?;
    if let Some(names) = response.extensions_mut().remove::<HeaderCase>() {
        case.set_outgoing(names);
    }
    Ok(response)
}
