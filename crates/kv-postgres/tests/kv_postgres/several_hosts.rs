//! Several hosts that all serve: connections take turns, and a host that is away does not stop the others.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Commit, Engine as _, Health};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions, Target};
use tablerock_testkit::postgres::DatabaseServer;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// A host of its own to the engine: an address that forwards to the database and counts.
async fn forward(port: u16) -> (u16, std::sync::Arc<std::sync::atomic::AtomicUsize>, AbortHandle) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    let accepted = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = accepted.clone();
    let task = tokio::spawn(async move {
        let mut open = tokio::task::JoinSet::new();
        loop {
            let (mut inward, _) = listener.accept().await.unwrap();
            counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            open.spawn(async move {
                if let Ok(mut outward) = TcpStream::connect(("127.0.0.1", port)).await {
                    let _ = copy_bidirectional(&mut inward, &mut outward).await;
                }
            });
        }
    });
    (own, accepted, task.abort_handle())
}

fn put(key: u64) -> Commit {
    let writes = vec![(Bytes::from(key.to_be_bytes().to_vec()), Some(Bytes::from_static(b"v")))];
    Commit { partition: Bytes::from(format!("p{}", key % 7)), expected: vec![], writes }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_take_turns_and_one_host_that_is_away_is_not_missed() {
    let database = DatabaseServer::start();
    let url = database.url("turns");
    let port: u16 = url.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()).unwrap().parse().unwrap();
    let [(first, at_first, stop_first), (second, at_second, _)] = [forward(port).await, forward(port).await];
    let hosts = format!("127.0.0.1:{first},127.0.0.1:{second}");
    let url = url.replace(&format!("127.0.0.1:{port}"), &hosts);
    let url = format!("{url}{}load_balance_hosts=random", if url.contains('?') { "&" } else { "?" });
    let options = PostgresOptions { health_pause: Duration::from_millis(100), ..PostgresOptions::default() };
    let engine = PostgresEngine::open(Target::parse(&url).unwrap(), options).await.unwrap();
    let write = async |from: u64| {
        let commits = (from..from + 64).map(|key| engine.commit(put(key)));
        futures_util::future::join_all(commits).await
    };
    assert!(write(0).await.iter().all(Result::is_ok));
    let count = |counter: &std::sync::atomic::AtomicUsize| counter.load(std::sync::atomic::Ordering::Relaxed);
    let (one, other) = (count(&at_first), count(&at_second));
    assert!(one.abs_diff(other) <= 2 && one > 2, "{one} and {other} connections");

    // Its connections break, and it accepts no new ones.
    stop_first.abort();
    let started = Instant::now();
    while write(64).await.iter().any(Result::is_err) {
        assert!(started.elapsed() < Duration::from_secs(10), "the other host serves");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for _ in 0..10 {
        assert_eq!(engine.health(), Health::Healthy);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    engine.close().await.unwrap();
}
