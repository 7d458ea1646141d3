//! The admin address: `/health` for probes, `/metrics` for Prometheus, `/load` for people.

pub(crate) mod escape;
mod load_page;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use tablerock_kv::{Health, Store};
use tablerock_services::LoadReport;
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::load_page::SHOWN_MAX;
use crate::http::listener::{Listening, serve};
use crate::http::response_body::ResponseBody;
use crate::pipeline::Server;

/// Scrapers and probes are few.
const CONNECTIONS_MAX: usize = 64;
const IDLE_TIME: Duration = Duration::from_secs(60);
const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves the admin address until `stop` turns true.
pub async fn serve_admin(server: Arc<Server>, store: Store, listener: TcpListener, stop: watch::Receiver<bool>) {
    let listening = Listening { tls: None, connections_max: CONNECTIONS_MAX, idle_time: IDLE_TIME };
    let handle = move |request: Request<Incoming>, _| {
        let response = reply(&server, &store, request.method(), request.uri().path());
        std::future::ready(Ok(response))
    };
    serve(listener, listening, false, stop, || (), handle).await;
}

fn reply(server: &Server, store: &Store, method: &Method, path: &str) -> Response<ResponseBody> {
    const TEXT: &str = "text/plain; charset=utf-8";
    let load = || LoadReport::of(&[server.tables.load(), server.queues.load(), server.blobs.load()], SHOWN_MAX);
    let (status, content_type, body) = match (method, path) {
        (&Method::GET | &Method::HEAD, "/health") => match store.health() {
            Health::Healthy => (StatusCode::OK, TEXT, "healthy\n".to_owned()),
            Health::ReadOnly(why) => (StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("read only: {why}\n")),
            Health::Down(why) => (StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("down: {why}\n")),
        },
        (&Method::GET, "/metrics") => (StatusCode::OK, METRICS_TYPE, server.metrics.render(&load())),
        (&Method::GET, "/load") => (StatusCode::OK, "text/html; charset=utf-8", load_page::html(&load())),
        (&Method::GET, "/load.json") => (StatusCode::OK, "application/json", load_page::json(&load())),
        (_, "/health" | "/metrics" | "/load" | "/load.json") => {
            (StatusCode::METHOD_NOT_ALLOWED, TEXT, "method not allowed; use GET\n".to_owned())
        }
        _ => (StatusCode::NOT_FOUND, TEXT, "not found; try /health, /metrics, /load or /load.json\n".to_owned()),
    };
    let mut response = Response::new(ResponseBody::whole(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    response
}
