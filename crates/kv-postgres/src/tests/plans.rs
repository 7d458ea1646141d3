//! Every statement finds its rows by the primary key, whatever the planner knows of the data.

use tablerock_kv::{Bytes, Commit, Engine as _};

use super::DATABASE;
use crate::connection::Connection;
use crate::kind::Kind;
use crate::schema::{DIRECTORY, RECORDS};
use crate::{PostgresEngine, PostgresOptions, Target, drops, statements};

/// The plan that a prepared statement keeps to, with these values for its parameters.
async fn plan(connection: &Connection, statement: &str, values: &str) -> String {
    let client = &connection.client;
    let prepare = format!("SET plan_cache_mode = force_generic_plan; DEALLOCATE ALL; PREPARE looked_at AS {statement}");
    client.batch_execute(&prepare).await.unwrap();
    let explained = client.simple_query(&format!("EXPLAIN (COSTS OFF) EXECUTE looked_at ({values})")).await.unwrap();
    let lines = explained.iter().filter_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

async fn connection_to_many_rows(schema: &str, is_analysed: bool) -> Connection {
    let target = Target::parse(&DATABASE.url(schema)).unwrap();
    let engine = PostgresEngine::open(target.clone(), PostgresOptions::default()).await.unwrap();
    for partition in 0..20 {
        let writes =
            (0..500).map(|key| (Bytes::from(format!("{key:05}")), Some(Bytes::from(vec![b'v'; 200])))).collect();
        let commit = Commit { partition: Bytes::from(format!("p{partition:03}")), expected: vec![], writes };
        engine.commit(commit).await.unwrap();
    }
    let options = PostgresOptions::default();
    let connection = Connection::open(&target, &options, Kind::Postgres, options.connection_wait).await.unwrap();
    if is_analysed {
        connection.client.batch_execute("ANALYZE tablerock_records").await.unwrap();
    }
    connection
}

#[tokio::test]
async fn every_statement_uses_the_primary_key() {
    let bytes = r"'\x70303035'::bytea";
    for is_analysed in [false, true] {
        let connection = connection_to_many_rows(&format!("plans_{is_analysed}"), is_analysed).await;
        let [both, one_and_some] =
            [statements::BOTH, statements::ONE_AND_SOME].map(|text| text.replace(DIRECTORY, RECORDS));
        for (statement, values) in [
            (statements::GET, format!("{bytes}, {bytes}")),
            (statements::READ, format!("{bytes}, ARRAY[{bytes}, {bytes}]")),
            (statements::CHECK, format!("{bytes}, ARRAY[{bytes}, {bytes}]")),
            (statements::LOCK, format!("{bytes}, ARRAY[{bytes}, {bytes}]")),
            (statements::REPLACE, format!("{bytes}, {bytes}, {bytes}, {bytes}, {bytes}")),
            (statements::REMOVE, format!("{bytes}, {bytes}, {bytes}")),
            (statements::DELETE_MANY, format!("{bytes}, ARRAY[{bytes}]")),
            (statements::SCAN_PARTITION, format!("1001, 4194304, {bytes}, {bytes}")),
            (statements::SCAN_WITHIN_PARTITION, format!("1001, 4194304, {bytes}, {bytes}, {bytes}")),
            (statements::SCAN_TO_END, format!("1001, 4194304, {bytes}, {bytes}")),
            (statements::SCAN, format!("1001, 4194304, {bytes}, {bytes}, {bytes}, {bytes}")),
            (statements::SCAN_KEYS, format!("1001, {bytes}, {bytes}, {bytes}, {bytes}")),
            (statements::SCAN_KEYS_TO_END, format!("1001, {bytes}, {bytes}")),
            (statements::SCAN_VALUES, format!("1001, {bytes}, {bytes}, {bytes}, {bytes}")),
            (&both[..], format!("{bytes}, {bytes}, {bytes}, {bytes}")),
            (&one_and_some, format!("{bytes}, {bytes}, {bytes}, ARRAY[{bytes}, {bytes}]")),
            (drops::NEXT_ROWS, format!("{bytes}, {bytes}, {bytes}, {bytes}, 500")),
            (drops::NEXT_ROWS_TO_END, format!("{bytes}, {bytes}, 500")),
            (drops::REMOVE, format!("{bytes}, {bytes}, {bytes}, {bytes}")),
        ] {
            let plan = plan(&connection, statement, &values).await;
            assert!(plan.contains("using tablerock_records_pkey"), "{statement}\n{plan}");
            assert!(plan.contains("Index Cond"), "{statement}\n{plan}");
            assert!(!plan.contains("Seq Scan"), "{statement}\n{plan}");
        }
    }
}

#[tokio::test]
async fn a_page_is_read_in_order_and_no_farther_than_it_goes() {
    let connection = connection_to_many_rows("plans_of_pages", true).await;
    let bytes = r"'\x70303035'::bytea";
    for (statement, values) in [
        (statements::SCAN_PARTITION, format!("10, 4194304, {bytes}, '\\x'")),
        (statements::SCAN_TO_END, format!("10, 4194304, {bytes}, '\\x'")),
        (statements::SCAN, format!("10, 4194304, {bytes}, '\\x', '\\x7a', '\\x'")),
    ] {
        let shape = plan(&connection, statement, &values).await;
        assert!(!shape.contains("Sort"), "the index has the order already\n{shape}");
        assert!(shape.contains("Limit"), "{shape}");
        let run = format!("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE looked_at ({values})");
        let run = connection.client.simple_query(&run).await.unwrap();
        let scan = run.iter().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).filter(|line| line.contains("Index Scan")),
            _ => None,
        });
        let scan = scan.expect("the plan has an index scan");
        // Since version 18 it is a mean, with decimals.
        let reads_ten = scan.contains("rows=10 ") || scan.contains("rows=10.00 ");
        assert!(reads_ten, "a page of ten rows reads ten: {scan}");
    }
}
