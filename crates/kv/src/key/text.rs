//! Text in the order of the service: by UTF-16 code unit.
//!
//! UTF-8 sorts by code point, and the two orders differ in one respect: in UTF-16 the characters beyond U+FFFF
//! are pairs of surrogates, D800 to DFFF, and so sort before U+E000 to U+FFFF. In UTF-8 the latter begin with the
//! bytes EE and EF, the former with F0 to F4. Moving EE and EF to F5 and F6, which UTF-8 never uses, mends it.

use std::borrow::Cow;

use crate::{Error, Result};

/// How far the lead bytes of U+E000 to U+FFFF move.
const MOVE: u8 = 0xf5 - 0xee;

/// Bytes that sort as the text does in UTF-16. The text's own, for most texts.
///
/// ```
/// use tablerock_kv::key::{key_bytes_to_text, text_to_key_bytes};
///
/// let (halfwidth, emoji) = ("\u{ff71}", "\u{1f600}");
/// assert!(halfwidth < emoji);
/// assert!(text_to_key_bytes(emoji) < text_to_key_bytes(halfwidth));
/// assert_eq!(key_bytes_to_text(&text_to_key_bytes(halfwidth))?, halfwidth);
/// # Ok::<_, tablerock_kv::Error>(())
/// ```
pub fn text_to_key_bytes(text: &str) -> Cow<'_, [u8]> {
    replace(text.as_bytes(), |byte| matches!(byte, 0xee | 0xef), |byte| byte + MOVE)
}

/// The text that [`text_to_key_bytes`] was given.
pub fn key_bytes_to_text(bytes: &[u8]) -> Result<Cow<'_, str>> {
    // No builder leaves these; without the check two keys could read as one text.
    if bytes.iter().any(|byte| matches!(byte, 0xee | 0xef)) {
        return Err(corrupt(bytes));
    }
    match replace(bytes, |byte| matches!(byte, 0xf5 | 0xf6), |byte| byte - MOVE) {
        Cow::Borrowed(utf8) => std::str::from_utf8(utf8).map(Cow::Borrowed).map_err(|_| corrupt(bytes)),
        Cow::Owned(utf8) => String::from_utf8(utf8).map(Cow::Owned).map_err(|_| corrupt(bytes)),
    }
}

fn replace(bytes: &[u8], affected: impl Fn(u8) -> bool, change: impl Fn(u8) -> u8) -> Cow<'_, [u8]> {
    // One pass without branches settles the common case; ASCII stays far below the bytes concerned.
    if !bytes.iter().fold(false, |found, &byte| found | affected(byte)) {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.iter().map(|&byte| if affected(byte) { change(byte) } else { byte }).collect())
}

fn corrupt(bytes: &[u8]) -> Error {
    Error::corrupt(format!("a stored key has \"{}\" where text was to be", bytes.escape_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Characters from both sides of every border that matters, often sharing a prefix.
    fn samples() -> Vec<String> {
        let mut rng = fastrand::Rng::with_seed(3);
        let borders = [0x00, 0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xefff, 0xf000, 0xffff, 0x10000, 0x10ffff];
        (0..2_000)
            .map(|_| {
                let mut character = || match rng.u8(..4) {
                    0 => rng.char(..),
                    _ => char::from_u32(borders[rng.usize(..borders.len())]).unwrap(),
                };
                [character(), character(), character()][..rng.usize(..4)].iter().collect()
            })
            .collect()
    }

    #[test]
    fn key_bytes_sort_as_utf16_does() {
        let samples = samples();
        for a in samples.iter().step_by(3) {
            for b in samples.iter().step_by(7) {
                let wanted = a.encode_utf16().cmp(b.encode_utf16());
                assert_eq!(text_to_key_bytes(a).cmp(&text_to_key_bytes(b)), wanted, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn text_comes_back() {
        for text in samples() {
            assert_eq!(key_bytes_to_text(&text_to_key_bytes(&text)).unwrap(), text);
        }
    }

    #[test]
    fn ordinary_text_is_not_copied() {
        assert!(matches!(text_to_key_bytes("Straße 東京"), Cow::Borrowed(_)));
        assert!(matches!(key_bytes_to_text(b"ordinary").unwrap(), Cow::Borrowed(_)));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        for bytes in [&b"\xff"[..], "\u{e000}".as_bytes(), b"\xf5\x80"] {
            assert!(key_bytes_to_text(bytes).is_err(), "{bytes:?}");
        }
    }
}
