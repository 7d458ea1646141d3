//! The case of metadata names on the wire.
//!
//! Header names are case-insensitive, and hyper gives them in lower case. The service keeps the case in which a metadata
//! name was written, and some clients show it. So a connection notes the capitals in the head of a request, and restores
//! them in the head of a response. hyper's own `preserve_header_case` keeps its map private.
//!
//! This concerns HTTP/1.1, as HTTP/2 has no capitals. The names of a pipelined request are in lower case.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use memchr::memchr;
use tablerock_protocol::METADATA_PREFIX;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const LINE_END: &[u8] = b"\r\n";

/// Metadata names with capitals, with their prefix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HeaderCase(Vec<String>);

impl HeaderCase {
    /// Picks the names with capitals from names without their prefix.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let capitalized = names.into_iter().filter(|name| has_capitals(name));
        Self(capitalized.map(|name| [METADATA_PREFIX, name].concat()).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the original case of a name without its prefix in lower case.
    pub(crate) fn restore<'a>(&'a self, name: &'a str) -> &'a str {
        let mut capitalized = self.0.iter().filter_map(|known| known.get(METADATA_PREFIX.len()..));
        capitalized.find(|known| known.eq_ignore_ascii_case(name)).unwrap_or(name)
    }

    /// Restores the names in the head of a response, whose length does not change.
    fn put_into(&self, head: &mut [u8]) {
        let mut rest = head;
        while let Some(end) = find(rest, LINE_END) {
            rest = &mut rest[end + LINE_END.len()..];
            if rest.starts_with(LINE_END) {
                return;
            }
            for name in &self.0 {
                if let Some(found) = rest.get_mut(..name.len())
                    && found.eq_ignore_ascii_case(name.as_bytes())
                    && rest.get(name.len()) == Some(&b':')
                {
                    rest[..name.len()].copy_from_slice(name.as_bytes());
                }
            }
        }
    }
}

fn has_capitals(name: &str) -> bool {
    name.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Whether a line of a head is neither a metadata name nor the end of the head, by as much of it as a prefix has.
fn is_something_else(line: &[u8]) -> bool {
    let prefix = METADATA_PREFIX.as_bytes();
    line.get(..prefix.len())
        .is_some_and(|first| !matches!(first[0], b'\r' | b'\n') && !first.eq_ignore_ascii_case(prefix))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// The state that a connection shares with the requests on it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedCase(Arc<Mutex<Heads>>);

#[derive(Debug, Default)]
struct Heads {
    incoming: HeadScan,
    names: HeaderCase,
    /// For the head of the response that is written next.
    outgoing: HeaderCase,
}

/// A head of which some has arrived. Of each line only the beginning is kept, while it may be a metadata name.
#[derive(Debug, Default)]
struct HeadScan {
    line: Vec<u8>,
    state: LineState,
    names: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// The line is empty so far or may be a metadata name.
    #[default]
    Name,
    /// The line is something else, or its name is complete.
    Rest,
    /// The head is complete, and a body follows.
    Body,
}

impl HeadScan {
    /// Reads more of the head. Returns the names when it is complete.
    fn read(&mut self, mut bytes: &[u8]) -> Option<HeaderCase> {
        while !bytes.is_empty() {
            match self.state {
                LineState::Body => return None,
                LineState::Rest => {
                    let end = memchr(b'\n', bytes)?;
                    bytes = &bytes[end + 1..];
                    self.state = LineState::Name;
                }
                // Most lines are something else, as their first bytes tell at once.
                LineState::Name if self.line.is_empty() && is_something_else(bytes) => self.state = LineState::Rest,
                LineState::Name => {
                    let (byte, rest) = (bytes[0], &bytes[1..]);
                    bytes = rest;
                    if let Some(names) = self.read_name(byte) {
                        return Some(names);
                    }
                }
            }
        }
        None
    }

    fn read_name(&mut self, byte: u8) -> Option<HeaderCase> {
        let prefix = METADATA_PREFIX.as_bytes();
        match byte {
            b'\n' if self.line.is_empty() => {
                self.state = LineState::Body;
                return Some(HeaderCase(std::mem::take(&mut self.names)));
            }
            b'\n' => self.line.clear(),
            // The end of an empty line, whose other half is next.
            b'\r' if self.line.is_empty() => {}
            b':' if self.line.len() > prefix.len() => {
                let name = std::mem::take(&mut self.line);
                if let Ok(name) = std::str::from_utf8(&name[prefix.len()..])
                    && has_capitals(name)
                {
                    self.names.push([METADATA_PREFIX, name].concat());
                }
                self.state = LineState::Rest;
            }
            _ if prefix.get(self.line.len()).is_none_or(|expected| byte.eq_ignore_ascii_case(expected)) => {
                self.line.push(byte);
            }
            _ => {
                self.line.clear();
                self.state = LineState::Rest;
            }
        }
        None
    }
}

impl SharedCase {
    /// Takes the names of the head that arrived last.
    pub(crate) fn take_incoming(&self) -> HeaderCase {
        std::mem::take(&mut self.heads().names)
    }

    pub(crate) fn set_outgoing(&self, names: HeaderCase) {
        self.heads().outgoing = names;
    }

    fn note(&self, bytes: &[u8]) {
        let mut heads = self.heads();
        if let Some(names) = heads.incoming.read(bytes) {
            heads.names = names;
        }
    }

    /// A response is written, so the next bytes to arrive are another head.
    fn begin_response(&self) -> HeaderCase {
        let mut heads = self.heads();
        heads.incoming = HeadScan::default();
        std::mem::take(&mut heads.outgoing)
    }

    fn heads(&self) -> MutexGuard<'_, Heads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that keeps the case of metadata names.
pub(crate) struct CasePreserving<S> {
    stream: S,
    case: SharedCase,
    /// A head with restored names, and how much of it is written.
    head: Vec<u8>,
    written: usize,
}

impl<S> CasePreserving<S> {
    pub(crate) fn new(stream: S, case: SharedCase) -> Self {
        Self { stream, case, head: Vec::new(), written: 0 }
    }
}

impl<S: AsyncWrite + Unpin> CasePreserving<S> {
    fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.head.len() {
            let count = ready!(Pin::new(&mut self.stream).poll_write(context, &self.head[self.written..]))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += count;
        }
        (self.head, self.written) = (Vec::new(), 0);
        Poll::Ready(Ok(()))
    }

    /// Takes over the first bytes of a response if names in it have capitals. hyper writes a head in one piece.
    fn take_over(&mut self, bytes: &[u8]) -> bool {
        let names = self.case.begin_response();
        if names.is_empty() || bytes.is_empty() {
            return false;
        }
        self.head = bytes.to_vec();
        names.put_into(&mut self.head);
        true
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CasePreserving<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, into);
        self.case.note(&into.filled()[before..]);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CasePreserving<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_head(context))?;
        if self.take_over(bytes) {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_head(context))?;
        let first = pieces.iter().find(|piece| !piece.is_empty()).map_or(&[][..], |piece| &piece[..]);
        if self.take_over(first) {
            return Poll::Ready(Ok(first.len()));
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_head(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_head(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const MAX: usize = 1000;

    #[tokio::test]
    async fn capitals_of_a_head_are_found_in_whatever_pieces_it_comes() {
        let request = "PUT / HTTP/1.1\r\nx-ms-meta-plain: A\r\nX-MS-Meta-MixedCase: v\r\nHost: x-ms-meta-No:\r\n\r\n";
        for piece in 1..request.len() {
            let (mut client, server) = tokio::io::duplex(MAX);
            let case = SharedCase::default();
            let mut capitalized = CasePreserving::new(server, case.clone());
            for bytes in request.as_bytes().chunks(piece) {
                client.write_all(bytes).await.unwrap();
                capitalized.read_exact(&mut vec![0; bytes.len()]).await.unwrap();
            }
            let names = case.take_incoming();
            assert_eq!(names, HeaderCase::of(["MixedCase"]), "in pieces of {piece}");
            assert_eq!((names.restore("mixedcase"), names.restore("plain")), ("MixedCase", "plain"));
        }
    }

    #[test]
    fn a_body_has_no_names_and_the_next_head_has_its_own() {
        let case = SharedCase::default();
        case.note(b"PUT / HTTP/1.1\r\nx-ms-meta-A: 1\r\n\r\nx-ms-meta-B: 2\r\n\r\n");
        case.note(b"x-ms-meta-C: 3\r\n\r\n");
        assert_eq!(case.take_incoming(), HeaderCase::of(["A"]));
        case.begin_response();
        case.note(b"PUT / HTTP/1.1\r\nx-ms-meta-D: 4\r\n\r\n");
        assert_eq!(case.take_incoming(), HeaderCase::of(["D"]));
    }

    #[test]
    fn only_names_are_kept_of_a_head_that_is_not_complete() {
        let case = SharedCase::default();
        case.note(b"PUT / HTTP/1.1\r\nx-ms-meta-Name: ");
        case.note(&[b'x'; 100_000]);
        case.note(b"\r\nx-ms-date: Now\r\nX-Ms-Met");
        let heads = case.heads();
        assert!(heads.incoming.line.capacity() < 100);
        assert_eq!(heads.incoming.names, ["x-ms-meta-Name"]);
    }

    #[tokio::test]
    async fn the_head_of_an_answer_is_spelled_and_its_body_is_not() {
        let head = "HTTP/1.1 200 OK\r\nx-ms-meta-mixedcase: mixedcase\r\nx-ms-meta-mixedcases: 1\r\n\r\n";
        let body = "\r\nx-ms-meta-mixedcase: 2";
        let (mut client, server) = tokio::io::duplex(10);
        let case = SharedCase::default();
        let mut capitalized = CasePreserving::new(server, case.clone());
        case.set_outgoing(HeaderCase::of(["MixedCase", "plain"]));
        let writer = tokio::spawn(async move {
            capitalized.write_all([head, body].concat().as_bytes()).await.unwrap();
            capitalized.write_all(body.as_bytes()).await.unwrap();
            capitalized.shutdown().await.unwrap();
        });
        let mut reply = String::new();
        client.read_to_string(&mut reply).await.unwrap();
        writer.await.unwrap();
        assert_eq!(reply, [&head.replacen("mixedcase:", "MixedCase:", 1), body, body].concat());
    }
}
