//! The query parameters of queue operations: numbers within bounds, times to live, receipts.

use std::fmt::Display;
use std::ops::RangeInclusive;

use tablerock_protocol::{PopReceipt, QueryString, ServiceError, ServiceVersion, limits};
use tablerock_services::queue::TimeToLive;

use crate::parameter::whole_number;

const VISIBILITY: &str = "visibilitytimeout";
const TIME_TO_LIVE: &str = "messagettl";

/// The number of a parameter, if it is there.
pub(super) fn number<N>(
    query: &QueryString<'_>,
    name: &str,
    allowed: &RangeInclusive<N>,
) -> Result<Option<N>, ServiceError>
where
    N: TryFrom<i128> + PartialOrd + Display,
{
    let Some(text) = query.value(name).map(str::trim_ascii) else { return Ok(None) };
    // A number that does not fit the type is outside of every range.
    let number = N::try_from(whole_number(name, text)?).ok().filter(|number| allowed.contains(number));
    number.map(Some).ok_or_else(|| ServiceError::parameter_outside(name, text, allowed))
}

/// How many messages Get and Peek ask for.
pub(super) fn count(query: &QueryString<'_>) -> Result<usize, ServiceError> {
    Ok(number(query, "numofmessages", &limits::MESSAGES_COUNT)?.unwrap_or(1))
}

/// For how long Get hides messages.
pub(super) fn get_visibility(query: &QueryString<'_>) -> Result<u32, ServiceError> {
    let seconds = number(query, VISIBILITY, &limits::GET_VISIBILITY_SECONDS)?;
    Ok(seconds.unwrap_or(limits::GET_VISIBILITY_SECONDS_DEFAULT))
}

/// For how long Update hides a message; required.
pub(super) fn update_visibility(query: &QueryString<'_>) -> Result<u32, ServiceError> {
    number(query, VISIBILITY, &limits::VISIBILITY_SECONDS)?.ok_or_else(|| ServiceError::missing_parameter(VISIBILITY))
}

/// For how long Put hides a message, and how long the message lives.
pub(super) fn put_times(query: &QueryString<'_>, version: ServiceVersion) -> Result<(u32, TimeToLive), ServiceError> {
    let visibility_seconds = number(query, VISIBILITY, &limits::VISIBILITY_SECONDS)?.unwrap_or(0);
    let time_to_live = time_to_live(query, version)?;
    match time_to_live {
        TimeToLive::Seconds(seconds) if seconds <= visibility_seconds.into() => {
            let reason = "messagettl must be greater than visibilitytimeout";
            Err(ServiceError::invalid_parameter(VISIBILITY, &visibility_seconds.to_string(), reason))
        }
        _ => Ok((visibility_seconds, time_to_live)),
    }
}

fn time_to_live(query: &QueryString<'_>, version: ServiceVersion) -> Result<TimeToLive, ServiceError> {
    let Some(text) = query.value(TIME_TO_LIVE).map(str::trim_ascii) else {
        return Ok(TimeToLive::Seconds(limits::MESSAGE_SECONDS_DEFAULT.into()));
    };
    let longest = u64::from(limits::MESSAGE_SECONDS_DEFAULT);
    match text.parse::<i64>() {
        Ok(-1) if version >= ServiceVersion::ENDLESS_MESSAGES => Ok(TimeToLive::Forever),
        Ok(seconds) if seconds > 0 => match seconds.unsigned_abs() {
            seconds if seconds > longest && version < ServiceVersion::ENDLESS_MESSAGES => {
                Err(ServiceError::parameter_outside(TIME_TO_LIVE, text, &(1..=longest)))
            }
            seconds => Ok(TimeToLive::Seconds(seconds)),
        },
        _ => {
            let reason = "The time to live must be a number of seconds above zero, or -1.";
            Err(ServiceError::invalid_parameter(TIME_TO_LIVE, text, reason))
        }
    }
}

/// The pop receipt of Update and Delete, or the error of a malformed one. That error counts only for a message that exists.
pub(super) fn receipt(query: &QueryString<'_>) -> Result<Result<PopReceipt, ServiceError>, ServiceError> {
    const NAME: &str = "popreceipt";
    let text = query.value(NAME).ok_or_else(|| ServiceError::missing_parameter(NAME))?;
    // The plus sign of a receipt that was not percent-encoded arrives as a space.
    Ok(PopReceipt::parse(&text.replace(' ', "+"))
        .map_err(|_| ServiceError::invalid_parameter(NAME, text, "The value is not a pop receipt.")))
}

#[cfg(test)]
mod tests {
    use tablerock_protocol::ErrorCode;

    use super::*;

    fn times(raw: &str, version: ServiceVersion) -> Result<(u32, TimeToLive), ErrorCode> {
        put_times(&QueryString::parse(raw).unwrap(), version).map_err(|error| error.code)
    }

    #[test]
    fn times_of_put_have_their_bounds_and_defaults() {
        let latest = ServiceVersion::LATEST;
        assert_eq!(times("", latest), Ok((0, TimeToLive::Seconds(604_800))));
        assert_eq!(times("visibilitytimeout=604800&messagettl=-1", latest), Ok((604_800, TimeToLive::Forever)));
        assert_eq!(times("visibilitytimeout=+5&messagettl=%2B10", latest), Ok((5, TimeToLive::Seconds(10))));
        assert_eq!(times("messagettl=99999999999", latest), Ok((0, TimeToLive::Seconds(99_999_999_999))));
        for (raw, code) in [
            ("visibilitytimeout=604801", ErrorCode::OutOfRangeQueryParameterValue),
            ("visibilitytimeout=-1", ErrorCode::OutOfRangeQueryParameterValue),
            ("visibilitytimeout=99999999999999999999", ErrorCode::OutOfRangeQueryParameterValue),
            ("visibilitytimeout=x", ErrorCode::InvalidQueryParameterValue),
            ("messagettl=0", ErrorCode::InvalidQueryParameterValue),
            ("messagettl=-2", ErrorCode::InvalidQueryParameterValue),
            ("messagettl=x", ErrorCode::InvalidQueryParameterValue),
            ("visibilitytimeout=5&messagettl=5", ErrorCode::InvalidQueryParameterValue),
            ("visibilitytimeout=604800", ErrorCode::InvalidQueryParameterValue),
        ] {
            assert_eq!(times(raw, latest), Err(code), "{raw}");
        }
    }

    #[test]
    fn before_2017_a_message_lives_a_week_at_most() {
        let early = "2016-05-31".parse().unwrap();
        assert_eq!(times("messagettl=604800", early), Ok((0, TimeToLive::Seconds(604_800))));
        assert_eq!(times("messagettl=604801", early), Err(ErrorCode::OutOfRangeQueryParameterValue));
        assert_eq!(times("messagettl=-1", early), Err(ErrorCode::InvalidQueryParameterValue));
    }

    #[test]
    fn a_number_outside_its_range_is_told_with_its_bounds() {
        let query = QueryString::parse("numofmessages=33&visibilitytimeout=0").unwrap();
        let error = count(&query).unwrap_err();
        let details: Vec<_> = error.details.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(
            details,
            [
                ("QueryParameterName", "numofmessages"),
                ("QueryParameterValue", "33"),
                ("MinimumAllowed", "1"),
                ("MaximumAllowed", "32")
            ]
        );
        assert_eq!(get_visibility(&query).unwrap_err().code, ErrorCode::OutOfRangeQueryParameterValue);
        assert_eq!(update_visibility(&query), Ok(0));
        let none = QueryString::default();
        assert_eq!((count(&none), get_visibility(&none)), (Ok(1), Ok(30)));
        assert_eq!(update_visibility(&none).unwrap_err().code, ErrorCode::MissingRequiredQueryParameter);
    }

    #[test]
    fn a_receipt_is_there_and_has_the_form_of_one() {
        let code = |raw: &str| receipt(&QueryString::parse(raw).unwrap()).flatten().map_err(|error| error.code);
        let good = PopReceipt { visible: u64::MAX << 2, number: 1, changes: 2 };
        assert!(good.to_string().contains('/') || good.to_string().contains('+'));
        assert_eq!(code(&format!("popreceipt={good}")), Ok(good));
        assert_eq!(code(""), Err(ErrorCode::MissingRequiredQueryParameter));
        assert_eq!(code("popreceipt=AAAA"), Err(ErrorCode::InvalidQueryParameterValue));
    }
}
