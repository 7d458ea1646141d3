//! The ceiling for reads: hyper with nothing behind it. Every request gets the response that Tablerock gave once, taken
//! from a file, with the same status, headers and body.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;

use bytes::Bytes;
use clap::Parser;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// A server that always says the same.
#[derive(Parser, Debug)]
struct Options {
    #[arg(long)]
    port: u16,
    /// A file with one HTTP response as it was on the wire
    #[arg(long)]
    answer: PathBuf,
}

#[derive(Debug, Clone)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let mut headers = HeaderMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ")?;
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            // These two hyper writes by itself, for Tablerock as for us.
            if name != http::header::DATE && name != http::header::CONTENT_LENGTH {
                headers.append(name, HeaderValue::from_str(value).ok()?);
            }
        }
        Some(Self { status, headers, body: Bytes::copy_from_slice(&bytes[end + 4..]) })
    }

    fn response(&self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.body.clone()));
        *response.status_mut() = self.status;
        response.headers_mut().clone_from(&self.headers);
        response
    }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("bare-hyper: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let bytes = std::fs::read(&options.answer).map_err(|error| format!("{}: {error}", options.answer.display()))?;
    let answer = Answer::parse(&bytes).ok_or_else(|| format!("{} holds no response", options.answer.display()))?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| error.to_string())?;
    runtime.block_on(serve(options.port, answer)).map_err(|error| error.to_string())
}

async fn serve(port: u16, answer: Answer) -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let answer = answer.clone();
        tokio::spawn(async move {
            let service = service_fn(move |_: Request<Incoming>| {
                let response = answer.response();
                async move { Ok::<_, Infallible>(response) }
            });
            // A client that goes away is no concern of ours.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_repeated_but_for_what_hyper_writes_itself() {
        let wire = b"HTTP/1.1 200 OK\r\ndate: today\r\nContent-Length: 3\r\netag: W/x: y\r\n\r\nabc";
        let answer = Answer::parse(wire).unwrap();
        assert_eq!((answer.status, answer.body.as_ref()), (StatusCode::OK, &b"abc"[..]));
        assert_eq!(answer.headers, HeaderMap::from_iter([(http::header::ETAG, HeaderValue::from_static("W/x: y"))]));
        assert!(Answer::parse(b"HTTP/1.1 200 OK\r\n").is_none());
    }
}
