//! The order in which the service puts headers before it signs them.
//!
//! It is that of words in a dictionary and not that of bytes: hyphens and apostrophes count only where everything
//! else is equal, and other punctuation comes before digits and letters. The SDKs emulate it. Clients that sort bytes
//! rarely notice, so verification attempts both.

use std::cmp::Ordering;

/// Compares two header names in lower case.
pub(super) fn compare(left: &str, right: &str) -> Ordering {
    let words = weights(left).cmp(weights(right));
    words.then_with(|| left.bytes().map(joint).cmp(right.bytes().map(joint)))
}

fn weights(name: &str) -> impl Iterator<Item = usize> {
    /// The characters that a header's name can have, lightest first.
    const ORDER: &[u8] = b"!#$%&*.^_`|~+0123456789abcdefghijklmnopqrstuvwxyz";
    name.bytes().filter_map(|byte| ORDER.iter().position(|known| *known == byte.to_ascii_lowercase()))
}

/// The weight of the characters that join words.
fn joint(byte: u8) -> u8 {
    match byte {
        b'\'' => 1,
        b'-' => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_of_words_count_last() {
        for (first, second) in [
            ("x-ms-meta-aa", "x-ms-meta-a-b"),
            ("x-ms-meta-ab", "x-ms-meta-a-b"),
            ("x-ms-meta-a", "x-ms-meta-a-"),
            ("x-ms-meta-a_b", "x-ms-meta-a1"),
            ("x-ms-meta-a'b", "x-ms-meta-a-b"),
            ("x-ms-meta-~", "x-ms-meta-+"),
            ("x-ms-date", "x-ms-version"),
            ("x-ms-blob-type", "x-ms-date"),
        ] {
            assert_eq!(compare(first, second), Ordering::Less, "{first} {second}");
            assert_eq!(compare(second, first), Ordering::Greater, "{second} {first}");
            assert_eq!(compare(first, first), Ordering::Equal);
        }
    }
}
