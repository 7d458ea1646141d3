//! The space of what was dropped or deleted comes back.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Commit, Engine, Range};
use tablerock_kv_local::{LocalEngine, LocalOptions};

const MIB: u64 = 1 << 20;

fn options() -> LocalOptions {
    LocalOptions {
        sweep_delay: Duration::ZERO,
        garbage_check_interval: Duration::from_millis(100),
        write_buffer_bytes: 4 * MIB,
        ..LocalOptions::default()
    }
}

/// Writes so many mebibytes that no compression shrinks.
async fn fill(engine: &LocalEngine, partition: &'static str, mebibytes: u64) {
    let mut rng = fastrand::Rng::with_seed(mebibytes);
    write(engine, partition, mebibytes, || Some(std::iter::repeat_with(|| rng.u8(..)).take(16 << 10).collect())).await;
}

async fn delete(engine: &LocalEngine, partition: &'static str, mebibytes: u64) {
    write(engine, partition, mebibytes, || None).await;
}

async fn write(
    engine: &LocalEngine,
    partition: &'static str,
    mebibytes: u64,
    mut value: impl FnMut() -> Option<Bytes>,
) {
    for number in 0..mebibytes * 4 {
        let writes = (0..16).map(|key| (format!("{number:06}-{key:02}").into(), value())).collect();
        engine.commit(Commit { partition: partition.into(), expected: vec![], writes }).await.unwrap();
    }
}

/// Bytes of all tables on disk, including those that nothing refers to any more.
fn table_bytes(location: &Path) -> u64 {
    let tables = fs::read_dir(location.join("store/keyspaces/1/tables")).unwrap();
    tables.map(|table| table.unwrap().metadata().map_or(0, |data| data.len())).sum()
}

async fn wait_until_below(location: &Path, bytes: u64) {
    let end = Instant::now() + Duration::from_secs(60);
    while table_bytes(location) > bytes {
        assert!(Instant::now() < end, "{} MiB of tables are left", table_bytes(location) / MIB);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn the_space_of_a_dropped_range_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let engine = LocalEngine::open_with(directory.path(), &options()).unwrap();
    fill(&engine, "kept", 5).await;
    fill(&engine, "large", 120).await;
    fill(&engine, "next", 5).await;
    assert!(table_bytes(directory.path()) > 110 * MIB);

    engine.drop_range(Range::partition(b"large")).await.unwrap();
    wait_until_below(directory.path(), 25 * MIB).await;
    for partition in [b"kept", b"next"] {
        assert!(engine.get(partition, b"000007-07").await.unwrap().is_some());
    }
    assert!(engine.get(b"large", b"000007-07").await.unwrap().is_none());
}

#[tokio::test]
async fn a_drop_that_a_restart_interrupts_is_finished_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let patient = LocalOptions { sweep_delay: Duration::from_secs(3_600), ..options() };
    let engine = LocalEngine::open_with(directory.path(), &patient).unwrap();
    fill(&engine, "large", 40).await;
    engine.drop_range(Range::partition(b"large")).await.unwrap();
    assert_eq!(engine.statistics().ranges_to_sweep, 1);
    assert!(engine.get(b"large", b"000007-07").await.unwrap().is_some(), "it rests for an hour");
    engine.close().await.unwrap();

    let engine = LocalEngine::open_with(directory.path(), &patient).unwrap();
    wait_until_below(directory.path(), 10 * MIB).await;
    while engine.statistics().ranges_to_sweep > 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(engine.get(b"large", b"000007-07").await.unwrap().is_none());
}

#[tokio::test]
async fn the_space_of_records_deleted_one_by_one_comes_back_among_many_small_ones() {
    let directory = tempfile::tempdir().unwrap();
    let engine = LocalEngine::open_with(directory.path(), &options()).unwrap();
    let small = (0..50_000).map(|number| (format!("{number:05}").into(), Some(Bytes::from_static(b"small"))));
    engine.commit(Commit { partition: "small".into(), expected: vec![], writes: small.collect() }).await.unwrap();
    fill(&engine, "large", 40).await;
    delete(&engine, "large", 40).await;
    wait_until_below(directory.path(), 10 * MIB).await;
    assert!(engine.get(b"small", b"00007").await.unwrap().is_some());
}

#[tokio::test]
async fn the_space_of_records_deleted_before_a_restart_comes_back_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let never = LocalOptions { garbage_check_interval: Duration::from_secs(3_600), ..options() };
    let engine = LocalEngine::open_with(directory.path(), &never).unwrap();
    fill(&engine, "large", 40).await;
    delete(&engine, "large", 40).await;
    engine.close().await.unwrap();
    assert!(table_bytes(directory.path()) > 20 * MIB, "nothing has been merged yet");

    let engine = LocalEngine::open_with(directory.path(), &options()).unwrap();
    wait_until_below(directory.path(), 10 * MIB).await;
    assert!(engine.get(b"large", b"000007-07").await.unwrap().is_none());
}
