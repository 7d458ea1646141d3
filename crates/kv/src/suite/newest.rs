//! What is read right after a commit.

use std::time::Duration;

use super::Harness;
use super::steps::{bytes, get, put, puts};
use crate::{Commit, Wanted};

pub async fn a_committed_value_is_read_at_once(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let engine = engine.clone();
            tokio::spawn(async move {
                let partition = format!("{}", writer % 3);
                let key = format!("{writer}");
                for round in 0..30 {
                    let value = format!("{round}");
                    put(&*engine, &partition, &key, &value).await;
                    assert_eq!(get(&*engine, &partition, &key).await, Some(bytes(&value)));
                    let newest = engine.read_newest(partition.as_bytes(), &[bytes(&key)]).await;
                    assert_eq!(newest.expect("a read succeeds"), [Some(bytes(&value))]);
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.expect("every writer read what it wrote");
    }
}

pub async fn values_come_in_the_order_asked_for(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    engine.commit(puts("p", &[("a", "1"), ("b", "2"), ("c", "3")])).await.expect("a put succeeds");
    let newest = engine.read_newest(b"p", &["c", "absent", "a", "c"].map(bytes)).await.expect("a read succeeds");
    assert_eq!(newest, [Some(bytes("3")), None, Some(bytes("1")), Some(bytes("3"))]);
    assert_eq!(engine.read_newest(b"p", &[]).await.expect("a read succeeds"), []);
}

pub async fn records_of_several_partitions_are_read_together(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    engine.commit(puts("p", &[("a", "1"), ("b", "2")])).await.expect("a put succeeds");
    engine.commit(puts("q", &[("a", "3")])).await.expect("a put succeeds");
    let wanted =
        |partition, keys: &[&str]| Wanted { partition: bytes(partition), keys: keys.iter().map(bytes).collect() };
    let asked = [wanted("q", &["a"]), wanted("p", &["b", "absent", "a", "b"]), wanted("p", &[]), wanted("r", &["a"])];
    let found = engine.get_many(&asked).await.expect("a read succeeds");
    let value = |value| Some(bytes(value));
    assert_eq!(found, [vec![value("3")], vec![value("2"), None, value("1"), value("2")], vec![], vec![None]]);
    assert_eq!(engine.get_many(&[]).await.expect("a read succeeds"), [] as [Vec<_>; 0]);
}

/// Engines may read keys that lie together in another way than single ones.
pub async fn many_keys_are_read_at_once_however_close_they_lie(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    let records: Vec<_> = (0..300).map(|number| (format!("{number:03}"), format!("value {number}"))).collect();
    engine.commit(puts("p", &records)).await.expect("a put succeeds");
    engine.commit(puts("q", &[("000", "of the next partition")])).await.expect("a put succeeds");
    for (step, from) in [(1, 0), (1, 290), (2, 0), (40, 0), (3, 295), (1, 400)] {
        // Every other key is one that does not exist.
        let key = |number: usize| {
            format!("{:03}{}", from + number / 2 * step, if number.is_multiple_of(2) { "" } else { "+" })
        };
        let keys: Vec<_> = (0..40).map(|number| bytes(key(number))).collect();
        let expected: Vec<_> = keys
            .iter()
            .map(|wanted| records.iter().find(|(key, _)| key.as_bytes() == wanted).map(|(_, value)| bytes(value)))
            .collect();
        let newest = engine.read_newest(b"p", &keys).await.expect("a read succeeds");
        assert_eq!(newest, expected, "from {from} in steps of {step}");
        let expected = std::iter::zip(keys, expected).collect();
        let settled = engine.commit(Commit { partition: bytes("p"), expected, writes: vec![] }).await;
        settled.expect("what was read is what is expected");
    }
}

/// A layer that caches what it has read relies on this; see [`Engine::is_exclusive`](crate::Engine::is_exclusive).
pub async fn a_commit_that_was_let_go_shows_from_then_on_or_never(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    if !engine.is_exclusive() {
        return;
    }
    for round in 0..100 {
        let value = format!("{round}");
        let patience = Duration::from_micros(20 * (round % 10));
        // Whether it is done by then does not matter here.
        let _ = tokio::time::timeout(patience, engine.commit(puts("p", &[("k", &value)]))).await;
        let newest = engine.read_newest(b"p", &[bytes("k")]).await.expect("a read succeeds").remove(0);
        let expected = vec![(bytes("k"), newest.clone())];
        let settled = engine.commit(Commit { partition: bytes("p"), expected, writes: vec![] }).await;
        settled.expect("nothing changes that has not shown");
        assert_eq!(get(&*engine, "p", "k").await, newest);
        tokio::time::sleep(Duration::from_micros(100)).await;
        assert_eq!(get(&*engine, "p", "k").await, newest);
    }
}
