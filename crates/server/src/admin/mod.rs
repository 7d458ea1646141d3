//! The admin address: `/livez`, `/readyz` and `/health` for probes, `/metrics` for Prometheus, `/load` for people, and
//! `/accounts` for tests.
//!
//! Probes are served to every caller and from the start. Pages that contain names of data have conditions, because they
//! require no credentials: see [`NameAccess`] and decision 24. Requests that change the server require an [`AdminToken`].

mod add_account;
mod connections;
pub(crate) mod escape;
mod host;
mod load_page;
mod nodes_page;
mod store_load;
mod token;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use tablerock_kv::{Health, Store};
use tablerock_services::{LoadReport, SharedLoad};
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::load_page::SHOWN_MAX;
use self::store_load::{LoadSource, ShownLoad};
pub use self::token::AdminToken;
use crate::http::response_body::ResponseBody;
use crate::pipeline::Server;

const TEXT: &str = "text/plain; charset=utf-8";
const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const FOREIGN_HOST: &str =
    "this Host is not served here; use localhost or 127.0.0.1, or bind --admin-host to another address\n";
const NAMES_HIDDEN: &str =
    "names of data are not shown off loopback; add --admin-show-names, or use --admin-host 127.0.0.1\n";

/// The state behind the admin address. It is served before the store is open, so that a long recovery is not mistaken for
/// a dead process.
#[derive(Debug)]
pub struct Admin {
    phase: Mutex<Phase>,
    names: NameAccess,
    token: Option<AdminToken>,
    /// The load of all servers, where they share a store.
    load: Mutex<Option<LoadSource>>,
}

#[derive(Debug, Clone)]
enum Phase {
    Starting,
    Open { server: Arc<Server>, store: Store },
    Stopping,
}

/// Which callers see names of accounts, tables, queues, containers, blobs and partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameAccess {
    /// On loopback: callers on this machine, except pages of a browser that reach it under a name of their own.
    LocalHosts,
    /// Off loopback, by choice of the operator.
    AllCallers,
    /// Off loopback.
    None,
}

impl Admin {
    /// Creates the state of a server that is starting. `show_names` shows names of data to all callers of an address that
    /// is not loopback.
    pub fn new(address: SocketAddr, show_names: bool) -> Self {
        let names = match (address.ip().to_canonical().is_loopback(), show_names) {
            (true, _) => NameAccess::LocalHosts,
            (false, true) => NameAccess::AllCallers,
            (false, false) => NameAccess::None,
        };
        Self { phase: Mutex::new(Phase::Starting), names, token: None, load: Mutex::default() }
    }

    /// Serves requests that change the server, to callers with this token.
    #[must_use]
    pub fn with_token(mut self, token: AdminToken) -> Self {
        self.token = Some(token);
        self
    }

    /// Reports the server as open from now on.
    pub fn set_open(&self, server: Arc<Server>, store: Store) {
        self.set_phase(Phase::Open { server, store });
    }

    /// Reports the server as not ready from now on.
    pub fn set_stopping(&self) {
        self.set_phase(Phase::Stopping);
    }

    /// Shows the load of all servers on the store from now on. Must be called within the runtime that serves the store.
    pub fn share_load(&self, load: Arc<SharedLoad>) {
        *self.load.lock().unwrap_or_else(PoisonError::into_inner) = Some(LoadSource::new(load));
    }

    fn set_phase(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    fn phase(&self) -> Phase {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn reply<B>(&self, request: &Request<B>) -> Response<ResponseBody> {
        let is_local = self.names != NameAccess::LocalHosts || host::is_local(request);
        let path = request.uri().path();
        match (request.method(), path) {
            (&Method::GET | &Method::HEAD, "/livez") => text(StatusCode::OK, "alive\n"),
            (&Method::GET | &Method::HEAD, "/readyz") => self.readiness("ready", StatusCode::OK, is_local),
            (&Method::GET | &Method::HEAD, "/health") => {
                self.readiness("healthy", StatusCode::SERVICE_UNAVAILABLE, is_local)
            }
            (&Method::GET, "/metrics" | "/load" | "/load.json" | "/load/nodes") => match self.phase() {
                _ if !is_local => text(StatusCode::MISDIRECTED_REQUEST, FOREIGN_HOST),
                Phase::Starting => text(StatusCode::SERVICE_UNAVAILABLE, "starting\n"),
                Phase::Stopping => text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
                Phase::Open { server, .. } => self.page(&server, path).await,
            },
            (&Method::POST, "/accounts") => match AdminToken::check(self.token.as_ref(), request.headers()) {
                _ if !is_local => text(StatusCode::MISDIRECTED_REQUEST, FOREIGN_HOST),
                Err((status, why)) => text(status, why),
                Ok(()) => match self.phase() {
                    Phase::Starting => text(StatusCode::SERVICE_UNAVAILABLE, "starting\n"),
                    Phase::Stopping => text(StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
                    Phase::Open { server, .. } => add_account::reply(&server, request.uri().query()).await,
                },
            },
            (_, "/accounts") => text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed; use POST\n"),
            (_, "/livez" | "/readyz" | "/health" | "/metrics" | "/load" | "/load.json" | "/load/nodes") => {
                text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed; use GET\n")
            }
            _ => {
                text(StatusCode::NOT_FOUND, "not found; try /livez, /readyz, /health, /metrics, /load or /load.json\n")
            }
        }
    }

    /// `degraded` is the status of a store that serves a part of its partitions: such a server still gets requests, since
    /// others on the store have the same part. The reason of a failure may contain the name of a folder or a database,
    /// which a foreign page does not get.
    fn readiness(&self, ready: &str, degraded: StatusCode, is_local: bool) -> Response<ResponseBody> {
        let unavailable = StatusCode::SERVICE_UNAVAILABLE;
        let (status, state, reason) = match self.phase() {
            Phase::Starting => (unavailable, "starting", None),
            Phase::Stopping => (unavailable, "stopping", None),
            Phase::Open { store, .. } => match store.health() {
                Health::Healthy => return text(StatusCode::OK, format!("{ready}\n")),
                Health::Degraded(why) => (degraded, "degraded", Some(why)),
                Health::ReadOnly(why) => (unavailable, "read only", Some(why)),
                Health::Down(why) => (unavailable, "down", Some(why)),
            },
        };
        let body = match reason.filter(|_| is_local) {
            Some(reason) => format!("{state}: {reason}\n"),
            None => format!("{state}\n"),
        };
        text(status, body)
    }

    /// A page with names of data. `/metrics` without names is still useful, so it leaves out only the metrics that have them.
    async fn page(&self, server: &Server, path: &str) -> Response<ResponseBody> {
        let shows_names = self.names != NameAccess::None;
        let load = || server.load(SHOWN_MAX);
        match path {
            "/metrics" => {
                let load = if shows_names { load() } else { LoadReport::default() };
                response(StatusCode::OK, METRICS_TYPE, server.metrics.render(&load))
            }
            _ if !shows_names => text(StatusCode::FORBIDDEN, NAMES_HIDDEN),
            "/load.json" => response(StatusCode::OK, "application/json", load_page::json(&self.load(load()).await)),
            "/load/nodes" => {
                response(StatusCode::OK, "text/html; charset=utf-8", nodes_page::html(&self.load(load()).await))
            }
            _ => response(StatusCode::OK, "text/html; charset=utf-8", load_page::html(&self.load(load()).await)),
        }
    }

    /// The load of all servers on the store; that of this one if there are no others.
    async fn load(&self, own: LoadReport) -> ShownLoad {
        let source = self.load.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match source {
            Some(source) => source.add_others(own, SHOWN_MAX).await,
            None => ShownLoad::of_one(own),
        }
    }
}

/// Serves the admin address until `stop` turns true.
pub async fn serve_admin(admin: Arc<Admin>, listener: TcpListener, stop: watch::Receiver<bool>) {
    let reply = move |request: Request<hyper::body::Incoming>| {
        let (admin, request) = (admin.clone(), request.map(drop));
        async move { admin.reply(&request).await }
    };
    connections::serve(listener, stop, reply).await;
}

fn text(status: StatusCode, body: impl Into<String>) -> Response<ResponseBody> {
    response(status, TEXT, body.into())
}

fn response(status: StatusCode, content_type: &'static str, body: String) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    response
}
