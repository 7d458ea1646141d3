//! A database that dies, hangs or is busy: nothing acknowledged is lost, callers get an error within their
//! time, and no server needs a restart.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Commit, Engine, Error, ErrorKind, Health, Store};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions, Target};
use tablerock_testkit::postgres::DatabaseServer;
use tokio::task::JoinHandle;

const PATIENT: PostgresOptions = PostgresOptions {
    connections_max: 8,
    create_if_missing: true,
    connection_wait: Duration::from_secs(2),
    statement_wait: Duration::from_secs(5),
    opening_wait: Duration::from_secs(30),
    sweep_delay: Duration::from_millis(20),
    second_sweep_delay: Duration::from_secs(60),
    sweep_pause: Duration::from_secs(1),
    health_pause: Duration::from_millis(50),
};

async fn open(database: &DatabaseServer, options: PostgresOptions) -> Arc<PostgresEngine> {
    let target = Target::parse(&database.url("failures")).unwrap();
    PostgresEngine::open(target, options).await.unwrap()
}

fn put(key: &str, value: &str) -> Commit {
    let writes = vec![(Bytes::from(key.to_owned()), Some(Bytes::from(value.to_owned())))];
    Commit { partition: Bytes::from_static(b"p"), expected: vec![], writes }
}

async fn wait_for(engine: &PostgresEngine, what: &str, is_it: impl Fn(&Health) -> bool) {
    let give_up = Instant::now() + Duration::from_secs(20);
    while !is_it(&engine.health()) {
        assert!(Instant::now() < give_up, "not {what} after 20 s: {:?}", engine.health());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Adds one to two counters at once until `stop` is set. Returns how many additions were acknowledged and how many failed.
async fn count(store: Store, counters: [&'static str; 2], stop: Arc<AtomicBool>) -> (u64, u64) {
    let keys = counters.map(bytes).to_vec();
    let (mut acknowledged, mut failed) = (0, 0);
    while !stop.load(Ordering::Relaxed) {
        let outcome = store.transact(b"counters", keys.clone(), |tx| {
            for key in &keys {
                let next = number(tx.get(key)) + 1;
                tx.put(key.clone(), next.to_be_bytes().to_vec());
            }
            Ok::<_, Error>(())
        });
        match outcome.await {
            Ok(()) => acknowledged += 1,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
                failed += 1;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }
    (acknowledged, failed)
}

fn bytes(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

fn number(value: Option<&Bytes>) -> u64 {
    value.map_or(0, |value| u64::from_be_bytes(value[..].try_into().unwrap()))
}

/// A server that was frozen writes under an id that was dropped and swept meanwhile.
#[tokio::test]
async fn rows_that_land_after_a_sweep_go_with_the_next_one() {
    let database = DatabaseServer::start();
    let options = PostgresOptions {
        sweep_delay: Duration::ZERO,
        second_sweep_delay: Duration::from_secs(3),
        sweep_pause: Duration::from_millis(50),
        ..PATIENT
    };
    let engine = open(&database, options).await;
    engine.commit(put("1", "early")).await.unwrap();
    engine.drop_range(tablerock_kv::Range::partitions(b"p")).await.unwrap();
    for value in [None, Some("late")] {
        if let Some(value) = value {
            engine.commit(put("2", value)).await.unwrap();
        }
        let give_up = Instant::now() + Duration::from_secs(20);
        while database.run("SELECT count(*) FROM failures.tablerock_records").trim() != "0" {
            assert!(Instant::now() < give_up, "rows are left");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let give_up = Instant::now() + Duration::from_secs(20);
    while database.run("SELECT count(*) FROM failures.tablerock_drops").trim() != "0" {
        assert!(Instant::now() < give_up, "the range is still to be swept");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_database_that_is_killed_again_and_again_loses_nothing_acknowledged() {
    let database = Arc::new(DatabaseServer::start());
    let engine = open(&database, PATIENT).await;
    let stop = Arc::new(AtomicBool::new(false));
    let pairs = [["a1", "a2"], ["b1", "b2"], ["c1", "c2"], ["d1", "d2"]];
    let writers = pairs.map(|pair| tokio::spawn(count(Store::new(engine.clone()), pair, stop.clone())));
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_millis(700)).await;
        let killed = database.clone();
        tokio::task::spawn_blocking(move || killed.kill()).await.unwrap();
        wait_for(&engine, "down", |health| matches!(health, Health::Down(_))).await;
        let resumed = database.clone();
        tokio::task::spawn_blocking(move || resumed.resume()).await.unwrap();
        wait_for(&engine, "healthy", |health| *health == Health::Healthy).await;
    }
    stop.store(true, Ordering::Relaxed);
    for (writer, pair) in writers.into_iter().zip(pairs) {
        let (acknowledged, failed) = writer.await.unwrap();
        let mut totals = vec![];
        for key in pair {
            totals.push(number(engine.get(b"counters", key.as_bytes()).await.unwrap().as_ref()));
        }
        assert_eq!(totals[0], totals[1], "both counters of a transaction or none");
        assert!(acknowledged > 20, "{acknowledged} acknowledged");
        // A failed addition may have been made; its outcome is unknown.
        let possible = acknowledged..=acknowledged + failed;
        assert!(possible.contains(&totals[0]), "{} of {possible:?}", totals[0]);
    }
}

/// A transaction of another client that locks every record.
async fn hold_all_rows(database: &DatabaseServer) -> tokio_postgres::Client {
    let (holder, connection) =
        tokio_postgres::connect(&database.url_of("failures"), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    holder.batch_execute("BEGIN; SELECT * FROM tablerock_records FOR UPDATE").await.unwrap();
    holder
}

/// Writers of the record `held`.
fn write_held(engine: &Arc<PostgresEngine>, count: usize) -> Vec<JoinHandle<Result<(), Error>>> {
    let write = |engine: Arc<PostgresEngine>| async move { engine.commit(put("held", "2")).await };
    (0..count).map(|_| tokio::spawn(write(engine.clone()))).collect()
}

async fn wait_until_blocked(holder: &tokio_postgres::Client, connections: usize) {
    let blocked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    let give_up = Instant::now() + Duration::from_secs(20);
    while count_of(holder, blocked).await < connections as i64 {
        assert!(Instant::now() < give_up, "not {connections} connections wait for the row after 20 s");
        // Within a transaction, the first look at the activity would be shown again and again.
        holder.batch_execute("SELECT pg_stat_clear_snapshot()").await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn count_of(client: &tokio_postgres::Client, query: &str) -> i64 {
    client.query_one(query, &[]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_somebody_holds_delays_its_writer_no_longer_than_the_bound() {
    let database = DatabaseServer::start();
    let options = PostgresOptions {
        connections_max: 2,
        connection_wait: Duration::from_millis(500),
        statement_wait: Duration::from_secs(1),
        ..PATIENT
    };
    let engine = open(&database, options).await;
    engine.commit(put("held", "1")).await.unwrap();
    let holder = hold_all_rows(&database).await;

    let started = Instant::now();
    let writers = write_held(&engine, 6);
    for writer in writers {
        let error = writer.await.unwrap().expect_err("the row is held");
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    }
    // The bounds are 0.5 and 1 second. A busy machine may add to them; without them the writers would wait for ever.
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());

    holder.batch_execute("ROLLBACK").await.unwrap();
    // On a busy machine the connections may still be occupied with ending their statements.
    let give_up = Instant::now() + Duration::from_secs(20);
    while let Err(error) = engine.commit(put("held", "3")).await {
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(Instant::now() < give_up, "{error}");
    }
    assert_eq!(engine.get(b"p", b"held").await.unwrap().as_deref(), Some(&b"3"[..]));
    wait_for(&engine, "healthy", |health| *health == Health::Healthy).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_wait_neither_for_writers_nor_for_connections() {
    let database = DatabaseServer::start();
    let engine = open(&database, PATIENT).await;
    engine.commit(put("held", "1")).await.unwrap();
    let holder = hold_all_rows(&database).await;
    let writers = write_held(&engine, 2 * PATIENT.connections_max);
    // All connections but the one for reads and the one that looks how the database is.
    wait_until_blocked(&holder, PATIENT.connections_max - 2).await;
    let reads = (0..500).map(|_| engine.get(b"p", b"held"));
    let started = Instant::now();
    for value in futures_util::future::join_all(reads).await {
        assert_eq!(value.unwrap().as_deref(), Some(&b"1"[..]));
    }
    assert!(started.elapsed() < PATIENT.connection_wait, "{:?}", started.elapsed());
    let ours =
        "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
    let (give_up, mut connections) = (Instant::now() + Duration::from_secs(3), 0);
    while connections < PATIENT.connections_max as i64 && Instant::now() < give_up {
        holder.batch_execute("SELECT pg_stat_clear_snapshot()").await.unwrap();
        connections = count_of(&holder, ours).await;
    }
    assert_eq!(connections, PATIENT.connections_max as i64, "all that it may have, and no more");
    holder.batch_execute("ROLLBACK").await.unwrap();
    for writer in writers {
        let _ = writer.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_goes_away_takes_its_statement_along_and_not_the_next_ones_time() {
    let database = DatabaseServer::start();
    let engine = open(&database, PostgresOptions { connections_max: 3, ..PATIENT }).await;
    engine.commit(put("held", "1")).await.unwrap();
    let holder = hold_all_rows(&database).await;
    let gone = tokio::time::timeout(Duration::from_millis(300), engine.commit(put("held", "2"))).await;
    assert!(gone.is_err(), "the row is held");
    // The other of two connections is free, and each read finds it.
    for _ in 0..4 {
        let read = tokio::time::timeout(Duration::from_secs(1), engine.get(b"p", b"held")).await;
        assert_eq!(read.expect("no read waits behind it").unwrap().as_deref(), Some(&b"1"[..]));
    }
    holder.batch_execute("ROLLBACK").await.unwrap();
    engine.commit(put("held", "3")).await.unwrap();
}

/// The second of the connections that reads share is opened when it is needed, and no read fails if it cannot be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_go_on_over_the_connections_that_are_there() {
    let database = DatabaseServer::start();
    let engine = open(&database, PostgresOptions { connections_max: 16, ..PATIENT }).await;
    engine.commit(put("k", "1")).await.unwrap();
    assert!(engine.get(b"p", b"k").await.unwrap().is_some());
    // What the keeper has is there as well by then.
    tokio::time::sleep(Duration::from_millis(500)).await;
    database.run("UPDATE pg_database SET datallowconn = false WHERE datname = 'postgres'");
    let reads = (0..500).map(|_| engine.get(b"p", b"k"));
    for value in futures_util::future::join_all(reads).await {
        assert_eq!(value.unwrap().as_deref(), Some(&b"1"[..]));
    }
    assert_eq!(engine.health(), Health::Healthy);
}

/// A transaction that looks for records and finds none may still conflict with them when it inserts its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_those_who_insert_the_same_records_together_one_succeeds() {
    let database = DatabaseServer::start();
    let engine = open(&database, PostgresOptions { connections_max: 16, ..PATIENT }).await;
    for round in 0..20 {
        let insert = |engine: Arc<PostgresEngine>, writer: u32| async move {
            let keys = ["one", "two"].map(|key| Bytes::from(format!("{key}-{round}")));
            let value = Some(Bytes::from(format!("{writer}")));
            let writes = keys.iter().map(|key| (key.clone(), value.clone())).collect();
            let expected = keys.iter().map(|key| (key.clone(), None)).collect();
            engine.commit(Commit { partition: Bytes::from_static(b"p"), expected, writes }).await
        };
        let writers: Vec<_> = (0..10).map(|writer| tokio::spawn(insert(engine.clone(), writer))).collect();
        let mut winners = vec![];
        for (writer, outcome) in futures_util::future::join_all(writers).await.into_iter().enumerate() {
            match outcome.unwrap() {
                Ok(()) => winners.push(Bytes::from(format!("{writer}"))),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
            }
        }
        assert_eq!(winners.len(), 1, "{winners:?}");
        for key in ["one", "two"] {
            let found = engine.get(b"p", format!("{key}-{round}").as_bytes()).await.unwrap();
            assert_eq!(found.as_ref(), winners.first());
        }
    }
}

/// A database of stricter isolation has reads give way as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_that_have_to_give_way_are_run_again() {
    for connections_max in [3, 16] {
        let database = DatabaseServer::start();
        let engine = open(&database, PostgresOptions { connections_max, ..PATIENT }).await;
        engine.commit(put("k", "1")).await.unwrap();
        assert_eq!(engine.get(b"p", b"k").await.unwrap().as_deref(), Some(&b"1"[..]));
        // Every second look at the records is refused.
        database.run(
            "SET search_path = failures; CREATE SEQUENCE looks; \
             CREATE FUNCTION gives_way() RETURNS bool VOLATILE LANGUAGE plpgsql AS $$ BEGIN \
             IF nextval('failures.looks') % 2 = 1 THEN RAISE SQLSTATE '40001'; END IF; RETURN true; END $$; \
             ALTER TABLE tablerock_records RENAME TO hidden; \
             CREATE VIEW tablerock_records AS SELECT * FROM hidden WHERE gives_way()",
        );
        for _ in 0..6 {
            assert_eq!(engine.get(b"p", b"k").await.unwrap().as_deref(), Some(&b"1"[..]));
            let keys = [bytes("k"), bytes("other")];
            assert_eq!(engine.read_newest(b"p", &keys).await.unwrap()[0].as_deref(), Some(&b"1"[..]));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_range_is_swept_by_another_when_its_sweeper_died() {
    let database = DatabaseServer::start();
    let hasty = PostgresOptions { sweep_delay: Duration::ZERO, sweep_pause: Duration::from_millis(50), ..PATIENT };
    let lazy = PostgresOptions { sweep_pause: Duration::from_secs(600), ..hasty };
    let engine = open(&database, lazy).await;
    for batch in 0..20 {
        let writes = (0..1_000).map(|row| (Bytes::from(format!("{batch}-{row:05}")), Some(Bytes::from_static(b"v"))));
        let commit = Commit { partition: Bytes::from_static(b"gone"), expected: vec![], writes: writes.collect() };
        engine.commit(commit).await.unwrap();
    }
    engine.drop_range(tablerock_kv::Range::partition(b"gone")).await.unwrap();
    let rows = || database.run("SELECT count(*) FROM failures.tablerock_records").trim().parse::<u64>().unwrap();
    let drops = || database.run("SELECT count(*) FROM failures.tablerock_drops").trim().to_owned();

    // One begins, and dies in the middle.
    let first = open(&database, hasty).await;
    while rows() == 20_000 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(first);
    let left = rows();
    assert!(left > 0 && drops() == "1", "{left} rows are left");
    let second = open(&database, hasty).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(rows() + 500 >= left, "it is claimed, for a while");
    database.run("UPDATE failures.tablerock_drops SET claimed_until = now()");
    let give_up = Instant::now() + Duration::from_secs(20);
    while rows() > 0 || drops() != "0" {
        assert!(Instant::now() < give_up, "{} rows and {} drops after 20 s", rows(), drops());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    second.close().await.unwrap();
}

#[tokio::test]
async fn a_database_that_takes_no_writes_is_told_from_one_that_does_not_answer() {
    let database = DatabaseServer::start();
    let engine = open(&database, PATIENT).await;
    engine.commit(put("k", "1")).await.unwrap();
    database.run("ALTER SYSTEM SET default_transaction_read_only = on");
    database.run("SELECT pg_reload_conf()");
    wait_for(&engine, "read-only", |health| matches!(health, Health::ReadOnly(_))).await;
    assert_eq!(engine.commit(put("k", "2")).await.unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(engine.get(b"p", b"k").await.unwrap().as_deref(), Some(&b"1"[..]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_transaction_whose_owner_goes_away_leaves_no_lock_behind() {
    let database = DatabaseServer::start();
    let engine = open(&database, PostgresOptions { connections_max: 2, ..PATIENT }).await;
    for round in 0..200_u64 {
        let writes = ["one", "two"].map(|key| (bytes(key), Some(Bytes::from(format!("{round}"))))).to_vec();
        let expected = vec![(Bytes::from_static(b"absent"), None)];
        let commit = Commit { partition: Bytes::from_static(b"p"), expected, writes };
        let _ = tokio::time::timeout(Duration::from_micros(50 * (round % 40)), engine.commit(commit)).await;
    }
    let writes =
        vec![(Bytes::from_static(b"one"), Some(Bytes::from_static(b"last"))), (Bytes::from_static(b"two"), None)];
    let started = Instant::now();
    engine.commit(Commit { partition: Bytes::from_static(b"p"), expected: vec![], writes }).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(engine.get(b"p", b"two").await.unwrap(), None);
    assert_eq!(engine.get(b"p", b"absent").await.unwrap(), None);
}
