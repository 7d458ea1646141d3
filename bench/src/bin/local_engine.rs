//! Measures the local engine on a disk, without HTTP: commits, point reads and scans.
//!
//! `cargo run --release --package tablerock-bench --bin local-engine -- [folder]`
//!
//! Writers insert records of 1 KB with a transaction each, as the layers do; every commit counted is synced.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Error, Range, Rng, ScanLimits, Store};
use tablerock_kv_local::LocalEngine;

const VALUE_BYTES: usize = 1_000;
const SPAN: Duration = Duration::from_secs(5);
const LOADED_RECORDS: u64 = 200_000;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let folder = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let location = folder.join(format!("tablerock-throughput-{}", std::process::id()));
    let start = Instant::now();
    let engine = Arc::new(LocalEngine::open(&location)?);
    let store = Store::new(engine.clone());

    println!("created             {:>10.1} ms, {} KB resident", start.elapsed().as_secs_f64() * 1e3, resident_kb());
    for (writers, partitions) in [(1, 1), (64, 1), (64, 64), (256, 256)] {
        let before = engine.statistics();
        let commits = insert(&store, writers, partitions).await?;
        let after = engine.statistics();
        let rate = commits as f64 / SPAN.as_secs_f64();
        let per_sync = (after.commits - before.commits) as f64 / (after.syncs - before.syncs) as f64;
        println!(
            "{writers:>3} writers, {partitions:>3} partitions {rate:>10.0} commits/s {per_sync:>8.1} commits/sync"
        );
    }
    load(&store).await?;
    println!("point reads, hot    {:>10.0} /s", read(&store, 1_000).await?);
    println!("point reads, all    {:>10.0} /s", read(&store, LOADED_RECORDS).await?);
    println!("scans of 100        {:>10.0} records/s", scan(&store, 100).await?);
    println!("scans of 1000       {:>10.0} records/s", scan(&store, 1_000).await?);
    println!("at the end          {:>10} KB resident", resident_kb());
    store.close().await?;
    drop((store, engine));
    let start = Instant::now();
    drop(LocalEngine::open(&location)?);
    println!("opened and closed   {:>10.1} ms", start.elapsed().as_secs_f64() * 1e3);
    std::fs::remove_dir_all(&location).map_err(|error| Error::internal("cannot clean up").with_source(error))
}

/// Inserts new records for a while with so many writers, and says how many.
async fn insert(store: &Store, writers: usize, partitions: usize) -> Result<u64, Error> {
    let end = Instant::now() + SPAN;
    let tasks: Vec<_> = (0..writers)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                let partition = format!("{writers}-{partitions}-{:03}", writer % partitions);
                let value = random_value();
                let mut commits = 0_u64;
                while Instant::now() < end {
                    let key = Bytes::from(format!("{writer:03}-{commits:09}"));
                    let insert = store.transact(partition.as_bytes(), vec![key.clone()], |tx| match tx.get(&key) {
                        Some(_) => Err(Error::invalid("the record exists")),
                        None => {
                            tx.put(key.clone(), value.clone());
                            Ok(())
                        }
                    });
                    insert.await?;
                    commits += 1;
                }
                Ok::<_, Error>(commits)
            })
        })
        .collect();
    let mut commits = 0;
    for task in tasks {
        commits += task.await.map_err(|error| Error::internal("a writer died").with_source(error))??;
    }
    Ok(commits)
}

async fn load(store: &Store) -> Result<(), Error> {
    let value = random_value();
    for first in (0..LOADED_RECORDS).step_by(100) {
        let load = store.transact(b"loaded", vec![], |tx| {
            (first..first + 100).for_each(|number| tx.put(format!("{number:09}"), value.clone()));
            Ok::<_, Error>(())
        });
        load.await?;
    }
    Ok(())
}

async fn read(store: &Store, records: u64) -> Result<f64, Error> {
    let rng = Rng::seeded(1);
    let (start, mut reads) = (Instant::now(), 0);
    while start.elapsed() < SPAN {
        let key = format!("{:09}", rng.below(records));
        store.get(b"loaded", key.as_bytes()).await?.ok_or_else(|| Error::corrupt("a loaded record is gone"))?;
        reads += 1;
    }
    Ok(f64::from(reads) / start.elapsed().as_secs_f64())
}

async fn scan(store: &Store, records_max: usize) -> Result<f64, Error> {
    let rng = Rng::seeded(2);
    let limits = ScanLimits { records_max, bytes_max: usize::MAX, deadline: None };
    let (start, mut records) = (Instant::now(), 0);
    while start.elapsed() < SPAN {
        let mut range = Range::partition(b"loaded");
        range.start.key = format!("{:09}", rng.below(LOADED_RECORDS - records_max as u64)).into();
        records += store.scan(&range, limits).await?.records.len();
    }
    Ok(records as f64 / start.elapsed().as_secs_f64())
}

fn random_value() -> Bytes {
    let rng = Rng::seeded(3);
    (0..VALUE_BYTES).map(|_| rng.below(64) as u8 + b' ').collect()
}

/// The resident memory of this process, where the system reports it.
fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix("kB"));
    resident.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}
