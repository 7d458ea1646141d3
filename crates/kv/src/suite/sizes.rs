//! Small, large and awkward bytes.

use bytes::Bytes;

use super::Harness;
use super::steps::{UNLIMITED, bytes, page};
use crate::{Commit, Range, Record};

pub async fn empty_partition_key_and_value_are_as_good_as_others(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    let empty = Bytes::new();
    let writes = vec![(empty.clone(), Some(empty.clone()))];
    let commit = Commit { partition: empty.clone(), expected: vec![(empty.clone(), None)], writes };
    engine.commit(commit).await.expect("a put succeeds");

    assert_eq!(engine.get(b"", b"").await.expect("a read succeeds"), Some(empty.clone()));
    let found = page(&*engine, &Range::partition(b""), UNLIMITED).await;
    assert_eq!(found.records, [Record { partition: empty.clone(), key: empty.clone(), value: empty.clone() }]);

    let expected = vec![(empty.clone(), Some(empty.clone()))];
    let commit = Commit { partition: empty.clone(), expected, writes: vec![(empty, None)] };
    engine.commit(commit).await.expect("an empty value is not an absent one");
    assert_eq!(engine.get(b"", b"").await.expect("a read succeeds"), None);
}

pub async fn every_byte_may_occur_in_keys_and_values(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    for byte in 0..=u8::MAX {
        let text = Bytes::from(vec![byte; 3]);
        let commit = Commit { partition: text.clone(), expected: vec![], writes: vec![(text.clone(), Some(text))] };
        engine.commit(commit).await.expect("a put succeeds");
    }
    for byte in 0..=u8::MAX {
        let text = Bytes::from(vec![byte; 3]);
        assert_eq!(engine.get(&text, &text).await.expect("a read succeeds"), Some(text));
    }
}

pub async fn values_of_four_mebibytes_come_back(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    let value = |number: u8| -> Bytes { (0..4 << 20).map(|at: u32| (at.to_le_bytes()[1]) ^ number).collect() };
    for number in 0..5 {
        let writes = vec![(bytes([number]), Some(value(number)))];
        engine.commit(Commit { partition: bytes("large"), expected: vec![], writes }).await.expect("a put succeeds");
    }
    for number in 0..5 {
        assert_eq!(engine.get(b"large", &[number]).await.expect("a read succeeds"), Some(value(number)));
    }
    let records = page(&*engine, &Range::partition(b"large"), UNLIMITED).await.records;
    assert_eq!(records.len(), 5);
    assert!(records.iter().zip(0..).all(|(record, number)| record.value == value(number)));
}
