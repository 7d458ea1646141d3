//! What the engine makes of a database, beside the driver alone with the same statements on as many connections.
//!
//! `cargo run --release -p tablerock-kv-postgres --example beside_the_driver -- URL [connections] [seconds]`
//!
//! Point reads, and upserts of one record of 1 KB, each durable. The tables are those of the URL's schema; what is there
//! stays, and a partition of its own is added.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Commit, Engine as _, Rng};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions, Target};

const PARTITION: &[u8] = b"beside the driver";
const KEYS: u64 = 10_000;

const GET: &str = "SELECT value FROM tablerock_records WHERE partition = $1 AND key = $2";
const PUT: &str = "INSERT INTO tablerock_records (partition, key, digest, value) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (partition, key) DO UPDATE SET digest = excluded.digest, value = excluded.value";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("which database? postgres://…")?;
    let connections: usize = arguments.next().map_or(Ok(16), |text| text.parse())?;
    let time = Duration::from_secs(arguments.next().map_or(Ok(5), |text| text.parse())?);
    let options = PostgresOptions { connections_max: connections, ..PostgresOptions::default() };
    let engine = PostgresEngine::open(Target::parse(&url)?, options).await?;
    for first in (0..KEYS).step_by(500) {
        let writes = (first..first + 500).map(|number| (key(number), Some(value()))).collect();
        let partition = Bytes::from_static(PARTITION);
        engine.commit(Commit { partition, expected: vec![], writes }).await?;
    }
    let mut clients = vec![];
    for _ in 0..connections {
        let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        let statements = (client.prepare(GET).await?, client.prepare(PUT).await?);
        clients.push(Arc::new((client, statements.0, statements.1)));
    }

    let reads = |_| -> Work {
        let engine = engine.clone();
        Box::new(move |number| {
            let engine = engine.clone();
            Box::pin(async move { drop(engine.get(PARTITION, &key(number)).await.expect("a read succeeds")) })
        })
    };
    let driver_reads = |at: usize| -> Work {
        let client = clients[at].clone();
        Box::new(move |number| {
            let client = client.clone();
            Box::pin(async move {
                let (client, get, _) = &*client;
                client.query(get, &[&PARTITION, &&key(number)[..]]).await.expect("a read succeeds");
            })
        })
    };
    let writes = |_| -> Work {
        let engine = engine.clone();
        Box::new(move |number| {
            let engine = engine.clone();
            Box::pin(async move {
                let writes = vec![(key(number), Some(value()))];
                let commit = Commit { partition: Bytes::from_static(PARTITION), expected: vec![], writes };
                engine.commit(commit).await.expect("a put succeeds");
            })
        })
    };
    let driver_writes = |at: usize| -> Work {
        let client = clients[at].clone();
        Box::new(move |number| {
            let client = client.clone();
            Box::pin(async move {
                let (client, _, put) = &*client;
                let (digest, value) = ([7_u8; 16], value());
                let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 4] =
                    [&PARTITION, &&key(number)[..], &&digest[..], &&value[..]];
                client.execute(put, &parameters).await.expect("a put succeeds");
            })
        })
    };
    let driver_reads = measure(connections, time, driver_reads).await;
    let reads = measure(connections, time, reads).await;
    let driver_writes = measure(connections, time, driver_writes).await;
    let writes = measure(connections, time, writes).await;

    println!("{connections} connections, {} s each", time.as_secs());
    for (what, ours, theirs) in [("point reads/s", reads, driver_reads), ("durable upserts/s", writes, driver_writes)] {
        println!("{what:>18}: engine {ours:>7.0}, driver alone {theirs:>7.0}: {:.0} %", 100.0 * ours / theirs);
    }
    engine.close().await?;
    Ok(())
}

fn key(number: u64) -> Bytes {
    Bytes::from(format!("{number:08}"))
}

fn value() -> Bytes {
    Bytes::from(vec![b'v'; 1_024])
}

/// Does something with the record of a number.
type Work = Box<dyn Fn(u64) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Lets as many tasks as there are connections do something again and again, and says how often a second.
async fn measure(tasks: usize, time: Duration, worker: impl Fn(usize) -> Work) -> f64 {
    let done = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let running: Vec<_> = (0..tasks)
        .map(|at| {
            let (work, done, rng) = (worker(at), done.clone(), Rng::seeded(at as u64));
            tokio::spawn(async move {
                while started.elapsed() < time {
                    work(rng.below(KEYS)).await;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in running {
        task.await.expect("a task ends");
    }
    done.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64()
}
