//! The default transport: hyper with a pool of connections, rustls and proxies.

mod connection;
mod pool;
mod proxy;
#[cfg(any(feature = "tls-ring", feature = "tls-aws-lc"))]
mod tls;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Body;
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use tower_service::Service;

use super::{BoxFuture, RESPONSE_BYTES_MAX, Transport, TransportError};
use connection::Connector;
use pool::Pool;
use proxy::ProxyConnector;

pub use proxy::Proxy;

const CONNECT_SECONDS_MAX: u64 = 10;

/// The default transport of every client. Clients that share it share its connections.
#[derive(Clone)]
pub struct HyperTransport {
    pool: Arc<Pool>,
}

/// Settings of a [`HyperTransport`].
///
/// ```
/// use tablerock_client::ClientOptions;
/// use tablerock_client::transport::{HyperTransport, Proxy};
///
/// let transport = HyperTransport::builder().proxy(Proxy::new("http://user:secret@proxy.example:3128")?).build();
/// let options = ClientOptions::new().transport(transport);
/// # Ok::<(), tablerock_client::Error>(())
/// ```
#[derive(Debug, Clone)]
#[must_use = "settings have no effect before build"]
pub struct HyperTransportBuilder {
    proxy: Proxy,
    #[cfg(any(feature = "tls-ring", feature = "tls-aws-lc"))]
    tls: Option<rustls::ClientConfig>,
}

impl HyperTransport {
    /// Returns a transport that trusts the certificates of the operating system, with the proxy of the environment.
    #[cfg(all(feature = "native-roots", any(feature = "tls-ring", feature = "tls-aws-lc")))]
    pub fn new() -> Self {
        Self::with_tls(tls::native_config())
    }

    /// Returns a transport for endpoints without TLS, which loads no certificates, with the proxy of the environment.
    pub fn without_tls() -> Self {
        Self::builder().build_plain()
    }

    /// Returns a transport with a TLS configuration, for other roots or a client certificate, and with the proxy of the
    /// environment.
    #[cfg(any(feature = "tls-ring", feature = "tls-aws-lc"))]
    pub fn with_tls(config: rustls::ClientConfig) -> Self {
        Self::builder().tls(config).build()
    }

    /// Begins a transport with other settings.
    pub fn builder() -> HyperTransportBuilder {
        HyperTransportBuilder {
            proxy: Proxy::from_env(),
            #[cfg(any(feature = "tls-ring", feature = "tls-aws-lc"))]
            tls: None,
        }
    }

    /// Returns a transport over the connections of a connector: another TLS library, a Unix socket or a resolver of
    /// names. A proxy is the connector's concern.
    pub fn with_connector<C>(connector: C) -> Self
    where
        C: Service<Uri> + Clone + Send + Sync + 'static,
        C::Response: Read + Write + Connection + Unpin + Send + 'static,
        C::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        C::Future: Send,
    {
        Self { pool: Arc::new(Pool::new(Connector(connector))) }
    }
}

impl HyperTransportBuilder {
    /// Sets the proxy; that of the environment by default.
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = proxy;
        self
    }

    /// Sets the TLS configuration.
    #[cfg(any(feature = "tls-ring", feature = "tls-aws-lc"))]
    pub fn tls(mut self, config: rustls::ClientConfig) -> Self {
        self.tls = Some(config);
        self
    }

    /// Returns the transport. Without a TLS configuration it trusts the certificates of the operating system, if the
    /// feature `native-roots` is on, and else none.
    pub fn build(self) -> HyperTransport {
        #[cfg(any(feature = "tls-ring", feature = "tls-aws-lc"))]
        {
            let config = self.tls.clone().unwrap_or_else(tls::default_config);
            HyperTransport::with_connector(tls::connector(config, self.connector()))
        }
        #[cfg(not(any(feature = "tls-ring", feature = "tls-aws-lc")))]
        self.build_plain()
    }

    pub(crate) fn build_plain(self) -> HyperTransport {
        HyperTransport::with_connector(self.connector())
    }

    fn connector(&self) -> ProxyConnector {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(Duration::from_secs(CONNECT_SECONDS_MAX)));
        ProxyConnector::new(tcp, self.proxy.clone())
    }
}

#[cfg(all(feature = "native-roots", any(feature = "tls-ring", feature = "tls-aws-lc")))]
impl Default for HyperTransport {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HyperTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperTransport").field("idle", &self.pool.idle_count()).finish_non_exhaustive()
    }
}

impl Transport for HyperTransport {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        Box::pin(self.pool.send(request))
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
    use http_body_util::{Full, StreamBody};
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
