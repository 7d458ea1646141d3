//! Requests to queues and blobs as clients of these services write them: a Shared Key signature over the headers and the
//! query of each.

use tablerock_protocol::signing::{AccountKey, HeaderRequestParts, SharedKeyScheme};
use tablerock_protocol::{QueryString, ServiceVersion};

use crate::Result;
use crate::http::caller::{ACCOUNT, KEY, VERSION, append};
use crate::http::clock::RequestDate;

/// One request, before it is signed.
#[derive(Debug, Clone, Copy)]
pub struct HeaderCall<'a> {
    pub method: &'static str,
    /// The path after the account, encoded: `/tasks/messages`.
    pub resource: &'a str,
    /// Without the question mark; empty if there is none.
    pub query: &'a str,
    /// More headers, with names in lower case.
    pub headers: &'a [(&'static str, &'static str)],
    pub body_bytes: usize,
}

impl<'a> HeaderCall<'a> {
    pub fn new(method: &'static str, resource: &'a str, query: &'a str) -> Self {
        Self { method, resource, query, headers: &[], body_bytes: 0 }
    }
}

/// Writes the requests of one connection to one of the two services.
#[derive(Debug)]
pub struct HeaderCaller {
    host: String,
    key: AccountKey,
    version: ServiceVersion,
    date: RequestDate,
    path: String,
}

impl HeaderCaller {
    pub fn new(port: u16) -> Result<Self> {
        let key = AccountKey::parse(KEY).map_err(|error| error.to_string())?;
        let version = VERSION.parse().expect("the version is a date");
        Ok(Self { host: format!("127.0.0.1:{port}"), key, version, date: RequestDate::default(), path: String::new() })
    }

    /// Replaces what `out` holds by the head of the request, to which its body may be added.
    pub fn write(&mut self, call: &HeaderCall<'_>, out: &mut Vec<u8>) {
        out.clear();
        self.path.clear();
        ["/", ACCOUNT, call.resource].into_iter().for_each(|part| self.path.push_str(part));
        let length = call.body_bytes.to_string();
        let mut headers = vec![("x-ms-version", VERSION), ("x-ms-date", self.date.now())];
        headers.extend(call.headers);
        if call.method != "GET" && call.method != "DELETE" {
            headers.push(("content-length", &length));
        }
        let query = QueryString::parse(call.query).expect("we encode our own queries");
        let (method, path, query, version) = (call.method, self.path.as_str(), &query, self.version);
        let parts = HeaderRequestParts { method, account: ACCOUNT, path, query, headers: &headers, version };
        let authorization = parts.authorization(SharedKeyScheme::SharedKey, &self.key);
        let mark = if call.query.is_empty() { "" } else { "?" };
        append(out, &[call.method, " ", path, mark, call.query, " HTTP/1.1\r\nHost: ", &self.host]);
        append(out, &["\r\nUser-Agent: tablerock-bench\r\nAccept: application/xml\r\n"]);
        for (name, value) in headers {
            append(out, &[name, ": ", value, "\r\n"]);
        }
        append(out, &["Authorization: ", &authorization, "\r\n\r\n"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_query_and_length_are_signed() {
        let mut out = b"left over".to_vec();
        let headers = &[("x-ms-blob-type", "BlockBlob"), ("content-type", "text/plain")];
        let call = HeaderCall { headers, body_bytes: 3, ..HeaderCall::new("PUT", "/box/a", "timeout=9") };
        HeaderCaller::new(1).unwrap().write(&call, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("PUT /devstoreaccount1/box/a?timeout=9 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"), "{text}");
        let date = text.split("x-ms-date: ").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap();
        let signed = format!(
            "PUT\n\n\n3\n\ntext/plain\n\n\n\n\n\n\nx-ms-blob-type:BlockBlob\nx-ms-date:{date}\nx-ms-version:2020-12-06\n\
             /devstoreaccount1/devstoreaccount1/box/a\ntimeout:9"
        );
        let signature = AccountKey::parse(KEY).unwrap().sign(&signed);
        assert!(text.ends_with(&format!("Authorization: SharedKey devstoreaccount1:{signature}\r\n\r\n")), "{text}");
    }
}
