//! What the engine does on Citus, with a stand-in for it: its functions and catalogs in a schema that is searched before the
//! system's own. Each "node" is a row, and its responses are what the test puts there.

use std::time::{Duration, Instant};

use tablerock_kv::{
    Bytes, Clock as _, Commit, Engine as _, ErrorKind, Health, Position, Range, ScanLimits, SystemClock,
    TICKS_PER_SECOND,
};

use super::DATABASE;
use crate::{PostgresEngine, PostgresOptions, Target};

/// Settings of a node that syncs.
const SYNCED: &str = "on on on";

/// Creates the stand-in, with a coordinator and two workers.
fn stand_in(schema: &str) -> Target {
    let url = DATABASE.url(schema);
    DATABASE.run(&format!(
        "SET search_path = {schema}, pg_catalog;
         CREATE TABLE pg_extension AS SELECT 'citus'::text AS extname;
         CREATE TABLE pg_dist_node (nodeid int, groupid int, nodename text, nodeport int, noderole text);
         INSERT INTO pg_dist_node VALUES (1, 0, 'coordinator', 1, 'primary'), (2, 1, 'worker1', 1, 'primary'),
           (3, 2, 'worker2', 1, 'primary');
         CREATE TABLE pg_dist_partition (logicalrelid regclass, way text);
         CREATE TABLE pg_dist_shard (logicalrelid regclass, shardid bigint);
         CREATE TABLE pg_dist_placement (shardid bigint, groupid int);
         CREATE TABLE settings AS SELECT nodeid, true AS success, '{SYNCED}'::text AS result FROM pg_dist_node;
         CREATE TABLE coordinator AS SELECT true AS here;
         CREATE FUNCTION citus_is_coordinator() RETURNS bool LANGUAGE sql AS 'SELECT here FROM {schema}.coordinator';
         CREATE FUNCTION run_command_on_all_nodes(command text) RETURNS SETOF settings LANGUAGE sql
           AS 'SELECT * FROM {schema}.settings';
         CREATE TABLE coordinator_up AS SELECT true AS here;
         CREATE FUNCTION run_command_on_coordinator(command text) RETURNS TABLE (nodeid int, success bool, result text)
           LANGUAGE plpgsql SET search_path = pg_catalog AS 'BEGIN
             nodeid := 1;
             success := here FROM {schema}.coordinator_up;
             IF success THEN EXECUTE command INTO result; ELSE result := ''connection refused''; END IF;
             RETURN NEXT;
           END';
         CREATE FUNCTION create_reference_table(name regclass) RETURNS void LANGUAGE sql
           AS 'INSERT INTO {schema}.pg_dist_partition VALUES (name, ''reference'')';
         CREATE FUNCTION create_distributed_table(name regclass, by text) RETURNS void LANGUAGE sql
           AS 'INSERT INTO {schema}.pg_dist_partition VALUES (name, by);
               INSERT INTO {schema}.pg_dist_shard SELECT name, generate_series(0, 3);
               INSERT INTO {schema}.pg_dist_placement SELECT shard, 1 + shard % 2 FROM generate_series(0, 3) AS shard';
         CREATE FUNCTION get_shard_id_for_distribution_column(name regclass, value bytea) RETURNS bigint LANGUAGE sql
           AS 'SELECT CAST(get_byte(value, 1) % 4 AS bigint)';"
    ));
    let path = format!("search_path%3D{schema}");
    Target::parse(&url.replace(&path, &format!("{path},pg_catalog"))).unwrap()
}

fn tables(schema: &str) -> String {
    let list = "SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_tables WHERE tablename LIKE 'tablerock%'";
    DATABASE.run(&format!("{list} AND schemaname = '{schema}'")).trim().to_owned()
}

#[tokio::test]
async fn a_first_start_at_a_worker_changes_nothing_and_names_the_coordinator() {
    let target = stand_in("at_a_worker");
    DATABASE.run("UPDATE at_a_worker.coordinator SET here = false");
    let error = PostgresEngine::open(target.clone(), PostgresOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.message().contains("(coordinator:1)"), "{error}");
    assert_eq!(tables("at_a_worker"), "");

    DATABASE.run("UPDATE at_a_worker.coordinator SET here = true");
    drop(PostgresEngine::open(target.clone(), PostgresOptions::default()).await.unwrap());
    DATABASE.run("UPDATE at_a_worker.coordinator SET here = false");
    PostgresEngine::open(target, PostgresOptions::default()).await.expect("the tables are there");
}

#[tokio::test]
async fn records_are_distributed_and_every_node_has_the_other_tables() {
    let target = stand_in("distributed");
    let ways = "SELECT string_agg(concat(logicalrelid, ' ', way), ', ' ORDER BY way, logicalrelid::text) FROM distributed.pg_dist_partition";
    let ways = || DATABASE.run(&format!("SET search_path = distributed, pg_catalog; {ways}")).replace("SET\n", "");
    let expected = "tablerock_records partition, tablerock_directory reference, tablerock_drops reference, \
         tablerock_marks reference, tablerock_schema reference";
    for _ in 0..2 {
        drop(PostgresEngine::open(target.clone(), PostgresOptions::default()).await.unwrap());
        assert_eq!(ways().trim(), expected);
    }
    // The tables of an earlier version, whose servers do not know that directories are elsewhere.
    DATABASE.run("UPDATE distributed.tablerock_schema SET version = 1");
    let error = PostgresEngine::open(target, PostgresOptions::default()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.message().contains("tablerock copy"), "{error}");
}

#[tokio::test]
async fn a_node_that_acknowledges_before_it_syncs_is_named_with_the_remedy() {
    let target = stand_in("unsynced");
    for (settings, is_refused) in [("off on on", true), ("local on on", true), ("remote_apply off off", false)] {
        DATABASE.run(&format!("UPDATE unsynced.settings SET result = '{settings}' WHERE nodeid = 3"));
        let opened = PostgresEngine::open(target.clone(), PostgresOptions::default()).await;
        match (opened, is_refused) {
            (Err(error), true) => {
                assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
                assert!(error.message().contains("worker2:1 has synchronous_commit"), "{error}");
                assert!(error.message().contains("ALTER ROLE tablerock SET synchronous_commit = on"), "{error}");
                assert_eq!(tables("unsynced"), "");
            }
            (opened, _) => assert!(opened.is_ok() != is_refused, "{settings}: {:?}", opened.err()),
        }
    }
    DATABASE.run("UPDATE unsynced.settings SET success = false, result = 'failed to connect' WHERE nodeid = 3");
    PostgresEngine::open(target, PostgresOptions::default()).await.expect("a node that is away may come back");
}

/// The words of the database are part of the error.
#[tokio::test]
async fn a_table_that_cannot_be_distributed_is_an_error_with_the_databases_words() {
    let target = stand_in("refused");
    DATABASE.run(
        "CREATE OR REPLACE FUNCTION refused.create_reference_table(name regclass) RETURNS void LANGUAGE plpgsql
           AS $$ BEGIN RAISE EXCEPTION 'worker1 has no room'; END $$",
    );
    let error = PostgresEngine::open(target, PostgresOptions::default()).await.unwrap_err();
    assert!(error.message().contains("worker1 has no room"), "{error}");
}

#[tokio::test]
async fn health_tells_which_part_of_the_partitions_is_served() {
    let target = stand_in("parts");
    let options = PostgresOptions { health_pause: Duration::from_millis(20), ..PostgresOptions::default() };
    let engine = PostgresEngine::open(target, options).await.unwrap();
    let wait_for = async |what: &str, is_it: fn(&Health) -> bool| {
        let started = Instant::now();
        while !is_it(&engine.health()) {
            assert!(started.elapsed() < Duration::from_secs(30), "not {what}: {:?}", engine.health());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    wait_for("healthy", |health| *health == Health::Healthy).await;
    // From now on the records are a view, which fails for the shards of nodes that are away.
    DATABASE.run(
        "SET search_path = parts, pg_catalog;
         CREATE TABLE away (shard bigint);
         CREATE FUNCTION is_here(partition bytea) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
           IF EXISTS (SELECT 1 FROM parts.away WHERE shard = get_byte(partition, 1) % 4) THEN
             RAISE EXCEPTION 'connection to the remote node failed' USING ERRCODE = '08006';
           END IF;
           RETURN true; END $$;
         INSERT INTO tablerock_records SELECT decode(lpad(to_hex(number), 4, '0'), 'hex'), '', '', ''
           FROM generate_series(0, 1023) AS number;
         BEGIN;
         ALTER TABLE tablerock_records RENAME TO hidden;
         CREATE VIEW tablerock_records AS SELECT * FROM hidden WHERE is_here(partition);
         UPDATE pg_dist_shard SET logicalrelid = 'tablerock_records'::regclass;
         COMMIT",
    );
    DATABASE.run("INSERT INTO parts.away VALUES (1), (3)");
    wait_for(
        "degraded",
        |health| matches!(health, Health::Degraded(why) if why.starts_with("2 of 4 shards are served: worker2:1: ")),
    )
    .await;
    DATABASE.run("INSERT INTO parts.away VALUES (0), (2)");
    wait_for("down", |health| matches!(health, Health::Down(why) if why.starts_with("none of 4 shards"))).await;
    DATABASE.run("DELETE FROM parts.away");
    wait_for("healthy again", |health| *health == Health::Healthy).await;
}

#[tokio::test]
async fn a_page_over_partitions_reads_only_the_values_that_fit() {
    let target = stand_in("two_steps");
    let engine = PostgresEngine::open(target, PostgresOptions::default()).await.unwrap();
    for partition in 0..30_u8 {
        let writes = (0..3_u8).map(|key| (Bytes::from(vec![key]), Some(Bytes::from(vec![key; 100])))).collect();
        engine.commit(Commit { partition: Bytes::from(vec![partition]), expected: vec![], writes }).await.unwrap();
    }
    let range = Range { start: Position::new(Bytes::from_static(&[2]), Bytes::from_static(&[1])), end: None };
    let bounded =
        Range { end: Some(Position::new(Bytes::from_static(&[29]), Bytes::from_static(&[2]))), ..range.clone() };
    for (range, total) in [(range, 28 * 3 - 1), (bounded, 28 * 3 - 2)] {
        for (records_max, bytes_max) in [(1, 1 << 20), (7, 1 << 20), (1_000, 350), (1_000, 1), (1_000, 1 << 20)] {
            let limits = ScanLimits { records_max, bytes_max, deadline: None };
            let (mut rest, mut keys) = (Some(range.clone()), vec![]);
            while let Some(range) = rest.take() {
                let page = engine.scan(&range, limits).await.unwrap();
                assert!(page.records.len() <= records_max.min(bytes_max.div_ceil(102)), "{}", page.records.len());
                keys.extend(page.records.iter().map(|record| (record.partition[0], record.key[0])));
                rest = page.next.map(|start| Range { start, end: range.end.clone() });
            }
            let expected = (2..30).flat_map(|partition| (0..3).map(move |key| (partition, key)));
            assert_eq!(keys, expected.skip(1).take(total).collect::<Vec<_>>(), "{records_max} {bytes_max}");
        }
    }
}

/// The clock of a worker is minutes ahead of that of the coordinator, which counts.
#[tokio::test]
async fn all_servers_use_the_clock_of_the_coordinator() {
    let target = stand_in("clocks");
    drop(PostgresEngine::open(target.clone(), PostgresOptions::default()).await.unwrap());
    DATABASE.run(
        "UPDATE clocks.coordinator SET here = false;
         CREATE FUNCTION clocks.clock_timestamp() RETURNS timestamptz LANGUAGE sql
           AS $$SELECT pg_catalog.clock_timestamp() + interval '5 minutes'$$",
    );
    let engine = PostgresEngine::open(target.clone(), PostgresOptions::default()).await.unwrap();
    let difference = engine.clock().ticks().abs_diff(SystemClock.ticks());
    assert!(difference < 60 * TICKS_PER_SECOND, "this is the clock of the worker: {difference}");

    // The last reading is used on while the coordinator is away; a start does not guess.
    DATABASE.run("UPDATE clocks.coordinator_up SET here = false");
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert!(matches!(engine.health(), Health::Healthy), "{:?}", engine.health());
    let error = PostgresEngine::open(target, PostgresOptions::default()).await.unwrap_err();
    assert!(error.message().contains("the clock of the coordinator"), "{error}");
}
