//! A certificate chain and its key from files: PEM, or PKCS#12, which Windows calls PFX.

use std::path::{Path, PathBuf};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use super::{pfx, provider};

/// The bytes that begin each part of a PEM file.
const PEM_BEGIN: &[u8] = b"-----BEGIN";

/// The files of a certificate and its private key.
#[derive(Clone, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate chain, in PEM or PKCS#12.
    pub certificate: PathBuf,
    /// The private key in PEM. Without it, the file of the certificate has the key too.
    pub key: Option<PathBuf>,
    /// The password of a PKCS#12 file.
    pub password: Option<String>,
}

/// Shows no password.
impl std::fmt::Debug for CertificateFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CertificateFiles").field("certificate", &self.certificate).finish_non_exhaustive()
    }
}

impl CertificateFiles {
    /// Reads both. The error is a text for the operator.
    pub(super) fn read(&self) -> Result<CertifiedKey, String> {
        let content = read(&self.certificate)?;
        let is_pem = content.windows(PEM_BEGIN.len()).any(|part| part == PEM_BEGIN);
        let shown = self.certificate.display();
        if !is_pem {
            if let Some(key) = &self.key {
                return Err(format!(
                    "cannot read {shown} as PEM: it has no PEM parts; if it is a PFX file, set --pwd instead of --key {}",
                    key.display()
                ));
            }
            return pfx::read(&content, self.password.as_deref().unwrap_or_default())
                .map_err(|error| format!("cannot read {shown} as PKCS#12 (PFX): {error}"));
        }
        let chain = CertificateDer::pem_slice_iter(&content)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| unreadable(&self.certificate, &error))?;
        if chain.is_empty() {
            return Err(format!("{shown} has no certificate: set --cert to a PEM or PFX file with one"));
        }
        let private_key = match &self.key {
            Some(key) => PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|error| unreadable(key, &error))?,
            None => PrivateKeyDer::from_pem_slice(&content).map_err(|_| {
                format!("{shown} has a certificate and no private key: set --key to the PEM file with the key")
            })?,
        };
        let key_path = self.key.as_ref().unwrap_or(&self.certificate).display();
        CertifiedKey::from_der(chain, private_key, &provider())
            .map_err(|error| format!("{shown} and {key_path} do not belong together: {error}; set --key to its key"))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}; check the path", path.display()))
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("cannot read {} as PEM: {error}; convert it with openssl, a key without a password", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pfx(name: &str) -> PathBuf {
        format!("{}/tests/pfx/{name}", env!("CARGO_MANIFEST_DIR")).into()
    }

    #[test]
    fn the_content_of_a_file_decides_on_its_format() {
        let folder = tempfile::tempdir().unwrap();
        let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (cert, key) = (signed.cert.pem(), signed.signing_key.serialize_pem());
        let write = |name: &str, content: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let (certificate, key_file) = (write("cert.pem", &cert), write("key.pem", &key));
        let together = write("both.pem", &format!("{key}{cert}"));
        let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let other_key = write("other.pem", &other.signing_key.serialize_pem());
        let read = |certificate: &Path, key: Option<&Path>, password: Option<&str>| {
            let (certificate, key) = (certificate.to_owned(), key.map(Path::to_owned));
            CertificateFiles { certificate, key, password: password.map(str::to_owned) }.read().map(|_| ())
        };
        assert_eq!(read(&certificate, Some(&key_file), None), Ok(()));
        assert_eq!(read(&certificate, Some(&key_file), Some("ignored")), Ok(()));
        assert_eq!(read(&together, None, None), Ok(()));
        assert_eq!(read(&pfx("openssl3.pfx"), None, Some("geheim!")), Ok(()));
        assert_eq!(read(&pfx("no-password.pfx"), None, None), Ok(()));
        for (result, remedy) in [
            (read(&certificate, None, None), "set --key"),
            (read(&certificate, Some(&other_key), None), "do not belong together"),
            (read(&key_file, Some(&key_file), None), "has no certificate"),
            (read(&pfx("openssl3.pfx"), Some(&key_file), None), "--pwd instead of --key"),
            (read(&pfx("openssl3.pfx"), None, Some("falsch")), "check --pwd"),
            (read(&pfx("missing.pfx"), None, None), "check the path"),
        ] {
            let error = result.unwrap_err();
            assert!(error.contains(remedy), "{error}");
        }
    }

    #[test]
    fn a_new_certificate_is_taken_up_and_an_unreadable_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let certificate = folder.path().join("both.pem");
        let renew = || {
            let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
            std::fs::write(&certificate, signed.cert.pem() + &signed.signing_key.serialize_pem()).unwrap();
            signed.cert.der().clone()
        };
        let first = renew();
        let files = CertificateFiles { certificate: certificate.clone(), key: None, password: None };
        let tls = super::super::Tls::open(files).unwrap();
        let served = || tls.current.0.load().cert.first().cloned().unwrap();
        assert_eq!((tls.reload(), served()), (Ok(false), first.clone()));
        std::fs::write(&certificate, "-----BEGIN").unwrap();
        assert!(tls.reload().is_err());
        assert_eq!(served(), first);
        let second = renew();
        assert_eq!((tls.reload(), served()), (Ok(true), second));
    }
}
