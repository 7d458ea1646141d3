//! D: index entities under many writers at once, and copies that many change.

use std::time::Duration;

use tablerock_client::Entity;
use tablerock_patterns::{BlobList, CopiesAcrossPartitions, EntityList, IndexList, ListStore};

use crate::mortal::{Process, hasty, recover};
use crate::support::{Account, unique_name};

const WRITERS: usize = 8;
const IDS_EACH: usize = 5;

async fn fill<S: ListStore + Clone + 'static>(list: IndexList<S>) {
    let writers = (0..WRITERS).map(|writer| {
        let list = list.clone();
        tokio::spawn(async move {
            for id in 0..IDS_EACH {
                list.add(&format!("{writer}{id}")).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let ids = list.ids().await.unwrap();
    assert_eq!(ids.len(), WRITERS * IDS_EACH);
    assert!(ids.is_sorted());
}

#[tokio::test(flavor = "multi_thread")]
async fn d_an_index_entity_keeps_every_id_that_many_writers_add() {
    let account = Account::open().await;
    let table = account.table().await;
    fill(IndexList::new(EntityList::new(table, "Sales", "Jones"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d_an_index_blob_keeps_every_id_that_many_writers_add() {
    let account = Account::open().await;
    let container = Process::healthy(&account).blobs.container(unique_name());
    container.create().await.unwrap();
    fill(IndexList::new(BlobList::new(container.blob("Sales/Jones")))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn d_copies_across_partitions_end_equal_whoever_was_last() {
    let account = Account::open().await;
    let process = Process::healthy(&account);
    let (table, name) = (account.table().await, unique_name());
    let (queue, poison) = (process.queues.queue(&name), process.queues.queue(format!("{name}-poison")));
    let keys = |entity: &Entity| vec![("email".to_owned(), entity.property("Email").unwrap_or_default())];
    let people = CopiesAcrossPartitions::new(table.clone(), queue.clone(), poison, keys).with_intents(hasty);
    people.create_queues_if_not_exist().await.unwrap();
    let writers = (0..WRITERS).map(|writer| {
        let people = people.clone();
        tokio::spawn(async move {
            for round in 0..IDS_EACH {
                let email = format!("{}@contoso.com", (writer + round) % 3);
                let version = (writer * IDS_EACH + round) as i64;
                people.put(&Entity::new("Sales", "1").with("Email", email).with("Version", version)).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        tokio::time::timeout(Duration::from_secs(60), writer).await.unwrap().unwrap();
    }
    recover(&queue, async || people.work_once().await).await;
    let found: Vec<Entity> = table.query().all().await.unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0].properties(), found[1].properties());
}
