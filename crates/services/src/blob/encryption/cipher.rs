//! The cipher of all parts of a content that have one salt.

use aes_gcm::aead::{AeadInOut, KeyInit as _};
use aes_gcm::{Aes256Gcm, Nonce};
use bytes::BytesMut;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use tablerock_kv::{Error, Result};
use tablerock_protocol::blob::CustomerKey;

const SALT_BYTES: usize = 16;
const TAG_BYTES: usize = 16;

/// The bytes that a part has besides its ciphertext.
pub(super) const OVERHEAD_BYTES: usize = SALT_BYTES + TAG_BYTES;

/// The parts that a cipher encrypts. Each purpose derives other keys, and so would another construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Content,
    Pages,
}

impl Purpose {
    fn name(self) -> &'static [u8] {
        match self {
            Self::Content => b"tablerock sealed content 1",
            Self::Pages => b"tablerock encrypted pages 1",
        }
    }
}

/// Encrypts and decrypts the parts of one salt.
pub(super) struct PartCipher {
    salt: [u8; SALT_BYTES],
    cipher: Aes256Gcm,
}

impl std::fmt::Debug for PartCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartCipher").finish_non_exhaustive()
    }
}

impl PartCipher {
    fn new(purpose: Purpose, key: &CustomerKey, salt: [u8; SALT_BYTES]) -> Self {
        let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
        mac.update(purpose.name());
        mac.update(&salt);
        Self { salt, cipher: Aes256Gcm::new(&mac.finalize().into_bytes()) }
    }

    /// A cipher with a salt of its own.
    pub(super) fn fresh(purpose: Purpose, key: &CustomerKey) -> Result<Self> {
        let mut salt = [0; SALT_BYTES];
        getrandom::fill(&mut salt)
            .map_err(|error| Error::internal(format!("no random numbers for a salt: {error}")))?;
        Ok(Self::new(purpose, key, salt))
    }

    /// The cipher that a part was encrypted with: `last` if that has its salt.
    pub(super) fn of_part(purpose: Purpose, key: &CustomerKey, part: &[u8], last: Option<Self>) -> Result<Self> {
        match last {
            Some(last) if part.starts_with(&last.salt) => Ok(last),
            _ => Ok(Self::new(purpose, key, *part.first_chunk().ok_or_else(damaged)?)),
        }
    }

    /// Adds a part: the salt, the ciphertext and its tag.
    pub(super) fn encrypt(&self, place: u64, plain: &[u8], out: &mut BytesMut) -> Result<()> {
        out.extend_from_slice(&self.salt);
        let start = out.len();
        out.extend_from_slice(plain);
        let tag = self.cipher.encrypt_inout_detached(&nonce(place), b"", (&mut out[start..]).into());
        out.extend_from_slice(&tag.map_err(|_| Error::internal("content could not be encrypted"))?);
        Ok(())
    }

    /// Adds what was encrypted.
    pub(super) fn decrypt(&self, place: u64, part: &[u8], out: &mut BytesMut) -> Result<()> {
        let encrypted = part.get(SALT_BYTES..).ok_or_else(damaged)?;
        let (body, tag) = encrypted.split_last_chunk::<TAG_BYTES>().ok_or_else(damaged)?;
        let start = out.len();
        out.extend_from_slice(body);
        let plain = (&mut out[start..]).into();
        let decrypted = self.cipher.decrypt_inout_detached(&nonce(place), b"", plain, tag.into());
        decrypted.map_err(|_| damaged())
    }
}

fn nonce(place: u64) -> Nonce<aes_gcm::aead::consts::U12> {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&place.to_be_bytes());
    nonce.into()
}

/// Runs the work of a cipher on a thread of its own, because that takes a good part of a millisecond.
pub(super) async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Error::internal("the thread of a cipher ended early"))
}

pub(super) fn damaged() -> Error {
    Error::corrupt("content that is encrypted with a customer's key was changed on disk")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> CustomerKey {
        CustomerKey::parse(text).unwrap()
    }

    fn decrypted(purpose: Purpose, key: &CustomerKey, place: u64, part: &[u8]) -> Result<BytesMut> {
        let mut plain = BytesMut::new();
        PartCipher::of_part(purpose, key, part, None)?.decrypt(place, part, &mut plain)?;
        Ok(plain)
    }

    #[test]
    fn a_part_is_decrypted_with_its_key_at_its_place_and_unchanged() {
        let (own, other) = (key("MDEyMzQ1NjcwMTIzNDU2NzAxMjM0NTY3MDEyMzQ1Njc="), key(&format!("{}=", "A".repeat(43))));
        let mut part = BytesMut::new();
        PartCipher::fresh(Purpose::Content, &own).unwrap().encrypt(3, b"content", &mut part).unwrap();
        assert_eq!(part.len(), 7 + OVERHEAD_BYTES);
        assert!(!part.windows(7).any(|window| window == b"content"));
        assert_eq!(decrypted(Purpose::Content, &own, 3, &part).unwrap(), "content");
        assert!(decrypted(Purpose::Content, &own, 2, &part).is_err());
        assert!(decrypted(Purpose::Pages, &own, 3, &part).is_err());
        assert!(decrypted(Purpose::Content, &other, 3, &part).is_err());
        for place in 0..part.len() {
            let mut changed = part.to_vec();
            changed[place] ^= 1;
            assert!(decrypted(Purpose::Content, &own, 3, &changed).is_err(), "{place}");
            assert!(decrypted(Purpose::Content, &own, 3, &part[..place]).is_err(), "{place}");
        }
    }
}
