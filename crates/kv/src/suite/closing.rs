//! The end of an engine.

use super::Harness;
use super::steps::{UNLIMITED, bytes, everything, get, put, puts};
use crate::{ErrorKind, Health, Range};

pub async fn a_closed_engine_refuses_everything(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    put(&*engine, "p", "k", "1").await;
    assert_eq!(get(&*engine, "p", "k").await, Some(bytes("1")));
    assert_eq!(engine.health(), Health::Healthy);
    engine.close().await.expect("closing succeeds");

    let refusals = [
        engine.get(b"p", b"k").await.map(drop),
        engine.scan(&everything(), UNLIMITED).await.map(drop),
        engine.read_newest(b"p", &[bytes("k")]).await.map(drop),
        engine.commit(puts("p", &[("k", "2")])).await,
        engine.drop_range(Range::partition(b"p")).await,
    ];
    for refusal in refusals {
        assert_eq!(refusal.expect_err("the engine is closed").kind(), ErrorKind::Unavailable);
    }
    assert!(matches!(engine.health(), Health::Down(_)));
}

pub async fn closing_twice_is_fine(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    engine.close().await.expect("closing succeeds");
    engine.close().await.expect("closing again succeeds");
}
