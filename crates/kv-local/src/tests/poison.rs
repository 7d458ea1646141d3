//! After a failed write, the engine writes nothing more, and every writer gets the error.

use std::sync::atomic::Ordering;

use tablerock_kv::{Engine, ErrorKind, Health, Range};

use super::{DiskState, get, newest, put, setup, start};

#[tokio::test]
async fn a_failed_sync_stops_all_writes_and_no_reads() {
    let setup = setup();
    setup.engine.commit(put("k", "durable")).await.unwrap();
    setup.disk.set(DiskState::Stopped);
    let first = start(&setup.engine, put("k", "lost"));
    setup.disk.wait_for_arrivals(2).await;
    let second = start(&setup.engine, put("k", "lost too"));
    while newest(&setup.engine, "k").await.unwrap() != "lost too" {
        tokio::task::yield_now().await;
    }
    setup.disk.set(DiskState::Broken);

    for outcome in [first.await.unwrap(), second.await.unwrap()] {
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.message().contains("the cable is out"), "{error}");
        assert!(error.message().contains("until Tablerock is restarted"), "{error}");
    }
    setup.disk.set(DiskState::Working);
    let later = setup.engine.commit(put("k", "later")).await.unwrap_err();
    assert_eq!(later.kind(), ErrorKind::Unavailable);
    assert!(later.message().contains("until Tablerock is restarted"), "{later}");
    assert!(setup.engine.drop_range(Range::partition(b"p")).await.is_err());

    assert!(matches!(setup.engine.health(), Health::ReadOnly(reason) if reason.contains("the cable is out")));
    assert_eq!(get(&setup.engine, "k").await.unwrap(), "durable");
    assert_eq!(newest(&setup.engine, "k").await.unwrap(), "durable");
    setup.engine.close().await.unwrap();
    assert!(matches!(setup.engine.health(), Health::Down(_)));
}

#[tokio::test]
async fn nothing_is_written_behind_a_failure_even_while_closing() {
    let setup = setup();
    setup.disk.set(DiskState::Stopped);
    let first = start(&setup.engine, put("k", "lost"));
    setup.disk.wait_for_arrivals(1).await;
    let second = start(&setup.engine, put("k", "lost too"));
    while newest(&setup.engine, "k").await.unwrap() != "lost too" {
        tokio::task::yield_now().await;
    }
    let engine = setup.engine.clone();
    let close = tokio::spawn(async move { engine.close().await });
    while !matches!(setup.engine.health(), Health::Down(_)) {
        tokio::task::yield_now().await;
    }
    setup.disk.set(DiskState::Broken);
    close.await.unwrap().unwrap();
    for outcome in [first.await.unwrap(), second.await.unwrap()] {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Unavailable);
    }
    assert_eq!(setup.disk.arrivals.load(Ordering::SeqCst), 1, "the second group never reached the disk");
}
