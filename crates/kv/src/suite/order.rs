//! The one order of all records.

use super::Harness;
use super::steps::{all, everything, puts};
use crate::Position;

pub async fn records_come_by_partition_and_then_by_key(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    let partitions = ["", "\0", "\0\0", "\0\u{1}", "\u{1}", "a", "a\0", "a\0b", "ab", "b", "\u{ff}"];
    let keys = ["", "\0", "\u{1}", "a", "a\0", "aa", "b", "\u{7f}"];
    for partition in partitions.iter().rev() {
        let records: Vec<_> = keys.iter().rev().map(|key| (key, "value")).collect();
        engine.commit(puts(partition, &records)).await.expect("a put succeeds");
    }

    let mut expected: Vec<_> =
        partitions.iter().flat_map(|partition| keys.iter().map(|key| Position::new(*partition, *key))).collect();
    expected.sort();
    let found = all(&*engine, &everything()).await;
    let found: Vec<_> = found.into_iter().map(|record| Position::new(record.partition, record.key)).collect();
    assert_eq!(found, expected);
}
