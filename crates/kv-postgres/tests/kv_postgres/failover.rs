//! Several hosts: the primary is found among them, wherever it is and whatever the others are at, and what a standby shows
//! is never taken for what was acknowledged.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Commit, Engine, Error, ErrorKind, Health, Store};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions, Target};
use tablerock_testkit::postgres::DatabaseServer;

const OPTIONS: PostgresOptions = PostgresOptions {
    connections_max: 10,
    create_if_missing: true,
    connection_wait: Duration::from_secs(2),
    statement_wait: Duration::from_secs(4),
    opening_wait: Duration::from_secs(10),
    sweep_delay: Duration::from_secs(60),
    second_sweep_delay: Duration::from_secs(60),
    sweep_pause: Duration::from_secs(60),
    health_pause: Duration::from_millis(100),
};

async fn open(url: &str) -> Result<Arc<PostgresEngine>, Error> {
    PostgresEngine::open(Target::parse(url).unwrap(), OPTIONS).await
}

fn put(key: &str, value: &str) -> Commit {
    let writes = vec![(Bytes::from(key.to_owned()), Some(Bytes::from(value.to_owned())))];
    Commit { partition: Bytes::from_static(b"p"), expected: vec![], writes }
}

async fn wait_for(engine: &PostgresEngine, what: &str, within: Duration, is_it: impl Fn(&Health) -> bool) {
    let started = Instant::now();
    while !is_it(&engine.health()) {
        assert!(started.elapsed() < within, "not {what} after {within:?}: {:?}", engine.health());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn is_down(health: &Health) -> bool {
    matches!(health, Health::Down(_))
}

/// Adds one to a counter until `stop` is set. Returns how many additions were acknowledged, and how many failed.
async fn count(store: Store, stop: Arc<AtomicBool>) -> (u64, u64) {
    let key = Bytes::from_static(b"counter");
    let (mut acknowledged, mut failed) = (0, 0);
    while !stop.load(Ordering::Relaxed) {
        let outcome = store.transact(b"p", vec![key.clone()], |tx| {
            let next = number(tx.get(&key)) + 1;
            tx.put(key.clone(), next.to_be_bytes().to_vec());
            Ok::<_, Error>(())
        });
        match outcome.await {
            Ok(()) => acknowledged += 1,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                failed += 1;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    (acknowledged, failed)
}

fn number(value: Option<&Bytes>) -> u64 {
    value.map_or(0, |value| u64::from_be_bytes(value[..].try_into().unwrap()))
}

async fn run(work: impl FnOnce() + Send + 'static) {
    tokio::task::spawn_blocking(work).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_promoted_standby_is_found_and_has_all_that_was_acknowledged() {
    for is_frozen in [false, true] {
        let primary = Arc::new(DatabaseServer::start());
        primary.url("failover");
        let standby = Arc::new(primary.start_standby());
        primary.replicate_synchronously();
        let engine = open(&DatabaseServer::url_of_hosts(&[&primary, &standby], "failover")).await.unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..3).map(|_| tokio::spawn(count(Store::new(engine.clone()), stop.clone()))).collect();
        tokio::time::sleep(Duration::from_secs(1)).await;

        let ended = primary.clone();
        run(move || if is_frozen { ended.freeze() } else { ended.kill() }).await;
        wait_for(&engine, "down", Duration::from_secs(8), is_down).await;
        // The standby would serve these, with data that may be old by then.
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(2) {
            let error = engine.get(b"p", b"counter").await.expect_err("there is no primary");
            assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert!(is_down(&engine.health()), "{:?}", engine.health());

        let promoted = standby.clone();
        run(move || promoted.promote()).await;
        wait_for(&engine, "healthy", Duration::from_secs(10), |health| *health == Health::Healthy).await;
        let before = number(engine.get(b"p", b"counter").await.unwrap().as_ref());
        tokio::time::sleep(Duration::from_secs(1)).await;
        stop.store(true, Ordering::Relaxed);
        let (mut acknowledged, mut failed) = (0, 0);
        for writer in writers {
            let (more, less) = writer.await.unwrap();
            (acknowledged, failed) = (acknowledged + more, failed + less);
        }
        let total = number(engine.get(b"p", b"counter").await.unwrap().as_ref());
        assert!(total > before, "writes go on at the new primary");
        let possible = acknowledged..=acknowledged + failed;
        assert!(possible.contains(&total), "{total} of {possible:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_is_never_read_wherever_it_stands() {
    let primary = DatabaseServer::start();
    primary.url("failover");
    let standby = primary.start_standby();
    let engine = open(&DatabaseServer::url_of_hosts(&[&standby, &primary], "failover")).await.unwrap();
    engine.commit(put("k", "old")).await.unwrap();
    let caught_up = "SELECT pg_last_wal_replay_lsn() >= (SELECT pg_last_wal_receive_lsn())";
    while standby.run(caught_up).trim() != "t" {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    standby.run("SELECT pg_wal_replay_pause()");
    engine.commit(put("k", "new")).await.unwrap();
    let other = open(&DatabaseServer::url_of_hosts(&[&standby, &primary], "failover")).await.unwrap();
    for engine in [&engine, &other] {
        assert_eq!(engine.get(b"p", b"k").await.unwrap().as_deref(), Some(&b"new"[..]));
    }

    let alone = PostgresOptions { opening_wait: Duration::ZERO, ..OPTIONS };
    let target = Target::parse(&standby.url_of("failover")).unwrap();
    let error = PostgresEngine::open(target, alone).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("standby"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_hosts_one_that_takes_no_writes_is_left() {
    let [first, second] = [DatabaseServer::start(), DatabaseServer::start()];
    for server in [&first, &second] {
        server.url("failover");
    }
    let engine = open(&DatabaseServer::url_of_hosts(&[&first, &second], "failover")).await.unwrap();
    engine.commit(put("where", "first")).await.unwrap();
    first.run("ALTER SYSTEM SET default_transaction_read_only = on");
    first.run("SELECT pg_reload_conf()");
    // The second is as an operator prepares it: with the tables, and here with another value to tell it by.
    let second_alone = open(&second.url_of("failover")).await.unwrap();
    second_alone.commit(put("where", "second")).await.unwrap();
    let started = Instant::now();
    while engine.get(b"p", b"where").await.ok().flatten().as_deref() != Some(&b"second"[..]) {
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", engine.health());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // A connection to the first may be idle until it is looked at again.
    while let Err(error) = engine.commit(put("where", "here")).await {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", engine.health());
    }
    assert_eq!(second_alone.get(b"p", b"where").await.unwrap().as_deref(), Some(&b"here"[..]));
}

/// A host that takes connections and never says a word: a machine whose disk hangs, or a forgotten port forward.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_host_that_never_answers_delays_the_start_and_nothing_after_it() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = silent.local_addr().unwrap().port();
    let database = DatabaseServer::start();
    let url = database.url("failover").replace("@127.0.0.1", &format!("@127.0.0.1:{port},127.0.0.1"));
    let started = Instant::now();
    let engine = open(&url).await.unwrap();
    assert!(started.elapsed() < OPTIONS.opening_wait, "{:?}", started.elapsed());
    let started = Instant::now();
    let commits = (0..20).map(|number| {
        let engine = engine.clone();
        tokio::spawn(async move { engine.commit(put(&format!("k{number}"), "v")).await })
    });
    for commit in commits.collect::<Vec<_>>() {
        commit.await.unwrap().unwrap();
    }
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());

    // With no other host, opening ends within its bound.
    let alone = url.replace(&format!(",127.0.0.1:{}", database.port()), "");
    let hasty = PostgresOptions { opening_wait: Duration::from_secs(1), ..OPTIONS };
    let started = Instant::now();
    let error = PostgresEngine::open(Target::parse(&alone).unwrap(), hasty).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
}

/// No timeout ends a commit that waits for its standby, and it may be made long after its failure was reported. Until
/// then it keeps its records locked, also those it expects to be absent. A caller that gives up on it relies on that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_waits_for_a_standby_keeps_its_records_until_it_is_made() {
    let database = DatabaseServer::start();
    let hasty = PostgresOptions { statement_wait: Duration::from_secs(1), ..OPTIONS };
    let engine = PostgresEngine::open(Target::parse(&database.url("failover")).unwrap(), hasty).await.unwrap();
    engine.commit(put("base", "1")).await.unwrap();
    database.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    database.run("SELECT pg_reload_conf()");
    let expected =
        vec![(Bytes::from_static(b"base"), Some(Bytes::from_static(b"1"))), (Bytes::from_static(b"fence"), None)];
    let error = engine.commit(Commit { expected, ..put("base", "2") }).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");

    let (other, connection) =
        tokio_postgres::connect(&database.url_of("failover"), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    other.batch_execute("SET synchronous_commit = local; SET statement_timeout = 1500").await.unwrap();
    for statement in [
        "INSERT INTO tablerock_records VALUES ('p', 'fence', 'd', 'v') ON CONFLICT DO NOTHING",
        "UPDATE tablerock_records SET value = '3' WHERE partition = 'p' AND key = 'base'",
    ] {
        let error = other.batch_execute(statement).await.expect_err("it is held");
        assert_eq!(error.code().map(|code| code.code()), Some("57014"), "{error}");
    }
    assert_eq!(engine.get(b"p", b"base").await.unwrap().as_deref(), Some(&b"1"[..]), "it is not made yet");
    database.run("ALTER SYSTEM RESET synchronous_standby_names");
    database.run("SELECT pg_reload_conf()");
    let started = Instant::now();
    while engine.get(b"p", b"base").await.unwrap().as_deref() != Some(&b"2"[..]) {
        assert!(started.elapsed() < Duration::from_secs(10), "it is made after all");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
