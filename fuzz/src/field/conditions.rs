//! Conditional headers: four lines, of which an empty one is a header that is not there.

use tablerock_protocol::DateTime;
use tablerock_protocol::blob::{Conditions, EtagList, parse_http_date, strong_etag};

use crate::known_table::NOON;
use crate::refusal::check_refusal;

pub(super) fn check(text: &str) {
    let mut lines = text.split('\n');
    let mut line = || lines.next().filter(|line| !line.is_empty());
    let (given_match, given_none_match) = (line(), line());
    let (since, unmodified_since) = (line(), line());
    let (Some(if_match), Some(if_none_match)) = (tags(given_match), tags(given_none_match)) else { return };
    let conditions = Conditions {
        if_match,
        if_none_match,
        if_modified_since: since.and_then(parse_http_date),
        if_unmodified_since: unmodified_since.and_then(parse_http_date),
    };
    let changed = DateTime::from_ticks(NOON);
    check_read(&conditions, changed, given_match, given_none_match);
    check_write(&conditions, changed);
}

/// `Some(None)` for a header that is not there, `None` for one that is refused.
fn tags(header: Option<&str>) -> Option<Option<EtagList>> {
    let Some(header) = header else { return Some(None) };
    match EtagList::parse(header) {
        Err(error) => {
            check_refusal(&error, header.len());
            assert!(header.trim().is_empty(), "{header:?}");
            None
        }
        Ok(list) => {
            assert_eq!(list == EtagList::Any, header.trim() == "*");
            Some(Some(list))
        }
    }
}

/// Whether a header names the tag, by looking for its spelling: hexadecimal digits in either case.
fn names(header: &str, changed: DateTime) -> bool {
    let wanted = strong_etag(changed).to_ascii_lowercase();
    let wanted = wanted.trim_matches('"');
    header.trim() == "*"
        || header.split(',').any(|tag| {
            let tag = tag.trim();
            let tag = tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"');
            let digits = tag.strip_prefix("0x").map(|digits| digits.trim_start_matches('0').to_ascii_lowercase());
            digits.is_some_and(|digits| wanted.strip_prefix("0x") == Some(&digits))
        })
}

fn check_read(conditions: &Conditions, changed: DateTime, if_match: Option<&str>, if_none_match: Option<&str>) {
    let status = conditions.check_read(changed).map_or_else(|error| error.status, |()| 200);
    let seconds = changed.unix_seconds();
    let has_match = if_match.is_none_or(|header| names(header, changed));
    let is_old = conditions.if_unmodified_since.is_none_or(|date| seconds <= date.unix_seconds());
    let is_other = if_none_match.map(|header| !names(header, changed));
    let is_new = conditions.if_modified_since.map(|date| seconds > date.unix_seconds());
    let expected = match (has_match && is_old, is_other, is_new) {
        _ if if_none_match.is_some_and(|header| header.trim() == "*") => 400,
        (false, ..) => 412,
        (true, None, None) => 200,
        (true, is_other, is_new) if is_other == Some(true) || is_new == Some(true) => 200,
        (true, ..) => 304,
    };
    assert_eq!(status, expected, "{conditions:?}");
}

/// A write that an absent blob allows is one without `If-Match`, and what no write can have is refused for all.
fn check_write(conditions: &Conditions, changed: DateTime) {
    let combination = conditions.check_combination();
    let (absent, present) = (conditions.check_write(None), conditions.check_write(Some(changed)));
    if let Err(error) = &combination {
        assert_eq!((absent.as_ref(), present.as_ref()), (Err(error), Err(error)));
        return;
    }
    assert_eq!(absent.is_ok(), conditions.if_match.is_none());
    if conditions.is_empty() {
        assert!(present.is_ok());
    }
    if conditions.wants_absence() {
        assert_eq!(present.map_err(|error| error.status), Err(412));
    }
}
