//! Keys with a useful order. Keys sort as strings of UTF-16 units: numbers need leading zeros, times are ticks, and
//! inverted ticks put the newest first.
//!
//! All functions are injective: different parts, numbers or times never have the same key.

use tablerock_client::entity::IntoDateTime;
use tablerock_client::{DateTime, Error, Result};

/// The separator of the parts of a compound key. It sorts after digits and upper-case letters, and before lower-case
/// letters.
pub const SEPARATOR: char = '_';

/// The first character of an escaped one, which two hexadecimal digits follow.
const ESCAPE: char = '=';

/// The digits of the largest number of ticks.
const TICKS_DIGITS: usize = 19;

/// The service's limit of 1 KiB, in UTF-16 units.
const KEY_UNITS_MAX: usize = 512;

/// Returns a number with leading zeros, so that 9 sorts before 10. Fails if the number has more digits: it would sort
/// before smaller ones.
///
/// ```
/// # use tablerock_patterns::keys::zero_padded;
/// assert_eq!(zero_padded(123, 6)?, "000123");
/// assert!(zero_padded(9, 6)? < zero_padded(10, 6)?);
/// assert!(zero_padded(1_000_000, 6).is_err());
/// # Ok::<(), tablerock_client::Error>(())
/// ```
pub fn zero_padded(number: u64, digits: usize) -> Result<String> {
    let key = format!("{number:0digits$}");
    if key.len() > digits {
        return Err(Error::Invalid(format!(
            "{number} has {} digits, more than the {digits} of the key: use more digits for all keys",
            key.len()
        )));
    }
    Ok(key)
}

/// Joins parts to a key, such as `000123_2012` for the reviews of employee 123 in 2012. Different parts have different
/// keys: in a part, the separator is `=5F` and the escape character `=3D`. Characters that no key can have, such as `/`
/// and `#`, are escaped as well.
///
/// ```
/// # use tablerock_patterns::keys::{compound, parts};
/// let key = compound(["000123", "2012"]);
/// assert_eq!(key, "000123_2012");
/// assert_eq!(parts(&key)?, ["000123", "2012"]);
/// assert_ne!(compound(["a_b", "c"]), compound(["a", "b_c"]));
/// # Ok::<(), tablerock_client::Error>(())
/// ```
pub fn compound<const N: usize>(parts: [&str; N]) -> String {
    const { assert!(N > 0, "a compound key has at least one part") };
    let mut key = String::with_capacity(parts.iter().map(|part| part.len() + 1).sum());
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            key.push(SEPARATOR);
        }
        push_escaped(&mut key, part);
    }
    key
}

/// Returns the prefix of all compound keys with these first parts, for a query. It ends with the separator, so that 123
/// does not match 1234.
pub fn compound_prefix<const N: usize>(parts: [&str; N]) -> String {
    let mut prefix = compound(parts);
    prefix.push(SEPARATOR);
    prefix
}

/// Returns the parts of a compound key. Fails if the key has an invalid escape.
pub fn parts(key: &str) -> Result<Vec<String>> {
    key.split(SEPARATOR).map(|part| unescaped(part, key)).collect()
}

/// Returns a time as a key that sorts the oldest first.
pub fn ticks(time: impl IntoDateTime) -> String {
    format!("{:0TICKS_DIGITS$}", time.into_date_time().ticks())
}

/// Returns the time of a key that begins with [`ticks`]; `None` if it does not begin with a time.
pub fn time_from_ticks(key: &str) -> Option<DateTime> {
    parse_ticks(key).map(DateTime::from_ticks)
}

/// Returns a time as a key that sorts the newest first, for the log tail pattern.
///
/// ```
/// # use tablerock_client::DateTime;
/// # use tablerock_patterns::keys::{inverted_ticks, time_from_inverted_ticks};
/// let earlier = DateTime::parse("2026-11-16T08:00:00Z").unwrap();
/// let later = DateTime::parse("2026-11-16T08:00:01Z").unwrap();
/// assert!(inverted_ticks(later) < inverted_ticks(earlier));
/// assert_eq!(time_from_inverted_ticks(&inverted_ticks(later)), Some(later));
/// ```
pub fn inverted_ticks(time: impl IntoDateTime) -> String {
    format!("{:0TICKS_DIGITS$}", DateTime::MAX.ticks() - time.into_date_time().ticks())
}

/// Returns the time of a key that begins with [`inverted_ticks`]; `None` if it does not begin with a time.
pub fn time_from_inverted_ticks(key: &str) -> Option<DateTime> {
    parse_ticks(key).map(|inverted| DateTime::from_ticks(DateTime::MAX.ticks() - inverted))
}

fn parse_ticks(key: &str) -> Option<u64> {
    let digits = key.get(..TICKS_DIGITS).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    digits.parse().ok().filter(|ticks| *ticks <= DateTime::MAX.ticks())
}

/// Rejects a key that the service would reject after other steps of a change are done.
pub(crate) fn check_length(key: &str, what: &str) -> Result<()> {
    let units = key.encode_utf16().count();
    if units > KEY_UNITS_MAX {
        return Err(Error::Invalid(format!("{what} has {units} characters, more than the {KEY_UNITS_MAX} of a key")));
    }
    Ok(())
}

fn push_escaped(key: &mut String, part: &str) {
    for character in part.chars() {
        if is_escaped(character) {
            key.push_str(&format!("{ESCAPE}{:02X}", u32::from(character)));
        } else {
            key.push(character);
        }
    }
}

/// Whether a part cannot have a character as it is. All of them are below U+0100.
fn is_escaped(character: char) -> bool {
    matches!(character, SEPARATOR | ESCAPE | '/' | '\\' | '#' | '?') || character.is_control()
}

fn unescaped(part: &str, key: &str) -> Result<String> {
    let invalid = || Error::Invalid(format!("{key:?} is not a compound key: an escape is {ESCAPE} and two digits"));
    let mut pieces = part.split(ESCAPE);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let code = piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or_else(invalid)?;
        text.push(char::from(code));
        text.push_str(&piece[2..]);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_extremes_have_the_same_length() {
        for time in [DateTime::from_ticks(0), DateTime::MAX] {
            assert_eq!((ticks(time).len(), inverted_ticks(time).len()), (TICKS_DIGITS, TICKS_DIGITS));
            assert_eq!(time_from_inverted_ticks(&inverted_ticks(time)), Some(time));
            assert_eq!(time_from_ticks(&ticks(time)), Some(time));
        }
        for key in ["", "x", "9999999999999999999", "-000000000000000001", "+000000000000000001"] {
            assert_eq!((time_from_inverted_ticks(key), time_from_ticks(key)), (None, None), "{key}");
        }
    }

    #[test]
    fn a_prefix_ends_where_the_part_does() {
        assert!(!compound(["1234", "2012"]).starts_with(&compound_prefix(["123"])));
        assert!(compound(["a_b", "c"]).starts_with(&compound_prefix(["a_b"])));
        assert!(!compound(["a_b", "c"]).starts_with(&compound_prefix(["a"])));
    }

    /// All texts of up to three of the characters that matter, in all pairs.
    #[test]
    fn different_parts_have_different_keys_and_come_back() {
        let alphabet = ["", "_", "=", "5F", "a", "/", "\u{1f}", "é"];
        let mut texts = Vec::new();
        for first in alphabet {
            for second in alphabet {
                texts.push(format!("{first}{second}"));
            }
        }
        texts.sort();
        texts.dedup();
        let mut keys = std::collections::HashMap::new();
        for first in &texts {
            for second in &texts {
                let key = compound([first, second]);
                assert_eq!(parts(&key).unwrap(), [first.as_str(), second], "{key}");
                assert!(!key.contains(['/', '\u{1f}']));
                assert_eq!(keys.insert(key, (first, second)), None);
            }
        }
        for key in ["=", "=5", "=zz", "a_=F", "=é1"] {
            assert!(parts(key).is_err(), "{key}");
        }
    }

    #[test]
    fn numbers_and_keys_that_are_too_long_are_rejected() {
        assert_eq!(zero_padded(999_999, 6).unwrap(), "999999");
        let error = zero_padded(1_000_000, 6).unwrap_err().to_string();
        assert!(error.contains("1000000") && error.contains('6'), "{error}");
        assert!(check_length(&"x".repeat(512), "the RowKey").is_ok());
        assert!(check_length(&"x".repeat(513), "the RowKey").is_err());
    }
}
