//! A local key for RSA-OAEP with SHA-1, which is `RSA-OAEP` in JSON Web Algorithms.

use std::fmt;

use getrandom::SysRng;
use rsa::pkcs8::{DecodePrivateKey as _, DecodePublicKey as _};
use rsa::rand_core::UnwrapErr;
use rsa::{Oaep, RsaPrivateKey, RsaPublicKey};
use sha1::Sha1;
use zeroize::Zeroizing;

use super::error::KeyError;
use super::key::{ContentKey, KeyWrapper};
use crate::transport::BoxFuture;
use crate::{Error, Result};

const ALGORITHM: &str = "RSA-OAEP";
/// The name of the same algorithm in Microsoft's samples.
const SAMPLES_ALGORITHM: &str = "RSA";

/// An RSA key pair, or a public key, which encrypts only.
///
/// The hash is SHA-1, as in the other libraries. RSA-OAEP does not depend on its collision resistance.
#[derive(Clone)]
pub struct RsaKey {
    id: String,
    public: RsaPublicKey,
    private: Option<RsaPrivateKey>,
}

impl RsaKey {
    /// Parses a private key in PEM (PKCS #8), which wraps and unwraps.
    pub fn from_private_pem(id: impl Into<String>, pem: &str) -> Result<Self> {
        let private = RsaPrivateKey::from_pkcs8_pem(pem)
            .map_err(|error| Error::invalid(format!("the PEM is not an RSA private key: {error}")))?;
        Ok(Self { id: id.into(), public: private.to_public_key(), private: Some(private) })
    }

    /// Parses a public key in PEM (SubjectPublicKeyInfo), which only wraps.
    pub fn from_public_pem(id: impl Into<String>, pem: &str) -> Result<Self> {
        let public = RsaPublicKey::from_public_key_pem(pem)
            .map_err(|error| Error::invalid(format!("the PEM is not an RSA public key: {error}")))?;
        Ok(Self { id: id.into(), public, private: None })
    }

    fn wrap_now(&self, content_key: &[u8]) -> Result<Vec<u8>, KeyError> {
        // Generating the content key has shown that the random numbers work.
        let wrapped = self.public.encrypt(&mut UnwrapErr(SysRng), Oaep::<Sha1>::new(), content_key);
        wrapped.map_err(|error| KeyError::new(error.to_string()))
    }

    fn unwrap_now(&self, wrapped: &[u8], algorithm: &str) -> Result<ContentKey, KeyError> {
        if algorithm != ALGORITHM && algorithm != SAMPLES_ALGORITHM {
            return Err(KeyError::unknown_algorithm(algorithm));
        }
        let private =
            self.private.as_ref().ok_or_else(|| KeyError::new("a public key cannot unwrap: use a private key"))?;
        let content_key = private.decrypt_blinded(&mut UnwrapErr(SysRng), Oaep::<Sha1>::new(), wrapped);
        content_key.map(Zeroizing::new).map_err(|_| KeyError::new("the content key was wrapped with another key"))
    }
}

impl KeyWrapper for RsaKey {
    fn id(&self) -> &str {
        &self.id
    }

    fn algorithm(&self) -> &str {
        ALGORITHM
    }

    fn wrap<'a>(&'a self, content_key: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, KeyError>> {
        Box::pin(std::future::ready(self.wrap_now(content_key)))
    }

    fn unwrap<'a>(&'a self, wrapped: &'a [u8], algorithm: &'a str) -> BoxFuture<'a, Result<ContentKey, KeyError>> {
        Box::pin(std::future::ready(self.unwrap_now(wrapped, algorithm)))
    }
}

impl fmt::Debug for RsaKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let half = if self.private.is_some() { "private" } else { "public" };
        write!(f, "RsaKey({:?}, {half})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use rsa::pkcs8::{EncodePrivateKey as _, EncodePublicKey as _, LineEnding};

    use super::*;

    #[test]
    fn both_halves_wrap_and_the_private_one_unwraps() {
        let private = RsaPrivateKey::new(&mut UnwrapErr(SysRng), 1024).unwrap();
        let public = private.to_public_key().to_public_key_pem(LineEnding::LF).unwrap();
        let both = RsaKey::from_private_pem("k", &private.to_pkcs8_pem(LineEnding::LF).unwrap()).unwrap();
        let half = RsaKey::from_public_pem("k", &public).unwrap();
        for writer in [&both, &half] {
            let wrapped = writer.wrap_now(&[9; 32]).unwrap();
            for algorithm in [ALGORITHM, SAMPLES_ALGORITHM] {
                assert_eq!(both.unwrap_now(&wrapped, algorithm).unwrap().as_slice(), [9; 32]);
            }
            assert!(half.unwrap_now(&wrapped, ALGORITHM).is_err());
            assert!(both.unwrap_now(&wrapped, "A256KW").is_err());
            assert!(both.unwrap_now(&wrapped[1..], ALGORITHM).is_err());
        }
        assert!(RsaKey::from_public_pem("k", "no key").is_err());
        assert!(!format!("{both:?}").contains("d:"));
    }
}
