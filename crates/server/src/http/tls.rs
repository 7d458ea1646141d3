//! TLS by rustls: a certificate chain and its key from PEM files.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
pub use tokio_rustls::TlsAcceptor;

/// Reads certificate and key. The error is a text for the operator.
pub fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, String> {
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
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
