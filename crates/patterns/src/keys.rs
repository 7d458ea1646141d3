//! Keys that sort as they should. Keys are text and lie in the order of their UTF-16 units, so the order has to be written
//! into them: numbers with leading zeros, times as ticks, the newest first as ticks that run backwards.

use tablerock_client::DateTime;

/// Stands between the parts of a compound key. It sorts after digits and capital letters and before small letters.
pub const SEPARATOR: char = '_';

/// Digits of the largest number of ticks.
const TICKS_DIGITS: usize = 19;

/// A number with leading zeros, so that 9 sorts before 10.
///
/// ```
/// # use tablerock_patterns::keys::zero_padded;
/// assert_eq!(zero_padded(123, 6), "000123");
/// assert!(zero_padded(9, 6) < zero_padded(10, 6));
/// ```
pub fn zero_padded(number: u64, digits: usize) -> String {
    format!("{number:0digits$}")
}

/// Parts joined into one key: the reviews of employee 123 in 2012 are `000123_2012`.
///
/// ```
/// # use tablerock_patterns::keys::{compound, parts};
/// let key = compound(&["000123", "2012"]);
/// assert_eq!(key, "000123_2012");
/// assert_eq!(parts(&key).collect::<Vec<_>>(), ["000123", "2012"]);
/// ```
pub fn compound(parts: &[&str]) -> String {
    parts.join(&SEPARATOR.to_string())
}

/// The beginning that all compound keys with these first parts have, for a query by prefix. It ends with the separator,
/// so that employee 123 does not also find 1234.
pub fn compound_prefix(parts: &[&str]) -> String {
    format!("{}{SEPARATOR}", compound(parts))
}

/// The parts of a compound key.
pub fn parts(key: &str) -> impl Iterator<Item = &str> {
    key.split(SEPARATOR)
}

/// A time as a key, the oldest first.
pub fn ticks(time: DateTime) -> String {
    format!("{:0TICKS_DIGITS$}", time.ticks())
}

/// A time as a key, the newest first: the log tail, whose latest entries are the first of their partition.
///
/// ```
/// # use tablerock_client::DateTime;
/// # use tablerock_patterns::keys::{inverted_ticks, time_of_inverted_ticks};
/// let earlier = DateTime::parse("2026-11-16T08:00:00Z").unwrap();
/// let later = DateTime::parse("2026-11-16T08:00:01Z").unwrap();
/// assert!(inverted_ticks(later) < inverted_ticks(earlier));
/// assert_eq!(time_of_inverted_ticks(&inverted_ticks(later)), Some(later));
/// ```
pub fn inverted_ticks(time: DateTime) -> String {
    format!("{:0TICKS_DIGITS$}", DateTime::MAX.ticks() - time.ticks())
}

/// The time of a key that [`inverted_ticks`] made; the key may go on after it.
pub fn time_of_inverted_ticks(key: &str) -> Option<DateTime> {
    let inverted: u64 = key.get(..TICKS_DIGITS)?.parse().ok()?;
    DateTime::MAX.ticks().checked_sub(inverted).map(DateTime::from_ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_extremes_have_the_same_length() {
        for time in [DateTime::from_ticks(0), DateTime::MAX] {
            assert_eq!((ticks(time).len(), inverted_ticks(time).len()), (TICKS_DIGITS, TICKS_DIGITS));
            assert_eq!(time_of_inverted_ticks(&inverted_ticks(time)), Some(time));
        }
        for key in ["", "x", "9999999999999999999", "-000000000000000001"] {
            assert_eq!(time_of_inverted_ticks(key), None, "{key}");
        }
    }

    #[test]
    fn a_prefix_ends_where_the_part_does() {
        assert!(!compound(&["1234", "2012"]).starts_with(&compound_prefix(&["123"])));
    }
}
