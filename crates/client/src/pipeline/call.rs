//! One call, before it has an address, a date and a signature.

use bytes::Bytes;
use http::header::HeaderName;
use http::{HeaderMap, Method};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use tablerock_protocol::METADATA_PREFIX;

use super::error_response::{self, Check};
use super::header;
use crate::{Credential, Error, Result};

/// Every character except those that never need an escape: no proxy or library has a reason to encode the signed URL
/// differently.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Percent-encodes a part of a path or a query.
pub(crate) fn encode(text: &str) -> impl std::fmt::Display + '_ {
    utf8_percent_encode(text, ESCAPED)
}

/// Appends `PartitionKey='p',RowKey='r'`, quoted and encoded.
pub(crate) fn append_key_predicate(out: &mut String, partition_key: &str, row_key: &str) {
    out.push_str("PartitionKey='");
    append_quoted(out, partition_key);
    out.push_str("',RowKey='");
    append_quoted(out, row_key);
    out.push('\'');
}

/// Appends a text, percent-encoded. Most names and keys need no escape.
pub(crate) fn append_encoded(out: &mut String, text: &str) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    if text.bytes().all(is_plain) {
        out.push_str(text);
    } else {
        out.extend(utf8_percent_encode(text, ESCAPED));
    }
}

/// Appends a key, encoded, with its quotes doubled.
fn append_quoted(out: &mut String, key: &str) {
    for (index, part) in key.split('\'').enumerate() {
        if index > 0 {
            out.push_str("%27%27");
        }
        append_encoded(out, part);
    }
}

/// An operation with its path, query, headers and body.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The operation's name, for logs.
    pub(crate) operation: &'static str,
    pub(crate) method: Method,
    /// The path below the account's root, percent-encoded, with its leading slash.
    pub(crate) path: String,
    query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Detects errors in the response.
    pub(super) check: Check,
    /// The table of a batch, whose path does not name it.
    resource: Option<String>,
}

impl Call {
    pub(crate) fn new(operation: &'static str, method: Method, path: impl Into<String>) -> Self {
        Self {
            operation,
            method,
            path: path.into(),
            query: String::new(),
            headers: HeaderMap::new(),
            body: Bytes::new(),
            check: error_response::check_single,
            resource: None,
        }
    }

    /// Marks the call as a group transaction on a table, which fails if one of its parts does.
    #[must_use]
    pub(crate) fn group(mut self, table: &str) -> Self {
        self.check = error_response::check_group;
        self.resource = Some(table.to_owned());
        self
    }

    /// Whether the call changes data.
    pub(super) fn is_write(&self) -> bool {
        !matches!(self.method, Method::GET | Method::HEAD)
    }

    /// Returns the table, queue or container of the call, for logs.
    pub(super) fn resource(&self) -> &str {
        let first = self.path.trim_start_matches('/').split(['/', '(']).next().unwrap_or_default();
        self.resource.as_deref().unwrap_or(first)
    }

    /// Adds a query parameter and encodes its value.
    #[must_use]
    pub(crate) fn query(self, name: &str, value: &str) -> Self {
        self.query_list(name, std::iter::once(value))
    }

    /// Adds a query parameter with several values, separated by commas.
    #[must_use]
    pub(crate) fn query_list<'v>(mut self, name: &str, values: impl Iterator<Item = &'v str> + Clone) -> Self {
        const COMMA: &str = "%2C";
        let bytes: usize = values.clone().map(|value| value.len() + COMMA.len()).sum();
        self.query.reserve(name.len() + bytes + 2);
        if !self.query.is_empty() {
            self.query.push('&');
        }
        self.query.push_str(name);
        self.query.push('=');
        for (index, value) in values.enumerate() {
            if index > 0 {
                self.query.push_str(COMMA);
            }
            append_encoded(&mut self.query, value);
        }
        self
    }

    pub(crate) fn header(mut self, name: impl Into<HeaderName>, value: &str) -> Result<Self> {
        self.headers.insert(name.into(), header(value)?);
        Ok(self)
    }

    /// Adds a header with a constant value.
    #[must_use]
    pub(crate) fn static_header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.headers.insert(name, http::HeaderValue::from_static(value));
        self
    }

    /// Adds metadata headers.
    pub(crate) fn metadata(self, pairs: &[(String, String)]) -> Result<Self> {
        pairs.iter().try_fold(self, |call, (name, value)| {
            let named = HeaderName::try_from(format!("{METADATA_PREFIX}{name}"));
            call.header(
                named.map_err(|_| Error::invalid(format!("metadata name {name:?} is not a valid header name")))?,
                value,
            )
        })
    }

    #[must_use]
    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Returns path and query as they are sent. A SAS is part of the query.
    pub(super) fn target(&self, base: &str, credential: &Credential) -> String {
        let sas = if let Credential::Sas(sas) = credential { sas.as_str() } else { "" };
        let mut target = String::with_capacity(base.len() + self.path.len() + self.query.len() + sas.len() + 2);
        target.push_str(base);
        target.push_str(&self.path);
        for (part, sign) in [self.query.as_str(), sas].into_iter().filter(|part| !part.is_empty()).zip(['?', '&']) {
            target.push(sign);
            target.push_str(part);
        }
        target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_quoted_and_encoded() {
        let mut predicate = String::new();
        append_key_predicate(&mut predicate, "o'b r+(é)%", "a/b");
        assert_eq!(predicate, "PartitionKey='o%27%27b%20r%2B%28%C3%A9%29%25',RowKey='a%2Fb'");
    }

    #[test]
    fn the_resource_has_no_keys_or_blob_names() {
        let resource = |path: &str| Call::new("X", Method::GET, path).resource().to_owned();
        assert_eq!(resource("/People(PartitionKey='Ann',RowKey='1')"), "People");
        assert_eq!(resource("/photos/ann.jpg"), "photos");
        assert_eq!(resource("/"), "");
        assert_eq!(Call::new("X", Method::POST, "/$batch").group("People").resource(), "People");
    }

    #[test]
    fn a_target_joins_query_and_sas() {
        let call = Call::new("Query", Method::GET, "/People()");
        let filtered = call.clone().query("$filter", "Age gt 3").query("$top", "5");
        let sas = Credential::sas("?sv=1&sig=x%3D");
        assert_eq!(call.target("/acct", &Credential::Anonymous), "/acct/People()");
        assert_eq!(call.target("", &sas), "/People()?sv=1&sig=x%3D");
        assert_eq!(filtered.target("", &sas), "/People()?$filter=Age%20gt%203&$top=5&sv=1&sig=x%3D");
    }
}
