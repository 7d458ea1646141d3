//! Servers of two versions on one database: that of before is here by its tables and its statements.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::{BlindPut, Bytes, Commit, Engine, ErrorKind, Range, Replaces, Witness};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions, Target};
use tablerock_testkit::postgres::DatabaseServer;
use tokio_postgres::{Client, NoTls};

/// The tables of version 1, as the first release makes them.
const VERSION_1: &str = "CREATE SCHEMA upgrade; SET search_path = upgrade; \
    CREATE TABLE tablerock_schema (id INTEGER PRIMARY KEY, version INTEGER NOT NULL); \
    INSERT INTO tablerock_schema VALUES (1, 1); \
    CREATE TABLE tablerock_records (partition BYTEA NOT NULL, key BYTEA NOT NULL, digest BYTEA NOT NULL, \
        value BYTEA NOT NULL, PRIMARY KEY (partition, key)); \
    CREATE TABLE tablerock_drops (id BYTEA PRIMARY KEY, start_partition BYTEA NOT NULL, start_key BYTEA NOT NULL, \
        end_partition BYTEA, end_key BYTEA, due TIMESTAMPTZ NOT NULL, claimed_until TIMESTAMPTZ NOT NULL)";
/// The statements of a server of before.
const GET: &str = "SELECT value FROM tablerock_records WHERE partition = $1 AND key = $2";
const LOOK: &str = "SELECT digest FROM tablerock_records WHERE partition = $1 AND key = $2";
const INSERT: &str = "INSERT INTO tablerock_records (partition, key, digest, value) VALUES ($1, $2, $3, $4) \
    ON CONFLICT (partition, key) DO NOTHING";
const REPLACE: &str = "UPDATE tablerock_records SET digest = $3, value = $4 \
    WHERE partition = $1 AND key = $2 AND digest = $5";
const NOTE_DROP: &str = "INSERT INTO tablerock_drops \
    (id, start_partition, start_key, end_partition, end_key, due, claimed_until) \
    VALUES ($1, $2, $3, $4, $5, now() + $6::float8 * interval '1 second', now())";
const FIND_DROPS: &str = "SELECT id, start_partition, start_key, end_partition, end_key FROM tablerock_drops \
    WHERE due <= now() AND claimed_until <= now() ORDER BY due LIMIT 1";

/// A database of the first release, a server of before and one of now.
async fn servers(options: PostgresOptions) -> (DatabaseServer, Client, Arc<PostgresEngine>) {
    let database = DatabaseServer::start();
    database.run(VERSION_1);
    let (before, connection) = tokio_postgres::connect(&database.url_of("upgrade"), NoTls).await.unwrap();
    tokio::spawn(connection);
    let [partition, key, digest, value] = [b"dacct".as_slice(), b"people", b"1", b"row"];
    assert_eq!(before.execute(INSERT, &[&partition, &key, &digest, &value]).await.unwrap(), 1);
    let target = Target::parse(&database.url_of("upgrade")).unwrap();
    let now = PostgresEngine::open(target, options).await.unwrap();
    (database, before, now)
}

fn version(number: u64) -> Bytes {
    [&[1][..], &number.to_be_bytes(), b"properties"].concat().into()
}

async fn upsert(engine: &PostgresEngine, number: u64) -> (bool, Option<Bytes>) {
    let (partition, key) = (Bytes::from("e7p"), Bytes::from("r"));
    let put = BlindPut { partition, key, value: version(number), replaces: Replaces::Earlier };
    engine.put_blind(put, (b"dacct", b"people")).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_of_both_versions_write_the_same_entities() {
    let (database, before, now) = servers(PostgresOptions { connections_max: 16, ..PostgresOptions::default() }).await;
    let (partition, key) = (b"e7p".as_slice(), b"r".as_slice());
    assert_eq!(upsert(&now, 5).await, (true, Some(Bytes::from("row"))));
    // A server of before looks, and one of now writes in between: the first one is rejected and looks again.
    let look = async || -> Vec<u8> { before.query_one(LOOK, &[&partition, &key]).await.unwrap().get(0) };
    let seen = look().await;
    assert!(upsert(&now, 6).await.0);
    let replaced = version(7).to_vec();
    let replace = async |seen: Vec<u8>| {
        before.execute(REPLACE, &[&partition, &key, &b"digest".as_slice(), &replaced, &seen]).await.unwrap()
    };
    assert_eq!(replace(seen).await, 0);
    assert_eq!(replace(look().await).await, 1);
    // The one of now does not replace what is later.
    assert!(!upsert(&now, 6).await.0);
    let shown: Vec<u8> = before.query_one(GET, &[&partition, &key]).await.unwrap().get(0);
    assert_eq!(shown, version(7).to_vec());
    assert_eq!(database.run("SELECT version FROM upgrade.tablerock_schema").trim(), "1", "both versions start with it");
}

/// A server of before revokes a policy: the commits of a server of now that rest on it are rejected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_now_sees_the_changes_of_one_of_before() {
    let (_database, before, now) = servers(PostgresOptions { connections_max: 16, ..PostgresOptions::default() }).await;
    let admits = Arc::new(|row: Option<&[u8]>| row == Some(b"row"));
    let witness = Witness { partition: Bytes::from("dacct"), key: Bytes::from("people"), admits };
    let write = || Commit {
        partition: Bytes::from("e7p"),
        expected: vec![],
        writes: vec![(Bytes::from("r"), Some(version(5)))],
    };
    now.commit_witnessed(write(), &witness).await.unwrap();
    let row = [b"dacct".as_slice(), b"people", b"2", b"revoked", b"1"];
    assert_eq!(before.execute(REPLACE, &[&row[0], &row[1], &row[2], &row[3], &row[4]]).await.unwrap(), 1);
    let rejected = now.commit_witnessed(write(), &witness).await.unwrap_err();
    assert_eq!(rejected.kind(), ErrorKind::Unavailable, "{rejected}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_version_sweeps_what_the_other_dropped() {
    let options = PostgresOptions {
        connections_max: 16,
        sweep_delay: Duration::ZERO,
        second_sweep_delay: Duration::from_secs(3600),
        sweep_pause: Duration::from_millis(100),
        ..PostgresOptions::default()
    };
    let (database, before, now) = servers(options).await;
    upsert(&now, 5).await;
    let (id, start, end, nothing) = (b"id".as_slice(), b"e7".as_slice(), b"e8".as_slice(), b"".as_slice());
    before.execute(NOTE_DROP, &[&id, &start, &nothing, &Some(end), &Some(nothing), &0.0]).await.unwrap();
    let give_up = Instant::now() + Duration::from_secs(20);
    while database.run("SELECT count(*) FROM upgrade.tablerock_records WHERE partition = 'e7p'").trim() != "0" {
        assert!(Instant::now() < give_up, "the range is still there");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    now.drop_range(Range::partitions(b"e7")).await.unwrap();
    database.run("UPDATE upgrade.tablerock_drops SET due = now(), claimed_until = now()");
    now.close().await.unwrap();
    // The second sweep of a range is a row as any other, also for a server of before.
    database.run("UPDATE upgrade.tablerock_drops SET due = now(), claimed_until = now()");
    let found = before.query_opt(FIND_DROPS, &[]).await.unwrap().expect("it is to be swept again");
    assert_eq!(found.get::<_, &[u8]>(1), b"e7");
}
