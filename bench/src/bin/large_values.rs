//! Measures large values in the local engine: rates of writes and reads, and bytes written to the disk for them.
//!
//! `cargo run --release --package tablerock-bench --bin large-values -- <directory> <MiB> <KiB per value> <in flight>`
//! writes that much twice, under other keys each time, reads the first half back, and prints rates and bytes.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Engine, Error, Store, Transaction};
use tablerock_kv_local::LocalEngine;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, total, value, in_flight] = &arguments[..] else {
        panic!("usage: large-values <directory> <MiB> <KiB per value> <in flight>")
    };
    let number = |text: &str| text.parse::<usize>().expect("a number");
    let (value_bytes, in_flight) = (number(value) << 10, number(in_flight));
    let count = (number(total) << 20) / value_bytes;
    let engine = Arc::new(LocalEngine::open(Path::new(directory))?);
    let store = Store::new(engine.clone());

    for round in 0..2u8 {
        let before = Instant::now();
        write(&store, round, count, value_bytes, in_flight).await?;
        report(&format!("write {round}"), count * value_bytes, before.elapsed());
    }
    for round in ["read", "read again"] {
        let before = Instant::now();
        for index in 0..count {
            let value = store.get(&[0], &key(index)).await?.expect("it was written");
            assert_eq!(value.len(), value_bytes);
        }
        report(round, count * value_bytes, before.elapsed());
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("written to disk {} MiB, tables {} MiB", written_bytes() >> 20, engine.statistics().disk_bytes >> 20);
    println!("memory {}", memory());
    engine.close().await
}

/// Each value is a commit of its own, as many of them at a time as asked for.
async fn write(store: &Store, round: u8, count: usize, bytes: usize, in_flight: usize) -> Result<(), Error> {
    let mut tasks = tokio::task::JoinSet::new();
    let mut rng = fastrand::Rng::with_seed(u64::from(round));
    for index in 0..count {
        let mut value = vec![0; bytes];
        rng.fill(&mut value);
        let (store, value) = (store.clone(), Bytes::from(value));
        tasks.spawn(async move {
            let put = |transaction: &mut Transaction| {
                transaction.put(key(index), value.clone());
                Ok(())
            };
            store.transact(&[round], vec![], put).await
        });
        if tasks.len() == in_flight {
            tasks.join_next().await.expect("some are in progress").expect("no task panics")?;
        }
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("no task panics")?;
    }
    Ok(())
}

fn key(index: usize) -> Vec<u8> {
    (index as u64).to_be_bytes().to_vec()
}

fn report(what: &str, bytes: usize, time: Duration) {
    println!("{what}: {:.0} MiB/s", (bytes >> 20) as f64 / time.as_secs_f64());
}

fn written_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("wchar: "));
    line.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn memory() -> String {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines().filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS")).collect::<Vec<_>>().join(" ")
}
