//! TLS by rustls, with a certificate that can be replaced while the server runs.

mod files;
mod pfx;

use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub use self::files::CertificateFiles;

/// The TLS side of all ports.
#[derive(Clone)]
pub struct Tls {
    both: TlsAcceptor,
    /// Without HTTP/2, for a time when there is no memory for another such connection.
    http1: TlsAcceptor,
    files: Arc<CertificateFiles>,
    current: Arc<CurrentCertificate>,
}

impl Tls {
    /// Reads the certificate and its key. The error is a text for the operator.
    pub fn open(files: CertificateFiles) -> Result<Self, String> {
        let current = Arc::new(CurrentCertificate(ArcSwap::from_pointee(files.read()?)));
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_cert_resolver(current.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let http1 = TlsAcceptor::from(Arc::new(config.clone()));
        config.alpn_protocols.insert(0, b"h2".to_vec());
        Ok(Self { both: TlsAcceptor::from(Arc::new(config)), http1, files: Arc::new(files), current })
    }

    /// Reads the files again, for new connections. Returns whether the certificate changed; after an error it is the old one.
    pub fn reload(&self) -> Result<bool, String> {
        let read = self.files.read()?;
        let is_new = self.current.0.load().cert != read.cert;
        if is_new {
            self.current.0.store(Arc::new(read));
        }
        Ok(is_new)
    }

    /// Runs the handshake. The client chooses HTTP/2 only if it is offered.
    pub(crate) async fn accept<S>(&self, stream: S, offers_http2: bool) -> std::io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        if offers_http2 { self.both.accept(stream).await } else { self.http1.accept(stream).await }
    }
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

/// The certificate that each handshake uses.
#[derive(Debug)]
struct CurrentCertificate(ArcSwap<CertifiedKey>);

impl ResolvesServerCert for CurrentCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.load_full())
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
