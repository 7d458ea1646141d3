//! An account's key, ready to sign.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Base64 of the 32 bytes of an HMAC-SHA256.
const SIGNATURE_CHARS: usize = 44;

/// One of an account's two keys. It holds the keyed hash rather than the key, so that a signature costs no key
/// schedule and nothing can print the key.
#[derive(Clone)]
pub struct AccountKey {
    keyed: Hmac<Sha256>,
}

/// Why a text is not an account key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountKeyError {
    /// The key is not Base64.
    NotBase64,
    /// The key is empty.
    Empty,
}

impl AccountKey {
    /// Reads a key as the service and connection strings write it, in Base64.
    pub fn parse(base64: &str) -> Result<Self, AccountKeyError> {
        let bytes = STANDARD.decode(base64.trim()).map_err(|_| AccountKeyError::NotBase64)?;
        if bytes.is_empty() { Err(AccountKeyError::Empty) } else { Ok(Self::from_bytes(&bytes)) }
    }

    /// Returns the key with these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self { keyed: Hmac::new_from_slice(bytes).expect("HMAC takes a key of any length") }
    }

    /// The Base64 of the HMAC-SHA256 of a string-to-sign.
    pub fn sign(&self, string_to_sign: &str) -> String {
        STANDARD.encode(self.mac(string_to_sign).finalize().into_bytes())
    }

    /// Returns whether this key made a signature, in constant time.
    pub fn verify(&self, string_to_sign: &str, signature: &str) -> bool {
        let mut claimed = [0; SIGNATURE_CHARS / 4 * 3];
        if signature.len() != SIGNATURE_CHARS {
            return false;
        }
        match STANDARD.decode_slice(signature, &mut claimed) {
            Ok(length) => self.mac(string_to_sign).verify_slice(&claimed[..length]).is_ok(),
            Err(_) => false,
        }
    }

    fn mac(&self, string_to_sign: &str) -> Hmac<Sha256> {
        let mut mac = self.keyed.clone();
        mac.update(string_to_sign.as_bytes());
        mac
    }
}

impl fmt::Debug for AccountKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccountKey(..)")
    }
}

impl fmt::Display for AccountKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotBase64 => "the account key is not Base64",
            Self::Empty => "the account key is empty",
        })
    }
}

impl std::error::Error for AccountKeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_base64_and_never_printed() {
        let key = AccountKey::parse(" c2VjcmV0 \n").unwrap();
        assert_eq!(format!("{key:?}"), "AccountKey(..)");
        assert_eq!(AccountKey::parse("").unwrap_err(), AccountKeyError::Empty);
        for text in ["a", "c2VjcmV", "!!!!", "c2Vj cmV0"] {
            assert_eq!(AccountKey::parse(text).unwrap_err(), AccountKeyError::NotBase64, "{text:?}");
        }
    }

    #[test]
    fn only_the_exact_signature_verifies() {
        let key = AccountKey::from_bytes(b"key");
        // The well-known HMAC-SHA256 example with this key and text.
        let text = "The quick brown fox jumps over the lazy dog";
        let signature = "97yD9DBThCSxMpjmqm+xQ+9NWaFJRhdZl0edvC0aPNg=";
        assert_eq!(key.sign(text), signature);
        assert!(key.verify(text, signature));
        assert!(!key.verify("The quick", signature));
        assert!(!AccountKey::from_bytes(b"other").verify(text, signature));
        let other = key.sign("other");
        for wrong in ["", "97yD", &signature[..43], &other, "97yD9DBThCSxMpjmqm+xQ+9NWaFJRhdZl0edvC0aPNgA"] {
            assert!(!key.verify(text, wrong), "{wrong:?}");
        }
    }
}
