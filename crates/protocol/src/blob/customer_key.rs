//! A key that a client provides with each request, for the content of a blob. The server keeps only its digest.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::{ErrorCode, ServiceError};

/// The only algorithm.
pub const CUSTOMER_KEY_ALGORITHM: &str = "AES256";

const KEY_BYTES: usize = 32;

/// The SHA-256 of a customer's key, by which the server recognizes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest(pub [u8; 32]);

/// A customer's key. Its text form does not show it, and its memory is wiped.
#[derive(Clone, PartialEq, Eq)]
pub struct CustomerKey {
    bytes: Zeroizing<[u8; KEY_BYTES]>,
    digest: KeyDigest,
}

impl KeyDigest {
    /// Reads the digest in Base64.
    pub fn parse(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// Returns the digest in Base64, as headers and lists have it.
    pub fn to_base64(self) -> String {
        STANDARD.encode(self.0)
    }
}

impl CustomerKey {
    /// Reads a key in Base64.
    pub fn parse(text: &str) -> Option<Self> {
        let decoded = Zeroizing::new(STANDARD.decode(text).ok()?);
        let bytes = Zeroizing::new(<[u8; KEY_BYTES]>::try_from(decoded.as_slice()).ok()?);
        let digest = KeyDigest(Sha256::digest(bytes.as_slice()).into());
        Some(Self { bytes, digest })
    }

    /// Returns the key itself.
    pub fn as_bytes(&self) -> &[u8; KEY_BYTES] {
        &self.bytes
    }

    /// Returns the digest of the key.
    pub fn digest(&self) -> KeyDigest {
        self.digest
    }
}

impl fmt::Debug for CustomerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CustomerKey").field(&self.digest.to_base64()).finish()
    }
}

/// Fails unless the key of a request is the one of a blob, or neither has one.
pub fn check_customer_key(blob: Option<KeyDigest>, request: Option<KeyDigest>) -> Result<(), ServiceError> {
    match (blob, request) {
        (None, Some(_)) => Err(ErrorCode::BlobDoesNotUseCustomerSpecifiedEncryption.into()),
        (Some(_), None) => Err(ErrorCode::BlobUsesCustomerSpecifiedEncryption.into()),
        (Some(blob), Some(request)) if blob != request => {
            Err(ErrorCode::BlobCustomerSpecifiedEncryptionMismatch.into())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_digest_and_not_shown() {
        let text = "MDEyMzQ1NjcwMTIzNDU2NzAxMjM0NTY3MDEyMzQ1Njc=";
        let key = CustomerKey::parse(text).unwrap();
        assert_eq!(key.digest().to_base64(), "3QFFFpRA5+XANHqwwbT4yXDmrT/2JaLt/FKHjzhOdoE=");
        assert_eq!(KeyDigest::parse(&key.digest().to_base64()), Some(key.digest()));
        assert!(!format!("{key:?}").contains(text));
        assert_eq!(CustomerKey::parse("c2hvcnQ="), None);
        let code = |blob, request| check_customer_key(blob, request).unwrap_err().code;
        let (own, other) = (Some(key.digest()), Some(KeyDigest([0; 32])));
        assert_eq!(code(own, None), ErrorCode::BlobUsesCustomerSpecifiedEncryption);
        assert_eq!(code(None, own), ErrorCode::BlobDoesNotUseCustomerSpecifiedEncryption);
        assert_eq!(code(own, other), ErrorCode::BlobCustomerSpecifiedEncryptionMismatch);
        assert!(check_customer_key(own, own).is_ok() && check_customer_key(None, None).is_ok());
    }
}
