//! Transactions: which are retried, which errors they return, and which reads an error rests on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Bytes, Error, ErrorKind, FaultEngine, MemoryEngine, Store};

fn key() -> Bytes {
    Bytes::from_static(b"key")
}

fn store() -> (Arc<FaultEngine>, Store) {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
    (engine.clone(), Store::new(engine))
}

fn conflicts(count: usize) -> impl Iterator<Item = Fault> {
    std::iter::repeat_n(Fault::Fail(Error::conflict("scripted")), count)
}

/// Puts a value and says how often the decision ran.
async fn put(store: &Store) -> Result<usize, Error> {
    let mut runs = 0;
    store
        .transact(b"p", vec![key()], |tx| {
            runs += 1;
            tx.put(key(), "value");
            Ok(runs)
        })
        .await
}

#[tokio::test]
async fn conflicts_are_retried_and_the_last_decision_counts() {
    let (engine, store) = store();
    engine.script(Call::Commit, conflicts(10));
    assert_eq!(put(&store).await.unwrap(), 11);
    assert_eq!(engine.calls(Call::ReadNewest), 11);
    assert_eq!(store.get(b"p", b"key").await.unwrap().unwrap(), "value");
}

#[tokio::test]
async fn a_read_that_had_to_give_way_is_retried_as_a_commit_is() {
    let (engine, store) = store();
    engine.script(Call::ReadNewest, conflicts(3));
    assert_eq!(put(&store).await.unwrap(), 1);
    assert_eq!(engine.calls(Call::ReadNewest), 4);
    engine.always(Call::ReadNewest, Fault::Fail(Error::conflict("scripted")));
    assert_eq!(put(&store).await.unwrap_err().kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn retries_have_a_bound() {
    let (engine, store) = store();
    engine.always(Call::Commit, Fault::Fail(Error::conflict("scripted")));
    let error = put(&store).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("too busy"), "{error}");
    assert_eq!(engine.calls(Call::Commit), 64);
}

#[tokio::test]
async fn other_errors_are_told_and_not_retried() {
    let (engine, store) = store();
    engine.script(Call::Commit, [Fault::Fail(Error::unavailable("the disk is gone"))]);
    assert_eq!(put(&store).await.unwrap_err().message(), "the disk is gone");
    assert_eq!(engine.calls(Call::Commit), 1);

    engine.script(Call::ReadNewest, [Fault::Fail(Error::corrupt("damaged"))]);
    assert_eq!(put(&store).await.unwrap_err().kind(), ErrorKind::Corrupt);
}

/// An error, as a layer would return one.
#[derive(Debug, PartialEq)]
enum Refusal {
    Exists,
    Engine(ErrorKind),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Engine(error.kind())
    }
}

async fn insert(store: &Store) -> Result<(), Refusal> {
    store
        .transact(b"p", vec![key()], |tx| match tx.get(&key()) {
            Some(_) => {
                tx.put("side effect", "must not stay");
                Err(Refusal::Exists)
            }
            None => {
                tx.put(key(), "value");
                Ok(())
            }
        })
        .await
}

#[tokio::test]
async fn a_refusal_is_told_only_after_what_it_saw_is_durable() {
    let (engine, store) = store();
    insert(&store).await.unwrap();
    assert_eq!(insert(&store).await, Err(Refusal::Exists));
    assert_eq!(engine.calls(Call::Commit), 2, "the error was confirmed by a commit of its own");
    assert_eq!(store.get(b"p", b"side effect").await.unwrap(), None);

    engine.script(Call::Commit, [Fault::Fail(Error::unavailable("the disk is gone"))]);
    assert_eq!(insert(&store).await, Err(Refusal::Engine(ErrorKind::Unavailable)));
}

#[tokio::test]
async fn a_refusal_that_rests_on_a_changed_value_is_decided_again() {
    let (engine, store) = store();
    insert(&store).await.unwrap();
    engine.script(Call::Commit, conflicts(1));
    let runs = AtomicUsize::new(0);
    let outcome = store.transact(b"p", vec![key()], |_| {
        runs.fetch_add(1, Ordering::Relaxed);
        Err::<(), _>(Refusal::Exists)
    });
    assert_eq!(outcome.await, Err(Refusal::Exists));
    assert_eq!(runs.into_inner(), 2);
}

#[tokio::test]
async fn what_was_seen_before_is_read_again_only_if_it_changed() {
    let (engine, store) = store();
    for (seen, tries) in [(None, 1), (None, 2), (Some(2), 1), (Some(2), 2)] {
        let seen = [(key(), seen.map(|count: u8| Bytes::from(vec![count])))].into();
        let mut runs = 0;
        let reads = engine.calls(Call::ReadNewest);
        let counted = store.transact_seen(b"p", seen, |tx| {
            runs += 1;
            let count = tx.get(&key()).map_or(0, |value| value[0]) + 1;
            tx.put(key(), vec![count]);
            Ok::<_, Error>(())
        });
        counted.await.unwrap();
        assert_eq!((runs, engine.calls(Call::ReadNewest) - reads), (tries, tries - 1));
    }
    assert_eq!(store.get(b"p", &key()).await.unwrap().as_deref(), Some(&[4][..]));
}

#[tokio::test]
async fn reading_what_was_not_declared_fails_and_writes_nothing() {
    let (_, store) = store();
    let outcome = store.transact(b"p", vec![], |tx| {
        assert_eq!(tx.get(&key()), None);
        tx.put(key(), "value");
        Ok::<_, Error>(())
    });
    assert_eq!(outcome.await.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(store.get(b"p", b"key").await.unwrap(), None);
}

#[tokio::test]
async fn keys_may_be_declared_twice_and_in_any_order() {
    let (_, store) = store();
    let keys: Vec<Bytes> = ["b", "a", "b", "c", "a"].into_iter().map(Bytes::from).collect();
    let seen = store.transact(b"p", keys.clone(), |tx| {
        keys.iter().for_each(|key| tx.put(key.clone(), key.clone()));
        Ok::<_, Error>(keys.iter().filter(|key| tx.get(key) == Some(key)).count())
    });
    assert_eq!(seen.await.unwrap(), 5);
}

#[tokio::test]
async fn a_transaction_without_reads_or_writes_does_not_bother_the_engine() {
    let (engine, store) = store();
    store.transact(b"p", vec![], |_| Ok::<_, Error>(())).await.unwrap();
    assert_eq!((engine.calls(Call::ReadNewest), engine.calls(Call::Commit)), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_can_be_spawned() {
    let (_, store) = store();
    tokio::spawn(async move { put(&store).await }).await.unwrap().unwrap();
}
