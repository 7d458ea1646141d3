//! Index entities under many writers at once, copies that many change, and what is read while it is written.

use std::time::Duration;

use tablerock_client::Entity;
use tablerock_patterns::{
    BlobList, CopiesAcrossPartitions, EntityList, IndexList, LargeEntities, ListStore, WideEntities,
};

use crate::killed::email;
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
async fn an_index_entity_keeps_every_id_that_many_writers_add() {
    let account = Account::open().await;
    let table = account.table().await;
    fill(IndexList::new(EntityList::new(table, "Sales", "Jones"))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_blob_keeps_every_id_that_many_writers_add() {
    let account = Account::open().await;
    let container = Process::healthy(&account).blobs.container(unique_name());
    container.create().await.unwrap();
    fill(IndexList::new(BlobList::new(container.blob("Sales/Jones")))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn copies_across_partitions_end_equal_whoever_was_last() {
    let account = Account::open().await;
    let process = Process::healthy(&account);
    let (table, name) = (account.table().await, unique_name());
    let (queue, poison) = (process.queues.queue(&name), process.queues.queue(format!("{name}-poison")));
    let people = CopiesAcrossPartitions::new(table.clone(), queue.clone(), poison).with_intents(hasty);
    let people = people.index("email", email);
    people.create_if_not_exists().await.unwrap();
    let writers = (0..WRITERS).map(|writer| {
        let people = people.clone();
        tokio::spawn(async move {
            for round in 0..IDS_EACH {
                let email = format!("{}@contoso.com", (writer + round) % 3);
                let version = (writer * IDS_EACH + round) as i64;
                let entity = Entity::new("Sales", "1").with("Email", email).with("Version", version);
                people.put(&entity).any_version().await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        tokio::time::timeout(Duration::from_secs(60), writer).await.unwrap().unwrap();
    }
    recover(&queue, async || people.work_once().await).await;
    let found: Vec<Entity> = table.query().all().await.unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    let report = people.verify().await.unwrap();
    assert!(report.is_consistent() && report.entities == 1 && report.entries == 1, "{report:?}");
}

const REWRITES: usize = 30;

/// A value of many bytes that identifies its write.
fn filled(write: usize) -> Vec<u8> {
    vec![u8::try_from(write).unwrap(); 60_000]
}

/// Every value of an entity is of the same write.
fn check_whole(entity: &Entity, values: usize) {
    let values: Vec<_> = (0..values).map(|value| entity.property::<Vec<u8>>(&format!("V{value}")).unwrap()).collect();
    assert!(values.windows(2).all(|pair| pair[0] == pair[1]), "values of two writes");
}

/// Parts of more than the server reads at once, overwritten, and written again after a deletion.
#[tokio::test(flavor = "multi_thread")]
async fn a_wide_entity_is_read_whole_while_it_is_written() {
    const VALUES: usize = 40;
    let account = Account::open().await;
    let wide = WideEntities::new(account.table().await);
    let written = |write: usize| {
        (0..VALUES).fold(Entity::new("p", "r"), |entity, value| entity.with(format!("V{value}"), filled(write)))
    };
    let writer = async {
        for write in 0..REWRITES {
            wide.put(&written(write)).any_version().await.unwrap();
            if write % 2 == 0 {
                wide.delete_by_keys("p", "r").any_version().await.unwrap();
            }
        }
    };
    read_while(writer, async || wide.get_if_exists("p", "r").await.unwrap(), VALUES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_entity_is_read_whole_while_it_is_written() {
    const VALUES: usize = 3;
    let account = Account::open().await;
    let (process, name) = (Process::healthy(&account), unique_name());
    let (queue, poison) = (process.queues.queue(&name), process.queues.queue(format!("{name}-poison")));
    let large = LargeEntities::new(account.table().await, process.blobs.container(&name), queue, poison);
    large.create_if_not_exists().await.unwrap();
    let written = |write: usize| {
        (0..VALUES).fold(Entity::new("p", "r"), |entity, value| entity.with(format!("V{value}"), filled(write)))
    };
    let writer = async {
        for write in 0..REWRITES {
            large.put(&written(write)).any_version().await.unwrap();
            if write % 2 == 0 {
                large.delete_by_keys("p", "r").any_version().await.unwrap();
            }
        }
    };
    read_while(writer, async || large.get_if_exists("p", "r").await.unwrap(), VALUES).await;
}

async fn read_while(writer: impl Future<Output = ()>, read: impl AsyncFn() -> Option<Entity>, values: usize) {
    let mut found = 0;
    let reader = async {
        loop {
            if let Some(entity) = read().await {
                check_whole(&entity, values);
                found += 1;
            }
        }
    };
    tokio::select! {
        () = writer => {}
        () = reader => {}
    }
    assert!(found > 0, "the reader has met it");
}
