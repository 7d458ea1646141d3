//! `Edm.DateTime`: 100-ns ticks since 0001-01-01, and its text forms.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const TICKS_PER_SECOND: u64 = 10_000_000;
const SECONDS_PER_DAY: u64 = 86_400;
/// Days from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_DAYS: u64 = 719_162;

/// A point in time in UTC with the service's resolution of 100 ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime(u64);

/// Why a text is not a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateTimeSyntax;

impl DateTime {
    /// 1601-01-01T00:00:00Z, the earliest that a property can hold.
    pub const MIN_STORED: DateTime = DateTime(504_911_232_000_000_000);
    /// 9999-12-31T23:59:59.9999999Z.
    pub const MAX: DateTime = DateTime(3_155_378_975_999_999_999);

    /// From ticks since 0001-01-01; later than the year 9999 is cut to its end.
    pub const fn from_ticks(ticks: u64) -> Self {
        if ticks > Self::MAX.0 { Self::MAX } else { Self(ticks) }
    }

    /// Returns the ticks of 100 ns since the year 1.
    pub const fn ticks(self) -> u64 {
        self.0
    }

    /// Returns the seconds since 1970, without the fraction.
    pub const fn unix_seconds(self) -> i64 {
        (self.0 / TICKS_PER_SECOND) as i64 - (UNIX_EPOCH_DAYS * SECONDS_PER_DAY) as i64
    }

    /// Returns the time so many seconds after 1970.
    pub const fn from_unix_seconds(seconds: u64) -> Self {
        Self::from_ticks((UNIX_EPOCH_DAYS * SECONDS_PER_DAY + seconds).saturating_mul(TICKS_PER_SECOND))
    }

    /// Reads `YYYY-MM-DD`, `…Thh:mm`, `…:ss`, a fraction of any length (beyond seven digits it is cut), and no
    /// zone, `Z` or an offset. A text without a zone is UTC.
    pub fn parse(text: &str) -> Result<Self, DateTimeSyntax> {
        Reader { rest: text.as_bytes() }.date_time().ok_or(DateTimeSyntax)
    }

    /// With exactly seven digits of fraction, as errors and stored policies show it.
    pub fn to_seven_digits(self) -> String {
        let (date, second_of_day, fraction) = self.parts();
        let Date { year, month, day } = date;
        let (hour, minute, second) = clock_of(second_of_day);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:07}Z")
    }

    /// In the form of HTTP headers, to the second. It has no years before 1970; they become its first second.
    pub fn to_http_date(self) -> String {
        let seconds = u64::try_from(self.unix_seconds()).unwrap_or_default();
        httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds))
    }

    /// Returns the present time.
    #[expect(clippy::disallowed_methods, reason = "for users of the client; the server has a clock of its own")]
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// As the service's messages show it: `01/31/0001 00:00:00`.
    #[doc(hidden)]
    pub fn to_message_form(self) -> String {
        let (Date { year, month, day }, second_of_day, _) = self.parts();
        let (hour, minute, second) = clock_of(second_of_day);
        format!("{month:02}/{day:02}/{year:04} {hour:02}:{minute:02}:{second:02}")
    }

    /// Appends the text form with the given separator in the time of day (`:` in JSON, `%3A` in an ETag) and
    /// the trailing zeros of the fraction removed.
    #[doc(hidden)]
    pub fn append_trimmed(self, out: &mut Vec<u8>, separator: &[u8]) {
        let (Date { year, month, day }, second_of_day, fraction) = self.parts();
        let (hour, minute, second) = clock_of(second_of_day);
        let [month, day, hour, minute, second] = [month, day, hour, minute, second].map(two_digits);
        let [[y1, y2], [y3, y4]] = [year / 100, year % 100].map(two_digits);
        let ([m1, m2], [d1, d2], [h1, h2]) = (month, day, hour);
        out.extend_from_slice(&[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2]);
        for piece in [separator, &minute, separator, &second] {
            out.extend_from_slice(piece);
        }
        if fraction > 0 {
            let digits = seven_digits(fraction);
            let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
            out.push(b'.');
            out.extend_from_slice(&digits[..digits.len() - zeros]);
        }
        out.push(b'Z');
    }

    fn parts(self) -> (Date, u64, u64) {
        let seconds = self.0 / TICKS_PER_SECOND;
        (Date::from_days(seconds / SECONDS_PER_DAY), seconds % SECONDS_PER_DAY, self.0 % TICKS_PER_SECOND)
    }
}

impl fmt::Display for DateTimeSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text is not a date of ISO 8601 in the years 1 to 9999")
    }
}

impl std::error::Error for DateTimeSyntax {}

impl std::str::FromStr for DateTime {
    type Err = DateTimeSyntax;

    fn from_str(text: &str) -> Result<Self, DateTimeSyntax> {
        Self::parse(text)
    }
}

/// Cut to 100 ns, and to the years that the service knows.
impl From<SystemTime> for DateTime {
    fn from(time: SystemTime) -> Self {
        let epoch = u128::from(UNIX_EPOCH_DAYS * SECONDS_PER_DAY * TICKS_PER_SECOND);
        let ticks = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => epoch + after.as_nanos() / 100,
            Err(before) => epoch.saturating_sub(before.duration().as_nanos().div_ceil(100)),
        };
        Self::from_ticks(u64::try_from(ticks).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::with_capacity(28);
        self.append_trimmed(&mut text, b":");
        f.write_str(std::str::from_utf8(&text).expect("dates are ASCII"))
    }
}

fn clock_of(second_of_day: u64) -> (u64, u64, u64) {
    (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60)
}

fn two_digits(number: u64) -> [u8; 2] {
    [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]
}

fn seven_digits(mut number: u64) -> [u8; 7] {
    let mut digits = [b'0'; 7];
    for place in digits.iter_mut().rev() {
        *place += (number % 10) as u8;
        number /= 10;
    }
    digits
}

struct Date {
    year: u64,
    month: u64,
    day: u64,
}

impl Date {
    /// From days since 0001-01-01, by counting in years that begin in March so that leap days come last.
    fn from_days(days: u64) -> Self {
        let shifted = days + 306;
        let era = shifted / 146_097;
        let day_of_era = shifted % 146_097;
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        Self { year: era * 400 + year_of_era + u64::from(month <= 2), month, day }
    }

    fn to_days(&self) -> Option<u64> {
        let leap = self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        let month_days = match self.month {
            2 => 28 + u64::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        if self.year == 0 || self.day == 0 || self.day > month_days {
            return None;
        }
        let year = self.year - u64::from(self.month <= 2);
        let shifted_month = if self.month > 2 { self.month - 3 } else { self.month + 9 };
        let day_of_year = (153 * shifted_month + 2) / 5 + self.day - 1;
        let year_of_era = year % 400;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        Some(year / 400 * 146_097 + day_of_era - 306)
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn date_time(mut self) -> Option<DateTime> {
        let year = self.digits(4)?;
        self.expect(b'-')?;
        let month = self.digits(2)?;
        self.expect(b'-')?;
        let day = self.digits(2)?;
        let days = Date { year, month, day }.to_days()?;
        let mut ticks = i128::from(days * SECONDS_PER_DAY * TICKS_PER_SECOND);
        if !self.rest.is_empty() {
            self.expect(b'T').or_else(|| self.expect(b't')).or_else(|| self.expect(b' '))?;
            ticks += i128::from(self.time_of_day()?);
            ticks -= i128::from(self.offset_seconds()?) * i128::from(TICKS_PER_SECOND);
        }
        if !self.rest.is_empty() || ticks < 0 || ticks > i128::from(DateTime::MAX.0) {
            return None;
        }
        Some(DateTime(ticks as u64))
    }

    fn time_of_day(&mut self) -> Option<u64> {
        let hour = self.digits(2)?;
        self.expect(b':')?;
        let minute = self.digits(2)?;
        let mut second = 0;
        let mut fraction = 0;
        if self.expect(b':').is_some() {
            second = self.digits(2)?;
            if self.expect(b'.').is_some() {
                fraction = self.fraction()?;
            }
        }
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        Some((hour * 3600 + minute * 60 + second) * TICKS_PER_SECOND + fraction)
    }

    fn fraction(&mut self) -> Option<u64> {
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            return None;
        }
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        let seven = digits.iter().copied().chain(std::iter::repeat(b'0')).take(7);
        Some(seven.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
    }

    fn offset_seconds(&mut self) -> Option<i64> {
        let Some((&sign, rest)) = self.rest.split_first() else { return Some(0) };
        self.rest = rest;
        let direction = match sign {
            b'Z' | b'z' => return Some(0),
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let hours = self.digits(2)?;
        self.expect(b':')?;
        let minutes = self.digits(2)?;
        if hours > 14 || minutes > 59 {
            return None;
        }
        Some(direction * (hours * 3600 + minutes * 60) as i64)
    }

    fn digits(&mut self, count: usize) -> Option<u64> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        digits.iter().try_fold(0, |sum, &byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.rest = self.rest.strip_prefix(&[byte])?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(text: &str) -> String {
        DateTime::parse(text).unwrap().to_string()
    }

    #[test]
    fn text_forms_are_read_and_written_trimmed() {
        assert_eq!(round("2020-09-15T23:02:09.1767714Z"), "2020-09-15T23:02:09.1767714Z");
        assert_eq!(round("2012-01-01T01:02:00.0000000Z"), "2012-01-01T01:02:00Z");
        assert_eq!(round("2012-01-01T01:02:00.3773350"), "2012-01-01T01:02:00.377335Z");
        assert_eq!(round("2012-01-01T01:02:00.12345678999"), "2012-01-01T01:02:00.1234567Z");
        assert_eq!(round("2012-02-29"), "2012-02-29T00:00:00Z");
        assert_eq!(round("2012-01-01T01:02+02:30"), "2011-12-31T22:32:00Z");
        assert_eq!(round("9999-12-31T23:59:59.9999999Z"), "9999-12-31T23:59:59.9999999Z");
        assert_eq!(round("0001-01-01T00:00:00Z"), "0001-01-01T00:00:00Z");
    }

    #[test]
    fn every_day_survives_the_calendar() {
        for days in (0..3_652_059).step_by(37) {
            let date = Date::from_days(days);
            assert_eq!(date.to_days(), Some(days), "{}-{}-{}", date.year, date.month, date.day);
        }
    }

    #[test]
    fn constants_are_what_they_say() {
        assert_eq!(DateTime::MIN_STORED.to_string(), "1601-01-01T00:00:00Z");
        assert_eq!(DateTime::MAX.to_string(), "9999-12-31T23:59:59.9999999Z");
        assert_eq!(DateTime::from_unix_seconds(0).to_seven_digits(), "1970-01-01T00:00:00.0000000Z");
        assert_eq!(DateTime::parse("1601-01-01").unwrap().to_message_form(), "01/01/1601 00:00:00");
        assert_eq!(DateTime::from_unix_seconds(86_400).unix_seconds(), 86_400);
    }

    #[test]
    fn system_times_are_cut_to_ticks() {
        let second = DateTime::from_unix_seconds(1_000).ticks();
        let after = UNIX_EPOCH + Duration::new(1_000, 1_299);
        assert_eq!(DateTime::from(after).ticks(), second + 12);
        let before = UNIX_EPOCH - Duration::from_secs(86_400);
        assert_eq!(DateTime::from(before).to_string(), "1969-12-31T00:00:00Z");
    }

    #[test]
    fn headers_show_seconds_up_to_the_last_date() {
        assert_eq!(DateTime::MAX.to_http_date(), "Fri, 31 Dec 9999 23:59:59 GMT");
        assert_eq!(DateTime::MIN_STORED.to_http_date(), "Thu, 01 Jan 1970 00:00:00 GMT");
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "2020",
            "2020-13-01",
            "2021-02-29",
            "2020-01-01T",
            "2020-01-01T24:00:00Z",
            "0000-01-01",
            "2020-01-01T00:00:00.Z",
            "2020-01-01T00:00:00Zx",
            "2020-1-1",
            "0001-01-01T00:00:00+01:00",
        ] {
            assert_eq!(DateTime::parse(text), Err(DateTimeSyntax), "{text:?}");
        }
    }
}
