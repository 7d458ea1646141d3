//! Commits that rest on a record of another partition: either the change of that record waits for them, or they see it.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Bytes, Commit, Engine, ErrorKind, Witness};
use tablerock_kv_postgres::{PostgresEngine, PostgresOptions, Target};
use tablerock_testkit::postgres::DatabaseServer;
use tokio_postgres::NoTls;

async fn open(database: &DatabaseServer) -> Arc<PostgresEngine> {
    let target = Target::parse(&database.url("witnesses")).unwrap();
    PostgresEngine::open(target, PostgresOptions { connections_max: 16, ..PostgresOptions::default() }).await.unwrap()
}

fn put(partition: &'static str, key: &'static str, value: &str) -> Commit {
    let writes = vec![(Bytes::from(key), Some(Bytes::from(value.to_owned())))];
    Commit { partition: Bytes::from(partition), expected: vec![], writes }
}

fn witness(value: &'static str) -> Witness {
    let admits = Arc::new(move |found: Option<&[u8]>| found == Some(value.as_bytes()));
    Witness { partition: Bytes::from("d"), key: Bytes::from("row"), admits }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_is_applied_only_while_its_witness_is_as_it_was() {
    let database = DatabaseServer::start();
    let engine = open(&database).await;
    let missing = engine.commit_witnessed(put("e", "k", "0"), &witness("old")).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Unavailable, "{missing}");
    engine.commit(put("d", "row", "old")).await.unwrap();
    engine.commit_witnessed(put("e", "k", "1"), &witness("old")).await.unwrap();
    engine.commit(put("d", "row", "new")).await.unwrap();
    assert!(engine.commit_witnessed(put("e", "k", "2"), &witness("old")).await.is_err());
    assert_eq!(engine.get(b"e", b"k").await.unwrap().as_deref(), Some(&b"1"[..]));
    engine.commit_witnessed(put("e", "k", "3"), &witness("new")).await.unwrap();
    // The connection of a commit that was rejected serves the next ones.
    let conflict = Commit { expected: vec![(Bytes::from("k"), None)], ..put("e", "k", "4") };
    assert_eq!(engine.commit_witnessed(conflict, &witness("new")).await.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(engine.get(b"e", b"k").await.unwrap().as_deref(), Some(&b"3"[..]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_changes_its_own_witness_waits_for_nobody() {
    let database = DatabaseServer::start();
    let engine = open(&database).await;
    engine.commit(put("d", "row", "old")).await.unwrap();
    let changes = (0..8).map(|_| {
        let engine = engine.clone();
        tokio::spawn(async move { engine.commit_witnessed(put("d", "row", "new"), &witness("old")).await })
    });
    let mut made = 0;
    for change in changes.collect::<Vec<_>>() {
        made += usize::from(change.await.unwrap().is_ok());
    }
    assert_eq!(made, 1, "all others see its change");
}

/// A change of the row that is in progress has not been acknowledged, but it may be before the commit is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_waits_for_a_change_of_its_witness_that_is_in_progress() {
    let database = DatabaseServer::start();
    let engine = open(&database).await;
    engine.commit(put("d", "row", "old")).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&database.url_of("witnesses"), NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("BEGIN; UPDATE tablerock_records SET value = 'revoked' WHERE key = 'row'").await.unwrap();
    let writer = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.commit_witnessed(put("e", "k", "late"), &witness("old")).await })
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!writer.is_finished(), "it waits for the change");
    client.batch_execute("COMMIT").await.unwrap();
    assert!(writer.await.unwrap().is_err());
    assert_eq!(engine.get(b"e", b"k").await.unwrap(), None);
}

/// The other way round: the change of the row is not acknowledged before the commits that rest on it have ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_waits_for_the_commits_that_rest_on_the_row() {
    let database = DatabaseServer::start();
    let engine = open(&database).await;
    engine.commit(put("d", "row", "old")).await.unwrap();
    engine.commit(put("e", "k", "1")).await.unwrap();
    let (client, connection) = tokio_postgres::connect(&database.url_of("witnesses"), NoTls).await.unwrap();
    tokio::spawn(connection);
    // The entity is locked by another, so the commit has the row already and waits.
    client.batch_execute("BEGIN; SELECT 1 FROM tablerock_records WHERE key = 'k' FOR UPDATE").await.unwrap();
    let writer = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.commit_witnessed(put("e", "k", "2"), &witness("old")).await })
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    let revoking = {
        let engine = engine.clone();
        tokio::spawn(async move { engine.commit(put("d", "row", "new")).await })
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!revoking.is_finished(), "it waits for the commit");
    client.batch_execute("COMMIT").await.unwrap();
    writer.await.unwrap().unwrap();
    revoking.await.unwrap().unwrap();
    assert_eq!(engine.get(b"e", b"k").await.unwrap().as_deref(), Some(&b"2"[..]));
}
