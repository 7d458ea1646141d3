//! Proxies: plain http through the proxy itself, https through a CONNECT tunnel.

use std::error::Error as StdError;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use http::header::HeaderValue;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::transport::BoxFuture;
use crate::{Error, Result};

type BoxError = Box<dyn StdError + Send + Sync>;

/// The proxy of a transport. `Debug` does not show its password.
///
/// Requests to `localhost` and to loopback addresses never go through a proxy.
#[derive(Debug, Clone)]
pub struct Proxy {
    matcher: Option<Arc<Matcher>>,
}

impl Proxy {
    /// Returns the proxy of the environment: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in upper or lower
    /// case. A URL may have a user and a password.
    #[doc(alias = "HTTPS_PROXY")]
    #[doc(alias = "HTTP_PROXY")]
    #[doc(alias = "NO_PROXY")]
    pub fn from_env() -> Self {
        Self { matcher: Some(Arc::new(Matcher::from_env())) }
    }

    /// Returns no proxy, whatever the environment has.
    pub fn none() -> Self {
        Self { matcher: None }
    }

    /// Returns a proxy for all requests, such as `http://user:password@proxy.example:3128`.
    pub fn new(url: &str) -> Result<Self> {
        Self::with_exceptions(url, "")
    }

    /// Returns a proxy for all requests except those to a list of hosts, in the form of `NO_PROXY`.
    pub fn with_exceptions(url: &str, no_proxy: &str) -> Result<Self> {
        let shown = crate::endpoint::without_secrets(url);
        let any = Uri::from_static("http://example.test");
        match Matcher::builder().all(url).build().intercept(&any) {
            Some(proxy) if proxy.uri().scheme_str() == Some("http") => {}
            Some(_) => return Err(Error::invalid(format!("the proxy {shown:?} is not supported: use an http URL"))),
            None => return Err(Error::invalid(format!("the proxy {shown:?} is not a URL"))),
        }
        Ok(Self { matcher: Some(Arc::new(Matcher::builder().all(url).no(no_proxy).build())) })
    }

    fn for_target(&self, target: &Uri) -> Option<Intercept> {
        let host = target.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        if is_loopback || host.eq_ignore_ascii_case("localhost") {
            return None;
        }
        self.matcher.as_ref()?.intercept(target)
    }
}

/// Connects to a target, directly or through its proxy.
#[derive(Debug, Clone)]
pub(super) struct ProxyConnector {
    tcp: HttpConnector,
    proxy: Proxy,
}

impl ProxyConnector {
    pub(super) fn new(tcp: HttpConnector, proxy: Proxy) -> Self {
        Self { tcp, proxy }
    }
}

impl Service<Uri> for ProxyConnector {
    type Response = MaybeProxied;
    type Error = BoxError;
    type Future = BoxFuture<'static, std::result::Result<MaybeProxied, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<std::result::Result<(), BoxError>> {
        self.tcp.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let Some(proxy) = self.proxy.for_target(&target) else {
            let connecting = self.tcp.call(target);
            return Box::pin(async move {
                Ok(MaybeProxied { stream: connecting.await?, authorization: None, is_proxied: false })
            });
        };
        if proxy.uri().scheme_str() != Some("http") {
            let scheme = proxy.uri().scheme_str().unwrap_or_default().to_owned();
            return Box::pin(async move {
                Err(format!("a proxy with the scheme {scheme} is not supported: use http").into())
            });
        }
        let authorization = proxy.basic_auth().cloned();
        if target.scheme_str() == Some("https") {
            let tunnel = Tunnel::new(proxy.uri().clone(), self.tcp.clone());
            let mut tunnel = match authorization {
                Some(authorization) => tunnel.with_auth(authorization),
                None => tunnel,
            };
            return Box::pin(async move {
                Ok(MaybeProxied { stream: tunnel.call(target).await?, authorization: None, is_proxied: false })
            });
        }
        let connecting = self.tcp.call(proxy.uri().clone());
        Box::pin(async move { Ok(MaybeProxied { stream: connecting.await?, authorization, is_proxied: true }) })
    }
}

/// A stream to a target or to its proxy.
#[derive(Debug)]
pub(super) struct MaybeProxied {
    stream: TokioIo<TcpStream>,
    /// The credentials for the proxy, which go with each request of plain http.
    authorization: Option<HeaderValue>,
    is_proxied: bool,
}

/// The credentials for a proxy, which a connection hands on.
#[derive(Debug, Clone)]
pub(super) struct ProxyAuthorization(pub(super) HeaderValue);

impl Connection for MaybeProxied {
    fn connected(&self) -> Connected {
        let connected = self.stream.connected().proxy(self.is_proxied);
        match &self.authorization {
            Some(authorization) => connected.extra(ProxyAuthorization(authorization.clone())),
            None => connected,
        }
    }
}

impl Read for MaybeProxied {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for MaybeProxied {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }
}
