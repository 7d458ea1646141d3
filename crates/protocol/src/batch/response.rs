//! The response side. Clients look for the literal prefixes `batchresponse_` and `changesetresponse_`, and some
//! take the boundary from the very first line, so both matter.

use std::borrow::Cow;
use std::io::Write as _;

use crate::Uuid;

/// One response inside a batch.
#[derive(Debug, Clone, Default)]
pub struct PartResponse {
    /// The HTTP status.
    pub status: u16,
    /// The status' reason phrase.
    pub reason: Cow<'static, str>,
    /// In the order in which they go out.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body.
    pub body: Vec<u8>,
}

/// Appends the responses of a changeset; the outer boundary is `batchresponse_{batch}`.
pub fn append_changeset_response(out: &mut Vec<u8>, batch: Uuid, changeset: Uuid, parts: &[PartResponse]) {
    let head = format!(
        "--batchresponse_{batch}\r\nContent-Type: multipart/mixed; boundary=changesetresponse_{changeset}\r\n\r\n"
    );
    out.extend_from_slice(head.as_bytes());
    let delimiter = format!("--changesetresponse_{changeset}");
    for part in parts {
        out.extend_from_slice(delimiter.as_bytes());
        out.extend_from_slice(b"\r\n");
        append_part(out, part);
    }
    out.extend_from_slice(format!("{delimiter}--\r\n--batchresponse_{batch}--\r\n").as_bytes());
}

/// Appends the response of a query, which has no changeset.
pub fn append_query_response(out: &mut Vec<u8>, batch: Uuid, part: &PartResponse) {
    out.extend_from_slice(format!("--batchresponse_{batch}\r\n").as_bytes());
    append_part(out, part);
    out.extend_from_slice(format!("--batchresponse_{batch}--\r\n").as_bytes());
}

fn append_part(out: &mut Vec<u8>, part: &PartResponse) {
    out.extend_from_slice(b"Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n");
    append_head(out, part);
    out.extend_from_slice(&part.body);
    out.extend_from_slice(b"\r\n");
}

/// Appends the status line and headers of a response, up to and with the blank line.
pub(super) fn append_head(out: &mut Vec<u8>, part: &PartResponse) {
    write!(out, "HTTP/1.1 {} {}\r\n", part.status, part.reason).expect("a vector takes whatever is written to it");
    for (name, value) in &part.headers {
        for piece in [name.as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            out.extend_from_slice(piece);
        }
    }
    out.extend_from_slice(b"\r\n");
}
