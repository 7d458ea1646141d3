//! Numbers in headers: digits and nothing else. Rust's own readers of numbers also take a plus sign.

use std::str::FromStr;

/// Parses a decimal number.
pub(super) fn parse_decimal<N: FromStr>(text: &str) -> Option<N> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Parses a hexadecimal number.
pub(super) fn parse_hexadecimal(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_is_not_part_of_a_number() {
        assert_eq!((parse_decimal::<u32>("05"), parse_hexadecimal("1f")), (Some(5), Some(31)));
        for text in ["", "+5", "-5", "5 ", "٥"] {
            assert_eq!((parse_decimal::<u32>(text), parse_hexadecimal(text)), (None, None), "{text:?}");
        }
    }
}
