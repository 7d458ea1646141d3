//! What outlives an engine, where it declares that its data does.

use super::Harness;
use super::steps::{all, everything, puts, wait_until_empty};
use crate::Range;

pub async fn what_was_committed_is_there_after_reopening(mut harness: Box<dyn Harness>) {
    if !harness.capabilities().survives_reopening {
        return;
    }
    let mut engine = harness.open().await;
    for round in 0..4 {
        for partition in 0..20 {
            let records: Vec<_> = (0..10).map(|key| (format!("{round}-{key}"), format!("{round}"))).collect();
            engine.commit(puts(&format!("{partition}"), &records)).await.expect("a put succeeds");
        }
        let before = all(&*engine, &everything()).await;
        assert_eq!(before.len(), 20 * 10 * (round + 1));
        engine.close().await.expect("closing succeeds");
        engine = harness.reopen(engine).await;
        assert_eq!(all(&*engine, &everything()).await, before);
    }
}

pub async fn a_dropped_range_goes_also_after_reopening(mut harness: Box<dyn Harness>) {
    let capabilities = harness.capabilities();
    if !capabilities.survives_reopening {
        return;
    }
    let engine = harness.open().await;
    for partition in ["dropped", "kept"] {
        let records: Vec<_> = (0..2_000).map(|key| (format!("{key}"), "value")).collect();
        engine.commit(puts(partition, &records)).await.expect("a put succeeds");
    }
    engine.drop_range(Range::partition(b"dropped")).await.expect("a drop succeeds");
    engine.close().await.expect("closing succeeds");

    let engine = harness.reopen(engine).await;
    wait_until_empty(&*engine, &Range::partition(b"dropped"), capabilities.sweeps_within).await;
    assert_eq!(all(&*engine, &everything()).await.len(), 2_000);
}
