//! AES-256 in CBC mode with PKCS#7 padding, and the initialization vector of each property.

use aes::Aes256;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use cbc::{Decryptor, Encryptor};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::error::{EncryptionError, damaged};
use super::key::ContentKey;

pub(super) const CONTENT_KEY_BYTES: usize = 32;
pub(super) const IV_BYTES: usize = 16;

/// The order of the keys in the initialization vector. The libraries for .NET and Python put the RowKey first, the one
/// for Java the PartitionKey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    DotNet,
    Java,
}

impl Flavour {
    pub(super) fn other(self) -> Self {
        match self {
            Self::DotNet => Self::Java,
            Self::Java => Self::DotNet,
        }
    }
}

/// Encrypts and decrypts the properties of one entity.
pub(super) struct EntityCipher<'a> {
    pub(super) content_key: &'a ContentKey,
    pub(super) entity_iv: &'a [u8; IV_BYTES],
    pub(super) partition_key: &'a str,
    pub(super) row_key: &'a str,
    pub(super) flavour: Flavour,
}

impl EntityCipher<'_> {
    pub(super) fn encrypt(&self, property: &str, text: &str) -> Result<Vec<u8>, EncryptionError> {
        let cipher = Encryptor::<Aes256>::new_from_slices(self.content_key, &self.iv(property));
        let cipher = cipher.map_err(|_| wrong_length())?;
        Ok(cipher.encrypt_padded_vec::<Pkcs7>(text.as_bytes()))
    }

    pub(super) fn decrypt(&self, property: &str, bytes: &[u8]) -> Result<String, EncryptionError> {
        let cipher = Decryptor::<Aes256>::new_from_slices(self.content_key, &self.iv(property));
        let cipher = cipher.map_err(|_| wrong_length())?;
        let text = cipher.decrypt_padded_vec::<Pkcs7>(bytes).ok();
        // One message for all errors: a difference between invalid padding and invalid text would be a padding oracle.
        let text = text.and_then(|text| String::from_utf8(text).ok());
        text.ok_or_else(|| damaged(format!("property {property} is damaged")))
    }

    /// Returns the first half of a hash over the entity's vector, its keys and the property's name.
    pub(super) fn iv(&self, property: &str) -> [u8; IV_BYTES] {
        let (first, second) = match self.flavour {
            Flavour::DotNet => (self.row_key, self.partition_key),
            Flavour::Java => (self.partition_key, self.row_key),
        };
        let mut hash = Sha256::new_with_prefix(self.entity_iv);
        hash.update(first);
        hash.update(second);
        hash.update(property);
        let mut iv = [0; IV_BYTES];
        iv.copy_from_slice(&hash.finalize()[..IV_BYTES]);
        iv
    }
}

fn wrong_length() -> EncryptionError {
    damaged(format!("the content key does not have {CONTENT_KEY_BYTES} bytes"))
}

/// Returns a new content key and a new vector from the operating system.
pub(super) fn random_key_and_iv() -> Result<(ContentKey, [u8; IV_BYTES]), EncryptionError> {
    let (mut key, mut iv) = (Zeroizing::new(vec![0; CONTENT_KEY_BYTES]), [0; IV_BYTES]);
    let filled = getrandom::fill(&mut key).and_then(|()| getrandom::fill(&mut iv));
    filled.map_err(|error| {
        EncryptionError::NotAllowed(format!("the operating system returned no random numbers: {error}"))
    })?;
    Ok((key, iv))
}
