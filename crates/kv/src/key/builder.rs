//! Writing keys, piece by piece.

use bytes::Bytes;

use super::{escape, number, text_to_key_bytes};

/// A key under construction.
///
/// ```
/// use tablerock_kv::key::{KeyBuilder, KeyReader};
///
/// let key = KeyBuilder::new().tag(b'e').number(300).text("north").tail(b"rest");
/// assert_eq!(&key[..], b"e\xf9\x01\x2cnorth\x00\x01rest");
///
/// let mut pieces = KeyReader::new(&key);
/// assert_eq!(pieces.tag()?, b'e');
/// assert_eq!(pieces.number()?, 300);
/// assert_eq!(pieces.text()?, "north");
/// assert_eq!(pieces.tail(), b"rest");
/// # Ok::<_, tablerock_kv::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct KeyBuilder {
    bytes: Vec<u8>,
}

impl KeyBuilder {
    /// Returns an empty key.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`new`](KeyBuilder::new), with room for a key of this length.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes) }
    }

    /// Appends one byte as it is, mostly the kind of the record.
    #[must_use]
    pub fn tag(mut self, tag: u8) -> Self {
        self.bytes.push(tag);
        self
    }

    /// A number, shorter for small ones.
    #[must_use]
    pub fn number(mut self, value: u64) -> Self {
        number::encode(&mut self.bytes, value);
        self
    }

    /// A byte string that delimits itself.
    #[must_use]
    pub fn bytes(mut self, piece: &[u8]) -> Self {
        escape::encode(&mut self.bytes, piece);
        self
    }

    /// The beginning of a byte string. A key that ends with it is the [prefix](crate::prefix_end) of exactly those
    /// keys whose piece begins so.
    #[must_use]
    pub fn bytes_prefix(mut self, beginning: &[u8]) -> Self {
        escape::encode_open(&mut self.bytes, beginning);
        self
    }

    /// Text that sorts by UTF-16 code unit and delimits itself.
    #[must_use]
    pub fn text(self, piece: &str) -> Self {
        self.bytes(&text_to_key_bytes(piece))
    }

    /// The beginning of a text, as [`bytes_prefix`](KeyBuilder::bytes_prefix).
    #[must_use]
    pub fn text_prefix(self, beginning: &str) -> Self {
        self.bytes_prefix(&text_to_key_bytes(beginning))
    }

    /// Bytes as they are, to the end of the key. Ends the key.
    pub fn tail(mut self, rest: &[u8]) -> Bytes {
        self.bytes.extend_from_slice(rest);
        self.finish()
    }

    /// Returns the key.
    pub fn finish(self) -> Bytes {
        self.bytes.into()
    }
}
