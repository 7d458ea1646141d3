//! The default transport: hyper with a connection pool, and rustls.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::Body;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};

use super::{BoxFuture, RESPONSE_BYTES_MAX, Transport, TransportError};

/// Less than the usual idle timeout of servers and load balancers.
const IDLE_SECONDS: u64 = 60;
const CONNECT_SECONDS_MAX: u64 = 10;
/// Idle connections above this number are closed.
const IDLE_CONNECTIONS_PER_HOST_MAX: usize = 128;

/// The default transport of every client. Clients that share it share its connections.
#[derive(Debug, Clone)]
pub struct HyperTransport {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl HyperTransport {
    /// Returns a transport that trusts the certificates of the operating system.
    pub fn new() -> Self {
        let mut roots = RootCertStore::empty();
        // A certificate that cannot be parsed is skipped: the others may be sufficient.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Self::with_tls(tls_config(roots))
    }

    /// Returns a transport for endpoints without TLS, which loads no certificates.
    pub fn without_tls() -> Self {
        Self::with_tls(tls_config(RootCertStore::empty()))
    }

    /// Returns a transport with a TLS configuration, for other roots or a client certificate.
    pub fn with_tls(config: ClientConfig) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(Duration::from_secs(CONNECT_SECONDS_MAX)));
        let connector = HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1();
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(Duration::from_secs(IDLE_SECONDS))
            .pool_timer(TokioTimer::new())
            .pool_max_idle_per_host(IDLE_CONNECTIONS_PER_HOST_MAX)
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
        .expect("ring supports the TLS versions of rustls")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

impl Transport for HyperTransport {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        let response = self.client.request(request.map(Full::new));
        Box::pin(async move {
            let response = response.await.map_err(|error| match error.is_connect() {
                true => TransportError::not_sent(error),
                false => TransportError::lost(error),
            })?;
            let (head, body) = response.into_parts();
            Ok(Response::from_parts(head, read(body, RESPONSE_BYTES_MAX).await?))
        })
    }
}

/// Reads a body to its end. Fails at once if its announced size is too large.
async fn read<B>(body: B, bytes_max: usize) -> Result<Bytes, TransportError>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(TransportError::response_too_large(format!("Content-Length is above {bytes_max} bytes")));
    }
    match Limited::new(body, bytes_max).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(TransportError::response_too_large(error)),
        Err(error) => Err(TransportError::lost(error)),
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    use super::*;

    /// A body without an announced size.
    fn chunked(pieces: &'static [&'static str]) -> impl Body<Data = Bytes, Error = std::io::Error> {
        let pieces = pieces.iter().map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes()))));
        StreamBody::new(futures_util::stream::iter(pieces))
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_bound() {
        assert_eq!(read(Full::new(Bytes::from_static(b"abcd")), 4).await.unwrap(), "abcd");
        assert_eq!(read(chunked(&["ab", "cd"]), 4).await.unwrap(), "abcd");
        for error in [
            read(Full::new(Bytes::from_static(b"abcde")), 4).await.unwrap_err(),
            read(chunked(&["ab", "cd", "e"]), 4).await.unwrap_err(),
        ] {
            assert!(error.is_response_too_large() && error.may_have_arrived(), "{error:?}");
        }
    }
}
