//! Ordinal comparison of text, as the service does it: by UTF-16 code unit.

use std::cmp::Ordering;

/// Compares by UTF-16 code units. It differs from the order of UTF-8 bytes only where one side has a character
/// above U+FFFF (surrogates, D800–DFFF) and the other one in U+E000–U+FFFF.
pub fn compare_utf16(left: &str, right: &str) -> Ordering {
    let (a, b) = (left.as_bytes(), right.as_bytes());
    let common = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    match (a.get(common), b.get(common)) {
        (Some(&x), Some(&y)) => utf16_rank(x).cmp(&utf16_rank(y)),
        _ => a.len().cmp(&b.len()),
    }
}

/// Moves the lead bytes of U+E000–U+FFFF (EE, EF) behind those of supplementary characters (F0–F4). The first
/// differing bytes of two valid texts are both lead bytes or both continuation bytes of like characters.
const fn utf16_rank(byte: u8) -> u8 {
    match byte {
        0xee => 0xf5,
        0xef => 0xf6,
        other => other,
    }
}

/// The length in UTF-16 code units, which is what the service's limits count.
pub fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_utf16_code_units() {
        let texts =
            ["", "A", "a", "aé", "a\u{d7ff}", "a\u{e000}", "a\u{ffff}", "a\u{10000}", "a\u{10ffff}", "ab", "日本"];
        for left in texts {
            for right in texts {
                let expected = left.encode_utf16().cmp(right.encode_utf16());
                assert_eq!(compare_utf16(left, right), expected, "{left:?} against {right:?}");
            }
        }
    }

    #[test]
    fn length_counts_surrogates_as_two() {
        assert_eq!(utf16_len("a😀é"), 4);
    }
}
