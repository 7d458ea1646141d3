//! Commits that wait together go to disk together.

use super::{DiskState, get, newest, put, setup, start};

#[tokio::test]
async fn all_that_waits_shares_one_sync() {
    let setup = setup();
    setup.disk.set(DiskState::Stopped);
    let mut commits = vec![start(&setup.engine, put("first", "1"))];
    setup.disk.wait_for_arrivals(1).await;
    for number in 0..64 {
        commits.push(start(&setup.engine, put(&format!("{number}"), "1")));
    }
    for number in 0..64 {
        while newest(&setup.engine, &format!("{number}")).await.is_none() {
            tokio::task::yield_now().await;
        }
    }
    assert!(setup.engine.statistics().pending_bytes >= 65 * 1024);
    setup.disk.set(DiskState::Working);
    for commit in commits {
        commit.await.unwrap().unwrap();
    }
    let statistics = setup.engine.statistics();
    assert_eq!((statistics.commits, statistics.groups, statistics.syncs), (65, 2, 2));
    assert_eq!(statistics.pending_bytes, 0);
    assert!(get(&setup.engine, "63").await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writers_need_far_fewer_syncs_than_commits() {
    let setup = setup();
    let writers: Vec<_> = (0..64)
        .map(|writer| {
            let engine = setup.engine.clone();
            tokio::spawn(async move {
                for round in 0..20 {
                    tablerock_kv::Engine::commit(&*engine, put(&format!("{writer}-{round}"), "1")).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let statistics = setup.engine.statistics();
    assert_eq!(statistics.commits, 64 * 20);
    assert!(statistics.syncs * 4 < statistics.commits, "{statistics:?}");
}
