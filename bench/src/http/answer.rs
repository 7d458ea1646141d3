//! Where an HTTP/1.1 response ends in the bytes that came, and as much of its meaning as a load generator needs.

use std::io::{Error, ErrorKind, Result};

use memchr::{memchr, memmem};

/// How the length of a body is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    Sized(usize),
    Chunked,
}

/// The status line and headers of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub status: u16,
    /// With the empty line at its end.
    pub length: usize,
    pub body: Body,
}

impl Head {
    /// Reads the head if all of it is there.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>> {
        let Some(end) = memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
        let status = bytes.strip_prefix(b"HTTP/1.1 ").and_then(|rest| number(rest.get(..3)?, 10));
        let status = status.ok_or_else(|| malformed("no HTTP/1.1 status line"))? as u16;
        let mut body = Body::Sized(0);
        for line in lines(&bytes[..end + 2]) {
            if let Some(value) = value_of(line, b"content-length") {
                body =
                    Body::Sized(number(value, 10).ok_or_else(|| malformed("a Content-Length that is not a number"))?);
            } else if value_of(line, b"transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case(b"chunked")) {
                body = Body::Chunked;
            }
        }
        Ok(Some(Self { status, length: end + 4, body }))
    }

    /// Where the whole response ends, if all of it is there.
    pub fn end(&self, bytes: &[u8]) -> Result<Option<usize>> {
        match self.body {
            Body::Sized(length) => Ok((self.length + length <= bytes.len()).then_some(self.length + length)),
            Body::Chunked => chunks_end(bytes, self.length),
        }
    }
}

/// A response, still in the buffer it was read into.
#[derive(Debug)]
pub struct Answer<'a> {
    pub status: u16,
    pub head: &'a [u8],
    /// As it came: with the heads of its chunks, if it has some. Of a large one the beginning.
    pub body: &'a [u8],
    /// The length of all of it.
    pub body_bytes: usize,
}

impl Answer<'_> {
    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let value = lines(self.head).find_map(|line| value_of(line, name.as_bytes()));
        value.and_then(|value| std::str::from_utf8(value).ok())
    }

    /// For messages: what the server said.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&[self.head, self.body].concat()).into_owned()
    }
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = head;
    std::iter::from_fn(move || {
        let end = memchr(b'\n', rest)?;
        let (line, after) = rest.split_at(end + 1);
        rest = after;
        Some(line.trim_ascii_end())
    })
}

fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (found, rest) = line.split_at_checked(name.len())?;
    let value = rest.strip_prefix(b":")?;
    found.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

fn chunks_end(bytes: &[u8], mut at: usize) -> Result<Option<usize>> {
    loop {
        let Some(line_length) = bytes.get(at..).and_then(|rest| memchr(b'\n', rest)) else { return Ok(None) };
        let line = bytes[at..at + line_length].trim_ascii_end();
        let size = number(line, 16).ok_or_else(|| malformed("a chunk without a size"))?;
        at += line_length + 1 + size + 2;
        if size == 0 {
            return Ok((at <= bytes.len()).then_some(at));
        }
    }
}

fn number(digits: &[u8], radix: u32) -> Option<usize> {
    usize::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

fn malformed(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("the response has {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZED: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\nX-Next: a b\r\n\r\nabc";
    const CHUNKED: &[u8] = b"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";

    fn end_of(bytes: &[u8]) -> Option<usize> {
        Head::parse(bytes).unwrap()?.end(bytes).unwrap()
    }

    #[test]
    fn an_answer_is_whole_only_with_its_last_byte() {
        for whole in [SIZED, CHUNKED, b"HTTP/1.1 204 No Content\r\netag: x\r\n\r\n"] {
            assert_eq!(end_of(whole), Some(whole.len()));
            for length in 0..whole.len() {
                assert_eq!(end_of(&whole[..length]), None, "{length} of {}", whole.len());
            }
        }
    }

    #[test]
    fn headers_are_found_in_any_case() {
        let head = Head::parse(SIZED).unwrap().unwrap();
        let (head_bytes, body) = SIZED.split_at(head.length);
        let answer = Answer { status: head.status, head: head_bytes, body, body_bytes: body.len() };
        assert_eq!((answer.status, answer.header("x-next"), answer.header("x-nex")), (200, Some("a b"), None));
    }

    #[test]
    fn what_is_not_http_is_an_error() {
        assert!(Head::parse(b"220 smtp\r\n\r\n").is_err());
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n").is_err());
    }
}
