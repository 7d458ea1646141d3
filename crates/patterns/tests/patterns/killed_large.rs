//! Large entities, whose writers, deleters and workers are killed at every step.

use tablerock_client::{Entity, QueueClient, TryStreamExt};
use tablerock_patterns::LargeEntities;

use crate::killed::{Queued, act_to_the_end, all, jones, queued, wait_until_visible};
use crate::mortal::{Death, Process, hasty, killed_at_every_step, recover};
use crate::support::Account;

pub(crate) fn with_photo(byte: u8) -> Entity {
    let vita = char::from(b'a' + byte).to_string();
    jones("x").with("Photo", vec![byte; 100_000]).with("Vita", vita.repeat(50_000))
}

pub(crate) fn large(all: &Queued<()>, poison: QueueClient) -> LargeEntities {
    let (table, container) = (all.table.clone(), all.container.clone());
    LargeEntities::new(table, container, all.queue.clone(), poison).with_intents(hasty)
}

pub(crate) async fn prepare_large(people: &Queued<LargeEntities>) {
    people.piece.create_if_not_exists().await.unwrap();
    people.piece.put(&with_photo(1)).await.unwrap();
}

/// A read returns one of these, whole, both before and after a worker has run; afterwards no unreferenced blob is left.
async fn check_large(people: &Queued<LargeEntities>, either: &[Option<Entity>], death: Death) {
    let properties = |entity: Option<Entity>| entity.map(Entity::into_properties);
    let either: Vec<_> = either.iter().cloned().map(properties).collect();
    for _ in ["right after", "after recovery"] {
        let found = properties(people.piece.get_if_exists("Sales", "000123").await.unwrap());
        assert!(either.contains(&found), "{death:?}");
        recover(&people.queue, async || people.piece.work_once().await).await;
    }
    let is_there = people.piece.get_if_exists("Sales", "000123").await.unwrap().is_some();
    assert_eq!(blob_count(people).await, if is_there { 2 } else { 0 }, "{death:?}");
    assert_eq!(all(&people.table).await.len(), usize::from(is_there), "{death:?}");
}

#[tokio::test]
async fn a_killed_writer_of_a_large_entity_leaves_no_dangling_reference_and_no_blob_behind() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        queued(large),
        prepare_large,
        async |people| people.piece.put(&with_photo(2)).any_version().await.map(drop),
        async |people, death, is_done| {
            let either = [Some(with_photo(2)), Some(with_photo(1))];
            check_large(people, &either[..if is_done { 1 } else { 2 }], death).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_large_entity_whose_first_writer_was_killed_is_whole_or_not_there() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        queued(large),
        async |people| {
            people.piece.create_if_not_exists().await.unwrap();
        },
        async |people| people.piece.put(&with_photo(2)).any_version().await.map(drop),
        async |people, death, is_done| {
            check_large(people, &[Some(with_photo(2)), None][..if is_done { 1 } else { 2 }], death).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_killed_deleter_of_a_large_entity_leaves_it_whole_or_nothing() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        queued(large),
        prepare_large,
        async |people| people.piece.delete_by_keys("Sales", "000123").any_version().await,
        async |people, death, is_done| {
            check_large(people, &[None, Some(with_photo(1))][..if is_done { 1 } else { 2 }], death).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_killed_worker_leaves_the_blobs_of_a_killed_writer_to_the_next_worker() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        queued(large),
        async |people| {
            prepare_large(people).await;
            let death = Death { step: 4, after_sending: false };
            let dead = queued(large)(&Process::mortal(&account, death), people.table.name());
            dead.piece.put(&with_photo(2)).any_version().await.unwrap_err();
            wait_until_visible(&people.queue).await;
        },
        async |people| act_to_the_end(people.piece.work_once().await).await,
        async |people, death, _| check_large(people, &[Some(with_photo(1))], death).await,
    )
    .await;
}

pub(crate) async fn blob_count<P>(people: &Queued<P>) -> usize {
    people.container.list_blobs().stream().try_collect::<Vec<_>>().await.unwrap().len()
}
