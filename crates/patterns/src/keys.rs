//! Keys with a useful order. Keys sort as strings of UTF-16 units: numbers need leading zeros, times are ticks, and
//! inverted ticks put the newest first.

use tablerock_client::DateTime;

/// The separator of the parts of a compound key. It sorts after digits and upper-case letters, and before lower-case
/// letters.
pub const SEPARATOR: char = '_';

/// The digits of the largest number of ticks.
const TICKS_DIGITS: usize = 19;

/// Returns a number with leading zeros, so that 9 sorts before 10. A number with more digits is not shortened.
///
/// ```
/// # use tablerock_patterns::keys::zero_padded;
/// assert_eq!(zero_padded(123, 6), "000123");
/// assert!(zero_padded(9, 6) < zero_padded(10, 6));
/// ```
pub fn zero_padded(number: u64, digits: usize) -> String {
    format!("{number:0digits$}")
}

/// Joins parts to a key, such as `000123_2012` for the reviews of employee 123 in 2012. Parts must not contain the
/// separator.
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

/// Returns the prefix of all compound keys with these first parts, for a query. It ends with the separator, so that 123
/// does not match 1234.
pub fn compound_prefix(parts: &[&str]) -> String {
    format!("{}{SEPARATOR}", compound(parts))
}

/// Returns the parts of a compound key.
pub fn parts(key: &str) -> impl Iterator<Item = &str> {
    key.split(SEPARATOR)
}

/// Returns a time as a key that sorts the oldest first.
pub fn ticks(time: DateTime) -> String {
    format!("{:0TICKS_DIGITS$}", time.ticks())
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
pub fn inverted_ticks(time: DateTime) -> String {
    format!("{:0TICKS_DIGITS$}", DateTime::MAX.ticks() - time.ticks())
}

/// Returns the time of a key that begins with [`inverted_ticks`].
pub fn time_from_inverted_ticks(key: &str) -> Option<DateTime> {
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
            assert_eq!(time_from_inverted_ticks(&inverted_ticks(time)), Some(time));
        }
        for key in ["", "x", "9999999999999999999", "-000000000000000001"] {
            assert_eq!(time_from_inverted_ticks(key), None, "{key}");
        }
    }

    #[test]
    fn a_prefix_ends_where_the_part_does() {
        assert!(!compound(&["1234", "2012"]).starts_with(&compound_prefix(&["123"])));
    }
}
