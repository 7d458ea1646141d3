//! Heavy traffic of honest clients: the bound holds for them too, and each of them is served.

use std::sync::Arc;
use std::time::Duration;

use tablerock_conformance::Target;
use tablerock_conformance::request::{FULL, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::attacks::connect;
use super::probe::TABLE;
use super::{BASE_BYTES_MAX, CONNECTION_BYTES_MAX, megabytes, resident};
use crate::run::{DataDirectory, Run};

/// Requests of each kind that run at once: downloads, queries of full pages, and uploads.
const CLIENTS: usize = 40;
/// The times that each client sends its request.
const ROUNDS: usize = 2;
const ROUNDS_LONG: usize = 20;
/// Addresses of the clients, who share the memory budget.
const ADDRESSES: usize = 16;
const DOWNLOAD_BYTES: usize = 32 << 20;
const UPLOAD_BYTES: usize = 4 << 20;
const TIME_MAX: Duration = Duration::from_secs(300);

/// Runs the traffic on the table that the attacks have prepared.
pub(super) async fn run(run: &Run, directory: &DataDirectory) -> Result<String, String> {
    let server = directory.start().await?;
    let target = run.program.target();
    let mut blobs = connect(run.program.blob_port, 0).await.map_err(|error| error.to_string())?;
    exchange(&mut blobs, &to_blobs(&target, "PUT", "/traffic")?.raw_query("restype=container").bytes()).await?;
    let large = put(&target, "large", DOWNLOAD_BYTES)?;
    exchange(&mut blobs, &large).await?;

    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let requests = [
            (run.program.blob_port, to_blobs(&target, "GET", "/traffic/large")?.bytes()),
            (run.program.table_port, Request::new(&target, "GET", format!("/{TABLE}()")).accept(FULL).bytes()),
            (run.program.blob_port, put(&target, &format!("small{number}"), UPLOAD_BYTES)?),
        ];
        for (port, request) in requests {
            let rounds = if run.is_long { ROUNDS_LONG } else { ROUNDS };
            clients.spawn(send(port, number % ADDRESSES, Arc::new(request), rounds));
        }
    }
    let connections = clients.len();
    let mut highest = 0;
    let serving = async {
        loop {
            tokio::select! {
                ended = clients.join_next() => match ended {
                    None => return Ok(()),
                    Some(ended) => ended.map_err(|error| error.to_string())??,
                },
                () = tokio::time::sleep(Duration::from_millis(10)) => highest = highest.max(resident(&server)?),
            }
        }
    };
    tokio::time::timeout(TIME_MAX, serving).await.unwrap_or_else(|_| Err("not all were served in time".to_owned()))?;
    let bound = BASE_BYTES_MAX + connections as u64 * CONNECTION_BYTES_MAX;
    if highest > bound {
        return Err(format!("{} MB resident, more than {}", megabytes(highest), megabytes(bound)));
    }
    server.stop().await?;
    Ok(format!("honest traffic {} MB ({connections} connections)", megabytes(highest)))
}

fn to_blobs<'t>(target: &'t Target, verb: &str, path: &str) -> Result<Request<'t>, String> {
    let blob = target.blob.as_ref().ok_or("the target has no endpoint for blobs")?;
    Ok(Request::signing_headers(target, blob, verb, path))
}

fn put(target: &Target, name: &str, bytes: usize) -> Result<Vec<u8>, String> {
    let request = to_blobs(target, "PUT", &format!("/traffic/{name}"))?.header("x-ms-blob-type", "BlockBlob");
    Ok(request.body(vec![b'x'; bytes]).bytes())
}

/// Sends a request repeatedly on one connection.
async fn send(port: u16, address: usize, request: Arc<Vec<u8>>, rounds: usize) -> Result<(), String> {
    let mut stream = connect(port, address).await.map_err(|error| error.to_string())?;
    for _ in 0..rounds {
        exchange(&mut stream, &request).await?;
    }
    Ok(())
}

/// Sends a request that has to succeed, and reads its response to the end.
async fn exchange(stream: &mut TcpStream, request: &[u8]) -> Result<(), String> {
    stream.write_all(request).await.map_err(|error| error.to_string())?;
    let mut buffer = vec![0; 64 << 10];
    let (mut head, mut length) = (Vec::new(), None);
    let mut received = 0;
    while length.is_none_or(|length| received < length) {
        let count = stream.read(&mut buffer).await.map_err(|error| error.to_string())?;
        if count == 0 {
            return Err(format!("the connection ended after {received} bytes"));
        }
        received += count;
        if length.is_none() {
            head.extend_from_slice(&buffer[..count]);
            length = whole_length(&String::from_utf8_lossy(&head))?;
        }
    }
    Ok(())
}

/// The length of a response with its head, once the head is there.
fn whole_length(text: &str) -> Result<Option<usize>, String> {
    let Some(end) = text.find("\r\n\r\n") else { return Ok(None) };
    let head = text[..end].to_ascii_lowercase();
    if !head.starts_with("http/1.1 2") {
        return Err(format!("an honest client got {text}"));
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    length.map(|length| Some(end + 4 + length)).ok_or_else(|| format!("a response has no length: {head}"))
}
