//! The response to a batch as a client reads it.

use super::multipart::{boundary, head, header, parts};
use crate::limits;

/// The response to one operation of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartAnswer<'a> {
    /// The HTTP status.
    pub status: u16,
    headers: Vec<&'a str>,
    /// The body of the part.
    pub body: &'a [u8],
}

impl<'a> PartAnswer<'a> {
    /// The value of a header, its name in any case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        header(&self.headers, name)
    }
}

/// Parses the responses of a changeset in the order of its operations. A failed group has one response, that of the
/// operation at fault. `None` if the body is not such a response.
pub fn parse_changeset_answer<'a>(content_type: &str, body: &'a [u8]) -> Option<Vec<PartAnswer<'a>>> {
    let sections = parts(body, boundary(content_type)?, 2)?;
    let [section] = sections.as_slice() else { return None };
    let (lines, content) = head(section)?;
    let Some(inner) = boundary(header(&lines, "Content-Type")?) else {
        return Some(vec![parse_part(content)?]);
    };
    let members = parts(content, inner, limits::GROUP_OPERATIONS_MAX + 1)?;
    members.iter().map(|member| parse_part(head(member)?.1)).collect()
}

fn parse_part(content: &[u8]) -> Option<PartAnswer<'_>> {
    let (mut headers, rest) = head(content)?;
    if headers.is_empty() {
        return None;
    }
    let status_line = headers.remove(0);
    let status = status_line.strip_prefix("HTTP/")?.split(' ').nth(1)?.parse().ok()?;
    Some(PartAnswer { status, headers, body: rest.trim_ascii() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Uuid;
    use crate::batch::{PartResponse, append_changeset_response};

    const CONTENT_TYPE: &str = "multipart/mixed; boundary=batchresponse_00000000-0000-0000-0000-000000000001";

    fn answer(parts: &[PartResponse]) -> Vec<u8> {
        let mut out = Vec::new();
        append_changeset_response(&mut out, Uuid::from_u128(1), Uuid::from_u128(2), parts);
        out
    }

    #[test]
    fn answers_come_in_the_order_of_the_operations() {
        let created = PartResponse {
            status: 204,
            reason: "No Content".into(),
            headers: vec![("ETag", "W/\"x\"".into())],
            body: Vec::new(),
        };
        let other = PartResponse { status: 201, body: b"{}".to_vec(), ..created.clone() };
        let body = answer(&[created, other]);
        let parts = parse_changeset_answer(CONTENT_TYPE, &body).unwrap();
        assert_eq!(parts.iter().map(|part| part.status).collect::<Vec<_>>(), [204, 201]);
        assert_eq!(parts[0].header("etag"), Some("W/\"x\""));
        assert_eq!(parts[1].body, b"{}");
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for body in ["", "--batchresponse_x\r\n\r\nHTTP/1.1 200 OK\r\n", "{}"] {
            assert_eq!(parse_changeset_answer(CONTENT_TYPE, body.as_bytes()), None, "{body}");
        }
        assert_eq!(parse_changeset_answer("application/json", b"{}"), None);
    }
}
