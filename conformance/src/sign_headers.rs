//! Shared Key and Shared Key Lite as queues and blobs use them: over canonicalised headers and the whole query.

use std::cmp::Ordering;

/// The parts of a request that are signed.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    pub verb: &'a str,
    pub account: &'a str,
    /// As sent.
    pub raw_path: &'a str,
    /// As sent, without the question mark.
    pub query: &'a str,
    pub headers: &'a [(String, String)],
    pub content_length: usize,
}

impl Parts<'_> {
    pub fn shared_key_string(&self) -> String {
        let length = if self.content_length == 0 { String::new() } else { self.content_length.to_string() };
        let [encoding, language, md5, content_type, date] =
            ["Content-Encoding", "Content-Language", "Content-MD5", "Content-Type", "Date"]
                .map(|name| self.header(name));
        let date = if self.header("x-ms-date").is_empty() { date } else { "" };
        let conditions = ["If-Modified-Since", "If-Match", "If-None-Match", "If-Unmodified-Since", "Range"];
        let conditions = conditions.map(|name| self.header(name)).join("\n");
        let (verb, headers, resource) = (self.verb, self.canonical_headers(), self.canonical_resource());
        format!(
            "{verb}\n{encoding}\n{language}\n{length}\n{md5}\n{content_type}\n{date}\n{conditions}\n{headers}{resource}"
        )
    }

    pub fn shared_key_lite_string(&self) -> String {
        let [md5, content_type, date] = ["Content-MD5", "Content-Type", "Date"].map(|name| self.header(name));
        let date = if self.header("x-ms-date").is_empty() { date } else { "" };
        let comp = self.pairs().into_iter().find(|(name, _)| name == "comp");
        let comp = comp.map_or(String::new(), |(_, value)| format!("?comp={value}"));
        let (verb, headers) = (self.verb, self.canonical_headers());
        format!("{verb}\n{md5}\n{content_type}\n{date}\n{headers}/{}{}{comp}", self.account, self.raw_path)
    }

    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value.as_str())
    }

    fn canonical_headers(&self) -> String {
        let lower = self.headers.iter().map(|(name, value)| (name.to_lowercase(), value.trim()));
        let mut ours: Vec<_> = lower.filter(|(name, _)| name.starts_with("x-ms-")).collect();
        ours.sort_by(|(one, _), (other, _)| collate(one, other));
        ours.iter().map(|(name, value)| format!("{name}:{value}\n")).collect()
    }

    fn canonical_resource(&self) -> String {
        let mut pairs = self.pairs();
        pairs.sort();
        let mut resource = format!("/{}{}", self.account, self.raw_path);
        let mut before = String::new();
        for (name, value) in pairs {
            if name == before {
                resource.push_str(&format!(",{value}"));
            } else {
                resource.push_str(&format!("\n{name}:{value}"));
            }
            before = name;
        }
        resource
    }

    /// Parameters with their names in lower case, decoded.
    fn pairs(&self) -> Vec<(String, String)> {
        let parts = self.query.split('&').filter(|part| !part.is_empty());
        let pairs = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
        pairs.map(|(name, value)| (decode(name).to_lowercase(), decode(value))).collect()
    }
}

/// The order of the service: an underscore comes before digits and letters, and hyphens count only where all else is
/// equal, when the name that lacks one comes first.
fn collate(one: &str, other: &str) -> Ordering {
    let without_hyphens = |name: &str| -> Vec<u8> { name.bytes().filter(|byte| *byte != b'-').map(weight).collect() };
    let with_hyphens = |name: &str| -> Vec<u8> { name.bytes().map(weight).collect() };
    let by_letters = without_hyphens(one).cmp(&without_hyphens(other));
    by_letters.then_with(|| with_hyphens(one).cmp(&with_hyphens(other)))
}

fn weight(byte: u8) -> u8 {
    match byte {
        b'_' => 1,
        b'-' => u8::MAX,
        other => other,
    }
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn hyphens_break_ties_only() {
        let ordered = [
            "x-ms-meta-a",
            "x-ms-meta-a-",
            "x-ms-meta-a_b",
            "x-ms-meta-a1",
            "x-ms-meta-aa",
            "x-ms-meta-ab",
            "x-ms-meta-a-b",
        ];
        for pair in ordered.windows(2) {
            assert_eq!(collate(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
    }

    #[test]
    fn headers_and_the_whole_query_are_signed() {
        let headers = headers(&[
            ("x-ms-version", "2019-02-02"),
            ("Content-Type", "application/xml"),
            ("x-ms-meta-a-b", "1"),
            ("x-ms-meta-aa", "2"),
            ("x-ms-date", "now"),
        ]);
        let parts = Parts {
            verb: "PUT",
            account: "a",
            raw_path: "/a/q",
            query: "include=snapshots&Comp=acl&include=meta%20data",
            headers: &headers,
            content_length: 12,
        };
        let wanted = "PUT\n\n\n12\n\napplication/xml\n\n\n\n\n\n\nx-ms-date:now\nx-ms-meta-aa:2\nx-ms-meta-a-b:1\n\
            x-ms-version:2019-02-02\n/a/a/q\ncomp:acl\ninclude:meta data,snapshots";
        assert_eq!(parts.shared_key_string(), wanted);
        let lite = "PUT\n\napplication/xml\n\nx-ms-date:now\nx-ms-meta-aa:2\nx-ms-meta-a-b:1\n\
            x-ms-version:2019-02-02\n/a/a/q?comp=acl";
        assert_eq!(parts.shared_key_lite_string(), lite);
    }
}
