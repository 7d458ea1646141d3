//! One connection, and the connector that opens it.

use std::error::Error as StdError;
use std::future::poll_fn;

use bytes::Bytes;
use http::{Extensions, HeaderValue, Uri};
use http_body_util::Full;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::Connection;
use tower_service::Service;

use super::proxy::ProxyAuthorization;
use crate::transport::BoxFuture;

/// An open connection.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) sender: SendRequest<Full<Bytes>>,
    /// The connection leads to a proxy, which needs the whole URL.
    pub(super) is_proxied: bool,
    /// The credentials for that proxy.
    pub(super) proxy_authorization: Option<HeaderValue>,
}

/// Opens connections.
pub(super) trait Connect: Send + Sync {
    fn connect(&self, to: Uri) -> BoxFuture<'_, Result<Open, Box<dyn StdError + Send + Sync>>>;
}

/// Opens the connections of a connector of hyper's.
pub(super) struct Connector<C>(pub(super) C);

impl<C> Connect for Connector<C>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Read + Write + Connection + Unpin + Send + 'static,
    C::Error: Into<Box<dyn StdError + Send + Sync>>,
    C::Future: Send,
{
    fn connect(&self, to: Uri) -> BoxFuture<'_, Result<Open, Box<dyn StdError + Send + Sync>>> {
        let mut connector = self.0.clone();
        Box::pin(async move {
            poll_fn(|context| connector.poll_ready(context)).await.map_err(Into::into)?;
            let stream = connector.call(to).await.map_err(Into::into)?;
            let connected = stream.connected();
            let mut extras = Extensions::new();
            connected.get_extras(&mut extras);
            let proxy_authorization = extras.remove::<ProxyAuthorization>().map(|ProxyAuthorization(value)| value);
            let (sender, connection) = http1::handshake(stream).await?;
            // It ends when the sender is dropped, or when the server closes the connection.
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(error = %error, "a connection failed");
                }
            });
            Ok(Open { sender, is_proxied: connected.is_proxied(), proxy_authorization })
        })
    }
}
