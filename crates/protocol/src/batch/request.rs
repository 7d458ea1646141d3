//! The request side: one changeset of writes, or one query.

use super::multipart::{boundary, head, header, parts};
use crate::{ErrorCode, ServiceError, limits};

/// The request of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchRequest<'a> {
    /// Writes that succeed or fail together. One more than the allowed number may be present: the service
    /// rejects the changeset then.
    Changeset(Vec<BatchPart<'a>>),
    /// A query, alone in its batch.
    Query(BatchPart<'a>),
}

/// One request inside a batch, as it stands in the batch's body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchPart<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// Path and query, without the authority: behind a proxy it need not be the one we are called by.
    pub target: &'a str,
    /// The headers, in their order.
    pub headers: Vec<(&'a str, &'a str)>,
    /// The body.
    pub body: &'a [u8],
}

impl<'a> BatchPart<'a> {
    /// The value of a header that is not empty, its name in any case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| *value).filter(|value| !value.is_empty())
    }
}

/// Reads a batch. Whatever cannot be read is `InvalidInput` for the batch as a whole.
pub fn parse_batch<'a>(content_type: &str, body: &'a [u8]) -> Result<BatchRequest<'a>, ServiceError> {
    let unreadable = ServiceError::unreadable_body;
    let outer = boundary(content_type).ok_or_else(unreadable)?;
    let sections = parts(body, outer, 2).ok_or_else(unreadable)?;
    // A second changeset, or a query next to a changeset, is rejected before anything is done.
    let [section] = sections.as_slice() else { return Err(ErrorCode::InvalidInput.into()) };
    let (lines, content) = head(section).ok_or_else(unreadable)?;
    let section_type = header(&lines, "Content-Type").ok_or_else(unreadable)?;
    let Some(inner) = boundary(section_type) else {
        let part = parse_part(content).ok_or_else(unreadable)?;
        return if part.method == "GET" { Ok(BatchRequest::Query(part)) } else { Err(unreadable()) };
    };
    let members = parts(content, inner, limits::GROUP_OPERATIONS_MAX + 1).ok_or_else(unreadable)?;
    let operations = members.iter().map(|member| {
        let (lines, content) = head(member)?;
        let is_http = header(&lines, "Content-Type").is_some_and(|value| value.starts_with("application/http"));
        is_http.then(|| parse_part(content)).flatten()
    });
    let operations = operations.collect::<Option<Vec<_>>>().ok_or_else(unreadable)?;
    if operations.is_empty() || operations.iter().any(|part| part.method == "GET") {
        return Err(ErrorCode::InvalidInput.into());
    }
    Ok(BatchRequest::Changeset(operations))
}

/// A request line, headers, and the rest as body. The body ends where the part does; a Content-Length is not
/// needed for that, and blank lines around the body mean nothing to JSON.
pub(super) fn parse_part(content: &[u8]) -> Option<BatchPart<'_>> {
    let (lines, rest) = head(content)?;
    let (request_line, headers) = lines.split_first()?;
    let mut words = request_line.split(' ').filter(|word| !word.is_empty());
    let (method, url, protocol) = (words.next()?, words.next()?, words.next()?);
    if !protocol.starts_with("HTTP/") || words.next().is_some() {
        return None;
    }
    let mut named = Vec::with_capacity(headers.len());
    for line in headers {
        let (name, value) = line.split_once(':')?;
        named.push((name.trim(), value.trim()));
    }
    Some(BatchPart { method, target: without_authority(url), headers: named, body: rest.trim_ascii() })
}

fn without_authority(url: &str) -> &str {
    let Some((scheme, rest)) = url.split_once("://") else { return url };
    if !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return url;
    }
    rest.find('/').map_or("/", |path| &rest[path..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRLF: &str = "--batch_b\r\nContent-Type: multipart/mixed; boundary=changeset_c\r\n\r\n--changeset_c\r\n\
        Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 0\r\n\r\n\
        POST https://acct.table.core.windows.net/T?x=1 HTTP/1.1\r\nContent-Type: application/json\r\n\
        Content-Length: 33\r\n\r\n{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\r\n--changeset_c\r\n\
        Content-Type: application/http\r\n\r\nDELETE http://h:1/T(PartitionKey='p',RowKey='2') HTTP/1.1\r\n\
        If-Match: *\r\ncontent-id: 7\r\n\r\n\r\n--changeset_c--\r\n\r\n--batch_b--\r\n";

    fn changeset<'a>(content_type: &str, body: &'a str) -> Vec<BatchPart<'a>> {
        match parse_batch(content_type, body.as_bytes()) {
            Ok(BatchRequest::Changeset(parts)) => parts,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn both_kinds_of_line_ends_and_a_bare_last_boundary_are_read() {
        let crlf = changeset("multipart/mixed; boundary=\"batch_b\"", CRLF);
        assert_eq!(crlf.len(), 2);
        assert_eq!((crlf[0].method, crlf[0].target), ("POST", "/T?x=1"));
        assert_eq!(crlf[0].body, b"{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}");
        assert_eq!(crlf[0].header("content-id"), None, "a Content-ID of the MIME part is not the request's");
        assert_eq!(crlf[1].target, "/T(PartitionKey='p',RowKey='2')");
        assert_eq!(crlf[1].header("Content-ID"), Some("7"));
        assert!(crlf[1].body.is_empty());

        let content_type = "multipart/mixed;charset=\"utf-8\";boundary=batch_b";
        assert_eq!(changeset(content_type, &CRLF.replace("\r\n", "\n")), crlf);
        assert_eq!(changeset(content_type, CRLF.trim_end().trim_end_matches("--")), crlf);
    }

    #[test]
    fn a_query_stands_without_a_changeset() {
        let body = "--b\nContent-Type: application/http\n\nGET /T(PartitionKey='p',RowKey='r') HTTP/1.1\n\n--b--";
        let parsed = parse_batch("multipart/mixed; boundary=b", body.as_bytes());
        assert!(matches!(parsed, Ok(BatchRequest::Query(part)) if part.target.starts_with("/T(")));
    }

    #[test]
    fn what_is_no_batch_is_refused() {
        for (content_type, body) in [
            ("application/json", "{}"),
            ("multipart/mixed", "--b--"),
            ("multipart/mixed; boundary=b", ""),
            ("multipart/mixed; boundary=b", "--b\r\n--b--"),
            ("multipart/mixed; boundary=b", "--b\r\nContent-Type: application/http\r\n\r\nnonsense\r\n--b--"),
            ("multipart/mixed; boundary=b", "--b\nContent-Type: multipart/mixed; boundary=c\n\n--c--\n--b--"),
            (
                "multipart/mixed; boundary=b",
                "--b\nContent-Type: application/http\n\nGET /T HTTP/1.1\nContent-ID: 1\rETag: x\n\n--b--",
            ),
            ("multipart/mixed; boundary=b", "--b\nContent-Type: application/http\n\nGET /T\0 HTTP/1.1\n\n--b--"),
        ] {
            let parsed = parse_batch(content_type, body.as_bytes());
            assert_eq!(parsed.unwrap_err().code, ErrorCode::InvalidInput, "{body:?}");
        }
    }
}
