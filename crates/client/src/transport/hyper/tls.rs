//! TLS by rustls, with the cryptography of `ring` or of AWS-LC.

use std::sync::Arc;

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, RootCertStore};

use super::ProxyConnector;

/// Wraps a connector so that https has TLS.
pub(super) fn connector(config: ClientConfig, inner: ProxyConnector) -> HttpsConnector<ProxyConnector> {
    HttpsConnectorBuilder::new().with_tls_config(config).https_or_http().enable_http1().wrap_connector(inner)
}

/// Returns the configuration of a transport without one.
pub(super) fn default_config() -> ClientConfig {
    #[cfg(feature = "native-roots")]
    return native_config();
    #[cfg(not(feature = "native-roots"))]
    config(RootCertStore::empty())
}

/// Returns a configuration that trusts the certificates of the operating system.
#[cfg(feature = "native-roots")]
pub(super) fn native_config() -> ClientConfig {
    let mut roots = RootCertStore::empty();
    // A certificate that cannot be parsed is skipped: the others may be sufficient.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    config(roots)
}

fn config(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider supports the TLS versions of rustls")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// Returns the cryptography, which is that of AWS-LC if both are on: it is the choice of the application.
fn provider() -> CryptoProvider {
    #[cfg(feature = "tls-aws-lc")]
    return rustls::crypto::aws_lc_rs::default_provider();
    #[cfg(not(feature = "tls-aws-lc"))]
    rustls::crypto::ring::default_provider()
}
