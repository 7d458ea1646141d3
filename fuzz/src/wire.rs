//! Requests to a server in a process of its own, over connections that stay open, with framing that no client sends.
//!
//! It knows nothing of the server but its address. What it reports: a status of 500 and above other than 501 and 503,
//! a response that takes more than five seconds, a panic in the server's log, and a process that is gone.

mod connection;
mod faults;
mod mutation;
mod process;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use tablerock_protocol::signing::AccountKey;
use tablerock_protocol::{DateTime, Service};

use crate::request::message::Outgoing;
use connection::{Connections, Outcome};
use faults::Fault;
use mutation::{Corpus, Dice};
use process::ServerProcess;

/// After so many requests the data that they need is made again.
const REQUESTS_BETWEEN_SETUPS: u64 = 500;
const FINDINGS_MAX: usize = 20;

#[derive(Debug, Clone)]
pub struct WireOptions<'a> {
    pub server: &'a Path,
    /// The folder `fuzz/corpus/request`.
    pub corpus: &'a Path,
    /// Of three ports in a row: tables, queues, blobs.
    pub first_port: u16,
    pub time: Duration,
    pub requests_max: u64,
    pub seed: u64,
}

#[derive(Debug, Default)]
pub struct WireReport {
    pub requests: u64,
    /// How often each status came; 0 stands for a connection that closed without a response.
    pub statuses: BTreeMap<u16, u64>,
    pub findings: Vec<String>,
}

/// Runs until the time is over, the requests are sent, or there are too many findings.
pub fn run(options: &WireOptions<'_>) -> Result<WireReport, String> {
    let corpus = Corpus::read(options.corpus)?;
    let mut dice = Dice::new(options.seed);
    let mut process = ServerProcess::start(options.server, options.first_port)?;
    let mut connections = Connections::new(options.first_port);
    let mut report = WireReport::default();
    let begun = Instant::now();
    while begun.elapsed() < options.time && report.requests < options.requests_max {
        if report.requests.is_multiple_of(REQUESTS_BETWEEN_SETUPS) {
            set_up(&mut connections);
        }
        let input = corpus.input(&mut dice);
        let Some(request) = Outgoing::parse(&input, &Vec::new()) else { continue };
        let fault = Fault::choose(&mut dice);
        let wire = fault.apply(&request.to_wire(&key(), &now()), &mut dice);
        let outcome = connections.send(request.service, &request.method, &wire, fault);
        report.requests += 1;
        report.note(&outcome, fault, &input);
        if !process.is_running() {
            report.findings.push(format!("the server is gone after {fault:?} of {:?}", shown(&input)));
            break;
        }
        if report.findings.len() >= FINDINGS_MAX {
            break;
        }
    }
    report.findings.extend(process.panics()?);
    Ok(report)
}

impl WireReport {
    fn note(&mut self, outcome: &Outcome, fault: Fault, input: &[u8]) {
        let finding = match outcome {
            Outcome::Closed => {
                *self.statuses.entry(0).or_default() += 1;
                return;
            }
            Outcome::Answered(status) => {
                *self.statuses.entry(*status).or_default() += 1;
                if *status < 500 || [501, 503].contains(status) {
                    return;
                }
                format!("status {status}")
            }
            Outcome::Hung => "no response within five seconds".to_owned(),
            Outcome::Unreachable(error) => format!("no connection: {error}"),
        };
        self.findings.push(format!("{finding} to {fault:?} of {:?}", shown(input)));
    }
}

/// Makes the data that the inputs of the corpus find at the beginning, as far as plain requests can. Data that is there
/// already is refused, which does not matter.
fn set_up(connections: &mut Connections) {
    let requests: [&str; 7] = [
        "POST /acct/Tables\nContent-Type: application/json\nAccept: application/json\n\n{\"TableName\":\"People\"}",
        "POST /acct/People\nContent-Type: application/json\nAccept: application/json\n\n{\"PartitionKey\":\"Sales\",\"RowKey\":\"1\"}",
        "queue PUT /acct/jobs\n\n",
        "queue POST /acct/jobs/messages\n\n<QueueMessage><MessageText>x</MessageText></QueueMessage>",
        "blob PUT /acct/photos?restype=container\nx-ms-blob-public-access: blob\n\n",
        "blob PUT /acct/photos/a\nx-ms-blob-type: BlockBlob\n\nwhat is known",
        "blob PUT /acct/photos/log\nx-ms-blob-type: AppendBlob\n\n",
    ];
    for input in requests {
        let request = Outgoing::parse(input.as_bytes(), &Vec::new()).expect("a request of our own");
        let wire = request.to_wire(&key(), &now());
        connections.send(request.service, &request.method, &wire, Fault::None);
    }
}

fn key() -> AccountKey {
    AccountKey::from_bytes(b"ours")
}

#[allow(clippy::disallowed_methods, reason = "the server under test has the clock of the machine")]
fn now() -> String {
    DateTime::from(SystemTime::now()).to_http_date()
}

fn shown(input: &[u8]) -> String {
    String::from_utf8_lossy(&input[..input.len().min(300)]).into_owned()
}

const fn port_of(first: u16, service: Service) -> u16 {
    match service {
        Service::Table => first,
        Service::Queue => first + 1,
        Service::Blob => first + 2,
    }
}
