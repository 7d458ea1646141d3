//! Tablerock on PostgreSQL next to the driver alone: the same statements, on as many connections, in the same run.
//!
//! `cargo xtask bench --store postgres` starts a database that syncs every commit, and this; `--store URL` takes one that is
//! there. A point read is one statement, with the table's row of the directory and the entity. An upsert is one that writes
//! and, in the same round trip, one that reads the row. The driver runs the one statement of each on each connection. Ours
//! pays besides for HTTP, signatures, JSON and the pool. Targets: 85 % of the driver's reads, 80 % of its writes, and no
//! less with two servers than with one. With `--before`, the binary of an earlier version takes its turns as well.
//!
//! On a busy machine the rates differ from run to run by more than the targets. The time that servers and database compute
//! for an operation does not, so it is printed as well.

use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use fastrand::Rng;
use tablerock_bench::Result;
use tablerock_bench::http::caller::{Call, Caller, Credential};
use tablerock_bench::http::connection::Connection;
use tablerock_bench::load::computed::{Meter, Total};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

/// The servers' table, and one for the driver: it would not find a record as it knows it once a server has written there.
const TABLE: &str = "Beside";
const TABLE_OF_DRIVER: &str = "Alone";
const ENTITIES: usize = 10_000;
const PARTITIONS: usize = 100;
const READS_MIN: f64 = 0.85;
const WRITES_MIN: f64 = 0.80;
/// Of the reads of the earlier version.
const GAIN_MIN: f64 = 1.5;
const START_LIMIT: Duration = Duration::from_secs(30);

/// The statements of a server.
const GET: &str = "SELECT false, value FROM tablerock_records WHERE partition = $1 AND key = $2 \
     UNION ALL SELECT true, value FROM tablerock_records WHERE partition = $3 AND key = $4";
const UPSERT: &str = "INSERT INTO tablerock_records (partition, key, digest, value) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (partition, key) DO UPDATE SET digest = excluded.digest, value = excluded.value \
     WHERE substr(tablerock_records.value, 1, 9) <= substr(excluded.value, 1, 9)";
/// The first line of this file is the process id of the database.
const POSTMASTER: &str = "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)";
/// The table's row of the directory, and the records of its entities.
const DIRECTORY: &str = "SELECT partition, key FROM tablerock_records WHERE key = $1 AND substr(partition, 1, 1) = 'd'";
const RECORDS: &str = "SELECT partition, key, digest, value FROM tablerock_records WHERE substr(partition, 1, 1) = 'e'";

/// Measures Tablerock on a PostgreSQL next to the driver alone.
#[derive(Parser, Debug, Clone)]
struct Options {
    /// The release binary
    #[arg(long)]
    tablerock: PathBuf,
    /// The database; its schema is empty
    #[arg(long)]
    url: String,
    /// The binary of an earlier version
    #[arg(long)]
    before: Option<PathBuf>,
    /// The first of nine ports in a row
    #[arg(long, default_value_t = 10180)]
    port: u16,
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// How often driver, one server and two servers take their turns
    #[arg(long, default_value_t = 30)]
    rounds: usize,
    /// How long a turn takes
    #[arg(long, default_value_t = 1)]
    seconds: u64,
}

impl Options {
    /// The port of a server's tables.
    fn port_of(&self, server: u16) -> u16 {
        self.port + 3 * server
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let runtime = tokio::runtime::Runtime::new().expect("worker threads can be started");
    match runtime.block_on(run(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// The kind of request that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Read,
    Upsert,
}

/// Whose turn it is: the driver's, or some servers' with some clients for each connection that they have to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Driver,
    Servers {
        servers: u16,
        clients: usize,
    },
    /// One server of the earlier version.
    Before,
}

/// The turns of a round. A second server behind a balancer either comes with clients of its own or shares those that
/// there are. The machine has no more to give in either case, but a server that has fewer clients does less each time
/// that it is woken.
const TURNS: [Turn; 5] = [
    Turn::Driver,
    Turn::Servers { servers: 1, clients: 1 },
    Turn::Servers { servers: 2, clients: 2 },
    Turn::Servers { servers: 2, clients: 1 },
    Turn::Before,
];

async fn run(options: &Options) -> Result<bool> {
    let first = Server::start(options, 0).await?;
    fill(options.port, TABLE_OF_DRIVER).await?;
    let driver = Driver::open(options).await?;
    fill(options.port, TABLE).await?;
    let second = Server::start(options, 1).await?;
    let before = match &options.before {
        Some(binary) => Some(Server::start(&Options { tablerock: binary.clone(), ..options.clone() }, 2).await?),
        None => None,
    };
    let ours = [first.0.id(), second.0.id()];
    let meter = Meter { postmaster: driver.postmaster().await };

    let rounds = options.rounds.max(1);
    println!("{} connections, {rounds} rounds of turns of {} s", options.connections, options.seconds);
    let mut is_success = true;
    for (work, name, least) in [(Work::Read, "point reads", READS_MIN), (Work::Upsert, "durable upserts", WRITES_MIN)] {
        // Turns are short and many, and each time another one is first: whatever else machine and database do falls on
        // all of them.
        let mut totals = [Total::default(); TURNS.len()];
        for round in 0..rounds {
            eprintln!("{name}: round {} of {rounds}", round + 1);
            for turn in 0..TURNS.len() {
                let turn = (round + turn) % TURNS.len();
                let serving = match (TURNS[turn], &before) {
                    (Turn::Driver, _) => vec![],
                    (Turn::Servers { servers, .. }, _) => ours[..usize::from(servers)].to_vec(),
                    (Turn::Before, Some(before)) => vec![before.0.id()],
                    (Turn::Before, None) => continue,
                };
                let computed = meter.read(&serving);
                let rate = match TURNS[turn] {
                    Turn::Driver => driver.measure(work, options).await?,
                    Turn::Servers { servers, clients } => {
                        serve(work, 0..servers, clients * options.connections, options).await?
                    }
                    Turn::Before => serve(work, 2..3, options.connections, options).await?,
                };
                totals[turn].add(rate, options.seconds, computed, meter.read(&serving));
            }
        }
        let [alone, single, double, shared, earlier] = totals.map(|total| total.rate / rounds as f64);
        let (share, gain) = (single / alone, double / single);
        let verdict = |is_met: bool| if is_met { "met" } else { "MISSED" };
        println!("{name}/s, and the time that servers and database compute for each");
        println!("  driver alone {alone:.0} {}", totals[0]);
        let (share_is, least_is, is_met) = (100.0 * share, 100.0 * least, verdict(share >= least));
        println!(
            "  one server {single:.0} {}: {share_is:.0} % of the driver (target {least_is:.0} %: {is_met})",
            totals[1]
        );
        println!("  two servers {double:.0} {}: {gain:.2} of one (target 1: {})", totals[2], verdict(gain >= 1.0));
        println!(
            "  two servers that share the clients of one {shared:.0} {}: {:.2} of one",
            totals[3],
            shared / single
        );
        is_success &= share >= least && gain >= 1.0;
        if before.is_some() {
            let gain = single / earlier;
            println!("  one server of before {earlier:.0} {}: now {gain:.2} of it", totals[4]);
            if work == Work::Read {
                println!("  (target {GAIN_MIN} of its reads: {})", verdict(gain >= GAIN_MIN));
                is_success &= gain >= GAIN_MIN;
            }
        }
    }
    drop((first, second, before));
    Ok(is_success)
}

/// A server on the database.
struct Server(Child);

impl Server {
    async fn start(options: &Options, number: u16) -> Result<Self> {
        let port = options.port_of(number);
        let mut command = Command::new(&options.tablerock);
        command.args(["--silent", "--store", &options.url, "--store-connections", &options.connections.to_string()]);
        for (flag, port) in [("--table-port", port), ("--queue-port", port + 1), ("--blob-port", port + 2)] {
            command.args([flag, &port.to_string()]);
        }
        command.args(["--admin-port", "0"]).stdin(Stdio::null()).stdout(Stdio::null());
        let server = Self(command.spawn().map_err(|error| format!("{}: {error}", options.tablerock.display()))?);
        let started = Instant::now();
        while Connection::open(port).await.is_err() {
            if started.elapsed() > START_LIMIT {
                return Err("the server does not listen".to_owned());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn resource(table: &str, number: usize) -> String {
    format!("/{table}(PartitionKey='p{:03}',RowKey='r{number:06}')", number % PARTITIONS)
}

fn entity() -> Vec<u8> {
    format!("{{\"Value\":\"{}\"}}", "v".repeat(1_000)).into_bytes()
}

/// One connection to a server, and what it asks.
struct Asking {
    caller: Caller,
    connection: Connection,
    request: Vec<u8>,
}

impl Asking {
    async fn open(port: u16) -> Result<Self> {
        let connection = Connection::open(port).await.map_err(|error| error.to_string())?;
        Ok(Self { caller: Caller::new(port, TABLE, Credential::SharedKey)?, connection, request: Vec::new() })
    }

    async fn ask(&mut self, call: &Call<'_>) -> Result<u16> {
        self.caller.write(call, &mut self.request);
        let answer = self.connection.exchange(&self.request, &[]).await.map_err(|error| error.to_string())?;
        Ok(answer.status)
    }

    async fn perform(&mut self, work: Work, resource: &str, entity: &[u8]) -> Result<()> {
        let call = match work {
            Work::Read => Call::get(resource, ""),
            Work::Upsert => Call { method: "PUT", ..Call::insert(resource, entity) },
        };
        match self.ask(&call).await? {
            200 | 204 => Ok(()),
            status => Err(format!("{} {resource}: {status}", call.method)),
        }
    }
}

async fn fill(port: u16, table: &'static str) -> Result<()> {
    let created = format!("{{\"TableName\":\"{table}\"}}");
    let status = Asking::open(port).await?.ask(&Call::insert("/Tables", created.as_bytes())).await?;
    if status != 201 && status != 204 {
        return Err(format!("the table could not be created: {status}"));
    }
    let next = Arc::new(AtomicU64::new(0));
    let loaders = (0..16).map(|_| {
        let next = Arc::clone(&next);
        tokio::spawn(async move {
            let (mut asking, entity) = (Asking::open(port).await?, entity());
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed) as usize;
                if number >= ENTITIES {
                    return Ok::<_, String>(());
                }
                asking.perform(Work::Upsert, &resource(table, number), &entity).await?;
            }
        })
    });
    for loader in loaders.collect::<Vec<_>>() {
        loader.await.map_err(|error| error.to_string())??;
    }
    Ok(())
}

/// How often a second the servers do something for so many clients, all of them together.
async fn serve(work: Work, servers: Range<u16>, clients: usize, options: &Options) -> Result<f64> {
    let until = Instant::now() + Duration::from_secs(options.seconds);
    let asking = (0..clients).map(|number| {
        let port = options.port_of(servers.start + number as u16 % servers.len() as u16);
        tokio::spawn(async move {
            let (mut asking, entity, mut rng) = (Asking::open(port).await?, entity(), Rng::with_seed(number as u64));
            let mut done = 0_u64;
            while Instant::now() < until {
                asking.perform(work, &resource(TABLE, rng.usize(0..ENTITIES)), &entity).await?;
                done += 1;
            }
            Ok::<_, String>(done)
        })
    });
    rate(asking.collect(), options).await
}

/// A record of an entity, as the driver writes it again.
struct Record {
    partition: Vec<u8>,
    key: Vec<u8>,
    digest: Vec<u8>,
    value: Vec<u8>,
}

struct Statements {
    get: Statement,
    upsert: Statement,
}

/// The driver alone, with what a server would ask for.
struct Driver {
    clients: Vec<Arc<(Client, Statements)>>,
    directory: Arc<(Vec<u8>, Vec<u8>)>,
    records: Arc<Vec<Record>>,
}

impl Driver {
    async fn open(options: &Options) -> Result<Self> {
        let failed = |error: tokio_postgres::Error| error.to_string();
        let mut clients = Vec::new();
        for _ in 0..options.connections {
            let (client, connection) = tokio_postgres::connect(&options.url, NoTls).await.map_err(failed)?;
            tokio::spawn(connection);
            let get = client.prepare(GET).await.map_err(failed)?;
            let upsert = client.prepare(UPSERT).await.map_err(failed)?;
            clients.push(Arc::new((client, Statements { get, upsert })));
        }
        let client = &clients.first().ok_or("no connections")?.0;
        let row = client.query_one(DIRECTORY, &[&TABLE_OF_DRIVER.to_lowercase().into_bytes()]).await.map_err(failed)?;
        let directory = Arc::new((row.get(0), row.get(1)));
        let rows = client.query(RECORDS, &[]).await.map_err(failed)?;
        let record = |row: &tokio_postgres::Row| Record {
            partition: row.get(0),
            key: row.get(1),
            digest: row.get(2),
            value: row.get(3),
        };
        let records = Arc::new(rows.iter().map(record).collect::<Vec<_>>());
        Ok(Self { clients, directory, records })
    }

    /// The process of the database, if it is on this machine and the role may find out.
    async fn postmaster(&self) -> Option<u32> {
        let row = self.clients.first()?.0.query_one(POSTMASTER, &[]).await.ok()?;
        row.try_get::<_, String>(0).ok()?.parse().ok()
    }

    async fn measure(&self, work: Work, options: &Options) -> Result<f64> {
        let until = Instant::now() + Duration::from_secs(options.seconds);
        let working = self.clients.iter().enumerate().map(|(number, client)| {
            let (client, directory) = (Arc::clone(client), Arc::clone(&self.directory));
            let (records, mut rng) = (Arc::clone(&self.records), Rng::with_seed(number as u64));
            tokio::spawn(async move {
                let mut done = 0_u64;
                while Instant::now() < until {
                    let record = &records[rng.usize(0..records.len())];
                    perform(&client, &directory, work, record).await?;
                    done += 1;
                }
                Ok::<_, String>(done)
            })
        });
        rate(working.collect(), options).await
    }
}

async fn perform(
    (client, statements): &(Client, Statements),
    directory: &(Vec<u8>, Vec<u8>),
    work: Work,
    record: &Record,
) -> Result<()> {
    let failed = |error: tokio_postgres::Error| error.to_string();
    let Record { partition, key, digest, value } = record;
    match work {
        Work::Read => {
            client.query(&statements.get, &[&directory.0, &directory.1, partition, key]).await.map_err(failed)?;
        }
        // Written with what it has already: for the database that is a new version like any other.
        Work::Upsert => {
            let parameters: [&(dyn ToSql + Sync); 4] = [partition, key, digest, value];
            if client.execute(&statements.upsert, &parameters).await.map_err(failed)? != 1 {
                return Err("the driver's record is not as it left it".to_owned());
            }
        }
    }
    Ok(())
}

async fn rate(tasks: Vec<tokio::task::JoinHandle<Result<u64>>>, options: &Options) -> Result<f64> {
    let mut done = 0;
    for task in tasks {
        done += task.await.map_err(|error| error.to_string())??;
    }
    Ok(done as f64 / options.seconds as f64)
}
