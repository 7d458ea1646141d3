//! A big table: point reads, row ranges and partition queries read only what they return, and paging to the end
//! neither repeats nor skips an entity while others write, in page times and memory that do not grow on the way.
//!
//! How much a query read is taken from the server's own counter, `tablerock_entities_read_total` on its admin
//! address, so this is for Tablerock alone.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use tablerock_conformance::batch::{Part, changeset_body};
use tablerock_conformance::expect::{ensure, equal};
use tablerock_conformance::http::Connection;
use tablerock_conformance::request::Request;
use tablerock_conformance::target::Endpoint;
use tablerock_conformance::{Failure, Outcome, Session, Target, batch, session::Shared};

/// Fills a table and checks what queries on it cost.
#[derive(Parser, Debug, Clone)]
struct Options {
    #[arg(long, env = "CONFORMANCE_CONNECTION_STRING", default_value = "UseDevelopmentStorage=true")]
    connection_string: String,
    /// The server's admin address.
    #[arg(long, default_value = "127.0.0.1:10003")]
    admin: String,
    /// How many entities the table holds.
    #[arg(long, default_value_t = 5_000_000)]
    entities: usize,
    /// How many of them share a partition.
    #[arg(long, default_value_t = 100_000)]
    partition_size: usize,
    /// The server's process, whose memory is then looked at while it pages.
    #[arg(long)]
    pid: Option<u32>,
}

const TABLE: &str = "ScaleCheck";
const GROUP: usize = 100;
const PARTITION_SIZE_MIN: usize = 1_000;
const LOADERS: usize = 8;
/// Where partitions are smaller than a group, entities are inserted one by one, and wait for a sync each.
const SINGLE_LOADERS: usize = 64;
/// Pages of one tenth of the way may take so many times as long as those of another.
const SLOWER_MAX: f64 = 3.0;
/// The most bytes that paging may add to the server's memory.
const ADDED_BYTES_MAX: u64 = 100 << 20;

fn main() -> ExitCode {
    let options = Options::parse();
    let runtime = tokio::runtime::Runtime::new().expect("worker threads can be started");
    match runtime.block_on(run(options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("FAILED {failure:?}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Outcome {
    let target = Target::parse(&options.connection_string).map_err(Failure::new)?;
    let session = Arc::new(Session::new(Arc::new(Shared::new(target))));
    // What an interrupted run left behind.
    session.delete(format!("/Tables('{TABLE}')")).send().await?;
    session.post("/Tables").json(serde_json::json!({ "TableName": TABLE })).send().await?.expect(201)?;
    load(&session, &options).await?;
    // In smaller partitions there are no ranges to tell apart.
    if options.partition_size >= PARTITION_SIZE_MIN {
        check_reads(&session, &options).await?;
    }
    check_paging(&session, &options).await?;
    session.delete(format!("/Tables('{TABLE}')")).send().await?.expect(204)?;
    println!("a table of {} entities: every query read only what it returned; paging was exact", options.entities);
    Ok(())
}

fn keys(options: &Options, number: usize) -> (String, String) {
    (format!("p{:07}", number / options.partition_size), format!("r{:07}", number % options.partition_size))
}

async fn load(session: &Arc<Session>, options: &Options) -> Outcome {
    let next = Arc::new(AtomicU64::new(0));
    let is_grouped = options.partition_size.is_multiple_of(GROUP);
    let loaders = (0..if is_grouped { LOADERS } else { SINGLE_LOADERS }).map(|_| {
        let (session, options, next) = (session.clone(), options.clone(), next.clone());
        tokio::spawn(async move {
            let mut connection = Connection::open(&session.target().primary).await?;
            loop {
                let first = usize::try_from(next.fetch_add(GROUP as u64, Ordering::Relaxed)).expect("a count");
                if first >= options.entities {
                    return Ok::<_, Failure>(());
                }
                if first.is_multiple_of(options.entities.div_ceil(10)) {
                    eprintln!("loading: {first} of {}", options.entities);
                }
                if is_grouped {
                    load_group(&session, &options, &mut connection, first).await?;
                    continue;
                }
                for number in first..options.entities.min(first + GROUP) {
                    load_one(&session, &options, &mut connection, number).await?;
                }
            }
        })
    });
    for loader in loaders.collect::<Vec<_>>() {
        loader.await.map_err(|error| Failure::new(error.to_string()))??;
    }
    Ok(())
}

async fn load_group(session: &Session, options: &Options, connection: &mut Connection, first: usize) -> Outcome {
    let url = format!("{}/{TABLE}", session.base());
    let parts: Vec<Part> = (first..options.entities.min(first + GROUP))
        .map(|number| {
            let (partition, row) = keys(options, number);
            let body = format!("{{\"PartitionKey\":\"{partition}\",\"RowKey\":\"{row}\",\"n\":{}}}", number % 1000);
            Part::new("POST", url.clone(), body).header("Prefer", "return-no-content")
        })
        .collect();
    let answer = connection.exchange(&batch::request(session, changeset_body(&parts)).bytes()).await?;
    let text = String::from_utf8_lossy(&answer.body);
    ensure(answer.status == 202 && !text.contains("odata.error"), || format!("a group failed: {text}"))
}

async fn load_one(session: &Session, options: &Options, connection: &mut Connection, number: usize) -> Outcome {
    let (partition, row) = keys(options, number);
    let path = format!("/{TABLE}(PartitionKey='{partition}',RowKey='{row}')");
    let answer = connection.exchange(&session.put(path).json(format!("{{\"n\":{}}}", number % 1000)).bytes()).await?;
    equal("status of a put", answer.status, 204)
}

/// The number of entities that the server has read for queries so far.
async fn entities_read(options: &Options) -> Outcome<u64> {
    let (host, port) = options.admin.rsplit_once(':').ok_or_else(|| Failure::new("--admin is host:port"))?;
    let port = port.parse().map_err(|_| Failure::new("--admin is host:port"))?;
    let endpoint = Endpoint { tls: false, host: host.to_owned(), port, prefix: String::new() };
    let request = format!("GET /metrics HTTP/1.1\r\nHost: {}\r\n\r\n", options.admin);
    let answer = Connection::open(&endpoint).await?.exchange(request.as_bytes()).await?;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    let counters = text.lines().filter(|line| line.starts_with("tablerock_entities_read_total"));
    Ok(counters.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum())
}

fn query<'s>(session: &'s Session, filter: &str) -> Request<'s> {
    session.get(format!("/{TABLE}()")).accept("application/json;odata=nometadata").query("$filter", filter)
}

async fn check_reads(session: &Session, options: &Options) -> Outcome {
    let number = options.entities / 2 + options.partition_size / 4;
    let (partition, row) = keys(options, number.min(options.entities - 1));
    let partition_rows = options.partition_size.min(1000);
    let from = format!("r{:07}", options.partition_size / 2);
    let to = format!("r{:07}", options.partition_size / 2 + 10);
    let in_partition = format!("PartitionKey eq '{partition}'");
    let point = session.get(format!("/{TABLE}(PartitionKey='{partition}',RowKey='{row}')"));
    let cases = [
        ("point read", point.accept("application/json;odata=nometadata"), 1, 1),
        ("point query", query(session, &format!("{in_partition} and RowKey eq '{row}'")), 1, 1),
        ("row range", query(session, &format!("{in_partition} and RowKey ge '{from}' and RowKey lt '{to}'")), 10, 10),
        (
            "three points",
            query(
                session,
                &format!("{in_partition} and (RowKey eq '{from}' or RowKey eq '{to}' or RowKey eq '{row}')"),
            ),
            3,
            3,
        ),
        // A full page looks at one more entity, to know whether another page follows.
        ("partition query, first page", query(session, &in_partition), partition_rows, partition_rows + 1),
        ("no such partition", query(session, "PartitionKey eq 'nobody'"), 0, 0),
    ];
    for (name, request, returned, read) in cases {
        let before = entities_read(options).await?;
        let response = request.send().await?;
        response.expect(200)?;
        let items = if name == "point read" { 1 } else { response.items()?.len() };
        let cost = entities_read(options).await? - before;
        println!("{name}: {items} returned, {cost} read");
        equal(format!("entities returned by {name}"), items, returned)?;
        ensure(cost <= read as u64, || format!("{name} read {cost} entities to return {returned}"))?;
    }
    Ok(())
}

/// Follows continuation tokens over the whole table while a writer adds and removes entities between the ones
/// that stay.
async fn check_paging(session: &Arc<Session>, options: &Options) -> Outcome {
    let done = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn(disturb(session.clone(), options.clone(), done.clone()));
    let mut connection = Connection::open(&session.target().primary).await?;
    let mut expected = 0;
    let mut page_times = Vec::new();
    let memory_before = options.pid.and_then(resident_bytes).unwrap_or_default();
    let mut memory_most = memory_before;
    let mut tokens: Option<(String, String)> = None;
    loop {
        let mut request = session.get(format!("/{TABLE}()")).accept("application/json;odata=nometadata");
        request = request.query("$select", "PartitionKey,RowKey");
        if let Some((partition, row)) = &tokens {
            request = request.query("NextPartitionKey", partition).query("NextRowKey", row);
        }
        let started = Instant::now();
        let answer = connection.exchange(&request.bytes()).await?;
        page_times.push(started.elapsed());
        memory_most = memory_most.max(options.pid.and_then(resident_bytes).unwrap_or_default());
        equal("status of a page", answer.status, 200)?;
        let page: serde_json::Value =
            serde_json::from_slice(&answer.body).map_err(|error| Failure::new(error.to_string()))?;
        for entity in page["value"].as_array().into_iter().flatten() {
            let (partition, row) = (entity["PartitionKey"].as_str(), entity["RowKey"].as_str());
            if row.is_some_and(|row| row.ends_with('x')) {
                continue;
            }
            let (expected_partition, expected_row) = keys(options, expected);
            equal("next entity", (partition, row), (Some(expected_partition.as_str()), Some(expected_row.as_str())))?;
            expected += 1;
        }
        let token = |name| answer.header(name).map(str::to_owned);
        tokens = token("x-ms-continuation-NextPartitionKey").zip(token("x-ms-continuation-NextRowKey"));
        if tokens.is_none() {
            break;
        }
    }
    done.store(true, Ordering::Relaxed);
    let disturbances = writer.await.map_err(|error| Failure::new(error.to_string()))??;
    println!("paging: {expected} entities in order, {disturbances} writes meanwhile");
    equal("entities seen", expected, options.entities)?;
    let mib = |bytes: u64| bytes >> 20;
    println!("memory: {} MiB before, at most {} MiB meanwhile", mib(memory_before), mib(memory_most));
    ensure(memory_most - memory_before <= ADDED_BYTES_MAX, || "memory grew with the way".to_owned())?;
    check_flat(&page_times)
}

/// Pages take as long at the end as at the beginning. Of each tenth of the way the quick ones are compared, since what else
/// the machine does makes others slow.
fn check_flat(page_times: &[Duration]) -> Outcome {
    let tenths: Vec<f64> = page_times.chunks(page_times.len().div_ceil(10).max(1)).map(quick_ms).collect();
    let shown: Vec<String> = tenths.iter().map(|ms| format!("{ms:.1}")).collect();
    println!("{} pages; ms of the quickest tenth in each tenth of the way: {}", page_times.len(), shown.join(" "));
    let (least, most) = tenths.iter().fold((f64::MAX, 0.0_f64), |(least, most), &ms| (least.min(ms), most.max(ms)));
    ensure(most <= least * SLOWER_MAX, || format!("pages take from {least:.1} to {most:.1} ms"))
}

fn quick_ms(times: &[Duration]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted[sorted.len() / 10].as_secs_f64() * 1000.0
}

fn resident_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

async fn disturb(session: Arc<Session>, options: Options, done: Arc<AtomicBool>) -> Outcome<u64> {
    let mut connection = Connection::open(&session.target().primary).await?;
    let mut random = fastrand::Rng::with_seed(7);
    let mut writes = 0;
    while !done.load(Ordering::Relaxed) {
        let (partition, row) = keys(&options, random.usize(..options.entities));
        let path = format!("/{TABLE}(PartitionKey='{partition}',RowKey='{row}x')");
        let put = connection.exchange(&session.put(path.clone()).json("{\"n\":1}").bytes()).await?;
        equal("status of a put", put.status, 204)?;
        let delete = connection.exchange(&session.delete(path).if_match("*").bytes()).await?;
        equal("status of a delete", delete.status, 204)?;
        writes += 2;
    }
    Ok(writes)
}
