//! Measures the Queue service on a real disk, without HTTP:
//! `cargo run --release -p tablerock --example queue_throughput [folder] [messages]`.
//!
//! Clients put a message, get one and delete it, round after round; every write is synced. First on an empty queue,
//! then on one that holds so many messages, a million unless told otherwise, and at last after a restart.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::{Rng, Store, SystemClock};
use tablerock_kv_local::LocalEngine;
use tablerock_protocol::{Metadata, QueueName};
use tablerock_services::QueueService;
use tablerock_services::queue::{Message, NewMessage, TimeToLive};

const ACCOUNT: &str = "acct";
const TEXT_BYTES: usize = 1_000;
const SPAN: Duration = Duration::from_secs(5);
const LOADERS: u64 = 256;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let folder = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let messages: u64 = std::env::args().nth(2).map_or(Ok(1_000_000), |count| count.parse())?;
    let location = folder.join(format!("tablerock-queue-throughput-{}", std::process::id()));
    let (store, service) = open(&location).await?;
    service.create_queue(ACCOUNT, &queue(), &Metadata::default()).await?;
    println!("an empty queue");
    rounds(&service).await?;
    let start = Instant::now();
    load(&service, messages).await?;
    println!("loaded {messages} messages, {:.0} /s", messages as f64 / start.elapsed().as_secs_f64());
    rounds(&service).await?;
    once("count", async || service.queue_metadata(ACCOUNT, &queue()).await.map(drop)).await?;
    once("get", async || get(&service).await.map(drop)).await?;
    let start = Instant::now();
    let drained = drain(&service).await?;
    println!("drained {drained} messages, {:.0} /s", drained as f64 / start.elapsed().as_secs_f64());
    once("get when all have passed", async || get(&service).await.map(drop)).await?;
    rounds(&service).await?;
    service.close().await?;
    store.close().await?;
    drop((store, service));

    let (store, service) = open(&location).await?;
    once("first get after a restart", async || get(&service).await.map(drop)).await?;
    once("second get", async || get(&service).await.map(drop)).await?;
    rounds(&service).await?;
    once("clear", async || service.clear_messages(ACCOUNT, &queue()).await).await?;
    store.close().await?;
    Ok(std::fs::remove_dir_all(&location)?)
}

async fn open(location: &std::path::Path) -> Outcome<(Store, Arc<QueueService>)> {
    let store = Store::new(Arc::new(LocalEngine::open(location)?));
    let service = QueueService::open(store.clone(), Arc::new(SystemClock), Rng::from_os()).await?;
    Ok((store, Arc::new(service)))
}

fn queue() -> QueueName {
    QueueName::parse("jobs").expect("a queue's name")
}

/// Put, get and delete with few and many clients.
async fn rounds(service: &Arc<QueueService>) -> Outcome<()> {
    for clients in [1, 16, 64] {
        let end = Instant::now() + SPAN;
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..clients {
            let service = service.clone();
            tasks.spawn(async move {
                let mut rounds = 0_u64;
                while Instant::now() < end {
                    put(&service).await?;
                    // Another client may have been quicker; then its message is left for the next round.
                    if let Some(got) = get(&service).await? {
                        service.delete_message(ACCOUNT, &queue(), got.id, got.receipt).await?;
                        rounds += 1;
                    }
                }
                Ok::<_, tablerock_services::Error>(rounds)
            });
        }
        let mut rounds = 0;
        while let Some(done) = tasks.join_next().await {
            rounds += done??;
        }
        println!("{clients:>4} clients {:>8.0} rounds/s", rounds as f64 / SPAN.as_secs_f64());
    }
    Ok(())
}

async fn put(service: &QueueService) -> Result<Message, tablerock_services::Error> {
    let new = NewMessage {
        text: "x".repeat(TEXT_BYTES),
        visibility_seconds: 0,
        time_to_live: TimeToLive::Seconds(7 * 24 * 3600),
    };
    service.put_message(ACCOUNT, &queue(), new).await
}

async fn get(service: &QueueService) -> Result<Option<Message>, tablerock_services::Error> {
    Ok(service.get_messages(ACCOUNT, &queue(), 1, 3600).await?.pop())
}

async fn load(service: &Arc<QueueService>, messages: u64) -> Outcome<()> {
    let mut tasks = tokio::task::JoinSet::new();
    for loader in 0..LOADERS {
        let service = service.clone();
        tasks.spawn(async move {
            for _ in (loader..messages).step_by(LOADERS as usize) {
                put(&service).await?;
            }
            Ok::<_, tablerock_services::Error>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    Ok(())
}

/// Gets and deletes everything that is visible.
async fn drain(service: &Arc<QueueService>) -> Outcome<u64> {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..LOADERS {
        let service = service.clone();
        tasks.spawn(async move {
            let mut drained = 0;
            loop {
                let got = service.get_messages(ACCOUNT, &queue(), 32, 3600).await?;
                if got.is_empty() {
                    return Ok::<_, tablerock_services::Error>(drained);
                }
                for message in got {
                    service.delete_message(ACCOUNT, &queue(), message.id, message.receipt).await?;
                    drained += 1;
                }
            }
        });
    }
    let mut drained = 0;
    while let Some(done) = tasks.join_next().await {
        drained += done??;
    }
    Ok(drained)
}

async fn once(what: &str, call: impl AsyncFn() -> Result<(), tablerock_services::Error>) -> Outcome<()> {
    let start = Instant::now();
    call().await?;
    println!("{what}: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
    Ok(())
}
