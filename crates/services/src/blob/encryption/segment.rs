//! One segment of encrypted content.

use aes_gcm::aead::{AeadInOut, KeyInit as _};
use aes_gcm::{Aes256Gcm, Nonce};
use bytes::BytesMut;
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use tablerock_kv::{Bytes, Error, Result};
use tablerock_protocol::blob::CustomerKey;

use crate::blob::content::CHUNK_BYTES;

/// The name of the construction, so that another one would derive other keys.
const PURPOSE: &[u8] = b"tablerock sealed content 1";

pub(super) const SALT_BYTES: usize = 16;
const TAG_BYTES: usize = 16;

/// The content of one segment.
pub(super) const PLAIN_BYTES: usize = CHUNK_BYTES - SALT_BYTES - TAG_BYTES;

pub(super) type Salt = [u8; SALT_BYTES];

/// The bytes that are stored for content of this length.
pub(in crate::blob) fn stored_length(length: u64, is_encrypted: bool) -> u64 {
    let overhead = (SALT_BYTES + TAG_BYTES) as u64;
    if is_encrypted { length + length.div_ceil(PLAIN_BYTES as u64) * overhead } else { length }
}

/// The cipher of one content.
pub(super) struct ContentCipher {
    salt: Salt,
    cipher: Aes256Gcm,
}

impl std::fmt::Debug for ContentCipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContentCipher").finish_non_exhaustive()
    }
}

impl ContentCipher {
    pub(super) fn new(key: &CustomerKey, salt: Salt) -> Self {
        let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).expect("HMAC takes keys of any length");
        mac.update(PURPOSE);
        mac.update(&salt);
        Self { salt, cipher: Aes256Gcm::new(&mac.finalize().into_bytes()) }
    }

    /// A cipher for new content.
    pub(super) fn fresh(key: &CustomerKey) -> Result<Self> {
        let mut salt = Salt::default();
        getrandom::fill(&mut salt)
            .map_err(|error| Error::internal(format!("no random numbers for a salt: {error}")))?;
        Ok(Self::new(key, salt))
    }

    /// The cipher that a segment was sealed with.
    pub(super) fn of_segment(key: &CustomerKey, segment: &[u8]) -> Result<Self> {
        Ok(Self::new(key, *segment.first_chunk().ok_or_else(damaged)?))
    }

    pub(super) fn sealed(&self, segment: &[u8]) -> bool {
        segment.starts_with(&self.salt)
    }

    pub(super) fn seal(&self, index: u64, plain: &[u8]) -> Result<Bytes> {
        let mut segment = BytesMut::with_capacity(SALT_BYTES + plain.len() + TAG_BYTES);
        segment.extend_from_slice(&self.salt);
        segment.extend_from_slice(plain);
        let body = (&mut segment[SALT_BYTES..]).into();
        let tag = self.cipher.encrypt_inout_detached(&nonce(index), b"", body);
        let tag = tag.map_err(|_| Error::internal("content could not be encrypted"))?;
        segment.extend_from_slice(&tag);
        Ok(segment.freeze())
    }

    pub(super) fn open(&self, index: u64, segment: &[u8]) -> Result<Bytes> {
        let sealed = segment.get(SALT_BYTES..).ok_or_else(damaged)?;
        let (body, tag) = sealed.split_last_chunk::<TAG_BYTES>().ok_or_else(damaged)?;
        let mut plain = BytesMut::from(body);
        let opened = self.cipher.decrypt_inout_detached(&nonce(index), b"", (&mut plain[..]).into(), tag.into());
        opened.map_err(|_| damaged())?;
        Ok(plain.freeze())
    }
}

fn nonce(index: u64) -> Nonce<aes_gcm::aead::consts::U12> {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&index.to_be_bytes());
    nonce.into()
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

    #[test]
    fn a_segment_opens_with_its_key_at_its_place_and_unchanged() {
        let (own, other) = (key("MDEyMzQ1NjcwMTIzNDU2NzAxMjM0NTY3MDEyMzQ1Njc="), key(&format!("{}=", "A".repeat(43))));
        let cipher = ContentCipher::new(&own, [7; SALT_BYTES]);
        let segment = cipher.seal(3, b"content").unwrap();
        assert_eq!(segment.len() as u64, stored_length(7, true));
        assert!(!segment.windows(7).any(|window| window == b"content"));
        let again = ContentCipher::of_segment(&own, &segment).unwrap();
        assert_eq!(again.open(3, &segment).unwrap(), "content");
        assert!(again.open(2, &segment).is_err());
        assert!(ContentCipher::of_segment(&other, &segment).unwrap().open(3, &segment).is_err());
        for place in 0..segment.len() {
            let mut changed = segment.to_vec();
            changed[place] ^= 1;
            let opened = ContentCipher::of_segment(&own, &changed).and_then(|cipher| cipher.open(3, &changed));
            assert!(opened.is_err(), "{place}");
            assert!(again.open(3, &segment[..place]).is_err(), "{place}");
        }
    }

    #[test]
    fn stored_lengths_have_one_overhead_for_each_segment() {
        let plain = PLAIN_BYTES as u64;
        assert_eq!(
            [0, 1, plain, plain + 1].map(|length| stored_length(length, true)),
            [0, 33, CHUNK_BYTES as u64, CHUNK_BYTES as u64 + 33]
        );
        assert_eq!(stored_length(plain, false), plain);
    }
}
