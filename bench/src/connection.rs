//! One connection of the load generator: a request goes out in one write, and its answer comes in, as a rule, in one
//! read. Nothing is allocated per request, since the generator shares its processors with the server.

use std::io::{Error, ErrorKind, Result};
use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::answer::{Answer, Head};

/// Most answers fit. A buffer that is larger than the answer lets one read tell that nothing more is waiting.
const BUFFER_BYTES: usize = 16 * 1024;

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

    /// Sends one request and waits for the whole answer.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        let head = loop {
            filled += self.read_more(filled).await?;
            if let Some(head) = Head::parse(&self.buffer[..filled])? {
                break head;
            }
        };
        let end = loop {
            if let Some(end) = head.end(&self.buffer[..filled])? {
                break end;
            }
            filled += self.read_more(filled).await?;
        };
        if end != filled {
            return Err(Error::new(ErrorKind::InvalidData, "more came than the answer"));
        }
        Ok(Answer { status: head.status, head: &self.buffer[..head.length], body: &self.buffer[head.length..end] })
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
