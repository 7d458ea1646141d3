//! Multipart: the batch of blobs that a client sends, and the response to a group that it reads.

use tablerock_protocol::ErrorCode;
use tablerock_protocol::batch::{BLOB_BATCH_PARTS_MAX, BatchPart, parse_blob_batch, parse_changeset_answer};

use crate::refusal::check_refusal;

pub(super) fn check_blob_batch(data: &[u8]) {
    let Some((content_type, body)) = split(data) else { return };
    match parse_blob_batch(content_type, body) {
        Err(error) => {
            check_refusal(&error, data.len());
            let known =
                [ErrorCode::InvalidInput, ErrorCode::InvalidHeaderValue, ErrorCode::ExceedsMaxBatchRequestCount];
            assert!(known.contains(&error.code), "{error:?}");
        }
        Ok(parts) => {
            assert!((1..=BLOB_BATCH_PARTS_MAX).contains(&parts.len()));
            check_within(&parts, body);
            for line_end in ["\r\n", "\n"] {
                check_written(&parts, body, line_end);
            }
        }
    }
}

/// Parts lie behind one another in the body: nothing is read twice, and nothing comes from elsewhere.
fn check_within(parts: &[(&str, BatchPart<'_>)], body: &[u8]) {
    let bounds = body.as_ptr_range();
    let mut before = bounds.start;
    for (_, part) in parts {
        let method = part.method.as_bytes().as_ptr_range();
        assert!(before <= method.start && method.end <= bounds.end, "parts are in their order");
        before = method.end;
        assert!(!part.method.is_empty() && !part.target.is_empty(), "{part:?}");
    }
}

/// A batch that is written down again reads the same.
fn check_written(parts: &[(&str, BatchPart<'_>)], original: &[u8], line_end: &str) {
    let original = String::from_utf8_lossy(original);
    let boundary = (0..).map(|number| format!("b{number}")).find(|boundary| !original.contains(boundary.as_str()));
    let boundary = boundary.expect("a body has an end");
    let mut body = Vec::new();
    for (id, part) in parts {
        let mut lines = vec![format!("--{boundary}"), "Content-Type: application/http".to_owned()];
        lines.extend((!id.is_empty()).then(|| format!("Content-ID: {id}")));
        lines.extend([String::new(), format!("{} {} HTTP/1.1", part.method, part.target)]);
        lines.extend(part.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        body.extend_from_slice((lines.join(line_end) + line_end + line_end).as_bytes());
        body.extend_from_slice(&[part.body, line_end.as_bytes()].concat());
    }
    body.extend_from_slice(format!("--{boundary}--").as_bytes());
    let again = parse_blob_batch(&format!("multipart/mixed; boundary={boundary}"), &body);
    assert_eq!(again.as_deref(), Ok(parts), "{:?}", String::from_utf8_lossy(&body));
}

pub(super) fn check_changeset_answer(data: &[u8]) {
    let Some((content_type, body)) = split(data) else { return };
    let Some(parts) = parse_changeset_answer(content_type, body) else { return };
    for part in parts {
        assert!(part.body.len() <= body.len());
        assert_eq!(part.header("ETag"), part.header("etag"));
    }
}

/// The content type and what is behind its line.
fn split(data: &[u8]) -> Option<(&str, &[u8])> {
    let line_end = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
    let content_type = std::str::from_utf8(&data[..line_end]).ok()?;
    Some((content_type, data.get(line_end + 1..).unwrap_or_default()))
}
