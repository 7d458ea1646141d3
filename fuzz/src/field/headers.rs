//! Headers of one value.

use tablerock_protocol::analytics::{hour_of_log_blob, log_blob_name};
use tablerock_protocol::blob::{
    BLOCK_ID_BYTES_MAX, BlockId, ByteRange, Crc64, LeaseAction, LeaseDuration, LeaseId, Md5, RangeAsked,
    parse_http_date, strong_etag,
};
use tablerock_protocol::cors::{CorsMethod, CorsRule, Preflight, answer_preflight, answer_request};
use tablerock_protocol::media::check_json_content_type;
use tablerock_protocol::signing::{AccountKey, IpRange};
use tablerock_protocol::{
    Accepted, DateTime, EtagCondition, Metadata, PopReceipt, Service, ServiceVersion, Uuid, bearer, limits,
};

use super::digits;
use crate::known_table::{ACCOUNT, NOON};
use crate::refusal::check_refusal;

/// A range lies within the blob, and the response names it as HTTP has it.
pub(super) fn check_range(text: &str) {
    let asked = RangeAsked::parse(text);
    assert_eq!(asked.map(|asked| (asked.first, asked.last)), second_range(text), "{text:?}");
    let Some(asked) = asked else { return };
    let lengths = [0, 1, 26, asked.first, asked.first.saturating_add(1), asked.last.unwrap_or_default(), u64::MAX];
    for length in lengths {
        match asked.within(length) {
            Err(error) => {
                check_refusal(&error, text.len());
                assert!(asked.first >= length, "{asked:?} of {length}");
            }
            Ok(range @ ByteRange { offset, length: part }) => {
                assert!(offset == asked.first && part > 0 && part <= length - offset, "{asked:?} of {length}");
                let last = asked.last.map_or(length - 1, |last| last.min(length - 1));
                assert_eq!(range.content_range(length), format!("bytes {offset}-{last}/{length}"));
            }
        }
    }
}

fn second_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (unit, range) = text.trim().split_once('=')?;
    let dash = range.find('-')?;
    let first: u64 = digits(range[..dash].trim())?;
    let last = match range[dash + 1..].trim() {
        "" => None,
        last => Some(digits(last)?),
    };
    (unit == "bytes" && last.is_none_or(|last| first <= last)).then_some((first, last))
}

pub(super) fn check_dates(text: &str) {
    if let Some(date) = parse_http_date(text) {
        assert_eq!(parse_http_date(&date.to_http_date()), Some(date), "{text:?}");
    }
    if let Ok(time) = DateTime::parse(text) {
        assert_eq!(DateTime::parse(&time.to_seven_digits()), Ok(time));
        assert_eq!(DateTime::parse(&time.to_string()), Ok(time));
        assert_eq!(EtagCondition::parse(&strong_etag(time)).is_ok(), EtagCondition::parse("\"0x1\"").is_ok());
    }
    if let Err(error) = EtagCondition::parse(text) {
        check_refusal(&error, text.len());
    }
    if let Some((hour, number)) = hour_of_log_blob(text) {
        let name = log_blob_name(Service::Blob, hour, number);
        assert_eq!(hour_of_log_blob(&name), Some((hour, number)), "{name:?}");
    }
}

pub(super) fn check_lease(text: &str) {
    let seconds: Option<u32> = digits(text.trim());
    let duration = match text.trim() {
        "-1" => Some(LeaseDuration::Infinite),
        _ => seconds.filter(|seconds| (15..=60).contains(seconds)).map(LeaseDuration::Seconds),
    };
    assert_eq!(LeaseDuration::parse(text).ok(), duration, "{text:?}");
    assert_eq!(LeaseAction::parse_break_period(text).ok(), seconds.filter(|seconds| *seconds <= 60), "{text:?}");
    if let Ok(id) = LeaseId::parse(text) {
        assert_eq!(LeaseId::parse(&id.to_string().to_uppercase()), Ok(id));
        let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
        assert!(digits.to_lowercase().ends_with(&id.0.simple().to_string()), "{text:?}");
    }
}

pub(super) fn check_base64(text: &str) {
    if let Ok(id) = BlockId::parse(text) {
        assert!((1..=BLOCK_ID_BYTES_MAX).contains(&id.as_bytes().len()));
        assert_eq!(id.to_base64(), text.trim(), "an id has one spelling");
    }
    if let Ok(md5) = Md5::parse(text) {
        assert_eq!(md5.to_base64(), text.trim());
    }
    if let Ok(crc64) = Crc64::parse(text) {
        assert_eq!(crc64.to_base64(), text.trim());
    }
    if let Ok(key) = AccountKey::parse(text) {
        assert!(key.verify(text, &key.sign(text)));
        // A short one may be a word of the type's name.
        assert!(text.trim().len() < 16 || !format!("{key:?}").contains(text.trim()), "no key is printed");
    }
}

pub(super) fn check_pop_receipt(text: &str) {
    if let Ok(receipt) = PopReceipt::parse(text) {
        assert_eq!(receipt.to_string(), text, "a receipt has one spelling");
    }
}

/// Pairs as headers bring them, a line each.
pub(super) fn check_metadata(text: &str) {
    let pairs = text.split('\n').filter_map(|line| line.split_once(':'));
    let pairs: Vec<(String, String)> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let is_name = |name: &str| {
        let mut bytes = name.bytes();
        bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let mut names: Vec<String> = pairs.iter().map(|(name, _)| name.to_lowercase()).collect();
    names.sort();
    names.dedup();
    let bytes: usize = pairs.iter().map(|(name, value)| name.len() + value.len()).sum();
    let is_good = names.len() == pairs.len()
        && pairs.iter().all(|(name, _)| is_name(name))
        && bytes <= limits::METADATA_BYTES_MAX;
    match Metadata::new(pairs.clone()) {
        Err(error) => {
            check_refusal(&error, text.len());
            assert!(!is_good, "{pairs:?}: {error:?}");
        }
        Ok(metadata) => {
            assert!(is_good, "{pairs:?}");
            assert!(pairs.iter().all(|(name, value)| metadata.value(&name.to_uppercase()) == Some(value)));
            assert!(metadata.says_the_same_as(&metadata));
        }
    }
}

pub(super) fn check_version(text: &str) {
    if let Ok(version) = text.parse::<ServiceVersion>() {
        assert_eq!(version.to_string(), text);
        assert!(DateTime::parse(text).is_ok() || text < "1601-01-01", "{text:?} is a date");
    }
    if let Some(range) = IpRange::parse(text) {
        assert_eq!(IpRange::parse(&range.to_string()), Some(range));
    }
}

/// Three lines: the origin, the method, the headers. A response never allows more than a rule does.
pub(super) fn check_cors(text: &str) {
    let mut lines = text.split('\n');
    let (origin, method, headers) = (lines.next(), lines.next(), lines.next());
    let rules = [rule(&["http://a.example"], &["x-ms-meta-*", "content-type"]), rule(&["*"], &[])];
    if let Ok(response) = answer_preflight(&rules, &Preflight { origin, method, headers }) {
        let is_any = response.allow_origin == "*";
        assert!(
            is_any
                || response.allow_origin == "http://a.example"
                    && Some("http://a.example") == origin.map(str::trim_ascii)
        );
        assert_eq!(response.allow_credentials, !is_any);
        assert!(["GET", "PUT"].contains(&response.allow_methods));
        let is_allowed = |name: &str| {
            let name = name.trim_ascii().to_ascii_lowercase();
            name.is_empty() || name == "content-type" || name.starts_with("x-ms-meta-")
        };
        assert!(response.allow_headers.unwrap_or_default().split(',').all(is_allowed), "{response:?}");
    }
    let response = answer_request(&rules, origin, method.unwrap_or_default());
    assert!(response.allowance.is_none() || origin.is_some_and(|origin| !origin.trim_ascii().is_empty()));
}

fn rule(origins: &[&str], headers: &[&str]) -> CorsRule {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    CorsRule {
        allowed_origins: owned(origins),
        allowed_methods: vec![CorsMethod::Get, CorsMethod::Put],
        allowed_headers: owned(headers),
        exposed_headers: owned(headers),
        max_age_seconds: 5,
    }
}

/// `$format` wins over `Accept`, and what a version cannot have it never gets.
pub(super) fn check_media(text: &str) {
    let accepted = Accepted::negotiate(None, Some(text), ServiceVersion::LATEST);
    assert_eq!(Accepted::negotiate(Some(text), Some("x/y"), ServiceVersion::LATEST), accepted, "{text:?}");
    assert!(!Accepted::negotiate(None, Some(text), ServiceVersion::TABLE_SAS).wants_json());
    let is_json = text.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    assert_eq!(check_json_content_type(Some(text)).is_ok(), is_json, "{text:?}");
}

/// A bearer token is for one service at most.
pub(super) fn check_token(text: &str) {
    let now = DateTime::from_ticks(NOON);
    let is_good = |service| bearer::check_claims(text, service, ACCOUNT, now).is_ok();
    if is_good(Service::Queue) || is_good(Service::Blob) {
        assert_eq!(text.split('.').count(), 3);
        assert!(Uuid::try_parse(text).is_err());
    }
}
