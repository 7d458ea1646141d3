//! Deletions that have become tables before the engine looks at them, with nothing in memory that would say so.

use std::time::{Duration, Instant};

use tablerock_kv::{Bytes, Commit, Engine};

use super::setup_with;
use crate::{LocalEngine, LocalOptions};

const RECORDS: usize = 32;
const RECORD_BYTES: usize = 256 << 10;

async fn write_all(engine: &LocalEngine, mut value: impl FnMut() -> Option<Bytes>) {
    let writes = (0..RECORDS).map(|key| (format!("{key:02}").into(), value())).collect();
    engine.commit(Commit { partition: "p".into(), expected: vec![], writes }).await.unwrap();
    let handles = engine.open.lock().as_ref().unwrap().handles.clone();
    handles.records.rotate_memtable_and_wait().unwrap();
}

#[tokio::test]
async fn deletions_that_are_in_tables_already_are_merged_after_a_restart() {
    let setup =
        setup_with(&LocalOptions { garbage_check_interval: Duration::from_secs(3_600), ..LocalOptions::default() });
    let mut rng = fastrand::Rng::with_seed(1);
    write_all(&setup.engine, || Some(std::iter::repeat_with(|| rng.u8(..)).take(RECORD_BYTES).collect())).await;
    write_all(&setup.engine, || None).await;
    setup.engine.close().await.unwrap();

    let options = LocalOptions { garbage_check_interval: Duration::from_millis(50), ..LocalOptions::default() };
    let engine = LocalEngine::open_with(setup.directory.path(), &options).unwrap();
    assert!(engine.statistics().disk_bytes > (RECORDS * RECORD_BYTES) as u64);
    let give_up = Instant::now() + Duration::from_secs(30);
    while engine.statistics().disk_bytes > RECORD_BYTES as u64 {
        assert!(Instant::now() < give_up, "{} bytes are left", engine.statistics().disk_bytes);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
