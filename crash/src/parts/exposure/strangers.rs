//! Clients without credentials that send much, take nothing, or do not go away.

use std::io;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::parts::hostile::http2::{Certificate, Http2Client};
use crate::run::{DataDirectory, Run};
use crate::server::{Program, Server};

const HTTP2_CONNECTIONS: usize = 15;
const STREAMS: usize = 256;
/// The memory that an HTTP/2 connection may take: as much as it has from the budget.
const HTTP2_CONNECTION_BYTES_MAX: u64 = 2 << 20;

const HEADS: usize = 2_000;
const HEAD_BYTES: usize = 60_000;
/// The memory of a connection with half a head: its buffers, and its part of the memory for large heads.
const HEAD_CONNECTION_BYTES_MAX: u64 = 100 << 10;

/// Several streams of each connection that take no byte of their responses, and heads of requests without their bodies.
pub(super) async fn http2_memory(run: &Run) -> Result<(), String> {
    for (method, padding) in [("GET", 0), ("POST", 14_000)] {
        let (directory, certificate, program) = secure(run).await?;
        let server = Server::start(&program, &directory.location, None).await?;
        let before = resident(&server)?;
        let mut clients = Vec::new();
        for _ in 0..HTTP2_CONNECTIONS {
            let mut client = Http2Client::connect(&certificate, program.blob_port, 0).await?;
            for _ in 0..STREAMS {
                if !client.send(method, "/devstoreaccount1/none/none", padding).await? {
                    break;
                }
            }
            clients.push(client);
        }
        let each = resident(&server)?.saturating_sub(before) / HTTP2_CONNECTIONS as u64;
        if each > HTTP2_CONNECTION_BYTES_MAX {
            return Err(format!("{method}: {} KB for each connection", each >> 10));
        }
        drop((clients, server));
        directory.clean_up();
    }
    Ok(())
}

/// The head of a request without credentials, whose body never comes.
pub(super) async fn http2_rejection(run: &Run) -> Result<(), String> {
    let (directory, certificate, program) = secure(run).await?;
    let server = Server::start(&program, &directory.location, None).await?;
    for (port, path) in [
        (program.table_port, "/devstoreaccount1/Tables"),
        (program.queue_port, "/devstoreaccount1/queue/messages"),
        (program.blob_port, "/devstoreaccount1/none?comp=batch&restype=container"),
    ] {
        let mut client = Http2Client::connect(&certificate, port, 1 << 16).await?;
        client.send("POST", path, 0).await?;
        let status = client.status(Duration::from_secs(5)).await.map_err(|why| format!("{path}: {why}"))?;
        if !(400..500).contains(&status) {
            return Err(format!("{path}: {status}"));
        }
    }
    drop(server);
    directory.clean_up();
    Ok(())
}

/// A connection that only sends and returns pings.
pub(super) async fn http2_idle(run: &Run) -> Result<(), String> {
    let run = Run { program: run.program.with_arguments(&["--blob-keep-alive-timeout", "1"]), ..run.clone() };
    let (directory, certificate, program) = secure(&run).await?;
    let server = Server::start(&program, &directory.location, None).await?;
    let mut client = Http2Client::connect(&certificate, program.blob_port, 1 << 16).await?;
    if !client.is_closed_within(Duration::from_secs(8)).await {
        return Err("a connection without requests is open after 8 s, with a timeout of 1 s".to_owned());
    }
    drop(server);
    directory.clean_up();
    Ok(())
}

/// Many heads that never end.
pub(super) async fn half_heads(run: &Run) -> Result<(), String> {
    for port in [run.program.table_port, run.program.blob_port] {
        let directory = DataDirectory::create_in_memory(run, "exposure-heads")?;
        let server = Server::start(&run.program, &directory.location, None).await?;
        let before = resident(&server)?;
        let head = [b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ".as_slice(), &[b'x'; HEAD_BYTES]].concat();
        let mut streams = Vec::new();
        for _ in 0..HEADS {
            let mut stream =
                TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| error.to_string())?;
            // What the server does not read stays with the system.
            match stream.try_write(&head) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    stream.write_all(&head).await.map_err(|error| error.to_string())?;
                }
                Err(error) => return Err(error.to_string()),
            }
            streams.push(stream);
        }
        let mut most = 0;
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(1) {
            most = most.max(resident(&server)?);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let each = most.saturating_sub(before) / HEADS as u64;
        if each > HEAD_CONNECTION_BYTES_MAX {
            return Err(format!("port {port}: {} KB for each of {HEADS} connections", each >> 10));
        }
        drop((streams, server));
        directory.clean_up();
    }
    Ok(())
}

/// A client that asks before it sends a body is not asked for one that is then thrown away.
pub(super) async fn expect_continue(run: &Run) -> Result<(), String> {
    let directory = DataDirectory::create_in_memory(run, "exposure-expect")?;
    let server = Server::start(&run.program, &directory.location, None).await?;
    for (port, path) in [(run.program.table_port, "Tables"), (run.program.blob_port, "none/none")] {
        let verb = if path == "Tables" { "POST" } else { "PUT" };
        let head = format!(
            "{verb} /devstoreaccount1/{path} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n"
        );
        let exchange = async {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
            stream.write_all(head.as_bytes()).await?;
            let mut begin = [0; 12];
            stream.read_exact(&mut begin).await?;
            Ok::<_, io::Error>(String::from_utf8_lossy(&begin).into_owned())
        };
        let begin = tokio::time::timeout(Duration::from_secs(5), exchange).await;
        let begin = begin.map_err(|_| format!("{path}: no response"))?.map_err(|error| format!("{path}: {error}"))?;
        if !begin.starts_with("HTTP/1.1 4") {
            return Err(format!("{path}: a request without credentials gets {begin:?} first"));
        }
    }
    drop(server);
    directory.clean_up();
    Ok(())
}

/// A folder, and the program with a certificate. The folder has its data, because the ready check needs no TLS.
async fn secure(run: &Run) -> Result<(DataDirectory, Certificate, Program), String> {
    let directory = DataDirectory::create_in_memory(run, "exposure-tls")?;
    let (certificate, program) = Certificate::install(&run.program, &run.folder)?;
    Ok((directory, certificate, program))
}

fn resident(server: &Server) -> Result<u64, String> {
    server.resident_bytes().ok_or_else(|| "cannot measure the server's memory".to_owned())
}
