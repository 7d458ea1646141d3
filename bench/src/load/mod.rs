//! The load generator. A closed loop: each connection sends its next request when the response to the last has come.
//!
//! It has a thread for every second processor, and each thread has its own connections and its own runtime, so that
//! threads share nothing on the way of a request but a counter. What it costs is measured with every run, because it
//! computes on the same processors as the server.

pub mod computed;
pub mod histogram;
pub mod process;

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use crate::Result;
use crate::http::connection::Connection;
use crate::load::histogram::Histogram;
use crate::load::process::{cpu_time, cpu_time_of_all};
use crate::workload::{Client, Step, Workload};

/// How long a run may take beyond its end, when it waits for the requests in progress.
const PATIENCE: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(20);

/// How much is asked at a time, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    pub connections: usize,
    /// Time before the count begins.
    pub warm_up: Duration,
    pub measured: Duration,
    /// Time after the end, before anyone else has a turn: what the server has put off until then is its own.
    pub rest: Duration,
    /// How many requests may be lost with their connections before the run is.
    pub losses_max: u64,
}

/// The results of one run.
#[derive(Debug, Clone)]
pub struct Run {
    /// Of the requests with a response within the measured time.
    pub latencies: Histogram,
    pub entities: u64,
    /// Requests without a response, because the server closed the connection.
    pub lost: u64,
    pub time: Duration,
    /// How long the generator and the server have computed meanwhile; zero where the system does not tell.
    pub generator_cpu: Duration,
    pub server_cpu: Duration,
    /// And all other programs of the machine.
    pub others_cpu: Duration,
}

impl Run {
    pub fn requests(&self) -> u64 {
        self.latencies.count()
    }
}

/// When the count begins and ends, how many requests were lost, and whether a connection has failed.
struct Course {
    from: Instant,
    to: Instant,
    lost: AtomicU64,
    losses_max: u64,
    failed: AtomicBool,
}

/// Where a server is.
#[derive(Debug, Clone, Copy)]
pub struct At {
    pub port: u16,
    pub pid: u32,
}

/// Runs a workload against a server.
pub fn drive(server: At, work: &dyn Workload, load: &Load) -> Result<Run> {
    let begin = Instant::now();
    let from = begin + load.warm_up;
    let course = Arc::new(Course {
        from,
        to: from + load.measured,
        lost: AtomicU64::new(0),
        losses_max: load.losses_max,
        failed: AtomicBool::new(false),
    });
    let threads = (thread::available_parallelism().map_or(1, usize::from) / 2).clamp(1, load.connections);
    let mut clients: Vec<Vec<Box<dyn Client>>> = (0..threads).map(|_| Vec::new()).collect();
    for number in 0..load.connections {
        clients[number % threads].push(work.client(number as u64)?);
    }
    let workers: Vec<_> = clients
        .into_iter()
        .map(|clients| {
            let course = Arc::clone(&course);
            thread::spawn(move || work_off(server.port, clients, &course))
        })
        .collect();
    thread::sleep(load.warm_up);
    let computed = || {
        let [generator, server] = [std::process::id(), server.pid].map(|pid| cpu_time(pid).unwrap_or_default());
        [generator, server, cpu_time_of_all().unwrap_or_default()]
    };
    let before = computed();
    while Instant::now() < course.to && !workers.iter().all(JoinHandle::is_finished) {
        thread::sleep(POLL.min(course.to.saturating_duration_since(Instant::now())));
    }
    let after = computed();
    let mut latencies = Histogram::default();
    let mut finished = begin;
    for worker in workers {
        let (counted, end) = worker.join().map_err(|_| "a thread of the load generator panicked".to_owned())??;
        latencies.add(&counted);
        finished = finished.max(end);
    }
    let entities = latencies.count() * work.entities_per_request();
    // Work that was over before its time is measured to its own end.
    let time = finished.min(course.to) - course.from;
    let [generator_cpu, server_cpu, all] = [0, 1, 2].map(|index| after[index].saturating_sub(before[index]));
    let others_cpu = all.saturating_sub(generator_cpu + server_cpu);
    let lost = course.lost.load(Ordering::Relaxed);
    Ok(Run { latencies, entities, lost, time, generator_cpu, server_cpu, others_cpu })
}

/// Sends one request and returns the response as it was on the wire.
pub fn ask_once(port: u16, work: &dyn Workload) -> Result<Vec<u8>> {
    let mut client = work.client(0)?;
    let mut request = Vec::new();
    client.next(&mut request);
    runtime()?.block_on(async {
        let mut connection = Connection::open(port).await.map_err(|error| error.to_string())?;
        let answer = connection.exchange(&request, client.large_body()).await.map_err(|error| error.to_string())?;
        client.check(&answer)?;
        Ok([answer.head, answer.body].concat())
    })
}

/// Sends a request that sets something up, and expects one of these statuses.
pub fn set_up(port: u16, request: &[u8], statuses: &[u16]) -> Result<()> {
    runtime()?.block_on(async {
        let mut connection = Connection::open(port).await.map_err(|error| error.to_string())?;
        let answer = connection.exchange(request, b"").await.map_err(|error| error.to_string())?;
        let asked = String::from_utf8_lossy(request);
        let refused = || format!("{} was refused\n{}", asked.lines().next().unwrap_or_default(), answer.text());
        if statuses.contains(&answer.status) { Ok(()) } else { Err(refused()) }
    })
}

/// A runtime on the thread that uses it.
pub fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())
}

/// Runs the connections of one thread to their end, and returns when that was.
fn work_off(port: u16, clients: Vec<Box<dyn Client>>, course: &Arc<Course>) -> Result<(Histogram, Instant)> {
    let until = course.to + PATIENCE;
    runtime()?.block_on(async {
        let tasks: Vec<_> =
            clients.into_iter().map(|client| tokio::spawn(ask(port, client, Arc::clone(course)))).collect();
        let mut latencies = Histogram::default();
        for task in tasks {
            let answered = tokio::time::timeout_at(until.into(), task).await;
            let answered = answered.map_err(|_| format!("no response within {} s", PATIENCE.as_secs()))?;
            latencies.add(&answered.map_err(|_| "a connection's task panicked".to_owned())??);
        }
        Ok((latencies, Instant::now()))
    })
}

/// One connection's loop. When one fails the others stop too: the run is lost.
async fn ask(port: u16, client: Box<dyn Client>, course: Arc<Course>) -> Result<Histogram> {
    let asked = ask_until_over(port, client, &course).await;
    if asked.is_err() {
        course.failed.store(true, Ordering::Relaxed);
    }
    asked
}

async fn ask_until_over(port: u16, mut client: Box<dyn Client>, course: &Course) -> Result<Histogram> {
    let open = async || Connection::open(port).await.map_err(|error| format!("cannot connect: {error}"));
    let mut connection = open().await?;
    let mut request = Vec::new();
    let mut latencies = Histogram::default();
    let mut now = Instant::now();
    while now < course.to && !course.failed.load(Ordering::Relaxed) && client.next(&mut request) {
        let sent = Instant::now();
        let answered = ask_to_the_end(&mut connection, client.as_mut(), &mut request).await;
        now = Instant::now();
        match answered {
            Ok(()) if (course.from..course.to).contains(&now) => latencies.record(now - sent),
            Ok(()) => {}
            Err(Failure::Connection(error)) => {
                if course.lost.fetch_add(1, Ordering::Relaxed) >= course.losses_max {
                    return Err(error.to_string());
                }
                connection = open().await?;
            }
            Err(Failure::Answer(why)) => return Err(why),
        }
    }
    Ok(latencies)
}

/// Why a request did not succeed.
enum Failure {
    Connection(std::io::Error),
    Answer(String),
}

/// Sends a request and those that belong to it. Nothing is asked again: whether a request that was lost has been
/// carried out is not known.
async fn ask_to_the_end(
    connection: &mut Connection,
    client: &mut dyn Client,
    request: &mut Vec<u8>,
) -> std::result::Result<(), Failure> {
    loop {
        let answer = connection.exchange(request, client.large_body()).await.map_err(|error| match error.kind() {
            ErrorKind::InvalidData => Failure::Answer(error.to_string()),
            _ => Failure::Connection(error),
        })?;
        match client.check(&answer).map_err(Failure::Answer)? {
            Step::Continue => client.next(request),
            Step::Done => return Ok(()),
        };
    }
}
