//! One connection of the load generator: a request goes out in one write, and its response comes in, as a rule, in one
//! read. Nothing is allocated per request, since the generator shares its processors with the server. Where bodies are too
//! large for that, requests are sent from where they lie, and responses are counted instead of kept.

use std::io::{Error, ErrorKind, Result};
use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::http::answer::{Answer, Body, Head};

/// Most responses fit. A buffer that is larger than the response lets one read show that nothing more is waiting.
const BUFFER_BYTES: usize = 16 * 1024;
/// Of a longer body with a `Content-Length` only the beginning is kept.
const BODY_KEPT_BYTES_MAX: usize = 512 * 1024;
/// The bytes of such a body that are read at a time.
const LARGE_BUFFER_BYTES: usize = 256 * 1024;

#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Sends one request, in two parts if its body is a large one, and waits for the whole response.
    pub async fn exchange<'a>(&'a mut self, request: &[u8], large_body: &[u8]) -> Result<Answer<'a>> {
        self.stream.write_all(request).await?;
        if !large_body.is_empty() {
            self.stream.write_all(large_body).await?;
        }
        let mut filled = 0;
        let head = loop {
            filled += self.read_more(filled).await?;
            if let Some(head) = Head::parse(&self.buffer[..filled])? {
                break head;
            }
        };
        if let Body::Sized(length @ BODY_KEPT_BYTES_MAX..) = head.body {
            return self.count_rest(head, length, filled).await;
        }
        let end = loop {
            if let Some(end) = head.end(&self.buffer[..filled])? {
                break end;
            }
            filled += self.read_more(filled).await?;
        };
        if end != filled {
            return Err(Error::new(ErrorKind::InvalidData, "more bytes came than the response has"));
        }
        let (body, body_bytes) = (&self.buffer[head.length..end], end - head.length);
        Ok(Answer { status: head.status, head: &self.buffer[..head.length], body, body_bytes })
    }

    /// Reads what is left of a large body, each part over the one before it.
    async fn count_rest(&mut self, head: Head, body_bytes: usize, kept: usize) -> Result<Answer<'_>> {
        let too_much = || Error::new(ErrorKind::InvalidData, "more bytes came than the response has");
        let mut left = (head.length + body_bytes).checked_sub(kept).ok_or_else(too_much)?;
        self.buffer.resize(self.buffer.len().max(LARGE_BUFFER_BYTES), 0);
        while left > 0 {
            left = left.checked_sub(self.read_more(kept).await?).ok_or_else(too_much)?;
        }
        let (head_bytes, body) = self.buffer[..kept].split_at(head.length);
        Ok(Answer { status: head.status, head: head_bytes, body, body_bytes })
    }

    async fn read_more(&mut self, filled: usize) -> Result<usize> {
        if filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        match self.stream.read(&mut self.buffer[filled..]).await? {
            0 => Err(Error::new(ErrorKind::UnexpectedEof, "the server closed the connection")),
            read => Ok(read),
        }
    }
}
