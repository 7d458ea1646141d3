//! Many producers and consumers on one queue: each message is given out once before its timeout.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::engines::HeldEngine;
use crate::support::manual_clock;
use parking_lot::Mutex;
use tablerock_kv::{MemoryEngine, Store, SystemClock};
use tablerock_services::QueueService;
use tablerock_testkit::queue_model::{ACCOUNT, jobs, message, service_on, service_with_queue};

const PRODUCERS: usize = 4;
const CONSUMERS: usize = 8;
const MESSAGES: usize = 250;

/// Lets all of them loose, and returns what each message's consumers saw of it.
async fn run(service: Arc<QueueService>) -> HashMap<String, Vec<u32>> {
    let seen: Arc<Mutex<HashMap<String, Vec<u32>>>> = Arc::default();
    let taken = Arc::new(AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for producer in 0..PRODUCERS {
        let service = service.clone();
        tasks.spawn(async move {
            for number in 0..MESSAGES {
                let new = message(&format!("{producer}-{number}"));
                service.put_message(ACCOUNT, &jobs(), new).await.expect("a message is put");
            }
        });
    }
    for consumer in 0..CONSUMERS {
        let (service, seen, taken) = (service.clone(), seen.clone(), taken.clone());
        tasks.spawn(async move {
            while taken.load(Ordering::Relaxed) < PRODUCERS * MESSAGES {
                for got in service.get_messages(ACCOUNT, &jobs(), 1 + consumer, 3600).await.expect("a list") {
                    seen.lock().entry(got.text).or_default().push(got.dequeue_count);
                    taken.fetch_add(1, Ordering::Relaxed);
                    // Some are deleted, the others stay invisible.
                    if got.receipt.number % 2 == 0 {
                        let deleted = service.delete_message(ACCOUNT, &jobs(), got.id, got.receipt).await;
                        deleted.expect("no other consumer has the message");
                    }
                }
                tokio::task::yield_now().await;
            }
        });
    }
    let all = async { while tasks.join_next().await.transpose().expect("no task panics").is_some() {} };
    tokio::time::timeout(Duration::from_secs(60), all).await.expect("every message is given out");
    Arc::into_inner(seen).expect("all tasks have ended").into_inner()
}

async fn each_message_is_given_out_once(store: Store) {
    let service = Arc::new(service_with_queue(&store, Arc::new(SystemClock)).await);
    let seen = run(service.clone()).await;
    assert_eq!(seen.len(), PRODUCERS * MESSAGES);
    assert!(seen.values().all(|counts| counts == &[1]), "once each");
    let left = service.queue_metadata(ACCOUNT, &jobs()).await.unwrap().messages;
    assert_eq!(left, (PRODUCERS * MESSAGES / 2) as u64);
}

#[tokio::test(flavor = "multi_thread")]
async fn consumers_share_a_queue_without_meeting() {
    each_message_is_given_out_once(Store::in_memory()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn consumers_share_a_queue_that_nothing_may_be_remembered_of() {
    each_message_is_given_out_once(Store::new(Arc::new(MemoryEngine::shared()))).await;
}

#[tokio::test]
async fn a_put_that_lands_after_its_client_has_gone_is_given_out() {
    let engine = Arc::new(HeldEngine::new(Arc::new(MemoryEngine::new())));
    let store = Store::new(engine.clone());
    let service = Arc::new(service_with_queue(&store, manual_clock()).await);
    service.put_message(ACCOUNT, &jobs(), message("first")).await.unwrap();
    assert_eq!(service.get_messages(ACCOUNT, &jobs(), 1, 30).await.unwrap().len(), 1);

    engine.hold();
    let putting = tokio::spawn({
        let service = service.clone();
        async move { service.put_message(ACCOUNT, &jobs(), message("late")).await }
    });
    settle().await;
    putting.abort();
    assert!(putting.await.unwrap_err().is_cancelled());
    let early = service.get_messages(ACCOUNT, &jobs(), 1, 30).await.unwrap();
    assert!(early.is_empty(), "it is not durable yet: {early:?}");
    engine.release();
    settle().await;
    let got = service.get_messages(ACCOUNT, &jobs(), 1, 30).await.unwrap();
    assert_eq!(got.len(), 1, "the front cache has it");
}

#[tokio::test]
async fn a_message_whose_consumer_has_gone_is_given_out_after_its_timeout_and_not_before() {
    let engine = Arc::new(HeldEngine::new(Arc::new(MemoryEngine::new())));
    let store = Store::new(engine.clone());
    let clock = manual_clock();
    let service = Arc::new(service_with_queue(&store, clock.clone()).await);
    service.put_message(ACCOUNT, &jobs(), message("once")).await.unwrap();

    engine.hold();
    let getting = tokio::spawn({
        let service = service.clone();
        async move { service.get_messages(ACCOUNT, &jobs(), 1, 30).await }
    });
    settle().await;
    getting.abort();
    assert!(getting.await.unwrap_err().is_cancelled());
    engine.release();
    settle().await;
    assert!(
        service.get_messages(ACCOUNT, &jobs(), 1, 30).await.unwrap().is_empty(),
        "it was given to the one who left"
    );
    clock.advance(Duration::from_secs(31));
    let got = service.get_messages(ACCOUNT, &jobs(), 1, 30).await.unwrap();
    assert_eq!(got.iter().map(|message| message.dequeue_count).collect::<Vec<_>>(), [2]);
}

#[tokio::test]
async fn what_was_given_out_is_hidden_after_a_restart_and_the_rest_is_there() {
    let store = Store::in_memory();
    let clock = manual_clock();
    let before = service_with_queue(&store, clock.clone()).await;
    for text in ["a", "b", "c"] {
        before.put_message(ACCOUNT, &jobs(), message(text)).await.unwrap();
    }
    let given = before.get_messages(ACCOUNT, &jobs(), 1, 30).await.unwrap().remove(0);
    // A crash: nothing is closed.
    drop(before);
    let after = service_on(&store, clock.clone()).await;
    let rest = after.get_messages(ACCOUNT, &jobs(), 32, 30).await.unwrap();
    assert_eq!(rest.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["b", "c"]);
    after.delete_message(ACCOUNT, &jobs(), given.id, given.receipt).await.unwrap();
    let put = after.put_message(ACCOUNT, &jobs(), message("d")).await.unwrap();
    assert!(put.receipt.number > given.receipt.number, "numbers go on");
}

/// Lets tasks run until they wait for something.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}
