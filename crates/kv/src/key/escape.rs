//! Byte strings that delimit themselves and sort bytewise, shorter before longer.
//!
//! A zero byte is written `00 ff` and the end `00 01`. At the place where one string ends and another goes on,
//! `00 01` is less than any byte that can follow there.

use std::borrow::Cow;

const ESCAPE: u8 = 0x00;
const ESCAPED_ZERO: u8 = 0xff;
const END: u8 = 0x01;

pub(super) fn encode(into: &mut Vec<u8>, piece: &[u8]) {
    into.reserve(piece.len() + 2);
    encode_open(into, piece);
    into.extend_from_slice(&[ESCAPE, END]);
}

/// The string without its end.
pub(super) fn encode_open(into: &mut Vec<u8>, piece: &[u8]) {
    let mut runs = piece.split(|&byte| byte == ESCAPE);
    into.extend_from_slice(runs.next().unwrap_or_default());
    for run in runs {
        into.extend_from_slice(&[ESCAPE, ESCAPED_ZERO]);
        into.extend_from_slice(run);
    }
}

/// The length of the string at the beginning of `from`, its end included, unless it has none.
pub(super) fn length(from: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += from[at..].iter().position(|&byte| byte == ESCAPE)?;
        match *from.get(at + 1)? {
            END => return Some(at + 2),
            ESCAPED_ZERO => at += 2,
            _ => return None,
        }
    }
}

/// The string and the length it had.
pub(super) fn decode(from: &[u8]) -> Option<(Cow<'_, [u8]>, usize)> {
    let length = length(from)?;
    let escaped = &from[..length - 2];
    if !escaped.contains(&ESCAPE) {
        return Some((Cow::Borrowed(escaped), length));
    }
    let mut piece = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = rest.iter().position(|&byte| byte == ESCAPE) {
        piece.extend_from_slice(&rest[..=at]);
        rest = &rest[at + 2..];
    }
    piece.extend_from_slice(rest);
    Some((Cow::Owned(piece), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(piece: &[u8]) -> Vec<u8> {
        let mut bytes = vec![];
        encode(&mut bytes, piece);
        bytes
    }

    /// Short strings of the bytes that matter, so that prefixes and escapes meet often.
    fn samples() -> Vec<Vec<u8>> {
        let mut rng = fastrand::Rng::with_seed(2);
        let alphabet = [0x00, 0x01, 0x02, 0x61, 0xfe, 0xff];
        (0..400).map(|_| (0..rng.usize(..6)).map(|_| alphabet[rng.usize(..alphabet.len())]).collect()).collect()
    }

    #[test]
    fn byte_strings_come_back_whatever_follows() {
        for piece in samples() {
            for follower in samples().into_iter().step_by(20) {
                let bytes = [encoded(&piece), follower].concat();
                let (back, length) = decode(&bytes).unwrap();
                assert_eq!((&back[..], length), (&piece[..], encoded(&piece).len()));
            }
        }
    }

    #[test]
    fn byte_strings_sort_first_and_what_follows_second() {
        let samples = samples();
        for pair in samples.windows(4) {
            let [a, b, after_a, after_b] = pair else { unreachable!("windows of four") };
            let keys = [encoded(a), after_a.clone()].concat().cmp(&[encoded(b), after_b.clone()].concat());
            assert_eq!(keys, (a, after_a).cmp(&(b, after_b)));
        }
    }

    #[test]
    fn strings_without_end_or_with_a_wrong_escape_are_refused() {
        for bytes in [&b""[..], b"abc", b"abc\x00", b"abc\x00\xff", b"abc\x00\x02"] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }
}
