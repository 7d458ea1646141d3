//! The write buffer has a bound, whatever fjall's threads are busy with.

use fjall::AbstractTree as _;
use tablerock_kv::Engine;

use super::{Setup, get, put, setup_with};
use crate::{LocalEngine, LocalOptions};

const BUFFER_BYTES: u64 = 64 << 10;

fn small_buffers() -> LocalOptions {
    LocalOptions { write_buffer_bytes: BUFFER_BYTES, ..LocalOptions::default() }
}

fn buffered_bytes(engine: &LocalEngine) -> u64 {
    engine.open.lock().as_ref().unwrap().handles.records.tree.active_memtable().size()
}

#[tokio::test]
async fn a_buffer_is_handed_over_by_the_commit_that_fills_it() {
    let setup = setup_with(&small_buffers());
    let value = "v".repeat(5_000);
    for number in 0..100 {
        setup.engine.commit(put(&format!("{number}"), &value)).await.unwrap();
        assert!(buffered_bytes(&setup.engine) <= BUFFER_BYTES, "after {number} commits");
    }
    assert_eq!(get(&setup.engine, "0").await.as_deref(), Some(value.as_bytes()));
}

#[tokio::test]
async fn a_buffer_that_a_start_finds_too_big_is_handed_over() {
    let Setup { engine, directory, .. } = &setup_with(&LocalOptions::default());
    engine.commit(put("k", &"v".repeat(1 << 20))).await.unwrap();
    engine.close().await.unwrap();
    let engine = LocalEngine::open_with(directory.path(), &small_buffers()).unwrap();
    assert!(buffered_bytes(&engine) <= BUFFER_BYTES);
    assert_eq!(get(&engine, "k").await.map(|value| value.len()), Some(1 << 20));
}
