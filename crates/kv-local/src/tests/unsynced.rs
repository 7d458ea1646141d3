//! Reads never show what is not on disk yet; transactions may rest on it, and then wait for it.

use std::time::Duration;

use tablerock_kv::{Bytes, Commit, Engine, ErrorKind, Range, ScanLimits, Store};

use super::{DiskState, get, newest, put, setup, start};

#[tokio::test]
async fn a_reader_sees_a_write_only_after_its_sync() {
    let setup = setup();
    setup.engine.commit(put("k", "old")).await.unwrap();
    setup.disk.set(DiskState::Stopped);
    let commit = start(&setup.engine, put("k", "new"));
    setup.disk.wait_for_arrivals(2).await;

    assert_eq!(newest(&setup.engine, "k").await.unwrap(), "new");
    assert_eq!(get(&setup.engine, "k").await.unwrap(), "old");
    let limits = ScanLimits { records_max: 10, bytes_max: 1 << 20, deadline: None };
    let page = setup.engine.scan(&Range::partition(b"p"), limits).await.unwrap();
    assert_eq!(page.records[0].value, "old");
    assert!(!commit.is_finished());

    setup.disk.set(DiskState::Working);
    commit.await.unwrap().unwrap();
    assert_eq!(get(&setup.engine, "k").await.unwrap(), "new");
}

#[tokio::test]
async fn a_commit_without_writes_waits_for_what_it_rests_on() {
    let setup = setup();
    setup.engine.commit(put("durable", "1")).await.unwrap();
    setup.disk.set(DiskState::Stopped);
    let write = start(&setup.engine, put("pending", "2"));
    setup.disk.wait_for_arrivals(2).await;
    let expect = |key: &'static str, value: &'static str| Commit {
        partition: "p".into(),
        expected: vec![(key.into(), Some(value.into()))],
        writes: vec![],
    };

    // What is durable already is confirmed at once, and a wrong expectation is refused at once.
    setup.engine.commit(expect("durable", "1")).await.unwrap();
    let refusal = setup.engine.commit(expect("pending", "1")).await.unwrap_err();
    assert_eq!(refusal.kind(), ErrorKind::Conflict);

    let confirmation = start(&setup.engine, expect("pending", "2"));
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(!confirmation.is_finished());
    setup.disk.set(DiskState::Working);
    confirmation.await.unwrap().unwrap();
    write.await.unwrap().unwrap();
    assert_eq!(setup.engine.statistics().syncs, 2, "a confirmation needs no sync of its own");
}

#[tokio::test]
async fn a_refusal_waits_until_what_it_saw_is_durable() {
    let setup = setup();
    let store = Store::new(setup.engine.clone());
    setup.disk.set(DiskState::Stopped);
    let write = start(&setup.engine, put("k", "1"));
    setup.disk.wait_for_arrivals(1).await;

    let refusal = tokio::spawn(async move {
        let key = Bytes::from_static(b"k");
        let decide = |tx: &mut tablerock_kv::Transaction| match tx.get(b"k") {
            Some(_) => Err(tablerock_kv::Error::invalid("it exists")),
            None => Ok(()),
        };
        store.transact(b"p", vec![key], decide).await
    });
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(!refusal.is_finished());
    setup.disk.set(DiskState::Broken);
    // The write never became durable, so no caller may learn that the record exists.
    assert_eq!(write.await.unwrap().unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(refusal.await.unwrap().unwrap_err().kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn transactions_build_on_one_another_before_the_sync() {
    let setup = setup();
    setup.disk.set(DiskState::Stopped);
    let mut commits = vec![start(&setup.engine, put("counter", "0"))];
    setup.disk.wait_for_arrivals(1).await;
    for number in 1..10 {
        let mut commit = put("counter", &format!("{number}"));
        commit.expected = vec![("counter".into(), Some(format!("{}", number - 1).into()))];
        commits.push(start(&setup.engine, commit));
        while newest(&setup.engine, "counter").await.unwrap() != format!("{number}") {
            tokio::task::yield_now().await;
        }
    }
    setup.disk.set(DiskState::Working);
    for commit in commits {
        commit.await.unwrap().unwrap();
    }
    assert_eq!(get(&setup.engine, "counter").await.unwrap(), "9");
    assert_eq!(setup.engine.statistics().syncs, 2, "nine commits to one record shared a sync");
}
