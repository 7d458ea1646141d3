//! Attacks over TLS: unfinished records, and HTTP/2 streams that are not read.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::http2::{Certificate, Http2Client};
use super::{BASE_BYTES_MAX, attack_time, megabytes, resident};
use crate::run::{DataDirectory, Run};
use crate::server::{Program, Server};

/// The bound on the memory of one TLS connection, whatever it does.
const TLS_CONNECTION_BYTES_MAX: u64 = 80 << 10;

/// TLS connections. Their handshakes take the attacker a millisecond each.
const CONNECTIONS: usize = 500;
const CONNECTIONS_LONG: usize = 5_000;
/// HTTP/2 connections. Half of them are more than one client gets.
const HTTP2_CONNECTIONS: usize = 100;
const STREAMS: usize = 100;

/// How long a request of another client may take.
const RESPONSE_TIME_MAX: Duration = Duration::from_secs(3);

/// Runs both attacks, and returns what they took.
pub(super) async fn run(run: &Run) -> Result<String, String> {
    let directory = DataDirectory::create(run, "hostile-tls")?;
    let (certificate, program) = Certificate::install(&run.program, &run.folder)?;

    let count = if run.is_long { CONNECTIONS_LONG } else { CONNECTIONS };
    let server = Server::start(&program, &directory.location, None).await?;
    let mut records = Vec::new();
    for _ in 0..count {
        records.push(unfinished_record(&certificate, program.blob_port).await?);
    }
    let bytes_max = BASE_BYTES_MAX + count as u64 * TLS_CONNECTION_BYTES_MAX;
    let of_records = measure(run, &server, &certificate, &program, bytes_max).await?;
    drop(records);
    server.stop().await?;

    let server = Server::start(&program, &directory.location, None).await?;
    let mut clients = Vec::new();
    while let Ok(mut client) = Http2Client::connect(&certificate, program.blob_port, 0).await {
        for _ in 0..STREAMS {
            if !client.send("POST", "/devstoreaccount1/none/none", 7_000).await? {
                break;
            }
        }
        clients.push(client);
        if clients.len() == HTTP2_CONNECTIONS {
            return Err(format!("one client gets {HTTP2_CONNECTIONS} HTTP/2 connections"));
        }
    }
    // Their memory is a part of the budget.
    let of_streams = measure(run, &server, &certificate, &program, BASE_BYTES_MAX).await?;
    let http2 = clients.len();
    drop(clients);
    server.stop().await?;
    directory.clean_up();
    Ok(format!(
        "TLS records {of_records} MB ({count} connections), HTTP/2 streams {of_streams} MB ({http2} connections)"
    ))
}

/// A connection with most of a small head, and most of the record behind it.
async fn unfinished_record(
    certificate: &Certificate,
    port: u16,
) -> Result<tokio_rustls::client::TlsStream<tokio::net::TcpStream>, String> {
    let mut stream = certificate.connect(port, b"http/1.1").await?;
    let sending = async {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ").await?;
        stream.write_all(&[b'x'; 7_000]).await?;
        stream.flush().await?;
        // The head of a record of 16 KiB, of which the last bytes never come.
        let (tcp, _) = stream.get_mut();
        tcp.write_all(&[0x17, 3, 3, 0x40, 0]).await?;
        tcp.write_all(&[0; 16_000]).await
    };
    sending.await.map_err(|error: std::io::Error| error.to_string())?;
    Ok(stream)
}

/// Sends requests without credentials for a time, and returns the most memory in MB.
async fn measure(
    run: &Run,
    server: &Server,
    certificate: &Certificate,
    program: &Program,
    bytes_max: u64,
) -> Result<u64, String> {
    let mut most = 0;
    let started = Instant::now();
    while started.elapsed() < attack_time(run) {
        let exchange = async {
            let mut stream = certificate.connect(program.table_port, b"http/1.1").await?;
            let request = b"GET /devstoreaccount1/Tables HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            let mut begin = [0; 12];
            stream.write_all(request).await.map_err(|error| error.to_string())?;
            stream.read_exact(&mut begin).await.map_err(|error| error.to_string())?;
            Ok::<_, String>(begin)
        };
        let begin = tokio::time::timeout(RESPONSE_TIME_MAX, exchange).await;
        let begin = begin.map_err(|_| "another client has no response in time")??;
        if !begin.starts_with(b"HTTP/1.1 4") {
            return Err(format!("another client gets {:?}", String::from_utf8_lossy(&begin)));
        }
        most = most.max(resident(server)?);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    if most > bytes_max {
        return Err(format!("{} MB resident, more than {}", megabytes(most), megabytes(bytes_max)));
    }
    Ok(megabytes(most))
}
