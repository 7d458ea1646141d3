//! One client holds all the memory that it can get. Another client is served nevertheless.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use tablerock_conformance::request::Request;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::two_accounts::{ATTACKER, BLOB, BLOB_BYTES, TABLE, TwoAccounts, VICTIM, expect, send};
use crate::parts::hostile::http2::{Certificate, Http2Client};
use crate::run::Run;

/// The streams of one HTTP/2 connection that were enough to hold all memory.
const STREAMS: usize = 256;
/// Slow readers on HTTP/1.1 connections.
const READERS: usize = 400;
/// Bodies that are announced and not sent.
const BODIES: usize = 64;
const BODY_BYTES: usize = 4_000_000;
/// How long the other client may take, on a busy machine.
const TIME_MAX: Duration = Duration::from_secs(5);

/// Streams of large blobs that are not read, on one HTTP/2 connection.
pub(super) async fn unread_streams(run: &Run) -> Result<(), String> {
    let mut prepared = TwoAccounts::prepare(run, "exposure-streams").await?;
    let (certificate, program) = Certificate::install(&prepared.run.program, &prepared.run.folder)?;
    prepared.run.program = program;
    let server = prepared.start().await?;
    let port = prepared.run.program.blob_port;
    let mut attacker = Http2Client::connect(&certificate, port, 0).await?;
    for _ in 0..STREAMS {
        if !attacker.send("GET", &format!("/{ATTACKER}{BLOB}"), 0).await? {
            break;
        }
    }
    let begun = attacker.begun_responses(Duration::from_secs(3)).await;
    prepared.run.print_step(&format!("{begun} responses have begun"));
    let victim = async {
        let mut stream = certificate.connect(port, b"http/1.1").await?;
        let request = format!("GET /{VICTIM}{BLOB} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let mut response = Vec::new();
        let exchange = async {
            stream.write_all(request.as_bytes()).await?;
            // Some servers close without a TLS alert, which does not matter here.
            let _ = stream.read_to_end(&mut response).await;
            Ok::<_, std::io::Error>(())
        };
        exchange.await.map_err(|error| error.to_string())?;
        let head: String = String::from_utf8_lossy(&response[..response.len().min(12)]).into_owned();
        if response.len() > BLOB_BYTES { Ok(()) } else { Err(format!("a download of another account got {head:?}")) }
    };
    in_time("a download of another account", victim).await?;
    drop((attacker, server));
    prepared.clean_up();
    Ok(())
}

/// Readers of large blobs that read next to nothing, on many HTTP/1.1 connections.
pub(super) async fn slow_readers(run: &Run) -> Result<(), String> {
    let prepared = TwoAccounts::prepare(run, "exposure-readers").await?;
    let server = prepared.start().await?;
    let request = format!("GET /{ATTACKER}{BLOB} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut readers = Vec::new();
    for _ in 0..READERS {
        readers.push(open(prepared.run.program.blob_port, request.as_bytes()).await?);
    }
    // Each has read a byte or has no memory yet, so the others have all that there is.
    for reader in &mut readers {
        let _ = tokio::time::timeout(Duration::from_millis(20), reader.read_u8()).await;
    }
    let target = prepared.target(VICTIM)?;
    let blobs = target.blob.as_ref().ok_or("no blob endpoint")?;
    let download = Request::signing_headers(&target, blobs, "GET", BLOB);
    in_time("a download of another account", expect(&target, &download, 200)).await?;
    drop((readers, server));
    prepared.clean_up();
    Ok(())
}

/// Bodies that are announced with 4 MB and have one byte.
pub(super) async fn announced_bodies(run: &Run) -> Result<(), String> {
    let prepared = TwoAccounts::prepare(run, "exposure-bodies").await?;
    let server = prepared.start().await?;
    let attacker = prepared.target(ATTACKER)?;
    let insert = Request::new(&attacker, "POST", format!("/{TABLE}")).header("Content-Type", "application/json");
    let mut head = insert.head_with(&format!("Content-Length: {BODY_BYTES}\r\n"));
    head.push(b' ');
    let mut bodies = Vec::new();
    for _ in 0..BODIES {
        bodies.push(open(prepared.run.program.table_port, &head).await?);
    }
    let target = prepared.target(VICTIM)?;
    let property = "x".repeat(30_000);
    let body = format!(
        "{{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":\"{property}\",\"B\":\"{property}\",\"C\":\"{property}\",\"D\":\"{property}\"}}"
    );
    let insert = Request::new(&target, "POST", format!("/{TABLE}")).json(body);
    in_time("an insert of another account", async {
        match send(&target, &insert).await? {
            answer if answer.status == 201 => Ok(()),
            answer => Err(format!("an insert of another account got {}", answer.status)),
        }
    })
    .await?;
    drop((bodies, server));
    prepared.clean_up();
    Ok(())
}

async fn in_time(what: &str, request: impl Future<Output = Result<(), String>>) -> Result<(), String> {
    let started = Instant::now();
    let done = tokio::time::timeout(TIME_MAX, request).await;
    done.map_err(|_| format!("{what} has no response after {} s", started.elapsed().as_secs()))?
}

/// Sends bytes on a new connection, which takes as little of the response as the system allows.
async fn open(port: u16, bytes: &[u8]) -> Result<TcpStream, String> {
    let connect = async {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4096)?;
        let mut stream = socket.connect((Ipv4Addr::LOCALHOST, port).into()).await?;
        stream.write_all(bytes).await?;
        Ok::<_, std::io::Error>(stream)
    };
    connect.await.map_err(|error| format!("port {port}: {error}"))
}
