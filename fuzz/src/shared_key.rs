//! Shared Key of queues and blobs, which signs headers and the query.
//!
//! Input: `METHOD /path?query` and a line for each header, `name: value`.

mod second_reading;

use tablerock_protocol::signing::{
    AccountKey, Authorization, HeaderRequestParts, SIGNED_HEADERS, SharedKeyScheme, parse_authorization,
};
use tablerock_protocol::{QueryString, ServiceVersion};

use crate::known_table::ACCOUNT;

pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.split('\n');
    let Some((method, target)) = lines.next().and_then(|line| line.split_once(' ')) else { return };
    let (path, raw_query) = target.split_once('?').unwrap_or((target, ""));
    let Ok(query) = QueryString::parse(raw_query) else { return };
    // Names with letters of other alphabets belong to no operation, and what is lower case there is open to dispute.
    if query.pairs().iter().any(|(name, _)| !name.is_ascii()) {
        return;
    }
    let pairs = lines.filter_map(|line| line.split_once(':'));
    let owned: Vec<(String, &str)> = pairs.map(|(name, value)| (name.trim().to_lowercase(), value.trim())).collect();
    let headers: Vec<(&str, &str)> = owned.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    // One that comes twice is refused before anything is signed, and names have the characters that HTTP allows.
    let is_twice = |place: usize| headers[..place].iter().any(|(earlier, _)| *earlier == headers[place].0);
    let is_name = |name: &str| http::HeaderName::try_from(name).is_ok();
    if (0..headers.len()).any(is_twice) || !headers.iter().all(|(name, _)| is_name(name)) {
        return;
    }
    let version = headers.iter().find(|(name, _)| *name == "x-ms-version").and_then(|(_, value)| value.parse().ok());
    let version = version.unwrap_or(ServiceVersion::LATEST);
    let parts = HeaderRequestParts { method, account: ACCOUNT, path, query: &query, headers: &headers, version };
    for scheme in [SharedKeyScheme::SharedKey, SharedKeyScheme::SharedKeyLite] {
        let expected = second_reading::string_to_sign(&parts, scheme);
        assert_eq!(parts.string_to_sign(scheme), expected);
        check_signature(&parts, scheme, &expected);
    }
}

/// Our signature is good with our key and no other; and what is signed cannot be changed.
fn check_signature(parts: &HeaderRequestParts<'_>, scheme: SharedKeyScheme, string_to_sign: &str) {
    let (ours, other) = (AccountKey::from_bytes(b"ours"), AccountKey::from_bytes(b"other"));
    let authorization = parts.authorization(scheme, &ours);
    let Ok(Authorization::SharedKey { scheme: read, account, signature }) = parse_authorization(&authorization) else {
        panic!("{authorization:?} is not what it should be")
    };
    assert_eq!((read, account, signature), (scheme, ACCOUNT, ours.sign(string_to_sign).as_str()));
    assert!(parts.is_signed_by(scheme, signature, &[other.clone(), ours.clone()]));
    assert!(!parts.is_signed_by(scheme, signature, &[other]));
    assert!(!parts.is_signed_by(scheme, signature, &[]));

    let keys = [ours];
    let refuses = |changed: HeaderRequestParts<'_>, what: &str| {
        assert!(!changed.is_signed_by(scheme, signature, &keys), "{what} can be changed: {changed:?}");
    };
    let method = format!("{}X", parts.method);
    refuses(HeaderRequestParts { method: &method, ..*parts }, "the method");
    let path = format!("{}/x", parts.path);
    refuses(HeaderRequestParts { path: &path, ..*parts }, "the path");
    check_headers(parts, scheme, refuses);
    if scheme == SharedKeyScheme::SharedKey {
        check_query(parts, refuses);
    }
}

/// Neither a header's value can be changed, nor can a header of the services' own be added.
fn check_headers(
    parts: &HeaderRequestParts<'_>,
    scheme: SharedKeyScheme,
    refuses: impl Fn(HeaderRequestParts<'_>, &str),
) {
    let added = ("x-ms-added", "1");
    if !parts.headers.contains(&added) && parts.headers.iter().all(|(name, _)| *name != added.0) {
        let headers = [parts.headers, &[added]].concat();
        refuses(HeaderRequestParts { headers: &headers, ..*parts }, "the list of headers");
    }
    let has_own_date = parts.headers.iter().any(|(name, value)| *name == "x-ms-date" && !value.is_empty());
    for (place, (name, value)) in parts.headers.iter().enumerate() {
        let is_signed = match scheme {
            // A date is not signed next to the service's own.
            _ if *name == "date" => !has_own_date,
            _ if name.starts_with("x-ms-") => true,
            SharedKeyScheme::SharedKey => SIGNED_HEADERS.contains(name),
            SharedKeyScheme::SharedKeyLite => ["content-md5", "content-type"].contains(name),
        };
        if is_signed {
            let value = format!("{value}x");
            let mut headers = parts.headers.to_vec();
            headers[place].1 = &value;
            refuses(HeaderRequestParts { headers: &headers, ..*parts }, name);
        }
    }
}

/// Neither can a parameter's value, nor can one be added.
fn check_query(parts: &HeaderRequestParts<'_>, refuses: impl Fn(HeaderRequestParts<'_>, &str)) {
    let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let written = |changed: Option<usize>| {
        let pairs = parts.query.pairs().iter().enumerate().map(|(place, (name, value))| {
            let end = if changed == Some(place) { "x" } else { "" };
            format!("{}={}{end}", escaped(name), escaped(value))
        });
        pairs.collect::<Vec<_>>().join("&")
    };
    for place in 0..parts.query.pairs().len() {
        let query = written(Some(place));
        let query = QueryString::parse(&query).expect("escapes only");
        refuses(HeaderRequestParts { query: &query, ..*parts }, "a parameter");
    }
    let longer = written(None) + "&added=1";
    let query = QueryString::parse(&longer).expect("escapes only");
    refuses(HeaderRequestParts { query: &query, ..*parts }, "the list of parameters");
}
