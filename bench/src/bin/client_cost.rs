//! `client-cost`: the processor time of a point read and of an insert by `tablerock-client`, next to the same requests by
//! hyper with a signature; `cargo xtask bench --client` runs it.
//!
//! Both take turns in one thread, so other load on the machine disturbs both alike. The time is that of this thread with
//! the kernel's share. `--only` runs one of the four kinds of work alone, for valgrind.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use clap::{Parser, ValueEnum};
use http::{Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tablerock_bench::data::employee::Employee;
use tablerock_client::{FromEntity as _, TableClient, TableServiceClient};
use tablerock_protocol::signing::{AccountKey, SharedKeyScheme, TableRequestParts};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

const ENTITIES: u32 = 1_000;
const READ_TARGET_PERCENT: f64 = 25.0;
const INSERT_TARGET_PERCENT: f64 = 30.0;

const START_LIMIT: Duration = Duration::from_secs(30);

/// Measures the processor time of the client next to hyper with a signature.
#[derive(Parser, Debug)]
struct Options {
    /// A binary of the server, which is started in memory; without it, the endpoint has to be there
    #[arg(long)]
    tablerock: Option<PathBuf>,
    /// The first of three ports in a row for that server
    #[arg(long, default_value_t = 10180)]
    port: u16,
    /// The endpoint of the Table service, if no server is started
    #[arg(long, default_value = "http://127.0.0.1:10002/devstoreaccount1")]
    endpoint: String,
    #[arg(long, default_value = "devstoreaccount1")]
    account: String,
    /// The account's key; that of the development account if there is none
    #[arg(
        long,
        default_value = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    )]
    key: String,
    /// The requests of a turn
    #[arg(long, default_value_t = 500)]
    turn: u32,
    /// The turns of each kind of work
    #[arg(long, default_value_t = 40)]
    rounds: u32,
    /// Run only this kind of work, one turn, and report nothing
    #[arg(long)]
    only: Option<Work>,
}

/// A kind of work, by one of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Work {
    HyperRead,
    ClientRead,
    HyperInsert,
    ClientInsert,
}

fn employee(number: u32) -> Employee {
    Employee {
        department: "Sales".into(),
        id: format!("{number:06}"),
        first_name: "Ann".into(),
        last_name: "Ash".into(),
        age: 41,
        salary: 93_000.5,
        visits: 5_000_000_000,
        about: "x".repeat(500),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut options = Options::parse();
    let server = options.tablerock.as_deref().map(|binary| Server::start(binary, options.port)).transpose();
    if server.as_ref().is_ok_and(Option::is_some) {
        options.endpoint = format!("http://127.0.0.1:{}/{}", options.port + 2, options.account);
    }
    let outcome = match server {
        Ok(_running) => run(&options).await,
        Err(error) => Err(error),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Whether both targets are met.
async fn run(options: &Options) -> Result<bool, AnyError> {
    let mut both = Both::open(options).await?;
    if let Some(work) = options.only {
        both.perform(work, options.turn).await?;
        return both.close().await.map(|()| true);
    }
    let pairs = [(Work::HyperRead, Work::ClientRead), (Work::HyperInsert, Work::ClientInsert)];
    let mut measured = pairs.map(|_| (Vec::new(), Vec::new()));
    // The first round only warms up.
    for round in 0..=options.rounds {
        for ((hyper, client), (hyper_times, client_times)) in pairs.into_iter().zip(&mut measured) {
            let times = (both.timed(hyper, options.turn).await?, both.timed(client, options.turn).await?);
            if round > 0 {
                hyper_times.push(times.0);
                client_times.push(times.1);
            }
        }
    }
    both.close().await?;
    println!("| processor time per request | hyper with a signature | this client | more | at most |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    let rows = [("point read", READ_TARGET_PERCENT), ("insert", INSERT_TARGET_PERCENT)];
    let mut is_met = true;
    for ((name, target), (hyper, client)) in rows.iter().zip(&measured) {
        let more = median(hyper.iter().zip(client).map(|(hyper, client)| (client / hyper - 1.0) * 100.0));
        let micros = |times: &[f64]| median(times.iter().map(|nanos| nanos / 1000.0));
        println!("| {name} | {:.1} µs | {:.1} µs | {more:.0} % | {target:.0} % |", micros(hyper), micros(client));
        is_met &= more <= *target;
    }
    Ok(is_met)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The time that this thread has computed, in user space and in the kernel.
fn cpu_time() -> Result<Duration, AnyError> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos = text.split_whitespace().next().ok_or("/proc/thread-self/schedstat is empty")?;
    Ok(Duration::from_nanos(nanos.parse()?))
}

/// A server in memory, which ends with this.
struct Server(Child);

impl Server {
    fn start(binary: &Path, port: u16) -> Result<Self, AnyError> {
        let mut command = Command::new(binary);
        command.args(["--in-memory", "--silent"]).stdout(Stdio::null());
        for (index, service) in (0..).zip(["--blob-port", "--queue-port", "--table-port"]) {
            command.args([service, &(port + index).to_string()]);
        }
        let mut server = Self(command.spawn().map_err(|error| format!("{}: {error}", binary.display()))?);
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port + 2)).is_err() {
            if let Some(status) = server.0.try_wait()? {
                return Err(format!("the server ended at its start with {status}: choose other ports").into());
            }
            if started.elapsed() > START_LIMIT {
                return Err(format!("the server does not listen within {} s", START_LIMIT.as_secs()).into());
            }
            thread::sleep(Duration::from_millis(20));
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

/// The client and hyper, with one table.
struct Both {
    table: TableClient,
    hyper: Hyper,
    inserted: u32,
}

impl Both {
    async fn open(options: &Options) -> Result<Self, AnyError> {
        let Options { endpoint, account, key, .. } = options;
        let connection = format!("AccountName={account};AccountKey={key};TableEndpoint={endpoint}");
        let table = TableServiceClient::from_connection_string(&connection)?.table("ClientCost");
        table.delete_table_if_exists().await?;
        table.create().await?;
        for number in 0..ENTITIES {
            table.insert(&employee(number)).await?;
        }
        let hyper = Hyper::new(&table, account, AccountKey::parse(key)?)?;
        Ok(Self { table, hyper, inserted: ENTITIES })
    }

    async fn close(self) -> Result<(), AnyError> {
        Ok(self.table.delete_table().await?)
    }

    /// The nanoseconds of a request, of a turn of them.
    async fn timed(&mut self, work: Work, requests: u32) -> Result<f64, AnyError> {
        let before = cpu_time()?;
        self.perform(work, requests).await?;
        Ok((cpu_time()? - before).as_nanos() as f64 / f64::from(requests))
    }

    async fn perform(&mut self, work: Work, requests: u32) -> Result<(), AnyError> {
        for number in 0..requests {
            let row = format!("{:06}", number * 7919 % ENTITIES);
            match work {
                Work::HyperRead => self.hyper.read("Sales", &row).await?,
                Work::ClientRead => {
                    let read: Employee = self.table.get("Sales", &row).await?;
                    assert_eq!(read.id, row);
                }
                Work::HyperInsert => self.hyper.insert(&employee(self.inserted)).await?,
                Work::ClientInsert => drop(self.table.insert(&employee(self.inserted)).await?),
            }
            self.inserted += u32::from(matches!(work, Work::HyperInsert | Work::ClientInsert));
        }
        Ok(())
    }
}

/// The same requests by hyper, with the signature that the service needs. Bodies of responses are read and dropped.
struct Hyper {
    client: Client<HttpConnector, Full<Bytes>>,
    /// The path of the account is in the path that is signed.
    origin: String,
    table: String,
    account: String,
    key: AccountKey,
    /// The projection of the client's own requests.
    select: String,
}

impl Hyper {
    fn new(table: &TableClient, account: &str, key: AccountKey) -> Result<Self, AnyError> {
        let endpoint = table.endpoint().to_string();
        let host = endpoint.find("://").map(|scheme| scheme + 3).ok_or("the endpoint has no scheme")?;
        let path = endpoint[host..].find('/').map_or(endpoint.len(), |path| host + path);
        let names = [&["PartitionKey", "RowKey", "Timestamp"], Employee::SELECT.unwrap_or_default()].concat();
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Ok(Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
            origin: endpoint[..path].to_owned(),
            table: format!("{}/{}", &endpoint[path..], table.name()),
            account: account.to_owned(),
            key,
            select: names.join("%2C"),
        })
    }

    async fn read(&self, partition: &str, row: &str) -> Result<(), AnyError> {
        let path = format!("{}(PartitionKey='{partition}',RowKey='{row}')", self.table);
        let request =
            self.signed(Method::GET, &path, "")?.uri(format!("{}{path}?$select={}", self.origin, self.select));
        self.send(request.body(Full::default())?).await
    }

    async fn insert(&self, employee: &Employee) -> Result<(), AnyError> {
        let Employee { department, id, first_name, last_name, age, salary, visits, about } = employee;
        let body = format!(
            r#"{{"PartitionKey":"{department}","RowKey":"{id}","FirstName":"{first_name}","LastName":"{last_name}","#
        ) + &format!(
            r#""Age":{age},"Salary":{salary},"Visits@odata.type":"Edm.Int64","Visits":"{visits}","About":"{about}"}}"#
        );
        let request = self.signed(Method::POST, &self.table, "application/json")?;
        let request = request.uri(format!("{}{}", self.origin, self.table)).header("prefer", "return-no-content");
        self.send(request.header("content-type", "application/json").body(Full::from(body))?).await
    }

    fn signed(&self, method: Method, path: &str, content_type: &str) -> Result<http::request::Builder, AnyError> {
        let date = httpdate::fmt_http_date(now());
        let (account, date_text) = (self.account.as_str(), date.as_str());
        let parts = TableRequestParts {
            method: method.as_str(),
            content_md5: "",
            content_type,
            date: date_text,
            account,
            path,
            comp: None,
        };
        let authorization = parts.authorization(SharedKeyScheme::SharedKey, &self.key);
        let request = Request::builder().method(method).header("accept", "application/json;odata=minimalmetadata");
        let request = request.header("x-ms-version", "2020-12-06").header("x-ms-date", date);
        Ok(request.header("authorization", authorization))
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<(), AnyError> {
        let response = self.client.request(request).await?;
        if !response.status().is_success() {
            return Err(format!("hyper's request failed with {}", response.status()).into());
        }
        response.into_body().collect().await?;
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "a signature needs the time")]
fn now() -> SystemTime {
    SystemTime::now()
}
