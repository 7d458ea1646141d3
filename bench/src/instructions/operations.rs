//! The operations that are counted, each on one connection that stays open.

use std::sync::Arc;

use crate::Result;
use crate::data::content::Content;
use crate::data::dataset::{Dataset, create_table};
use crate::http::caller::Credential;
use crate::http::connection::Connection;
use crate::instructions::callgrind::{CountedServer, Ports};
use crate::instructions::profile::Profile;
use crate::load;
use crate::workload::{
    Client, Errand, GetBlob, Group, Insert, MessageWork, PointRead, PutBlob, Query, Queue, Step, Wanted, Workload,
};

const ROUNDS: usize = 7;
/// Rounds before the count: caches and skip indexes are filled by then.
const WARM_UP_ROUNDS: usize = 2;
/// Requests of a round. All that a server is sent has to fit into its write buffer (16 MiB): otherwise the thread that
/// writes table files is counted as well.
const REQUESTS: u64 = 300;
const QUERY_REQUESTS: u64 = 40;
const GROUP_REQUESTS: u64 = 10;
/// The table that is read.
const READ: Dataset = Dataset { table: "Read", entities: 5_000, partition_size: 100 };
const BLOB_BYTES: usize = 4 << 10;

/// The rounds of one operation.
#[derive(Debug)]
pub struct Counted {
    pub operation: &'static str,
    pub requests: u64,
    pub rounds: Vec<Profile>,
}

/// One operation with its requests.
struct Operation {
    name: &'static str,
    port: u16,
    requests: u64,
    work: Box<dyn Workload>,
}

/// Operations that share a server, made once it runs.
type Stage = fn(Ports) -> Result<Vec<Operation>>;

const STAGES: [Stage; 5] = [reads, inserts, groups, messages, blobs];

/// Counts all operations, one after the other, each stage on a server of its own. `progress` is called with
/// the rounds of each operation once it is done.
pub fn count_all(
    start: &dyn Fn() -> Result<CountedServer>,
    ports: Ports,
    progress: &dyn Fn(&Counted),
) -> Result<Vec<Counted>> {
    let mut counted = Vec::new();
    for stage in STAGES {
        let mut server = start()?;
        let operations = stage(ports)?;
        server.count_from_here()?;
        for operation in &operations {
            let count = count(&mut server, operation).map_err(|error| format!("{}: {error}", operation.name))?;
            progress(&count);
            counted.push(count);
        }
        server.stop()?;
    }
    Ok(counted)
}

fn reads(ports: Ports) -> Result<Vec<Operation>> {
    let port = ports.table;
    create_table(port, READ.table)?;
    fill(port)?;
    let point_read = PointRead { port, dataset: READ, credential: Credential::SharedKey };
    let query = Query { port, dataset: READ, wanted: Wanted::Partition };
    Ok(vec![
        Operation { name: "point read", port, requests: REQUESTS, work: Box::new(point_read) },
        Operation { name: "query of 100 entities", port, requests: QUERY_REQUESTS, work: Box::new(query) },
    ])
}

fn inserts(ports: Ports) -> Result<Vec<Operation>> {
    let port = ports.table;
    create_table(port, "Single")?;
    let work = Box::new(Insert::new(port, "Single", 1_000));
    Ok(vec![Operation { name: "insert", port, requests: REQUESTS, work }])
}

fn groups(ports: Ports) -> Result<Vec<Operation>> {
    let port = ports.table;
    create_table(port, "Group")?;
    let work = Box::new(Group::endless(port, "Group"));
    Ok(vec![Operation { name: "group transaction of 100 inserts", port, requests: GROUP_REQUESTS, work }])
}

/// Messages are got in the order in which they were put, and deleted in that in which they were got.
fn messages(ports: Ports) -> Result<Vec<Operation>> {
    let port = ports.queue;
    let queue = Arc::new(Queue::create(port)?);
    let operation = |name, errand| {
        let work = Box::new(MessageWork { queue: Arc::clone(&queue), errand });
        Operation { name, port, requests: REQUESTS, work }
    };
    Ok(vec![
        operation("put message of 1 KB", Errand::Put(u64::MAX)),
        operation("get message", Errand::Get),
        operation("delete message", Errand::Delete),
    ])
}

fn blobs(ports: Ports) -> Result<Vec<Operation>> {
    let port = ports.blob;
    let content = Arc::new(Content::of(BLOB_BYTES));
    let put = PutBlob::begin(port, Arc::clone(&content), u64::MAX)?;
    let get = GetBlob { port, content, blobs: REQUESTS, gets_max: u64::MAX };
    Ok(vec![
        Operation { name: "put blob of 4 KiB", port, requests: REQUESTS, work: Box::new(put) },
        Operation { name: "get blob of 4 KiB", port, requests: REQUESTS, work: Box::new(get) },
    ])
}

/// One connection fills the table, so that each run finds it in the same order.
fn fill(port: u16) -> Result<()> {
    let runtime = load::runtime()?;
    let work = Group::filling(port, READ);
    let mut client = work.client(0)?;
    runtime.block_on(async {
        let mut connection = Connection::open(port).await.map_err(|error| error.to_string())?;
        send(&mut connection, client.as_mut(), READ.entities / work.entities_per_request()).await
    })
}

/// Sends the requests of a warm-up and of each round, and reads the count after each round.
fn count(server: &mut CountedServer, operation: &Operation) -> Result<Counted> {
    let runtime = load::runtime()?;
    let mut connection = runtime.block_on(Connection::open(operation.port)).map_err(|error| error.to_string())?;
    let mut client = operation.work.client(0)?;
    let mut send = || runtime.block_on(send(&mut connection, client.as_mut(), operation.requests));
    for _ in 0..WARM_UP_ROUNDS {
        send()?;
    }
    let mut rounds = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        server.zero()?;
        send()?;
        rounds.push(server.counted()?);
    }
    Ok(Counted { operation: operation.name, requests: operation.requests, rounds })
}

/// One request after the other; a query must fit into one page to be counted as one.
async fn send(connection: &mut Connection, client: &mut dyn Client, requests: u64) -> Result<()> {
    let mut request = Vec::new();
    for _ in 0..requests {
        if !client.next(&mut request) {
            return Err("the requests have run out".to_owned());
        }
        let answer = connection.exchange(&request, client.large_body()).await.map_err(|error| error.to_string())?;
        if client.check(&answer)? == Step::Continue {
            return Err("one request was expected to be enough".to_owned());
        }
    }
    Ok(())
}
