//! A certificate chain and its key from a PKCS#12 file, as Windows, .NET, Java and OpenSSL write them.

use p12_keystore::error::Error;
use p12_keystore::{Certificate, Pkcs12Archive};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;

use super::provider;

const CONVERT: &str = "convert it with `openssl pkcs12 -in old.pfx -nodes | openssl pkcs12 -export -out new.pfx`";

/// Reads the first private key of a file, with its certificate and the chain above that.
pub(super) fn read(content: &[u8], password: &str) -> Result<CertifiedKey, String> {
    let archive = Pkcs12Archive::from_pkcs12(content, password).map_err(|error| explain(&error))?;
    let key = &archive.keys.first().ok_or("it has no private key: export the certificate with its key")?.key;
    let certificates: Vec<&Certificate> = archive.certs.iter().map(|bag| &bag.cert).collect();
    let fitting = certificates.iter().find_map(|leaf| certify(&chain_of(leaf, &certificates), key.as_der()).ok());
    fitting.ok_or_else(|| "no certificate in it belongs to its private key: export both together".to_owned())
}

/// A certificate and its issuers, as far as the file has them. The root is the client's.
fn chain_of<'a>(leaf: &'a Certificate, all: &[&'a Certificate]) -> Vec<&'a Certificate> {
    let mut chain = vec![leaf];
    let mut last = leaf;
    while let Some(issuer) = all.iter().find(|other| other.subject() == last.issuer() && !chain.contains(other)) {
        chain.push(issuer);
        last = issuer;
    }
    chain
}

fn certify(chain: &[&Certificate], key: &[u8]) -> Result<CertifiedKey, rustls::Error> {
    let chain = chain.iter().map(|certificate| CertificateDer::from(certificate.as_der().to_vec())).collect();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.to_vec()));
    CertifiedKey::from_der(chain, key, &provider())
}

fn explain(error: &Error) -> String {
    match error {
        Error::MacError(_) | Error::UnpadError | Error::Pkcs5Error(_) => {
            "the password does not open it: check --pwd or TABLEROCK_PWD".to_owned()
        }
        Error::UnsupportedEncryptionScheme | Error::UnsupportedMacAlgorithm => format!("{error}; {CONVERT}"),
        Error::DerError(_) => format!("it is neither PEM nor PKCS#12 in DER ({error}); {CONVERT}"),
        error => format!("{error}; {CONVERT}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> Vec<u8> {
        std::fs::read(format!("{}/tests/pfx/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    #[test]
    fn modern_and_old_files_are_read_with_their_chain() {
        for name in ["openssl3.pfx", "openssl1.pfx", "windows-3des.pfx", "windows-aes.pfx"] {
            let certified = read(&file(name), "geheim!").unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(certified.cert.len(), 2, "{name}: the certificate and its issuer");
            certified.keys_match().unwrap();
        }
        assert_eq!(read(&file("no-password.pfx"), "").unwrap().cert.len(), 1);
    }

    #[test]
    fn a_wrong_password_is_named_and_not_shown() {
        for name in ["openssl3.pfx", "openssl1.pfx", "windows-3des.pfx", "windows-aes.pfx", "no-password.pfx"] {
            let error = read(&file(name), "falsch").unwrap_err();
            assert_eq!(error, "the password does not open it: check --pwd or TABLEROCK_PWD", "{name}");
        }
    }

    #[test]
    fn other_content_is_refused_with_a_remedy() {
        let whole = file("openssl3.pfx");
        for content in [&b""[..], b"certificate", &whole[..whole.len() / 2], &[0x30, 0x80, 0, 0]] {
            let error = read(content, "geheim!").unwrap_err();
            assert!(error.contains("openssl pkcs12"), "{error}");
        }
    }
}
