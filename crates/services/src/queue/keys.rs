//! The keys of messages. `docs/keys.md` specifies them, and a test reads its examples.

use tablerock_kv::key::{KeyBuilder, KeyReader};
use tablerock_kv::{Bytes, Position, Range};

use crate::keys::records_with_tag;

/// The messages of a queue, under its id.
const MESSAGES: u8 = b'm';

pub const NEXT_QUEUE_ID: &[u8] = b"next-queue-id";
pub const NEXT_MESSAGE_NUMBER: &[u8] = b"next-message-number";
pub const QUEUE_TIME: &[u8] = b"queue-time";

/// Where a message is stored in its queue. The order of these keys is the order in which messages are given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKey {
    /// When the message becomes visible, or became so, in ticks.
    pub visible: u64,
    /// The message's own number, which grows from one message to the next.
    pub number: u64,
}

/// How many messages a part of the queue has.
const COUNT: u8 = b'c';
/// A message, by when it becomes visible.
const MESSAGE: u8 = b'v';
/// When a message becomes visible, by when it expires.
const EXPIRY: u8 = b'x';

/// The partition of everything that a queue holds.
pub fn messages_partition(queue_id: u64) -> Bytes {
    KeyBuilder::with_capacity(10).tag(MESSAGES).number(queue_id).finish()
}

pub fn count_key(part: u64) -> Bytes {
    KeyBuilder::with_capacity(10).tag(COUNT).number(part).finish()
}

pub fn message_key(key: MessageKey) -> Bytes {
    KeyBuilder::with_capacity(19).tag(MESSAGE).number(key.visible).number(key.number).finish()
}

pub(super) fn decode_message_key(key: &[u8]) -> tablerock_kv::Result<MessageKey> {
    let mut pieces = KeyReader::new(key);
    pieces.tag()?;
    let key = MessageKey { visible: pieces.number()?, number: pieces.number()? };
    pieces.finish()?;
    Ok(key)
}

pub fn expiry_key(expires: u64, number: u64) -> Bytes {
    KeyBuilder::with_capacity(19).tag(EXPIRY).number(expires).number(number).finish()
}

/// The time at which a message expires, and the message's number.
pub(super) fn decode_expiry_key(key: &[u8]) -> tablerock_kv::Result<(u64, u64)> {
    let MessageKey { visible: expires, number } = decode_message_key(key)?;
    Ok((expires, number))
}

/// The counts of all parts of a queue.
pub(super) fn counts(queue_id: u64) -> Range {
    records_with_tag(&messages_partition(queue_id), COUNT)
}

/// The messages from `from`, included, that are visible at `now`.
pub(super) fn messages_visible(queue_id: u64, from: MessageKey, now: u64) -> Range {
    let partition = messages_partition(queue_id);
    let end = message_key(MessageKey { visible: now.saturating_add(1), number: 0 });
    Range::between(Position::new(partition.clone(), message_key(from)), Position::new(partition, end))
}

/// The entries of messages that expire from `from` on and have expired at `now`.
pub(super) fn expiries(queue_id: u64, from: u64, now: u64) -> Range {
    let partition = messages_partition(queue_id);
    let end = expiry_key(now.saturating_add(1), 0);
    Range::between(Position::new(partition.clone(), expiry_key(from, 0)), Position::new(partition, end))
}

/// The messages of a queue, without the records kept with them.
pub(crate) fn messages_only(queue_id: u64) -> Range {
    records_with_tag(&messages_partition(queue_id), MESSAGE)
}

/// The key of a record of a queue in which the message has another number.
pub(crate) fn renumbered_key(
    key: &Bytes,
    new: impl Fn(u64) -> tablerock_kv::Result<u64>,
) -> tablerock_kv::Result<Bytes> {
    match key.first() {
        Some(&COUNT) => Ok(key.clone()),
        Some(&MESSAGE) => {
            let MessageKey { visible, number } = decode_message_key(key)?;
            Ok(message_key(MessageKey { visible, number: new(number)? }))
        }
        Some(&EXPIRY) => {
            let (expires, number) = decode_expiry_key(key)?;
            Ok(expiry_key(expires, new(number)?))
        }
        _ => Err(tablerock_kv::Error::corrupt("a queue has a record of an unknown kind")),
    }
}

/// Everything that a queue holds. It is a range over partitions, though there is one only: an engine may sweep such a range
/// again later, for messages that land under a dropped id.
pub fn messages_range(queue_id: u64) -> Range {
    Range::partitions(&messages_partition(queue_id))
}
