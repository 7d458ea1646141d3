//! A message as it is stored.
//!
//! ```text
//! message := format (1 byte, 1) · id (16 bytes) · changes (4 bytes) · dequeue count (4 bytes)
//!            · insertion time (8 bytes) · expiry time (8 bytes) · text
//! ```
//!
//! When it becomes visible is not in the value, for that is the record's key.

use tablerock_kv::{Bytes, Error, Result};
use tablerock_protocol::{DateTime, PopReceipt, Uuid};

use super::Message;
use super::keys::MessageKey;

const FORMAT: u8 = 1;
const HEAD_BYTES: usize = 41;

/// The expiry of a message that lives for ever: the last date there is.
pub(super) const NEVER: u64 = DateTime::MAX.ticks();

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredMessage {
    pub(super) id: Uuid,
    /// How often the message was given out or updated, which tells its receipts apart.
    pub(super) changes: u32,
    pub(super) dequeue_count: u32,
    pub(super) inserted: u64,
    pub(super) expires: u64,
    /// UTF-8.
    pub(super) text: Bytes,
}

impl StoredMessage {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(HEAD_BYTES + self.text.len());
        out.push(FORMAT);
        out.extend_from_slice(self.id.as_bytes());
        out.extend_from_slice(&self.changes.to_be_bytes());
        out.extend_from_slice(&self.dequeue_count.to_be_bytes());
        out.extend_from_slice(&self.inserted.to_be_bytes());
        out.extend_from_slice(&self.expires.to_be_bytes());
        out.extend_from_slice(&self.text);
        out.into()
    }

    pub(super) fn decode(bytes: &Bytes) -> Result<Self> {
        Self::try_decode(bytes).ok_or_else(corrupt)
    }

    /// Whether a stored message has expired, without decoding the rest.
    pub(super) fn has_expired_in(bytes: &[u8], now: u64) -> Result<bool> {
        let expires = bytes.get(HEAD_BYTES - 8..HEAD_BYTES).and_then(|expires| expires.try_into().ok());
        Ok(expired(u64::from_be_bytes(expires.ok_or_else(corrupt)?), now))
    }

    pub(super) fn has_expired(&self, now: u64) -> bool {
        expired(self.expires, now)
    }

    fn try_decode(bytes: &Bytes) -> Option<Self> {
        let (&[FORMAT], rest) = bytes.split_first_chunk()? else { return None };
        let (id, rest) = rest.split_first_chunk()?;
        let (changes, rest) = rest.split_first_chunk()?;
        let (dequeue_count, rest) = rest.split_first_chunk()?;
        let (inserted, rest) = rest.split_first_chunk()?;
        let (expires, text) = rest.split_first_chunk()?;
        let [inserted, expires] = [inserted, expires].map(|time| u64::from_be_bytes(*time));
        if inserted > NEVER || expires > NEVER {
            return None;
        }
        std::str::from_utf8(text).ok()?;
        Some(Self {
            id: Uuid::from_bytes(*id),
            changes: u32::from_be_bytes(*changes),
            dequeue_count: u32::from_be_bytes(*dequeue_count),
            inserted,
            expires,
            text: bytes.slice_ref(text),
        })
    }

    /// The message as a client sees it, stored under a key.
    pub(super) fn shown_at(&self, key: MessageKey) -> Message {
        Message {
            id: self.id,
            inserted: DateTime::from_ticks(self.inserted),
            expires: DateTime::from_ticks(self.expires),
            receipt: PopReceipt { visible: key.visible, number: key.number, changes: self.changes },
            // It may lie a little before the time of its insertion: see `QueueTime::visible_after`.
            next_visible: DateTime::from_ticks(key.visible.max(self.inserted)),
            dequeue_count: self.dequeue_count,
            text: String::from_utf8_lossy(&self.text).into_owned(),
        }
    }
}

fn expired(expires: u64, now: u64) -> bool {
    expires <= now && expires != NEVER
}

fn corrupt() -> Error {
    Error::corrupt("a stored message cannot be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_as_it_was() {
        let message = StoredMessage {
            id: Uuid::from_bytes([7; 16]),
            changes: 3,
            dequeue_count: 2,
            inserted: 10,
            expires: 20,
            text: Bytes::from_static("é".as_bytes()),
        };
        let encoded = message.encode();
        assert_eq!(StoredMessage::decode(&encoded).unwrap(), message);
        for (now, has_expired) in [(19, false), (20, true)] {
            assert_eq!(StoredMessage::has_expired_in(&encoded, now).unwrap(), has_expired);
        }
        for length in 0..HEAD_BYTES {
            assert!(StoredMessage::decode(&encoded.slice(..length)).is_err());
        }
        let no_text = StoredMessage { text: Bytes::from_static(b"\xff"), ..message };
        assert!(StoredMessage::decode(&no_text.encode()).is_err());
    }

    #[test]
    fn a_message_that_lives_for_ever_does_not_expire_at_the_last_date() {
        assert!(!expired(NEVER, u64::MAX));
    }
}
