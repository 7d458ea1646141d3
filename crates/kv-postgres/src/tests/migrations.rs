//! The tables are created once, however many servers start together.

use tablerock_kv::ErrorKind;

use super::DATABASE;
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

#[tokio::test]
async fn a_database_that_acknowledges_before_it_syncs_is_refused() {
    let url = DATABASE.url("careless").replace("careless", "careless%20-c%20synchronous_commit%3Doff");
    let target = Target::parse(&url).unwrap();
    let error = PostgresEngine::open(target, PostgresOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("synchronous_commit"), "{error}");
}
