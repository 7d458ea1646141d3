//! A group of writes as the body of `$batch`.

use crate::Uuid;

/// One write inside a batch, as a client sends it.
#[derive(Debug, Clone)]
pub struct PartRequest<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// Absolute, as every client has it.
    pub url: &'a str,
    /// As they stand: the caller sees to it that no value holds a line break.
    pub headers: &'a [(&'static str, String)],
    /// The body.
    pub body: &'a [u8],
}

impl PartRequest<'_> {
    /// About how many bytes the part adds to a batch; never fewer than it really does.
    pub fn bytes_in_batch(&self) -> usize {
        const DELIMITER_AND_HEAD: usize = 200;
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
        DELIMITER_AND_HEAD + self.method.len() + self.url.len() + headers + self.body.len()
    }
}

/// The bytes of a batch in addition to its parts.
pub const BATCH_FRAME_BYTES: usize = 512;

/// The content type that goes with [`append_changeset`].
pub fn batch_content_type(batch: Uuid) -> String {
    format!("multipart/mixed; boundary=batch_{batch}")
}

/// Appends the whole body of a batch of writes.
pub fn append_changeset(out: &mut Vec<u8>, batch: Uuid, changeset: Uuid, parts: &[PartRequest<'_>]) {
    push(out, &format!("--batch_{batch}\r\nContent-Type: multipart/mixed; boundary=changeset_{changeset}\r\n\r\n"));
    for part in parts {
        push(out, &format!("--changeset_{changeset}\r\n"));
        push(out, "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n");
        push(out, &format!("{} {} HTTP/1.1\r\n", part.method, part.url));
        for (name, value) in part.headers {
            debug_assert!(!value.contains(['\r', '\n']), "a header is one line");
            push(out, &format!("{name}: {value}\r\n"));
        }
        push(out, &format!("Content-Length: {}\r\n\r\n", part.body.len()));
        out.extend_from_slice(part.body);
        push(out, "\r\n");
    }
    push(out, &format!("--changeset_{changeset}--\r\n--batch_{batch}--\r\n"));
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::{BatchRequest, parse_batch};

    #[test]
    fn what_is_sent_is_what_the_other_side_reads() {
        let headers = [("If-Match", "W/\"x\"".to_owned())];
        let body = "{\"a\":\"é\"}".as_bytes();
        let parts = [
            PartRequest { method: "PUT", url: "http://x/acct/T(PartitionKey='p',RowKey='r')", headers: &headers, body },
            PartRequest { method: "DELETE", url: "http://x/acct/T", headers: &[], body: b"" },
        ];
        let (batch, changeset) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut out = Vec::new();
        append_changeset(&mut out, batch, changeset, &parts);
        let Ok(BatchRequest::Changeset(read)) = parse_batch(&batch_content_type(batch), &out) else {
            panic!("not a changeset")
        };
        assert_eq!(read.len(), 2);
        assert_eq!((read[0].method, read[0].target), ("PUT", "/acct/T(PartitionKey='p',RowKey='r')"));
        assert_eq!((read[0].header("if-match"), read[0].body), (Some("W/\"x\""), body));
        assert_eq!((read[1].method, read[1].body), ("DELETE", b"".as_slice()));
        let estimate: usize = parts.iter().map(PartRequest::bytes_in_batch).sum();
        assert!(out.len() <= estimate + BATCH_FRAME_BYTES, "{} {estimate}", out.len());
    }
}
