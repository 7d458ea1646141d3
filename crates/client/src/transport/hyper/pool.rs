//! A pool of connections. It opens one only if none is idle, so it never has more than there were requests at once:
//! hyper's own pool opens one also if another is about to become idle.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::header::{HOST, HeaderValue, PROXY_AUTHORIZATION};
use http::uri::{Authority, Scheme};
use http::{Request, Response, Uri};
use http_body_util::Full;
use tokio::time::Instant;

use super::connection::{Connect, Open};
use super::{CONNECT_SECONDS_MAX, RESPONSE_BYTES_MAX, read};
use crate::transport::TransportError;

/// Less than the usual idle timeout of servers and load balancers.
const IDLE_TIME_MAX: Duration = Duration::from_secs(60);
/// The longest wait for a connection after the end of its last response.
const READY_TIME_MAX: Duration = Duration::from_secs(1);
const CONNECT_TIME_MAX: Duration = Duration::from_secs(CONNECT_SECONDS_MAX);

pub(super) struct Pool {
    connector: Box<dyn Connect>,
    /// The connection that was used last is at the end.
    idle: Arc<Mutex<Vec<Idle>>>,
    /// A task closes connections that are idle for too long.
    has_reaper: Arc<AtomicBool>,
}

struct Idle {
    origin: Origin,
    open: Open,
    since: Instant,
}

/// The server of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    scheme: Scheme,
    authority: Authority,
}

/// A failed exchange.
enum Failed {
    /// The connection was closed before anything was sent.
    Unsent(Box<Request<Full<Bytes>>>),
    Lost(TransportError),
}

impl Pool {
    pub(super) fn new(connector: impl Connect + 'static) -> Self {
        Self { connector: Box::new(connector), idle: Arc::default(), has_reaper: Arc::default() }
    }

    pub(super) fn idle_count(&self) -> usize {
        lock(&self.idle).len()
    }

    /// Sends a request over an idle connection, or over a new one.
    pub(super) async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        let origin = Origin::of(request.uri())?;
        let target = request.uri().clone();
        let mut request = request.map(Full::new);
        if !request.headers().contains_key(HOST) {
            request.headers_mut().insert(HOST, origin.host()?);
        }
        while let Some(mut open) = self.take(&origin) {
            // Its last response is complete, but the connection may not be ready yet, or be closed. A server that has
            // responded without reading the request leaves it unready for ever.
            if !open.sender.is_ready()
                && !matches!(tokio::time::timeout(READY_TIME_MAX, open.sender.ready()).await, Ok(Ok(())))
            {
                continue;
            }
            match self.exchange(&origin, open, &target, request).await {
                Ok(response) => return Ok(response),
                Err(Failed::Lost(error)) => return Err(error),
                Err(Failed::Unsent(unsent)) => request = *unsent,
            }
        }
        let connecting = self.connector.connect(target.clone());
        let open = match tokio::time::timeout(CONNECT_TIME_MAX, connecting).await {
            Ok(connected) => connected.map_err(TransportError::not_sent)?,
            Err(_) => {
                return Err(TransportError::not_sent(format!("there was no connection within {CONNECT_TIME_MAX:?}")));
            }
        };
        self.exchange(&origin, open, &target, request).await.map_err(|failed| match failed {
            Failed::Unsent(_) => TransportError::not_sent("the server closed the new connection"),
            Failed::Lost(error) => error,
        })
    }

    async fn exchange(
        &self,
        origin: &Origin,
        mut open: Open,
        target: &Uri,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Bytes>, Failed> {
        *request.uri_mut() = match target.path_and_query() {
            Some(path) if !open.is_proxied => Uri::from(path.clone()),
            _ => target.clone(),
        };
        // A request that another connection did not send has the credentials for the same proxy.
        if let Some(authorization) = &open.proxy_authorization {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization.clone());
        }
        let response = open.sender.try_send_request(request).await.map_err(|mut error| match error.take_message() {
            Some(unsent) => Failed::Unsent(Box::new(unsent)),
            None => Failed::Lost(TransportError::lost(error.into_error())),
        })?;
        let (head, body) = response.into_parts();
        let body = read(body, RESPONSE_BYTES_MAX).await.map_err(Failed::Lost)?;
        self.put(origin.clone(), open);
        Ok(Response::from_parts(head, body))
    }

    fn take(&self, origin: &Origin) -> Option<Open> {
        let mut idle = lock(&self.idle);
        loop {
            let place = idle.iter().rposition(|idle| idle.origin == *origin)?;
            let Idle { open, since, .. } = idle.remove(place);
            if since.elapsed() < IDLE_TIME_MAX && !open.sender.is_closed() {
                return Some(open);
            }
        }
    }

    fn put(&self, origin: Origin, open: Open) {
        lock(&self.idle).push(Idle { origin, open, since: Instant::now() });
        if !self.has_reaper.swap(true, Ordering::AcqRel) {
            tokio::spawn(reap(Arc::downgrade(&self.idle), Arc::clone(&self.has_reaper)));
        }
    }
}

/// Closes connections that are idle for too long, until there are none.
async fn reap(idle: Weak<Mutex<Vec<Idle>>>, has_reaper: Arc<AtomicBool>) {
    // If the runtime ends, the next one has a reaper of its own.
    let _ended = Ended(has_reaper);
    loop {
        tokio::time::sleep(IDLE_TIME_MAX / 2).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut idle = lock(&idle);
        idle.retain(|idle| idle.since.elapsed() < IDLE_TIME_MAX && !idle.open.sender.is_closed());
        if idle.is_empty() {
            return;
        }
    }
}

struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Origin {
    fn of(uri: &Uri) -> Result<Self, TransportError> {
        match (uri.scheme(), uri.authority()) {
            (Some(scheme), Some(authority)) => Ok(Self { scheme: scheme.clone(), authority: authority.clone() }),
            _ => Err(TransportError::not_sent("the request has no host")),
        }
    }

    /// Returns the value of the header `Host`, without the port of the scheme.
    fn host(&self) -> Result<HeaderValue, TransportError> {
        let is_default = match self.authority.port_u16() {
            Some(443) => self.scheme == Scheme::HTTPS,
            Some(80) => self.scheme == Scheme::HTTP,
            _ => false,
        };
        let host = if is_default { self.authority.host() } else { self.authority.as_str() };
        HeaderValue::from_str(host).map_err(TransportError::not_sent)
    }
}

fn lock(idle: &Mutex<Vec<Idle>>) -> MutexGuard<'_, Vec<Idle>> {
    // A panic elsewhere does not damage the list.
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("idle", &self.idle_count()).finish_non_exhaustive()
    }
}
