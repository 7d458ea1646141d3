//! Periods of the calendar in UTC: the keys of their data, and their parts.

use tablerock_client::DateTime;

/// A period of the calendar, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Period {
    /// An hour, such as `2026111608`, with 60 minutes.
    Hour,
    /// A day, such as `20261116`, with 24 hours.
    Day,
    /// A month, such as `202611`, with up to 31 days.
    Month,
    /// A year, such as `2026`, with 12 months.
    Year,
}

impl Period {
    /// Returns the number of digits of a period.
    pub(crate) fn digits(self) -> usize {
        match self {
            Self::Hour => 10,
            Self::Day => 8,
            Self::Month => 6,
            Self::Year => 4,
        }
    }

    /// Returns the period of a time, such as `20261116`. Periods sort as times do.
    pub(crate) fn key(self, time: DateTime) -> String {
        digits(time).take(self.digits()).collect()
    }

    /// Returns the first time of a period; `None` if it is not the key of one.
    pub(crate) fn start(self, key: &str) -> Option<DateTime> {
        if key.len() != self.digits() || !key.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        // The rest of the first day of the first month.
        let whole: String = key.chars().chain("0000010100".chars().skip(key.len())).collect();
        let (year, month, day, hour) = (&whole[..4], &whole[4..6], &whole[6..8], &whole[8..]);
        DateTime::parse(&format!("{year}-{month}-{day}T{hour}:00:00Z")).ok()
    }

    /// Returns the number of parts of a period: minutes, hours, days or months.
    pub fn parts(self) -> usize {
        match self {
            Self::Hour => 60,
            Self::Day => 24,
            Self::Month => 31,
            Self::Year => 12,
        }
    }

    /// Returns the part of a time, from zero.
    pub(crate) fn part(self, time: DateTime) -> usize {
        let part: String = digits(time).skip(self.digits()).take(2).collect();
        let part: usize = part.parse().expect("a time has digits");
        match self {
            Self::Hour | Self::Day => part,
            Self::Month | Self::Year => part - 1,
        }
    }

    /// Returns the name of a part: `M59`, `H23`, `D31` or `M12`. Days and months begin with 1, as in the calendar.
    pub(crate) fn part_name(self, part: usize) -> String {
        match self {
            Self::Hour => format!("M{part:02}"),
            Self::Day => format!("H{part:02}"),
            Self::Month => format!("D{:02}", part + 1),
            Self::Year => format!("M{:02}", part + 1),
        }
    }
}

fn digits(time: DateTime) -> impl Iterator<Item = char> {
    time.to_seven_digits().into_bytes().into_iter().filter(u8::is_ascii_digit).map(char::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_key_a_start_and_a_part_in_each_period() {
        let time = DateTime::parse("2026-11-16T08:30:59Z").unwrap();
        for (period, key, start, part, name) in [
            (Period::Hour, "2026111608", "2026-11-16T08:00:00Z", 30, "M30"),
            (Period::Day, "20261116", "2026-11-16T00:00:00Z", 8, "H08"),
            (Period::Month, "202611", "2026-11-01T00:00:00Z", 15, "D16"),
            (Period::Year, "2026", "2026-01-01T00:00:00Z", 10, "M11"),
        ] {
            assert_eq!(period.key(time), key);
            assert_eq!(period.start(key), DateTime::parse(start).ok());
            assert_eq!((period.part(time), period.part_name(part)), (part, name.to_owned()));
            assert!(part < period.parts());
        }
        for key in ["", "202", "2026111", "20261316", "2026111x"] {
            assert_eq!(Period::Day.start(key), None, "{key}");
        }
    }

    #[test]
    fn the_last_moment_of_a_period_is_its_last_part() {
        let last = DateTime::parse("2026-12-31T23:59:59.9999999Z").unwrap();
        for period in [Period::Hour, Period::Day, Period::Month, Period::Year] {
            assert_eq!(period.part(last), period.parts() - 1);
        }
    }
}
