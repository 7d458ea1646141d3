//! Shared Key and Shared Key Lite as the Queue and the Blob service sign them: most headers and, but for Lite, the
//! whole query.
//!
//! Clients disagree about some corners of the string. A verifier therefore tries the service's own reading first and
//! the others where they would differ: [`Reading`] lists them.

use std::borrow::Cow;

use super::secondary_path::paths_on_primary;
use super::{SharedKeyScheme, header_order};
use crate::signing::AccountKey;
use crate::{QueryString, ServiceVersion};

/// The headers that are signed in addition to those that begin with `x-ms-`.
pub const SIGNED_HEADERS: &[&str] = &[
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
];

const OWN_PREFIX: &str = "x-ms-";

/// The parts of a request that are signed, exactly as they stood on the wire.
#[derive(Debug, Clone, Copy)]
pub struct HeaderRequestParts<'a> {
    /// In upper case.
    pub method: &'a str,
    /// The account, without the suffix of its secondary endpoint.
    pub account: &'a str,
    /// The path of the request target: still percent-encoded, without the query.
    pub path: &'a str,
    /// The query of the request.
    pub query: &'a QueryString<'a>,
    /// Names in lower case. Those that are not signed may be among them.
    pub headers: &'a [(&'a str, &'a str)],
    /// The version of the request.
    pub version: ServiceVersion,
}

/// One way to read the rules for the string. The default is the service's.
#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    /// Headers stand in the order of their bytes.
    byte_order: bool,
    /// Content-Language stands before Content-Encoding, as JavaScript's clients and Azurite have it.
    language_first: bool,
    /// The `Date` header is signed although there is an `x-ms-date`.
    both_dates: bool,
    /// Runs of white space are left as they are, as most SDKs do.
    spaces_kept: bool,
}

impl HeaderRequestParts<'_> {
    /// The string that a scheme signs.
    pub fn string_to_sign(&self, scheme: SharedKeyScheme) -> String {
        let mut signed = String::with_capacity(512);
        self.append_string_to_sign(scheme, Reading::default(), &mut signed);
        signed
    }

    /// The value of an `Authorization` header for this request.
    pub fn authorization(&self, scheme: SharedKeyScheme, key: &AccountKey) -> String {
        format!("{} {}:{}", scheme.name(), self.account, key.sign(&self.string_to_sign(scheme)))
    }

    /// Whether one of the keys has signed this request, in any reading of the rules.
    pub fn is_signed_by(&self, scheme: SharedKeyScheme, signature: &str, keys: &[AccountKey]) -> bool {
        let mut scratch = String::with_capacity(512);
        let mut matches = |parts: &HeaderRequestParts<'_>, reading| {
            scratch.clear();
            parts.append_string_to_sign(scheme, reading, &mut scratch);
            keys.iter().any(|key| key.verify(&scratch, signature))
        };
        if matches(self, Reading::default()) {
            return true;
        }
        let primary = paths_on_primary(self.account, self.path);
        let paths = || std::iter::once(self.path).chain(primary.iter().map(String::as_str));
        let mut readings = self.readings();
        readings.any(|reading| paths().any(|path| matches(&HeaderRequestParts { path, ..*self }, reading)))
    }

    /// All readings that can give different strings for this request.
    fn readings(&self) -> impl Iterator<Item = Reading> {
        let names = || self.own_headers().map(|(name, _)| name);
        let mut collated: Vec<&str> = names().collect();
        collated.sort_by(|left, right| header_order::compare(left, right));
        let has_content = !self.header("content-encoding").is_empty() || !self.header("content-language").is_empty();
        let has_both_dates = !self.header("x-ms-date").is_empty() && !self.header("date").is_empty();
        let has_spaces = self.own_headers().any(|(_, value)| matches!(collapse(value), Cow::Owned(_)));
        let possible = [!collated.is_sorted(), has_content, has_both_dates, has_spaces];
        (0_u8..16)
            .map(|bits| std::array::from_fn(|place| bits & (1 << place) != 0))
            .filter(move |chosen: &[bool; 4]| chosen.iter().zip(possible).all(|(chosen, possible)| possible || !chosen))
            .map(|[byte_order, language_first, both_dates, spaces_kept]| Reading {
                byte_order,
                language_first,
                both_dates,
                spaces_kept,
            })
    }

    fn append_string_to_sign(&self, scheme: SharedKeyScheme, reading: Reading, out: &mut String) {
        let mut line = |text: &str| {
            out.push_str(text);
            out.push('\n');
        };
        let own_date = self.header("x-ms-date");
        let date = if own_date.is_empty() || reading.both_dates { self.header("date") } else { "" };
        line(self.method);
        if scheme == SharedKeyScheme::SharedKeyLite {
            [self.header("content-md5"), self.header("content-type"), date].into_iter().for_each(line);
        } else {
            let mut content = [self.header("content-encoding"), self.header("content-language")];
            if reading.language_first {
                content.reverse();
            }
            content.into_iter().for_each(&mut line);
            for name in &SIGNED_HEADERS[2..] {
                line(match *name {
                    "content-length" => self.signed_length(),
                    "date" => date,
                    name => self.header(name),
                });
            }
        }
        self.append_canonicalized_headers(reading, out);
        match scheme {
            SharedKeyScheme::SharedKey => self.append_canonicalized_resource(out),
            SharedKeyScheme::SharedKeyLite => self.append_lite_resource(out),
        }
    }

    fn signed_length(&self) -> &str {
        match self.header("content-length") {
            "0" if self.version >= ServiceVersion::ZERO_LENGTH_UNSIGNED => "",
            length => length,
        }
    }

    fn append_canonicalized_headers(&self, reading: Reading, out: &mut String) {
        let mut headers: Vec<_> = self.own_headers().collect();
        if reading.byte_order {
            headers.sort_by_key(|(name, _)| *name);
        } else {
            headers.sort_by(|(left, _), (right, _)| header_order::compare(left, right));
        }
        for (name, value) in headers {
            if value.is_empty() && self.version < ServiceVersion::EMPTY_HEADERS_SIGNED {
                continue;
            }
            let value = if reading.spaces_kept { Cow::Borrowed(value) } else { collapse(value) };
            for piece in [name, ":", &value, "\n"] {
                out.push_str(piece);
            }
        }
    }

    /// Account, path and each parameter on a line of its own; those given more than once are joined.
    fn append_canonicalized_resource(&self, out: &mut String) {
        self.append_path(out);
        for (name, value) in self.query.parameters() {
            ["\n", &name, ":", &value].into_iter().for_each(|piece| out.push_str(piece));
        }
    }

    fn append_lite_resource(&self, out: &mut String) {
        self.append_path(out);
        if let Some(comp) = self.query.raw_value("comp") {
            out.push_str("?comp=");
            out.push_str(comp);
        }
    }

    fn append_path(&self, out: &mut String) {
        out.push('/');
        out.push_str(self.account);
        out.push_str(if self.path.is_empty() { "/" } else { self.path });
    }

    fn own_headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().copied().filter(|(name, _)| name.starts_with(OWN_PREFIX))
    }

    /// Empty when the header is absent.
    fn header(&self, wanted: &str) -> &str {
        self.headers.iter().find(|(name, _)| *name == wanted).map_or("", |(_, value)| value)
    }
}

/// A header's value with each run of white space outside quotes as one space.
fn collapse(value: &str) -> Cow<'_, str> {
    let is_space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let runs = value.as_bytes().windows(2).any(|pair| is_space(pair[0]) && is_space(pair[1]));
    if !runs && !value.bytes().any(|byte| byte != b' ' && is_space(byte)) {
        return Cow::Borrowed(value);
    }
    let mut collapsed = String::with_capacity(value.len());
    let mut quoted = false;
    for letter in value.chars() {
        quoted ^= letter == '"';
        let space = u8::try_from(letter).is_ok_and(is_space);
        match (space && !quoted, collapsed.ends_with(' ')) {
            (true, true) => {}
            (true, false) => collapsed.push(' '),
            (false, _) => collapsed.push(letter),
        }
    }
    Cow::Owned(collapsed)
}
