//! Point reads and bulk inserts per second: `tablerock-client`, next to bare hyper requests and, if a Python interpreter
//! that has `azure-data-tables` is named, Microsoft's library for Python doing the same work.
//!
//! ```text
//! tablerock --in-memory &
//! cargo run --release --package tablerock-bench --bin client-throughput -- target/sdk/python/bin/python
//! ```
//!
//! `CLIENT_CONNECTION_STRING` names another account than that of the development server. All are measured by turns. Ratios
//! are medians over the rounds, so that other load on the machine disturbs both sides alike.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::try_join_all;
use http::Request;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tablerock_bench::data::employee::Employee;
use tablerock_client::sas::TablePermissions;
use tablerock_client::{DateTime, FromEntity as _, Sas, TableClient, TableOperation, TableServiceClient};

type AnyError = Box<dyn Error + Send + Sync>;

const ENTITIES: i32 = 20_000;
const PARTITIONS: i32 = 20;
const ROUNDS: usize = 7;
const TURNS: u32 = 10;
const TURN: Duration = Duration::from_millis(150);
const CONCURRENCY_DEFAULT: [usize; 3] = [1, 16, 64];
/// How many reads of the Python library run side by side, which gains nothing by more.
const SIDE_BY_SIDE_PYTHON: usize = 16;
const PYTHON_SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/client_throughput.py");

fn employee(number: i32) -> Employee {
    Employee {
        department: format!("department-{}", number % PARTITIONS),
        id: format!("{number:06}"),
        first_name: "Ann".into(),
        last_name: format!("Ash{number}"),
        age: 20 + number % 50,
        salary: f64::from(number) / 3.0,
        visits: i64::from(number) << 32,
        about: "x".repeat(500),
    }
}

fn key(number: usize) -> (String, String) {
    let Employee { department, id, .. } = employee((number * 7919) as i32 % ENTITIES);
    (department, id)
}

#[tokio::main]
async fn main() -> Result<(), AnyError> {
    let connection =
        std::env::var("CLIENT_CONNECTION_STRING").unwrap_or_else(|_| "UseDevelopmentStorage=true".to_owned());
    let python = std::env::args_os().nth(1);
    let table = TableServiceClient::from_connection_string(&connection)?.table("Throughput");
    let bare = Bare::new(&table)?;
    let mut inserts = Series::default();
    let mut reads: Vec<Series> = CONCURRENCY_DEFAULT.iter().map(|_| Series::default()).collect();
    for round in 1..=ROUNDS {
        eprintln!("round {round} of {ROUNDS}");
        inserts.ours.push(bulk_inserts(&table).await?);
        for (&concurrency, reads) in CONCURRENCY_DEFAULT.iter().zip(&mut reads) {
            let (hyper, ours) = point_reads(&table, &bare, concurrency).await?;
            reads.hyper.push(hyper);
            reads.ours.push(ours);
        }
        if let Some(python) = &python {
            let [inserted, one, many] = python_rates(python)?;
            inserts.python.push(inserted);
            reads.iter_mut().zip(CONCURRENCY_DEFAULT).for_each(|(reads, concurrency)| {
                reads.python.push(if concurrency == 1 { one } else { many });
            });
        }
    }
    table.delete_table().await?;
    println!("| | this client | bare hyper | overhead | Python | times Python |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    println!("| entities inserted in bulk | {inserts}");
    for (concurrency, reads) in CONCURRENCY_DEFAULT.iter().zip(&reads) {
        println!("| point reads, {concurrency} at once | {reads}");
    }
    Ok(())
}

/// Rates of the same work, round by round.
#[derive(Default)]
struct Series {
    ours: Vec<f64>,
    hyper: Vec<f64>,
    python: Vec<f64>,
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratios = |over: &[f64], under: &[f64]| median(over.iter().zip(under).map(|(over, under)| over / under));
        let rate = |rates: &[f64]| median(rates.iter().copied()).map_or("".to_owned(), |rate| format!("{rate:.0}/s"));
        let overhead = ratios(&self.hyper, &self.ours).map(|ratio| format!("{:.0} %", (ratio - 1.0) * 100.0));
        let times = ratios(&self.ours, &self.python).map(|ratio| format!("{ratio:.0}"));
        let cells = [rate(&self.ours), rate(&self.hyper), overhead.unwrap_or_default(), rate(&self.python)];
        write!(f, "{} | {} |", cells.join(" | "), times.unwrap_or_default())
    }
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Bulk inserts, and point reads one and many at once.
fn python_rates(python: &OsStr) -> Result<[f64; 3], AnyError> {
    let output = Command::new(python).arg(PYTHON_SCRIPT).arg(SIDE_BY_SIDE_PYTHON.to_string()).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let rates: Vec<f64> = serde_json::from_slice(&output.stdout)?;
    rates.try_into().map_err(|_| "the script prints three rates".into())
}

async fn bulk_inserts(table: &TableClient) -> Result<f64, AnyError> {
    table.delete_table_if_exists().await?;
    table.create().await?;
    let entities: Vec<Employee> = (0..ENTITIES).map(employee).collect();
    let started = Instant::now();
    table.bulk(entities.iter().map(TableOperation::insert)).await.into_result()?;
    Ok(f64::from(ENTITIES) / started.elapsed().as_secs_f64())
}

/// Point reads per second of bare hyper and of this client. They take turns that are short, so that both see the same
/// machine.
async fn point_reads(table: &TableClient, bare: &Bare, concurrency: usize) -> Result<(f64, f64), AnyError> {
    let (mut hyper, mut ours) = (0, 0);
    for _ in 0..TURNS {
        hyper += count(bare, concurrency).await?;
        ours += count(table, concurrency).await?;
    }
    let rate = |reads: usize| reads as f64 / (TURN * TURNS).as_secs_f64();
    Ok((rate(hyper), rate(ours)))
}

/// Reads an entity by its keys.
trait Reader: Clone + Send + Sync + 'static {
    fn read(&self, number: usize) -> impl Future<Output = Result<(), AnyError>> + Send;
}

/// How many reads loops side by side make in a turn. Each loop is a task of its own, as the requests of an application
/// are.
async fn count<R: Reader>(reader: &R, concurrency: usize) -> Result<usize, AnyError> {
    let started = Instant::now();
    let loops = (0..concurrency).map(|place| {
        let reader = reader.clone();
        tokio::spawn(async move {
            let mut count = 0;
            while started.elapsed() < TURN {
                reader.read(place + count * concurrency).await?;
                count += 1;
            }
            Ok::<usize, AnyError>(count)
        })
    });
    let counts = try_join_all(loops).await?;
    counts.into_iter().sum()
}

impl Reader for TableClient {
    async fn read(&self, number: usize) -> Result<(), AnyError> {
        let (partition, row) = key(number);
        let read: Employee = self.get(&partition, &row).await?;
        assert_eq!(read.id, row);
        Ok(())
    }
}

/// The same requests by hyper alone, with a signature that is made once. Response bodies are read and dropped.
#[derive(Clone)]
struct Bare {
    client: Client<HttpConnector, Empty<Bytes>>,
    base: String,
    /// The projection of the client's own requests.
    select: String,
    sas: Sas,
}

impl Bare {
    fn new(table: &TableClient) -> Result<Self, AnyError> {
        let sas = table.sas(TablePermissions::READ, DateTime::parse("2040-01-01")?).sign()?;
        let client = Client::builder(TokioExecutor::new()).build_http();
        let names = [&["PartitionKey", "RowKey", "Timestamp"], Employee::SELECT.unwrap_or_default()].concat();
        Ok(Self { client, base: format!("{}/{}", table.endpoint(), table.name()), select: names.join("%2C"), sas })
    }
}

impl Reader for Bare {
    async fn read(&self, number: usize) -> Result<(), AnyError> {
        let (partition, row) = key(number);
        let (base, select, sas) = (&self.base, &self.select, self.sas.as_str());
        let url = format!("{base}(PartitionKey='{partition}',RowKey='{row}')?$select={select}&{sas}");
        let request = Request::get(url)
            .header("accept", "application/json;odata=minimalmetadata")
            .header("x-ms-version", "2020-12-06")
            .body(Empty::new())?;
        let response = self.client.request(request).await?;
        assert!(response.status().is_success());
        response.into_body().collect().await?;
        Ok(())
    }
}
