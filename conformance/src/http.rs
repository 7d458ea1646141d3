//! A small HTTP/1.1 client: bytes out, one parsed response back.
//!
//! It normalises nothing. The server sees exactly what a case writes, and the response's headers are kept as they
//! came. Writing and reading run side by side, because a server may reject a large body before it has read it all.

use std::io::{Error, ErrorKind};
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::target::Endpoint;

type Result<T> = std::io::Result<T>;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A response as it came off the wire.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub reason: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// The value of a header, by its name in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// One connection, kept open for as long as the case wants it.
pub struct Connection {
    reader: BufReader<tokio::io::ReadHalf<Box<dyn Stream>>>,
    writer: tokio::io::WriteHalf<Box<dyn Stream>>,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Connection {
    pub async fn open(endpoint: &Endpoint) -> Result<Self> {
        let tcp = TcpStream::connect((endpoint.host.as_str(), endpoint.port)).await?;
        tcp.set_nodelay(true)?;
        let stream: Box<dyn Stream> =
            if endpoint.tls { Box::new(secure(tcp, &endpoint.host).await?) } else { Box::new(tcp) };
        let (reader, writer) = tokio::io::split(stream);
        Ok(Self { reader: BufReader::new(reader), writer })
    }

    /// Writes a whole request and reads its response.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Answer> {
        let write = async {
            self.writer.write_all(request).await?;
            self.writer.flush().await
        };
        let read = read_answer(&mut self.reader, request.starts_with(b"HEAD "));
        tokio::pin!(write, read);
        let mut writing = true;
        loop {
            tokio::select! {
                answer = &mut read => return answer,
                // A server that has already responded may close while we still write: its response is what counts.
                _ = &mut write, if writing => writing = false,
            }
        }
    }

    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).await?;
        self.writer.flush().await
    }

    /// Says that nothing more will be written, leaving the other direction open.
    pub async fn finish_writing(&mut self) -> Result<()> {
        self.writer.shutdown().await
    }

    pub async fn read(&mut self) -> Result<Answer> {
        read_answer(&mut self.reader, false).await
    }

    /// Reads an interim response such as `100 Continue`, which has no body.
    pub async fn read_interim(&mut self) -> Result<Answer> {
        read_head(&mut self.reader).await
    }
}

async fn secure(tcp: TcpStream, host: &str) -> Result<tokio_rustls::client::TlsStream<TcpStream>> {
    let bundle = std::env::var("SSL_CERT_FILE")
        .map_err(|_| Error::other("https needs SSL_CERT_FILE to name a bundle of root certificates"))?;
    let mut roots = rustls::RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(bundle).map_err(Error::other)?;
    roots.add_parsable_certificates(certificates.filter_map(std::result::Result::ok));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(Error::other)?;
    TlsConnector::from(Arc::new(config)).connect(name, tcp).await
}

async fn read_answer(reader: &mut (impl tokio::io::AsyncBufRead + Unpin), to_head: bool) -> Result<Answer> {
    let mut answer = read_head(reader).await?;
    while answer.status == 100 {
        answer = read_head(reader).await?;
    }
    if to_head || answer.status == 204 || answer.status == 304 {
        return Ok(answer);
    }
    let chunked = answer.header("Transfer-Encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
    if chunked {
        answer.body = read_chunks(reader).await?;
    } else if let Some(length) = answer.header("Content-Length") {
        let length = length.parse().map_err(|_| malformed("Content-Length is not a number"))?;
        answer.body.resize(length, 0);
        reader.read_exact(&mut answer.body).await?;
    } else {
        reader.read_to_end(&mut answer.body).await?;
    }
    Ok(answer)
}

async fn read_head(reader: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> Result<Answer> {
    let status_line = read_line(reader).await?;
    let (version, rest) = status_line.split_once(' ').ok_or_else(|| malformed(&status_line))?;
    let (code, reason) = rest.split_once(' ').unwrap_or((rest, ""));
    let status = code.parse().map_err(|_| malformed(&status_line))?;
    if !version.starts_with("HTTP/1.") {
        return Err(malformed(&status_line));
    }
    let mut answer = Answer { status, reason: reason.to_owned(), headers: Vec::new(), body: Vec::new() };
    loop {
        let line = read_line(reader).await?;
        if line.is_empty() {
            return Ok(answer);
        }
        let (name, value) = line.split_once(':').ok_or_else(|| malformed(&line))?;
        answer.headers.push((name.to_owned(), value.trim().to_owned()));
    }
}

async fn read_chunks(reader: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(reader).await?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| malformed(&line))?;
        let start = body.len();
        body.resize(start + size, 0);
        reader.read_exact(&mut body[start..]).await?;
        if size == 0 {
            while !read_line(reader).await?.is_empty() {}
            return Ok(body);
        }
        read_line(reader).await?;
    }
}

async fn read_line(reader: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> Result<String> {
    let mut line = Vec::new();
    if reader.read_until(b'\n', &mut line).await? == 0 {
        return Err(Error::new(ErrorKind::UnexpectedEof, "closed without a response"));
    }
    while matches!(line.last(), Some(b'\r' | b'\n')) {
        line.pop();
    }
    // A reason phrase or header may hold any byte; replacing the odd ones keeps the rest readable.
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn malformed(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("the response is not HTTP: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn parse(bytes: &[u8]) -> Result<Answer> {
        read_answer(&mut BufReader::new(bytes), false).await
    }

    #[tokio::test]
    async fn a_body_ends_where_its_framing_says() {
        let sized = parse(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabX").await.unwrap();
        assert_eq!((sized.status, sized.body.as_slice()), (200, &b"ab"[..]));
        let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n";
        assert_eq!(parse(chunked).await.unwrap().body, b"abc");
        let closed = parse(b"HTTP/1.1 403 A long reason\r\nServer: x\r\n\r\nrest").await.unwrap();
        assert_eq!((closed.reason.as_str(), closed.body.as_slice()), ("A long reason", &b"rest"[..]));
    }

    #[tokio::test]
    async fn interim_answers_are_passed_over() {
        let answer = parse(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nETag: x\r\n\r\n").await.unwrap();
        assert_eq!((answer.status, answer.header("etag")), (204, Some("x")));
    }

    #[tokio::test]
    async fn a_closed_connection_is_an_error() {
        assert_eq!(parse(b"").await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }
}
