//! The queue is bounded: a commit that finds it full waits instead of failing.

use std::time::Duration;

use tablerock_kv::{Commit, Engine, ErrorKind, Range};

use super::{DiskState, put, setup_with, start};
use crate::LocalOptions;

#[tokio::test]
async fn commits_wait_for_room_and_then_go_through() {
    const ROOM: usize = 32;
    let setup = setup_with(&LocalOptions { queue_bytes_max: ROOM << 10, ..LocalOptions::default() });
    setup.disk.set(DiskState::Stopped);
    let commits: Vec<_> = (0..100).map(|number| start(&setup.engine, put(&format!("{number}"), "1"))).collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(setup.engine.statistics().pending_bytes, (ROOM as u64) << 10);
    setup.disk.set(DiskState::Working);
    for commit in commits {
        commit.await.unwrap().unwrap();
    }
    assert_eq!(setup.engine.statistics().commits, 100);
}

#[tokio::test]
async fn a_commit_greater_than_the_queue_gets_all_of_it() {
    let setup = setup_with(&LocalOptions { queue_bytes_max: 8 << 10, ..LocalOptions::default() });
    setup.engine.commit(put("k", &"v".repeat(100_000))).await.unwrap();
    setup.engine.commit(put("k", "v")).await.unwrap();
}

#[tokio::test]
async fn what_can_never_be_written_is_invalid() {
    let setup = setup_with(&LocalOptions::default());
    let long_key = put(&"k".repeat(65_536), "v");
    assert_eq!(setup.engine.commit(long_key).await.unwrap_err().kind(), ErrorKind::TooLong);

    let long_range = Range::partition(&[b'p'; 65_536]);
    assert_eq!(setup.engine.drop_range(long_range).await.unwrap_err().kind(), ErrorKind::TooLong);

    let value = tablerock_kv::Bytes::from(vec![0; 1 << 20]);
    let writes = (0..65).map(|key| (format!("{key}").into(), Some(value.clone()))).collect();
    let huge = Commit { partition: "p".into(), expected: vec![], writes };
    assert_eq!(setup.engine.commit(huge).await.unwrap_err().kind(), ErrorKind::Invalid);
}

#[tokio::test]
async fn closing_finishes_what_waits() {
    let setup = setup_with(&LocalOptions::default());
    setup.disk.set(DiskState::Stopped);
    let commits: Vec<_> = (0..10).map(|number| start(&setup.engine, put(&format!("{number}"), "1"))).collect();
    setup.disk.wait_for_arrivals(1).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let engine = setup.engine.clone();
    let close = tokio::spawn(async move { engine.close().await });
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(!close.is_finished());
    setup.disk.set(DiskState::Working);
    close.await.unwrap().unwrap();
    for commit in commits {
        commit.await.unwrap().unwrap();
    }
}
