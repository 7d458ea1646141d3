//! Two versions of an entity never carry the same ETag, whatever the clock does.

mod support;

use std::collections::HashSet;

use support::*;
use tablerock_kv::{Store, TICKS_PER_SECOND};
use tablerock_services::table::Outcome;

#[tokio::test]
async fn versions_differ_across_deletion_restart_and_a_clock_set_back() {
    let (store, clock) = (Store::in_memory(), manual_clock());
    let mut seen = HashSet::new();
    for restart in 0..5 {
        let service = service_on(&store, clock.clone()).await;
        for _ in 0..10 {
            let Outcome::Written(timestamp) = apply_one(&service, upsert("p", "r", restart)).await.unwrap() else {
                panic!()
            };
            assert!(seen.insert(timestamp), "an ETag came twice");
            apply_one(&service, delete("p", "r")).await.unwrap();
        }
        clock.set(NOON - u64::try_from(restart).unwrap() * 3600 * TICKS_PER_SECOND);
    }
}

#[tokio::test]
async fn timestamps_follow_a_clock_that_behaves() {
    let (store, clock) = (Store::in_memory(), manual_clock());
    let service = service_on(&store, clock.clone()).await;
    clock.set(NOON + 3600 * TICKS_PER_SECOND);
    let Outcome::Written(timestamp) = apply_one(&service, insert("p", "r", 0)).await.unwrap() else { panic!() };
    assert_eq!(timestamp.ticks(), NOON + 3600 * TICKS_PER_SECOND);
}
