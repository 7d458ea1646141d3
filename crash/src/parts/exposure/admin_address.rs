//! The admin address: probes that always respond, and names of data for callers that may see them.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use tablerock_conformance::request::Request;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use super::process::{ADMIN_LIMIT, Process};
use crate::run::Run;

const LOCAL: &str = "localhost";
/// A name that a web page of a stranger can point at 127.0.0.1.
const FOREIGN: &str = "evil.example.com";
const PAGES: [&str; 3] = ["/metrics", "/load", "/load.json"];
/// More than the admin address keeps open, and few enough for the backlog of a server that accepts no more.
const HELD: usize = 150;
const TABLE: &str = "NamedTable";

/// On loopback a web page that rebinds its name reads no names of data.
pub(super) async fn checks_host(run: &Run) -> Result<(), String> {
    let process = Process::start(run, &[], &[]).await?;
    for path in PAGES {
        for local in [LOCAL, "LocalHost:1", "127.0.0.1:10003", "[::1]"] {
            process.expect(path, local, 200).await?;
        }
        for foreign in [FOREIGN, "localhost.evil.example.com:10003", "10.0.0.1"] {
            process.expect(path, foreign, 421).await?;
        }
    }
    for probe in ["/livez", "/readyz", "/health"] {
        process.expect(probe, FOREIGN, 200).await?;
    }
    Ok(())
}

/// Off loopback, names of data are shown only if the operator says so.
pub(super) async fn hides_names_off_loopback(run: &Run) -> Result<(), String> {
    let process = Process::start(run, &[], &["--admin-host", "0.0.0.0"]).await?;
    create_table(run).await?;
    for page in ["/load", "/load.json"] {
        process.expect(page, FOREIGN, 403).await?;
    }
    let metrics = process.expect("/metrics", FOREIGN, 200).await?;
    if metrics.contains(TABLE) || !metrics.contains("tablerock_requests_total") {
        return Err("/metrics off loopback has names, or no counters".to_owned());
    }
    process.expect("/readyz", FOREIGN, 200).await?;
    drop(process);
    let process = Process::start(run, &[], &["--admin-host", "0.0.0.0", "--admin-show-names"]).await?;
    create_table(run).await?;
    for page in PAGES {
        let body = process.expect(page, FOREIGN, 200).await?;
        if !body.contains(TABLE) {
            return Err(format!("{page} with --admin-show-names has no names"));
        }
    }
    Ok(())
}

/// Creates a table and reads an entity, so that the load has a name.
async fn create_table(run: &Run) -> Result<(), String> {
    let target = run.program.target();
    let created = Request::new(&target, "POST", "/Tables").json(format!("{{\"TableName\":\"{TABLE}\"}}")).send().await;
    match created.map_err(|failure| format!("{failure:?}"))?.status() {
        201 => {}
        status => return Err(format!("Create Table returns {status}")),
    }
    let entity = Request::new(&target, "GET", format!("/{TABLE}(PartitionKey='a',RowKey='b')"));
    entity.send().await.map(drop).map_err(|failure| format!("{failure:?}"))
}

/// Connections that send nothing, half a request, or do not read their response delay no probe.
pub(super) async fn cannot_be_starved(run: &Run) -> Result<(), String> {
    let process = Process::start(run, &[], &[]).await?;
    let page = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for opening in ["", "GET /health HTTP/1.1\r\nHost: local", page] {
        let mut held = Vec::new();
        for _ in 0..HELD {
            let connecting = TcpStream::connect((Ipv4Addr::LOCALHOST, run.program.admin_port));
            let connected = tokio::time::timeout(ADMIN_LIMIT, connecting).await;
            let mut stream =
                connected.map_err(|_| "the admin address accepts no connection")?.map_err(|error| error.to_string())?;
            // A connection that is closed already needs no request.
            let _ = stream.write_all(opening.as_bytes()).await;
            held.push(stream);
        }
        let started = Instant::now();
        process
            .expect("/health", LOCAL, 200)
            .await
            .map_err(|why| format!("{HELD} connections with {opening:?}: {why}"))?;
        process.expect("/livez", LOCAL, 200).await?;
        let elapsed = started.elapsed();
        if elapsed > Duration::from_secs(1) {
            return Err(format!("{HELD} connections with {opening:?} delay probes by {elapsed:?}"));
        }
    }
    Ok(())
}

/// While the store opens, the process is alive and not ready, and the services refuse connections.
pub(super) async fn tells_starting_from_ready(run: &Run) -> Result<(), String> {
    // A database that accepts connections and never responds.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, run.more_ports)).await;
    let silent = silent.map_err(|error| format!("port {}: {error}", run.more_ports))?;
    let url = format!("postgres://user@127.0.0.1:{}/data", run.more_ports);
    let process = Process::spawn(run, &[], &["--store", &url])?;
    let opening = tokio::time::timeout(ADMIN_LIMIT, silent.accept()).await;
    let _connection = opening.map_err(|_| "the server does not open its store")?.map_err(|error| error.to_string())?;
    for port in [run.program.blob_port, run.program.queue_port, run.program.table_port] {
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok() {
            return Err(format!("port {port} accepts connections while the store opens"));
        }
    }
    process.expect("/livez", LOCAL, 200).await?;
    for probe in ["/readyz", "/health"] {
        let body = process.expect(probe, LOCAL, 503).await?;
        if !body.starts_with("starting") {
            return Err(format!("{probe} returns {body:?} while the store opens"));
        }
    }
    drop(process);
    let process = Process::start(run, &[], &[]).await?;
    process.expect("/livez", LOCAL, 200).await?;
    process.expect("/readyz", LOCAL, 200).await.map(drop)
}
