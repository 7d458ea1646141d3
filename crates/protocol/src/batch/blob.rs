//! The batches of the Blob service: independent requests without a changeset, identified by their
//! Content-ID.

use super::multipart::{boundary, head, header, parts};
use super::request::parse_part;
use super::response::append_head;
use super::{BatchPart, PartResponse};
use crate::{ErrorCode, ServiceError, Uuid};

/// Requests of one batch.
pub const BLOB_BATCH_PARTS_MAX: usize = 256;

/// Reads a batch: each request with the Content-ID that its response repeats.
pub fn parse_blob_batch<'a>(content_type: &str, body: &'a [u8]) -> Result<Vec<(&'a str, BatchPart<'a>)>, ServiceError> {
    let invalid = || ServiceError::new(ErrorCode::InvalidInput);
    let outer = boundary(content_type).ok_or_else(|| ServiceError::invalid_header("Content-Type", content_type))?;
    let members = parts(body, outer, BLOB_BATCH_PARTS_MAX + 1).ok_or_else(invalid)?;
    if members.is_empty() {
        return Err(invalid());
    }
    if members.len() > BLOB_BATCH_PARTS_MAX {
        return Err(ErrorCode::ExceedsMaxBatchRequestCount.into());
    }
    let read = |member: &&'a [u8]| {
        let (lines, content) = head(member)?;
        let is_http = header(&lines, "Content-Type").is_some_and(|value| value.starts_with("application/http"));
        let id = header(&lines, "Content-ID").unwrap_or_default();
        is_http.then(|| parse_part(content)).flatten().map(|part| (id, part))
    };
    members.iter().map(read).collect::<Option<Vec<_>>>().ok_or_else(invalid)
}

/// Appends the responses, in the order of their requests; the boundary is `batchresponse_{batch}`.
pub fn append_blob_batch_response(out: &mut Vec<u8>, batch: Uuid, parts: &[(String, PartResponse)]) {
    for (id, part) in parts {
        out.extend_from_slice(format!("--batchresponse_{batch}\r\nContent-Type: application/http\r\n").as_bytes());
        if !id.is_empty() {
            out.extend_from_slice(format!("Content-ID: {id}\r\n").as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        append_head(out, part);
        // Java's client takes anything behind the head for an error, a line end too.
        if !part.body.is_empty() {
            out.extend_from_slice(&part.body);
            out.extend_from_slice(b"\r\n");
        }
    }
    out.extend_from_slice(format!("--batchresponse_{batch}--\r\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(count: usize) -> String {
        let part = |id: usize| {
            format!(
                "--batch_b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: {id}\r\n\r\n\
                 DELETE /acct/c/blob{id}? HTTP/1.1\r\nx-ms-date: now\r\nContent-Length: 0\r\n\r\n\r\n"
            )
        };
        (0..count).map(part).collect::<String>() + "--batch_b--\r\n"
    }

    #[test]
    fn requests_come_with_their_content_ids() {
        let body = batch(2);
        let parts = parse_blob_batch("multipart/mixed; boundary=batch_b", body.as_bytes()).unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!((parts[1].0, parts[1].1.method, parts[1].1.target), ("1", "DELETE", "/acct/c/blob1?"));
        assert_eq!(parts[0].1.header("X-MS-Date"), Some("now"));
    }

    #[test]
    fn what_is_no_batch_is_refused() {
        let code = |content_type: &str, body: &str| parse_blob_batch(content_type, body.as_bytes()).unwrap_err().code;
        assert_eq!(code("text/plain", ""), ErrorCode::InvalidHeaderValue);
        assert_eq!(code("multipart/mixed; boundary=b", "--b--"), ErrorCode::InvalidInput);
        assert_eq!(code("multipart/mixed; boundary=b", "--b\r\n\r\nx\r\n--b--"), ErrorCode::InvalidInput);
        let many = batch(BLOB_BATCH_PARTS_MAX + 1);
        assert_eq!(code("multipart/mixed; boundary=batch_b", &many), ErrorCode::ExceedsMaxBatchRequestCount);
    }

    #[test]
    fn answers_carry_the_content_ids_of_their_requests() {
        let part = PartResponse {
            status: 202,
            reason: "Accepted".into(),
            headers: vec![("x-ms-delete-type-permanent", "true".into())],
            body: vec![],
        };
        let mut out = Vec::new();
        append_blob_batch_response(&mut out, Uuid::nil(), &[("0".to_owned(), part)]);
        let nil = Uuid::nil();
        let wanted = format!(
            "--batchresponse_{nil}\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\nHTTP/1.1 202 Accepted\r\n\
             x-ms-delete-type-permanent: true\r\n\r\n--batchresponse_{nil}--\r\n"
        );
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }
}
