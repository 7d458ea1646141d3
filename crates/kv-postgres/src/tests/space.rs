//! The rows of a dropped range go, and their space is used again. The test sweeps and vacuums itself.

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Bytes, Commit, Engine, Range, Rng, ScanLimits};

use super::DATABASE;
use crate::{PostgresEngine, PostgresOptions, Target, drops};

const SCHEMA: &str = "space";

/// Small rows, and such that the database stores apart from their row.
async fn load(engine: &PostgresEngine, partition: &'static str) {
    let rng = Rng::seeded(1);
    for commit in 0..60 {
        let value = |bytes: usize| Some((0..bytes / 8).flat_map(|_| rng.number().to_be_bytes()).collect::<Bytes>());
        let rows =
            (0..100).map(|row| (format!("{commit:03}-{row:02}").into(), value(if row == 0 { 50_000 } else { 700 })));
        let commit = Commit { partition: partition.into(), expected: vec![], writes: rows.collect() };
        engine.commit(commit).await.unwrap();
    }
}

/// The bytes of the table, of its large values and of its index.
fn bytes_on_disk() -> u64 {
    DATABASE.run(&format!("SELECT pg_total_relation_size('{SCHEMA}.tablerock_records')")).trim().parse().unwrap()
}

async fn drop_and_sweep(engine: &Arc<PostgresEngine>, partition: &[u8]) {
    engine.drop_range(Range::partition(partition)).await.unwrap();
    while drops::sweep_some(&engine.pool, &engine.clock).await.unwrap() {}
    let left = engine
        .scan(&Range::partition(partition), ScanLimits { records_max: 1, bytes_max: 1 << 20, deadline: None })
        .await
        .unwrap();
    assert!(left.records.is_empty());
    DATABASE.run(&format!("VACUUM {SCHEMA}.tablerock_records"));
}

#[tokio::test]
async fn loading_again_what_was_dropped_does_not_make_the_table_grow() {
    let target = Target::parse(&DATABASE.url(SCHEMA)).unwrap();
    let an_hour = Duration::from_secs(3_600);
    let options = PostgresOptions { sweep_delay: Duration::ZERO, sweep_pause: an_hour, ..PostgresOptions::default() };
    let engine = PostgresEngine::open(target, options).await.unwrap();
    // One that stays, behind the others, so that the table cannot just be cut off.
    load(&engine, "a").await;
    load(&engine, "z").await;
    let loaded = bytes_on_disk();
    for (dropped, next) in [("a", "b"), ("b", "c"), ("c", "d")] {
        drop_and_sweep(&engine, dropped.as_bytes()).await;
        load(&engine, next).await;
    }
    let again = bytes_on_disk();
    assert!(again <= loaded + loaded / 20, "{loaded} bytes have become {again}");
}

#[tokio::test]
async fn the_database_vacuums_records_early() {
    let target = Target::parse(&DATABASE.url("vacuumed")).unwrap();
    drop(PostgresEngine::open(target, PostgresOptions::default()).await.unwrap());
    let records = "oid = 'vacuumed.tablerock_records'::regclass";
    let large = "oid = (SELECT reltoastrelid FROM pg_class WHERE oid = 'vacuumed.tablerock_records'::regclass)";
    for table in [records, large] {
        let settings = DATABASE.run(&format!("SELECT reloptions FROM pg_class WHERE {table}"));
        assert!(settings.contains("autovacuum_vacuum_scale_factor=0.05"), "{settings}");
    }
}
