//! Dropped ranges go, and nothing else does.

use super::Harness;
use super::steps::{all, everything, places, puts, wait_until_empty};
use crate::{Position, Range};

pub async fn a_dropped_range_goes_and_its_neighbours_stay(mut harness: Box<dyn Harness>) {
    let sweeps_within = harness.capabilities().sweeps_within;
    let engine = harness.open().await;
    for partition in ["a", "b", "b2", "c"] {
        let records: Vec<_> = (0..700).map(|key| (format!("{key:04}"), "value")).collect();
        engine.commit(puts(partition, &records)).await.expect("a put succeeds");
    }
    let range = Range::between(Position::new("a", "0699"), Position::new("c", "0001"));
    engine.drop_range(range.clone()).await.expect("a drop succeeds");
    wait_until_empty(&*engine, &range, sweeps_within).await;

    let left = places(&all(&*engine, &everything()).await);
    assert_eq!(left.len(), 699 + 699);
    assert_eq!((left[698].as_str(), left[699].as_str()), ("a/0698", "c/0001"));
}

pub async fn an_empty_range_drops_nothing(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    engine.commit(puts("p", &[("a", "1"), ("b", "2")])).await.expect("a put succeeds");
    for (start, end) in [("a", "a"), ("b", "a")] {
        let range = Range::between(Position::new("p", start), Position::new("p", end));
        engine.drop_range(range).await.expect("a drop succeeds");
    }
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert_eq!(places(&all(&*engine, &everything()).await), ["p/a", "p/b"]);
}
