//! TLS by rustls: a certificate chain and its key from PEM files.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The TLS side of a port.
#[derive(Clone)]
pub struct Tls {
    both: TlsAcceptor,
    /// Without HTTP/2, for a time when there is no memory for another such connection.
    http1: TlsAcceptor,
}

impl Tls {
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

/// Reads certificate and key. The error is a text for the operator.
pub fn acceptor(certificate: &Path, key: &Path) -> Result<Tls, String> {
    let unreadable = |path: &Path, error: &dyn std::fmt::Display| {
        format!("cannot read {} as PEM: {error}; check the path, or convert the file with openssl", path.display())
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(|certificates| certificates.collect::<Result<Vec<_>, _>>())
        .map_err(|error| unreadable(certificate, &error))?;
    if chain.is_empty() {
        return Err(format!("{} holds no certificate; --cert wants a PEM file with one", certificate.display()));
    }
    let private_key = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, private_key)
        .map_err(|error| format!("{} and {} do not fit together: {error}", certificate.display(), key.display()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let http1 = TlsAcceptor::from(Arc::new(config.clone()));
    config.alpn_protocols.insert(0, b"h2".to_vec());
    Ok(Tls { both: TlsAcceptor::from(Arc::new(config)), http1 })
}
