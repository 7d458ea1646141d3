//! What a range has and what it has not.

use std::sync::Arc;

use super::Harness;
use super::steps::{all, places, puts};
use crate::{Engine, Position, Range};

/// Three partitions of three records, `a/1` to `c/3`.
async fn nine_records(harness: &mut dyn Harness) -> Arc<dyn Engine> {
    let engine = harness.open().await;
    for partition in ["a", "b", "c"] {
        engine.commit(puts(partition, &[("1", "x"), ("2", "x"), ("3", "x")])).await.expect("a put succeeds");
    }
    engine
}

pub async fn a_range_has_its_start_and_not_its_end(mut harness: Box<dyn Harness>) {
    let engine = nine_records(&mut *harness).await;
    let range = Range::between(Position::new("a", "2"), Position::new("c", "2"));
    assert_eq!(places(&all(&*engine, &range).await), ["a/2", "a/3", "b/1", "b/2", "b/3", "c/1"]);
    let between_records = Range::between(Position::new("a", "20"), Position::new("b", "10"));
    assert_eq!(places(&all(&*engine, &between_records).await), ["a/3", "b/1"]);
}

pub async fn a_range_without_end_goes_to_the_last_record(mut harness: Box<dyn Harness>) {
    let engine = nine_records(&mut *harness).await;
    let range = Range { start: Position::new("c", "2"), end: None };
    assert_eq!(places(&all(&*engine, &range).await), ["c/2", "c/3"]);
}

pub async fn a_range_that_ends_before_it_starts_is_empty(mut harness: Box<dyn Harness>) {
    let engine = nine_records(&mut *harness).await;
    for (start, end) in [(("b", "2"), ("b", "2")), (("b", "2"), ("b", "1")), (("c", ""), ("a", ""))] {
        let range = Range::between(Position::new(start.0, start.1), Position::new(end.0, end.1));
        assert!(all(&*engine, &range).await.is_empty(), "{range:?}");
    }
}

pub async fn a_partition_does_not_reach_into_the_next(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    for partition in ["a", "a\0", "a\0\0", "aa", "b"] {
        engine.commit(puts(partition, &[("", "x"), ("~", "x")])).await.expect("a put succeeds");
    }
    assert_eq!(places(&all(&*engine, &Range::partition(b"a")).await), ["a/", "a/~"]);
    assert_eq!(places(&all(&*engine, &Range::partition(b"a\0")).await), ["a\\x00/", "a\\x00/~"]);
}

pub async fn a_prefix_has_all_partitions_that_begin_so(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    for partition in ["a", "b", "b\0", "bz", "c"] {
        engine.commit(puts(partition, &[("k", "x")])).await.expect("a put succeeds");
    }
    assert_eq!(places(&all(&*engine, &Range::partitions(b"b")).await), ["b/k", "b\\x00/k", "bz/k"]);
    assert_eq!(all(&*engine, &Range::partitions(b"")).await.len(), 5);
}
