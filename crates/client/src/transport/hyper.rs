//! hyper with a pool of connections, and rustls.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};

use super::{BoxFuture, Transport, TransportError};

/// A page of entities has 4 MiB in the store and a few times that as JSON.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Shorter than servers and load balancers usually keep an idle connection.
const IDLE_SECONDS: u64 = 60;
const CONNECT_SECONDS_MAX: u64 = 10;

/// The transport that every client has unless it is given another. It can be shared between clients, which then share
/// its connections.
#[derive(Debug, Clone)]
pub struct HyperTransport {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl HyperTransport {
    /// Trusts the certificates that the operating system trusts.
    pub fn new() -> Self {
        let mut roots = RootCertStore::empty();
        // A certificate that cannot be read is skipped: the others may be all that is needed.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Self::with_tls(tls_config(roots))
    }

    /// For endpoints without TLS, which need no certificates.
    pub fn without_tls() -> Self {
        Self::with_tls(tls_config(RootCertStore::empty()))
    }

    /// With TLS as configured: other roots, a client certificate.
    pub fn with_tls(config: ClientConfig) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(Duration::from_secs(CONNECT_SECONDS_MAX)));
        let connector = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1();
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(Duration::from_secs(IDLE_SECONDS))
            .pool_timer(TokioTimer::new())
            .build(connector.wrap_connector(tcp));
        Self { client }
    }
}

impl Default for HyperTransport {
    fn default() -> Self {
        Self::new()
    }
}

fn tls_config(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring speaks the versions of TLS that rustls does")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

impl Transport for HyperTransport {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        let answer = self.client.request(request.map(Full::new));
        Box::pin(async move {
            let answer = answer.await.map_err(|error| match error.is_connect() {
                true => TransportError::not_sent(error),
                false => TransportError::lost(error),
            })?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await.map_err(TransportError::lost)?;
            Ok(Response::from_parts(head, body.to_bytes()))
        })
    }
}
