//! The tables are created once, however many servers start together.

use std::time::Duration;

use tablerock_kv::ErrorKind;

use super::DATABASE;
use crate::connection::Connection;
use crate::kind::Kind;
use crate::{PostgresEngine, PostgresOptions, Target};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_that_start_together_find_one_schema() {
    for round in 0..5 {
        let schema = format!("together_{round}");
        let target = Target::parse(&DATABASE.url(&schema)).unwrap();
        let options = PostgresOptions { connections_max: 2, ..PostgresOptions::default() };
        let starts: Vec<_> = (0..12).map(|_| tokio::spawn(PostgresEngine::open(target.clone(), options))).collect();
        for start in starts {
            start.await.unwrap().expect("every server starts");
        }
        let versions = DATABASE.run(&format!("SELECT count(*), max(version) FROM {schema}.tablerock_schema"));
        assert_eq!(versions.trim(), "1|1");
    }
}

#[tokio::test]
async fn a_schema_of_a_newer_version_is_left_alone() {
    let target = Target::parse(&DATABASE.url("newer")).unwrap();
    drop(PostgresEngine::open(target.clone(), PostgresOptions::default()).await.unwrap());
    DATABASE.run("UPDATE newer.tablerock_schema SET version = 7");
    let error = PostgresEngine::open(target, PostgresOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("newer"), "{error}");
    assert_eq!(DATABASE.run("SELECT version FROM newer.tablerock_schema").trim(), "7");
}

/// CockroachDB's `INTEGER` has 64 bits.
#[tokio::test]
async fn a_version_may_be_a_wider_number() {
    let target = Target::parse(&DATABASE.url("wide")).unwrap();
    DATABASE.run("CREATE TABLE wide.tablerock_schema (id BIGINT PRIMARY KEY, version BIGINT NOT NULL)");
    for _ in 0..2 {
        drop(PostgresEngine::open(target.clone(), PostgresOptions::default()).await.unwrap());
    }
    assert_eq!(DATABASE.run("SELECT version FROM wide.tablerock_schema").trim(), "1");
}

#[tokio::test]
async fn every_connection_has_its_commits_synced_whatever_the_database_was_told() {
    for (told, used) in [("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")] {
        let options = PostgresOptions::default();
        let url = DATABASE.url("careless").replace("careless", &format!("careless%20-c%20synchronous_commit%3D{told}"));
        let target = Target::parse(&url).unwrap();
        drop(PostgresEngine::open(target.clone(), options).await.unwrap());
        let connection = Connection::open(&target, &options, Kind::Postgres, options.connection_wait).await.unwrap();
        let row = connection.client.query_one("SHOW synchronous_commit", &[]).await.unwrap();
        assert_eq!(row.get::<_, &str>(0), used, "{told}");
        // Also when the operator changes it while the connection is open.
        DATABASE.run("ALTER SYSTEM SET synchronous_commit = off");
        DATABASE.run("SELECT pg_reload_conf()");
        tokio::time::sleep(Duration::from_millis(300)).await;
        let row = connection.client.query_one("SHOW synchronous_commit", &[]).await.unwrap();
        assert_eq!(row.get::<_, &str>(0), used, "{told}");
        DATABASE.run("ALTER SYSTEM RESET synchronous_commit");
        DATABASE.run("SELECT pg_reload_conf()");
    }
}

/// Another server may need long for its changes, and a server that waits for them must not take the lock for lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_migration_waits_longer_than_a_statement_may_take() {
    let target = Target::parse(&DATABASE.url("slow")).unwrap();
    drop(PostgresEngine::open(target.clone(), PostgresOptions::default()).await.unwrap());
    let (holder, connection) = tokio_postgres::connect(&DATABASE.url_of("slow"), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    holder.batch_execute("UPDATE tablerock_schema SET version = 0").await.unwrap();
    holder.batch_execute("BEGIN; SELECT * FROM tablerock_schema FOR UPDATE").await.unwrap();
    let options = PostgresOptions { statement_wait: Duration::from_millis(300), ..PostgresOptions::default() };
    let start = tokio::spawn(PostgresEngine::open(target, options));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!start.is_finished(), "it waits for its turn");
    holder.batch_execute("ROLLBACK").await.unwrap();
    start.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_database_without_tables_stays_so_if_it_has_to_be_there_already() {
    let target = Target::parse(&DATABASE.url("mistyped")).unwrap();
    let existing = PostgresOptions { create_if_missing: false, ..PostgresOptions::default() };
    let error = PostgresEngine::open(target.clone(), existing).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("check the database's name"), "{error}");
    assert_eq!(DATABASE.run("SELECT count(*) FROM pg_tables WHERE schemaname = 'mistyped'").trim(), "0");

    drop(PostgresEngine::open(target.clone(), PostgresOptions::default()).await.unwrap());
    PostgresEngine::open(target, existing).await.expect("now it is there");
}
