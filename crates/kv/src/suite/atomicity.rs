//! A commit is applied as a whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Harness;
use super::steps::{UNLIMITED, all, bytes, get, page, places, puts};
use crate::{Commit, Range};

pub async fn a_commit_applies_all_its_writes(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    engine
        .commit(puts("p", &[("deleted", "old"), ("replaced", "old"), ("left", "old")]))
        .await
        .expect("a put succeeds");
    let change = |key: &str, value: Option<&str>| (bytes(key), value.map(bytes));
    let writes = vec![
        change("replaced", Some("new")),
        change("deleted", None),
        change("inserted", Some("new")),
        change("never there", None),
    ];
    engine.commit(Commit { partition: bytes("p"), expected: vec![], writes }).await.expect("a commit succeeds");

    let records = all(&*engine, &Range::partition(b"p")).await;
    assert_eq!(places(&records), ["p/inserted", "p/left", "p/replaced"]);
    assert_eq!(get(&*engine, "p", "replaced").await, Some(bytes("new")));
    assert_eq!(get(&*engine, "p", "left").await, Some(bytes("old")));
    assert_eq!(get(&*engine, "p", "deleted").await, None);
}

pub async fn no_scan_shows_half_of_a_commit(mut harness: Box<dyn Harness>) {
    const RECORDS: usize = 40;
    let engine = harness.open().await;
    let done = Arc::new(AtomicBool::new(false));
    let round =
        |round: usize| -> Vec<_> { (0..RECORDS).map(|key| (format!("{key:03}"), format!("{round}"))).collect() };
    engine.commit(puts("p", &round(0))).await.expect("a put succeeds");

    let reader = tokio::spawn({
        let (engine, done) = (engine.clone(), done.clone());
        async move {
            while !done.load(Ordering::Relaxed) {
                let records = page(&*engine, &Range::partition(b"p"), UNLIMITED).await.records;
                assert_eq!(records.len(), RECORDS);
                let first = &records[0].value;
                assert!(records.iter().all(|record| record.value == first), "a scan shows two rounds at once");
                tokio::task::yield_now().await;
            }
        }
    });
    for number in 1..100 {
        engine.commit(puts("p", &round(number))).await.expect("a put succeeds");
    }
    done.store(true, Ordering::Relaxed);
    reader.await.expect("the reader saw whole commits");
}
