//! `tablerock health`: asks a running server whether it is ready, for health checks of containers and scripts.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use crate::admin_file::AdminFile;
use crate::arguments::HealthArguments;

/// The port of the admin address if none is set.
const DEFAULT_PORT: u16 = 10003;

/// The length of a response: a status and one sentence.
const RESPONSE_BYTES_MAX: u64 = 16 * 1024;

/// Prints the state of the server. The error is a sentence for the caller, and makes the exit code 1.
pub(crate) fn run(arguments: &HealthArguments) -> Result<(), String> {
    let address = address(arguments)?;
    let time = Duration::from_secs(arguments.timeout.unwrap_or(5).max(1));
    let response = ask(address, time).map_err(|error| {
        format!("no response from the admin address {address}: {error}; check that the server runs")
    })?;
    let (status, state) =
        parse(&response).ok_or_else(|| format!("the response of {address} is not one of Tablerock"))?;
    if status != 200 {
        return Err(format!("the server at {address} is not ready: {state}"));
    }
    let _ = writeln!(io::stdout(), "{state}");
    Ok(())
}

/// The admin address: that of the file, or the host and port of the settings.
fn address(arguments: &HealthArguments) -> Result<SocketAddr, String> {
    if let Some(path) = &arguments.admin_file {
        return Ok(reachable(AdminFile::read(path)?.admin));
    }
    let (host, port) = (arguments.admin_host.as_deref().unwrap_or("127.0.0.1"), arguments.admin_port);
    let port = port.unwrap_or(DEFAULT_PORT);
    if port == 0 {
        return Err("the admin address is disabled: set --admin-port (TABLEROCK_ADMIN_PORT) to a port".to_owned());
    }
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let found = (host, port).to_socket_addrs().map(|mut found| found.next());
    let found = found.map_err(|error| format!("cannot find {host}: {error}; check --admin-host"))?;
    found.map(reachable).ok_or_else(|| format!("{host} has no address; check --admin-host"))
}

/// A server that listens on all addresses is asked on loopback.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn ask(address: SocketAddr, time: Duration) -> io::Result<String> {
    let end = Instant::now() + time;
    let rest = || end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
    let mut stream = TcpStream::connect_timeout(&address, rest())?;
    stream.set_write_timeout(Some(rest()))?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    stream.set_read_timeout(Some(rest()))?;
    let mut response = String::new();
    stream.take(RESPONSE_BYTES_MAX).read_to_string(&mut response)?;
    Ok(response)
}

/// The status of a response, and its body.
fn parse(response: &str) -> Option<(u16, &str)> {
    let (head, body) = response.split_once("\r\n\r\n")?;
    let status = head.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok()?;
    Some((status, body.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_has_a_status_and_a_state() {
        assert_eq!(parse("HTTP/1.1 200 OK\r\na: b\r\n\r\nready\n"), Some((200, "ready")));
        assert_eq!(parse("HTTP/1.1 503 X\r\n\r\nread only: disk full\n"), Some((503, "read only: disk full")));
        for other in ["", "SSH-2.0-OpenSSH", "HTTP/1.1 2\r\n\r\n"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn an_unspecified_address_is_asked_on_loopback() {
        for (given, asked) in [("0.0.0.0:1", "127.0.0.1:1"), ("[::]:1", "[::1]:1"), ("10.0.0.1:1", "10.0.0.1:1")] {
            assert_eq!(reachable(given.parse().unwrap()), asked.parse().unwrap());
        }
    }
}
