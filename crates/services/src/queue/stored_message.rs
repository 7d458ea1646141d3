//! A message as it is stored.
//!
//! ```text
//! message := format (1 byte, 1) · id (16 bytes) · changes (4 bytes) · dequeue count (4 bytes)
//!            · insertion time (8 bytes) · expiry time (8 bytes) · text
//! ```
//!
//! When it becomes visible is not in the value, for that is the record's key.

use tablerock_kv::{Bytes, Result};
use tablerock_protocol::{DateTime, PopReceipt, Uuid};

use super::Message;
use super::keys::MessageKey;
use crate::fields::{FieldReader, FieldWriter, corrupt};

const FORMAT: u8 = 1;
const WHAT: &str = "a stored message";
const HEAD_BYTES: usize = 41;

/// The expiry of a message that lives for ever: the last date there is.
pub(super) const NEVER: u64 = DateTime::MAX.ticks();

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StoredMessage {
    pub(super) id: Uuid,
    /// How often the message was given out or updated. The number differs between its receipts.
    pub(super) changes: u32,
    pub(super) dequeue_count: u32,
    pub(super) inserted: u64,
    pub(super) expires: u64,
    /// UTF-8.
    pub(super) text: Bytes,
}

impl StoredMessage {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = FieldWriter::with_capacity(FORMAT, HEAD_BYTES + self.text.len());
        out.raw(self.id.as_bytes());
        out.raw(&self.changes.to_be_bytes());
        out.raw(&self.dequeue_count.to_be_bytes());
        out.ticks(self.inserted);
        out.ticks(self.expires);
        out.raw(&self.text);
        out.finish()
    }

    pub(super) fn decode(bytes: &Bytes) -> Result<Self> {
        let mut fields = FieldReader::new(bytes, FORMAT, WHAT)?;
        let id = Uuid::from_bytes(fields.array()?);
        let changes = u32::from_be_bytes(fields.array()?);
        let dequeue_count = u32::from_be_bytes(fields.array()?);
        let (inserted, expires) = (fields.ticks()?, fields.ticks()?);
        let text = fields.rest();
        if inserted > NEVER || expires > NEVER || std::str::from_utf8(&text).is_err() {
            return Err(corrupt(WHAT));
        }
        Ok(Self { id, changes, dequeue_count, inserted, expires, text })
    }

    /// Whether a stored message has expired, without decoding the rest.
    pub(super) fn has_expired_in(bytes: &[u8], now: u64) -> Result<bool> {
        let expires = bytes.get(HEAD_BYTES - 8..HEAD_BYTES).and_then(|expires| expires.try_into().ok());
        Ok(expired(u64::from_be_bytes(expires.ok_or_else(|| corrupt(WHAT))?), now))
    }

    pub(super) fn has_expired(&self, now: u64) -> bool {
        expired(self.expires, now)
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
