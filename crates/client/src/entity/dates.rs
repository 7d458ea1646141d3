//! Dates: the protocol's, the standard library's, and those of the crates `time` and `chrono`. The service counts ticks
//! of 100 ns: reading is exact, and writing truncates to the tick.

use std::time::{Duration, SystemTime};

use tablerock_protocol::{DateTime, Value};

use super::literal::edm;
use super::{EntityError, PropertyValue};

/// A point in time, for filters and shared access signatures. Conversion saturates at the service's limits.
pub trait IntoDateTime {
    /// Converts to the service's type.
    fn into_date_time(self) -> DateTime;
}

impl IntoDateTime for DateTime {
    fn into_date_time(self) -> DateTime {
        self
    }
}

impl IntoDateTime for SystemTime {
    fn into_date_time(self) -> DateTime {
        self.into()
    }
}

impl PropertyValue for SystemTime {
    type Edm = edm::DateTime;

    fn to_value(&self) -> Result<Option<Value<'static>>, EntityError> {
        let since_epoch = match self.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i128::try_from(after.as_nanos()),
            Err(before) => i128::try_from(before.duration().as_nanos()).map(|nanoseconds| -nanoseconds),
        };
        let nanoseconds = since_epoch.map_err(|error| EntityError::new(error.to_string()))?;
        ticks::from_nanoseconds(nanoseconds).map(|date| Some(Value::DateTime(date)))
    }

    fn from_value(value: Value<'static>) -> Result<Self, EntityError> {
        let nanoseconds = ticks::to_nanoseconds(DateTime::from_value(value)?);
        let (seconds, rest) = (nanoseconds.unsigned_abs() / 1_000_000_000, nanoseconds.unsigned_abs() % 1_000_000_000);
        // Dates end with the year 9999, so neither number is too large for its type.
        let distance = Duration::new(seconds as u64, rest as u32);
        let time = match nanoseconds.is_negative() {
            true => SystemTime::UNIX_EPOCH.checked_sub(distance),
            false => SystemTime::UNIX_EPOCH.checked_add(distance),
        };
        time.ok_or_else(|| EntityError::new("the date is out of range for SystemTime"))
    }
}

mod ticks {
    use tablerock_protocol::DateTime;

    use crate::entity::EntityError;

    pub(super) const NANOSECONDS_PER_TICK: i128 = 100;

    /// 1970-01-01 in ticks since 0001-01-01.
    pub(super) const EPOCH: i128 = 621_355_968_000_000_000;

    /// From nanoseconds since 1970.
    pub(super) fn from_nanoseconds(nanoseconds: i128) -> Result<DateTime, EntityError> {
        let ticks = EPOCH + nanoseconds.div_euclid(NANOSECONDS_PER_TICK);
        let ticks = u64::try_from(ticks).ok().filter(|ticks| *ticks <= DateTime::MAX.ticks());
        ticks.map(DateTime::from_ticks).ok_or_else(|| EntityError::new("the date is not in the years 1 to 9999"))
    }

    pub(super) fn to_nanoseconds(date: DateTime) -> i128 {
        (i128::from(date.ticks()) - EPOCH) * NANOSECONDS_PER_TICK
    }
}

#[cfg(feature = "time")]
mod with_time {
    use tablerock_protocol::{DateTime, Value};
    use time::OffsetDateTime;

    use super::{IntoDateTime, ticks};
    use crate::entity::literal::edm;
    use crate::entity::{EntityError, PropertyValue};

    impl PropertyValue for OffsetDateTime {
        type Edm = edm::DateTime;

        fn to_value(&self) -> Result<Option<Value<'static>>, EntityError> {
            ticks::from_nanoseconds(self.unix_timestamp_nanos()).map(|date| Some(Value::DateTime(date)))
        }

        fn from_value(value: Value<'static>) -> Result<Self, EntityError> {
            let date = DateTime::from_value(value)?;
            OffsetDateTime::from_unix_timestamp_nanos(ticks::to_nanoseconds(date))
                .map_err(|error| EntityError::new(error.to_string()))
        }
    }

    impl IntoDateTime for OffsetDateTime {
        fn into_date_time(self) -> DateTime {
            let nearest = if self.unix_timestamp() < 0 { DateTime::from_ticks(0) } else { DateTime::MAX };
            ticks::from_nanoseconds(self.unix_timestamp_nanos()).unwrap_or(nearest)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn ticks_survive_and_less_is_cut() {
            for number in [DateTime::MIN_STORED.ticks(), 637_000_000_000_000_001, DateTime::MAX.ticks()] {
                let stored = Value::DateTime(DateTime::from_ticks(number));
                let date = OffsetDateTime::from_value(stored.clone()).unwrap();
                assert_eq!(date.to_value().unwrap(), Some(stored.clone()));
                let finer = date + time::Duration::nanoseconds(99);
                assert_eq!(finer.to_value().unwrap(), Some(stored));
            }
        }
    }
}

#[cfg(feature = "chrono")]
mod with_chrono {
    use chrono::{TimeZone, Utc};
    use tablerock_protocol::{DateTime, Value};

    use super::{IntoDateTime, ticks};
    use crate::entity::literal::edm;
    use crate::entity::{EntityError, PropertyValue};

    const NANOSECONDS_PER_SECOND: i128 = 1_000_000_000;

    fn nanoseconds<Tz: TimeZone>(date: &chrono::DateTime<Tz>) -> i128 {
        i128::from(date.timestamp()) * NANOSECONDS_PER_SECOND + i128::from(date.timestamp_subsec_nanos())
    }

    impl PropertyValue for chrono::DateTime<Utc> {
        type Edm = edm::DateTime;

        fn to_value(&self) -> Result<Option<Value<'static>>, EntityError> {
            ticks::from_nanoseconds(nanoseconds(self)).map(|date| Some(Value::DateTime(date)))
        }

        fn from_value(value: Value<'static>) -> Result<Self, EntityError> {
            let nanoseconds = ticks::to_nanoseconds(DateTime::from_value(value)?);
            let seconds = nanoseconds.div_euclid(NANOSECONDS_PER_SECOND) as i64;
            let rest = nanoseconds.rem_euclid(NANOSECONDS_PER_SECOND) as u32;
            chrono::DateTime::from_timestamp(seconds, rest)
                .ok_or_else(|| EntityError::new("the date is out of range for chrono"))
        }
    }

    impl<Tz: TimeZone> IntoDateTime for chrono::DateTime<Tz> {
        fn into_date_time(self) -> DateTime {
            let nearest = if self.timestamp() < 0 { DateTime::from_ticks(0) } else { DateTime::MAX };
            ticks::from_nanoseconds(nanoseconds(&self)).unwrap_or(nearest)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn ticks_survive_and_less_is_cut() {
            for number in [DateTime::MIN_STORED.ticks(), 637_000_000_000_000_001, DateTime::MAX.ticks()] {
                let stored = Value::DateTime(DateTime::from_ticks(number));
                let date = chrono::DateTime::<Utc>::from_value(stored.clone()).unwrap();
                assert_eq!(date.to_value().unwrap(), Some(stored.clone()));
                let finer = date + chrono::TimeDelta::nanoseconds(99);
                assert_eq!(finer.to_value().unwrap(), Some(stored));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_s_own_times_survive() {
        for ticks in [DateTime::MIN_STORED.ticks(), 637_000_000_000_000_001, DateTime::MAX.ticks()] {
            let stored = Value::DateTime(DateTime::from_ticks(ticks));
            let time = SystemTime::from_value(stored.clone()).unwrap();
            assert_eq!(time.to_value().unwrap(), Some(stored));
        }
    }
}
