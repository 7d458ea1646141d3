//! One connection to each service, kept open as long as the framing allows.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use tablerock_protocol::Service;

use super::faults::Fault;
use super::port_of;
use crate::request::message::Incoming;

const RESPONSE_TIME_MAX: Duration = Duration::from_secs(5);
/// More of a response is not read where its end is not looked for.
const UNREAD_BYTES_MAX: usize = 1 << 20;

pub(super) enum Outcome {
    Answered(u16),
    /// The server closed the connection without a response, which is its right if it cannot read the request.
    Closed,
    Hung,
    Unreachable(String),
}

pub(super) struct Connections {
    first_port: u16,
    open: [Option<TcpStream>; 3],
}

impl Connections {
    pub(super) fn new(first_port: u16) -> Self {
        Self { first_port, open: [None, None, None] }
    }

    pub(super) fn send(&mut self, service: Service, method: &str, wire: &[u8], fault: Fault) -> Outcome {
        let port = port_of(self.first_port, service);
        let place = usize::from(port - self.first_port);
        let (kept, is_kept) = (self.open[place].take(), self.open[place].is_some());
        let mut stream = match kept.map_or_else(|| connect(port), Ok) {
            Ok(stream) => stream,
            Err(error) => return Outcome::Unreachable(error),
        };
        let mut outcome = exchange(&mut stream, method, wire, fault);
        // The server may have closed a connection that was kept, just before the request.
        if is_kept && matches!(outcome, Ok((Outcome::Closed, _))) && fault.keeps_framing() {
            outcome = connect(port).map_err(std::io::Error::other).and_then(|fresh| {
                stream = fresh;
                exchange(&mut stream, method, wire, fault)
            });
        }
        match outcome {
            Ok((outcome, can_stay)) => {
                self.open[place] = (can_stay && fault.keeps_framing()).then_some(stream);
                outcome
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Outcome::Hung,
            Err(_) => Outcome::Closed,
        }
    }
}

fn connect(port: u16) -> Result<TcpStream, String> {
    let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
    stream.set_read_timeout(Some(RESPONSE_TIME_MAX)).map_err(|error| error.to_string())?;
    stream.set_write_timeout(Some(RESPONSE_TIME_MAX)).map_err(|error| error.to_string())?;
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    Ok(stream)
}

/// Sends, and reads as many responses as were asked for. The second value: whether the connection can stay.
fn exchange(stream: &mut TcpStream, method: &str, wire: &[u8], fault: Fault) -> std::io::Result<(Outcome, bool)> {
    // A server that has refused the head need not read the rest.
    let written = stream.write_all(wire);
    if !fault.keeps_framing() {
        let _ = stream.shutdown(Shutdown::Write);
        return first_status(stream).map(|outcome| (outcome, false));
    }
    if written.is_err() {
        return Ok((Outcome::Closed, false));
    }
    let mut bytes = Vec::new();
    let mut outcome = (Outcome::Closed, false);
    for _ in 0..fault.responses() {
        let Some((status, is_last)) = read_response(stream, &mut bytes, method)? else { return Ok(outcome) };
        outcome = (Outcome::Answered(status), !is_last && bytes.is_empty());
        if is_last || status >= 500 {
            break;
        }
    }
    Ok(outcome)
}

/// Takes one response off the front of the bytes, reading as many as it needs.
fn read_response(stream: &mut TcpStream, bytes: &mut Vec<u8>, method: &str) -> std::io::Result<Option<(u16, bool)>> {
    loop {
        if let Some((response, head)) = Incoming::parse_head(bytes) {
            if response.status < 200 {
                bytes.drain(..head);
                continue;
            }
            let whole = head + response.body_length(method);
            if bytes.len() >= whole {
                bytes.drain(..whole);
                return Ok(Some((response.status, response.is_last())));
            }
        }
        let mut piece = [0; 16 << 10];
        match stream.read(&mut piece)? {
            0 => return Ok(None),
            read => bytes.extend_from_slice(&piece[..read]),
        }
    }
}

/// The status of the first response. Everything else is read to its end, which has to come.
fn first_status(stream: &mut TcpStream) -> std::io::Result<Outcome> {
    let mut bytes = Vec::new();
    let mut piece = [0; 16 << 10];
    while bytes.len() < UNREAD_BYTES_MAX {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => return Err(error),
        }
    }
    let mut rest = bytes.as_slice();
    while let Some((response, head)) = Incoming::parse_head(rest) {
        if response.status >= 200 {
            return Ok(Outcome::Answered(response.status));
        }
        // One that only invites to go on is not the response.
        rest = &rest[head..];
    }
    Ok(Outcome::Closed)
}
