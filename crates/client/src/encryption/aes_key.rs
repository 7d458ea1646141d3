//! A local key for AES key wrap (RFC 3394).

use std::fmt;

use aes_kw::{KeyInit, KwAes128, KwAes192, KwAes256};
use zeroize::Zeroizing;

use super::error::KeyError;
use super::key::{ContentKey, KeyWrapper};
use crate::transport::BoxFuture;
use crate::{Error, Result};

/// The bytes that the wrapping adds.
const WRAP_BYTES: usize = 8;

/// A symmetric key of 16, 24 or 32 bytes for `A128KW`, `A192KW` or `A256KW`.
#[derive(Clone)]
pub struct AesKey {
    id: String,
    key: Zeroizing<Vec<u8>>,
}

impl AesKey {
    /// Returns a key with the id that is stored with every key that it wraps.
    pub fn new(id: impl Into<String>, key: &[u8]) -> Result<Self> {
        if !matches!(key.len(), 16 | 24 | 32) {
            return Err(Error::invalid(format!("the AES key has {} bytes; 16, 24 or 32 are valid", key.len())));
        }
        Ok(Self { id: id.into(), key: Zeroizing::new(key.to_vec()) })
    }

    fn wrap_now(&self, content_key: &[u8]) -> Result<Vec<u8>, KeyError> {
        let mut wrapped = vec![0; content_key.len() + WRAP_BYTES];
        let outcome = match self.key.len() {
            16 => kw::<KwAes128>(&self.key).wrap_key(content_key, &mut wrapped).map(drop),
            24 => kw::<KwAes192>(&self.key).wrap_key(content_key, &mut wrapped).map(drop),
            _ => kw::<KwAes256>(&self.key).wrap_key(content_key, &mut wrapped).map(drop),
        };
        outcome.map_err(|error| KeyError::new(error.to_string()))?;
        Ok(wrapped)
    }

    fn unwrap_now(&self, wrapped: &[u8], algorithm: &str) -> Result<ContentKey, KeyError> {
        if algorithm != self.algorithm() {
            return Err(KeyError::unknown_algorithm(algorithm));
        }
        let mut content_key = Zeroizing::new(vec![0; wrapped.len().saturating_sub(WRAP_BYTES)]);
        let outcome = match self.key.len() {
            16 => kw::<KwAes128>(&self.key).unwrap_key(wrapped, &mut content_key).map(drop),
            24 => kw::<KwAes192>(&self.key).unwrap_key(wrapped, &mut content_key).map(drop),
            _ => kw::<KwAes256>(&self.key).unwrap_key(wrapped, &mut content_key).map(drop),
        };
        outcome.map_err(|_| KeyError::new("the content key was wrapped with another key"))?;
        Ok(content_key)
    }
}

fn kw<K: KeyInit>(key: &[u8]) -> K {
    K::new_from_slice(key).expect("AesKey::new checks the length")
}

impl KeyWrapper for AesKey {
    fn id(&self) -> &str {
        &self.id
    }

    fn algorithm(&self) -> &str {
        match self.key.len() {
            16 => "A128KW",
            24 => "A192KW",
            _ => "A256KW",
        }
    }

    fn wrap<'a>(&'a self, content_key: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, KeyError>> {
        Box::pin(std::future::ready(self.wrap_now(content_key)))
    }

    fn unwrap<'a>(&'a self, wrapped: &'a [u8], algorithm: &'a str) -> BoxFuture<'a, Result<ContentKey, KeyError>> {
        Box::pin(std::future::ready(self.unwrap_now(wrapped, algorithm)))
    }
}

impl fmt::Debug for AesKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AesKey({:?}, {})", self.id, self.algorithm())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_all_lengths_wrap_and_unwrap() {
        for (length, algorithm) in [(16, "A128KW"), (24, "A192KW"), (32, "A256KW")] {
            let key = AesKey::new("k", &vec![7; length]).unwrap();
            assert_eq!(key.algorithm(), algorithm);
            let wrapped = key.wrap_now(&[9; 32]).unwrap();
            assert_eq!(wrapped.len(), 40);
            assert_eq!(key.unwrap_now(&wrapped, algorithm).unwrap().as_slice(), [9; 32]);
            let other = AesKey::new("k", &vec![8; length]).unwrap();
            assert!(other.unwrap_now(&wrapped, algorithm).is_err());
            assert!(key.unwrap_now(&wrapped, "RSA-OAEP").is_err());
            assert!(key.unwrap_now(&wrapped[..7], algorithm).is_err());
        }
        assert!(AesKey::new("k", &[0; 20]).is_err());
    }

    #[test]
    fn a_key_does_not_print_itself() {
        let printed = format!("{:?}", AesKey::new("k", &[0x41; 32]).unwrap());
        assert_eq!(printed, "AesKey(\"k\", A256KW)");
    }
}
