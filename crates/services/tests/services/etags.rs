//! Two versions of an entity never carry the same ETag, whatever the clock does.

use std::collections::HashSet;
use std::sync::Arc;

use crate::support::*;
use tablerock_kv::{ManualClock, MemoryEngine, Store, TICKS_PER_SECOND};
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

#[tokio::test]
async fn versions_of_servers_that_share_a_store_differ_however_far_apart_their_clocks_are() {
    let store = Store::new(Arc::new(MemoryEngine::shared()));
    let mut seen = HashSet::new();
    let mut newest = None;
    let clocks = [0, 300, 7_200].map(|ahead| Arc::new(ManualClock::at(NOON + ahead * TICKS_PER_SECOND)));
    let mut servers = vec![];
    for clock in &clocks {
        servers.push(service_on(&store, clock.clone()).await);
    }
    for round in 0..300 {
        let service = &servers[round % servers.len()];
        // A version from a server that is ahead may make one that is behind ask its client to come again.
        let written = match apply_one(service, upsert("p", "r", 1)).await {
            Err(_) => apply_one(service, upsert("p", "r", 1)).await.unwrap(),
            Ok(written) => written,
        };
        let Outcome::Written(timestamp) = written else { panic!() };
        assert!(seen.insert(timestamp), "an ETag came twice");
        assert!(newest.replace(timestamp) < Some(timestamp), "a later version has an earlier Timestamp");
        if round % 10 == 9 {
            apply_one(service, delete("p", "r")).await.unwrap();
            newest = None;
        }
    }
}
