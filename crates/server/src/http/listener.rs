//! Connections: accept, TLS, HTTP, limits, and a graceful shutdown.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tablerock_protocol::Service;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

use crate::http::connections::{ConnectionPermit, Connections};
use crate::http::head_limit::{HEAD_BYTES_MAX, HeadLimit, RequestCount};
use crate::http::header_case::{CasePreserving, HeaderCase, SharedCase};
use crate::http::http2;
use crate::http::request_body::RequestBody;
use crate::http::response_body::ResponseBody;
use crate::http::slow_reader::SlowReader;
use crate::http::tls::Tls;
use crate::pipeline::Server;
use crate::request_context::Peer;

pub(super) const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// How long a shutdown waits for running requests.
pub(super) const STOP_TIME: Duration = Duration::from_secs(30);
/// The pause after a failed accept, which usually means that file descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The result of a handler. It never fails, which hyper needs as a type. The handler returns it itself, because each future
/// around another moves all of it once more.
pub(crate) type Handled = Result<Response<ResponseBody>, Infallible>;

/// The settings of a port.
#[derive(Debug, Clone)]
pub struct Listening {
    pub tls: Option<Tls>,
    /// The limit that all ports share.
    pub connections: Connections,
    /// How long a connection may be idle.
    pub idle_time: Duration,
}

/// Serves one of the services on a port until `stop` turns true, then lets running requests finish.
pub async fn serve_service(
    service: Service,
    server: Arc<Server>,
    listener: TcpListener,
    listening: Listening,
    mut stop: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    // HTTP/2 connections hold a sender each: when the last one ends, nothing can be received.
    let (http2_open, mut http2_ended) = mpsc::channel::<()>(1);
    loop {
        // At the limit no connection is accepted; the kernel's backlog holds the others.
        let accepted = tokio::select! {
            accepted = accept(&listener, &listening.connections) => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let (stream, address, permit) = match accepted {
            Ok(Some(accepted)) => accepted,
            Ok(None) => continue,
            Err(error) => {
                tracing::warn!(%error, "accept failed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let connection = Connection {
            service,
            server: server.clone(),
            peer: Peer {
                address: address.ip().to_canonical(),
                port: address.port(),
                is_https: listening.tls.is_some(),
            },
            idle_time: listening.idle_time,
            watcher: graceful.watcher(),
        };
        let (tls, stop, http2_open) = (listening.tls.clone(), stop.clone(), http2_open.clone());
        let counted = server.metrics.count_connection();
        tokio::spawn(async move {
            if let Err(error) = connection.serve(stream, tls, stop, http2_open).await {
                tracing::debug!(%address, %error, "connection failed");
            }
            drop((permit, counted));
        });
    }
    drop((listener, http2_open));
    let ended = async { tokio::join!(graceful.shutdown(), http2_ended.recv()) };
    if tokio::time::timeout(STOP_TIME, ended).await.is_err() {
        tracing::warn!("requests still running at shutdown");
    }
}

/// Waits for a connection; `None` if its address has too many.
async fn accept(
    listener: &TcpListener,
    connections: &Connections,
) -> std::io::Result<Option<(TcpStream, SocketAddr, ConnectionPermit)>> {
    let room = connections.room().await;
    let (stream, address) = listener.accept().await?;
    let permit = connections.admit(room, address.ip().to_canonical());
    Ok(permit.map(|permit| (stream, address, permit)))
}

pub(super) type ConnectionResult = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// One connection of a client.
struct Connection {
    service: Service,
    server: Arc<Server>,
    peer: Peer,
    idle_time: Duration,
    watcher: Watcher,
}

impl Connection {
    async fn serve(
        self,
        stream: TcpStream,
        tls: Option<Tls>,
        stop: watch::Receiver<bool>,
        http2_open: mpsc::Sender<()>,
    ) -> ConnectionResult {
        // Small responses must not wait for more bytes to fill a segment.
        stream.set_nodelay(true)?;
        let Some(tls) = tls else {
            drop(http2_open);
            // Without a first byte a connection needs no buffers.
            let stop = stop.clone();
            let mut first = [0];
            let bytes = tokio::select! {
                peeked = tokio::time::timeout(self.idle_time, stream.peek(&mut first)) => peeked??,
                () = stopped(stop) => return Ok(()),
            };
            if bytes == 0 {
                return Ok(());
            }
            return Box::pin(self.serve_http1(SlowReader::new(stream))).await;
        };
        let budget = self.server.memory.of_connection(self.peer.address);
        let permit = budget.for_connection(http2::CONNECTION_BYTES);
        let accepting = tls.accept(SlowReader::new(stream), permit.is_some());
        let stream = tokio::time::timeout(HANDSHAKE_TIME, accepting).await??;
        if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
            drop((permit, http2_open));
            return Box::pin(self.serve_http1(stream)).await;
        }
        let Self { service, server, peer, idle_time, watcher } = self;
        drop(watcher);
        let settings = http2::Settings { idle_time, budget, clock: server.clock.clone() };
        let handle = move |request| server.clone().handle(service, request, peer, None);
        let served = Box::pin(http2::serve(stream, settings, stop, handle)).await;
        drop((permit, http2_open));
        served
    }

    async fn serve_http1<I>(self, stream: I) -> ConnectionResult
    where
        I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { service, server, peer, idle_time, watcher } = self;
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(idle_time).max_buf_size(HEAD_BYTES_MAX);
        let requests = RequestCount::default();
        let stream = HeadLimit::new(stream, server.memory.of_connection(peer.address), requests.clone());
        let handle = move |request: Request<Incoming>| {
            let (head, body) = request.into_parts();
            let body = RequestBody::http1(body, &head.headers);
            server.clone().handle(service, Request::from_parts(head, body), peer, Some(requests.begin()))
        };
        // Tables have no metadata.
        if service == Service::Table {
            return Ok(watcher.watch(http.serve_connection(TokioIo::new(stream), service_fn(handle))).await?);
        }
        let case = SharedCase::default();
        let stream = CasePreserving::new(stream, case.clone());
        let service = service_fn(move |request| keep_case(case.clone(), request, handle.clone()));
        Ok(watcher.watch(http.serve_connection(TokioIo::new(stream), service)).await?)
    }
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    // An error means that the server is gone, which is a stop too.
    let _ = stop.wait_for(|stop| *stop).await;
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
