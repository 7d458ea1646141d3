//! Transactions of many writers at once lose nothing.

use bytes::Bytes;

use super::Harness;
use super::steps::bytes;
use crate::{Error, Store};

const WRITERS: usize = 32;
const ROUNDS: usize = 20;

fn number(value: Option<&Bytes>) -> u64 {
    value.map_or(0, |value| u64::from_be_bytes(value[..].try_into().expect("counters have eight bytes")))
}

async fn increment(store: &Store, keys: &[Bytes]) {
    let outcome = store.transact(b"counters", keys.to_vec(), |tx| {
        for key in keys {
            let next = number(tx.get(key)) + 1;
            tx.put(key.clone(), next.to_be_bytes().to_vec());
        }
        Ok::<_, Error>(())
    });
    outcome.await.expect("a busy partition lets everyone through in the end");
}

/// Lets all writers increment the counters that `choose` gives each of them a round.
async fn run(store: &Store, choose: fn(usize, usize) -> Vec<Bytes>) {
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for round in 0..ROUNDS {
                    increment(&store, &choose(writer, round)).await;
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.expect("every writer finishes");
    }
}

pub async fn no_update_of_one_counter_is_lost(mut harness: Box<dyn Harness>) {
    let store = Store::new(harness.open().await);
    run(&store, |_, _| vec![bytes("only")]).await;
    let total = store.get(b"counters", b"only").await.expect("a read succeeds");
    assert_eq!(number(total.as_ref()), (WRITERS * ROUNDS) as u64);
}

pub async fn no_update_of_many_counters_is_lost(mut harness: Box<dyn Harness>) {
    const COUNTERS: usize = 10;
    let store = Store::new(harness.open().await);
    run(&store, |writer, round| {
        let counter = |step: usize| bytes(format!("{}", (writer + round * step) % COUNTERS));
        let mut keys = vec![counter(1), counter(3), counter(7)];
        keys.sort();
        keys.dedup();
        keys
    })
    .await;
    let mut total = 0;
    for counter in 0..COUNTERS {
        let value = store.get(b"counters", format!("{counter}").as_bytes()).await.expect("a read succeeds");
        total += number(value.as_ref());
    }
    let expected: usize = (0..WRITERS)
        .flat_map(|writer| (0..ROUNDS).map(move |round| (writer, round)))
        .map(|(writer, round)| {
            let counters = [1, 3, 7].map(|step| (writer + round * step) % COUNTERS);
            std::collections::BTreeSet::from(counters).len()
        })
        .sum();
    assert_eq!(total, expected as u64);
}
