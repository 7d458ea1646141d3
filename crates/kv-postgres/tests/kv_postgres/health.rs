//! The health that the engine reports: a busy server does not affect it, and a database that hangs is noticed soon.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Commit, Engine, ErrorKind, Health};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions, Target};
use tablerock_testkit::postgres::DatabaseServer;

const OPTIONS: PostgresOptions = PostgresOptions {
    connections_max: 9,
    create_if_missing: true,
    connection_wait: Duration::from_millis(500),
    statement_wait: Duration::from_secs(15),
    opening_wait: Duration::from_secs(30),
    sweep_delay: Duration::from_secs(60),
    second_sweep_delay: Duration::from_secs(60),
    sweep_pause: Duration::from_secs(60),
    health_pause: Duration::from_millis(200),
};

async fn open(database: &DatabaseServer) -> Arc<PostgresEngine> {
    PostgresEngine::open(Target::parse(&database.url("health")).unwrap(), OPTIONS).await.unwrap()
}

fn put(value: &'static str) -> Commit {
    let writes = vec![(Bytes::from_static(b"held"), Some(Bytes::from_static(value.as_bytes())))];
    Commit { partition: Bytes::from_static(b"p"), expected: vec![], writes }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_whose_connections_are_all_lent_has_a_healthy_database() {
    let database = DatabaseServer::start();
    let engine = open(&database).await;
    engine.commit(put("1")).await.unwrap();
    let (holder, connection) =
        tokio_postgres::connect(&database.url_of("health"), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    holder.batch_execute("BEGIN; SELECT * FROM tablerock_records FOR UPDATE").await.unwrap();
    let write = |engine: Arc<PostgresEngine>| async move { engine.commit(put("2")).await };
    let writers: Vec<_> = (0..30).map(|_| tokio::spawn(write(engine.clone()))).collect();
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(5) {
        assert_eq!(engine.health(), Health::Healthy);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let error = engine.commit(put("3")).await.expect_err("all connections wait for the row");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    holder.batch_execute("ROLLBACK").await.unwrap();
    let outcomes = futures_util::future::join_all(writers).await;
    assert!(outcomes.into_iter().filter(|outcome| outcome.as_ref().unwrap().is_ok()).count() > 0);
    assert_eq!(engine.health(), Health::Healthy);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_hangs_is_down_within_seconds_and_served_again_when_it_wakes() {
    let database = DatabaseServer::start();
    let engine = open(&database).await;
    engine.commit(put("1")).await.unwrap();
    for _ in 0..2 {
        database.freeze();
        let started = Instant::now();
        while !matches!(engine.health(), Health::Down(_)) {
            assert!(started.elapsed() < Duration::from_secs(5), "a database that hangs is not noticed");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        database.thaw();
        let started = Instant::now();
        while engine.health() != Health::Healthy {
            assert!(started.elapsed() < Duration::from_secs(5), "{:?}", engine.health());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(engine.get(b"p", b"held").await.unwrap().as_deref(), Some(&b"1"[..]));
    }
}
