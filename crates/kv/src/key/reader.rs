//! Reading keys back, piece by piece.

use std::borrow::Cow;

use super::{escape, key_bytes_to_text, number};
use crate::{Error, Result};

/// The unread part of a key. Bytes that no builder wrote fail with [`Corrupt`](crate::ErrorKind::Corrupt).
#[derive(Debug, Clone)]
pub struct KeyReader<'a> {
    rest: &'a [u8],
}

impl<'a> KeyReader<'a> {
    /// Returns a reader at the start of the key.
    pub fn new(key: &'a [u8]) -> Self {
        Self { rest: key }
    }

    /// Reads one byte.
    pub fn tag(&mut self) -> Result<u8> {
        let (&tag, rest) = self.rest.split_first().ok_or_else(|| self.corrupt("a tag"))?;
        self.rest = rest;
        Ok(tag)
    }

    /// Reads a number.
    pub fn number(&mut self) -> Result<u64> {
        let (value, length) = number::decode(self.rest).ok_or_else(|| self.corrupt("a number"))?;
        self.rest = &self.rest[length..];
        Ok(value)
    }

    /// Borrowed, unless the piece holds a zero byte.
    pub fn bytes(&mut self) -> Result<Cow<'a, [u8]>> {
        let (piece, length) = escape::decode(self.rest).ok_or_else(|| self.corrupt("a byte string"))?;
        self.rest = &self.rest[length..];
        Ok(piece)
    }

    /// Borrowed, unless the piece holds a zero or a character from U+E000 to U+FFFF.
    pub fn text(&mut self) -> Result<Cow<'a, str>> {
        match self.bytes()? {
            Cow::Borrowed(piece) => key_bytes_to_text(piece),
            Cow::Owned(piece) => Ok(Cow::Owned(key_bytes_to_text(&piece)?.into_owned())),
        }
    }

    /// Everything that is left.
    pub fn tail(self) -> &'a [u8] {
        self.rest
    }

    /// Checks that nothing is left.
    pub fn finish(self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.corrupt("its end")) }
    }

    fn corrupt(&self, wanted: &str) -> Error {
        Error::corrupt(format!("a stored key has \"{}\" where {wanted} was to be", self.rest.escape_ascii()))
    }
}
