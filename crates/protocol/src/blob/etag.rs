//! ETags and dates of containers and blobs. Both are the time of the last change: the ETag in ticks of 100 ns,
//! the date in seconds.

use std::time::UNIX_EPOCH;

use crate::DateTime;

/// As headers have it, and lists of containers: `"0x8D6D4168BD4CB41"`.
pub fn strong_etag(changed: DateTime) -> String {
    format!("\"{}\"", unquoted_etag(changed))
}

/// As lists of blobs have it: `0x8D6D4168BD4CB41`.
pub fn unquoted_etag(changed: DateTime) -> String {
    format!("0x{:X}", changed.ticks())
}

/// Reads a date of a header, in any of the three forms that HTTP has.
pub fn parse_http_date(text: &str) -> Option<DateTime> {
    let time = httpdate::parse_http_date(text.trim()).ok()?;
    let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
    Some(DateTime::from_unix_seconds(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_a_tag_of_ticks_and_a_date_of_seconds() {
        let changed = DateTime::parse("2019-05-09T00:37:52.1234561Z").unwrap();
        assert_eq!(strong_etag(changed), format!("\"0x{:X}\"", changed.ticks()));
        assert!(unquoted_etag(changed).starts_with("0x8D6D4"), "as the live service had it on that day");
        assert_eq!(changed.to_http_date(), "Thu, 09 May 2019 00:37:52 GMT");
        let parsed = parse_http_date(" Thu, 09 May 2019 00:37:52 GMT").unwrap();
        assert_eq!(parsed.unix_seconds(), changed.unix_seconds());
        assert_eq!(parse_http_date("yesterday"), None);
    }
}
