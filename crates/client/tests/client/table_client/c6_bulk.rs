//! Any number of entities, cut into groups by partition, with a result for each and progress on the way.

use std::sync::{Arc, Mutex};

use tablerock_client::{Entity, EntityError, ErrorCode, FromEntity, TableEntity, TableOperation};

use crate::support::Account;

#[tokio::test]
async fn a_bulk_writes_any_number_in_any_partitions() {
    let account = Account::open().await;
    let table = account.table().await;
    let entities: Vec<Entity> = (0..1_250)
        .map(|number| Entity::new(format!("p{}", number % 4), format!("{number:05}")).with("Number", number))
        .collect();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let report = table.bulk(entities.iter().map(TableOperation::insert)).concurrency(4).on_progress({
        let seen = seen.clone();
        move |progress| seen.lock().unwrap().push(progress)
    });
    let etags = report.await.into_result().unwrap();
    assert!(etags.iter().all(Option::is_some));
    let stored: Vec<Entity> = table.query().all().await.unwrap();
    assert_eq!(stored.len(), entities.len());
    for (entity, etag) in entities.iter().zip(&etags) {
        let twin = stored.iter().find(|stored| stored.row_key == entity.row_key).unwrap();
        assert_eq!(&twin.etag, etag);
    }
    let seen = seen.lock().unwrap().clone();
    let last = seen.iter().max_by_key(|progress| progress.done).unwrap();
    assert_eq!((last.done, last.failed, last.total), (1_250, 0, 1_250));
    assert!(seen.len() >= 13, "{}", seen.len());
    let deletes: Vec<TableOperation> = stored.iter().map(TableOperation::delete).collect();
    assert!(table.bulk(deletes).await.into_result().unwrap().iter().all(Option::is_none));
    assert!(table.query::<Entity>().first().await.unwrap().is_none());
}

#[tokio::test]
async fn one_that_is_refused_holds_up_none_of_the_others() {
    let account = Account::open().await;
    let table = account.table().await;
    for row in ["00003", "00050", "00099"] {
        table.insert(&Entity::new("p", row)).await.unwrap();
    }
    let mut writes: Vec<TableOperation> =
        (0..150).map(|number| TableOperation::insert(&Entity::new("p", format!("{number:05}")))).collect();
    writes.push(TableOperation::replace(&Entity::new("p", "never read")));
    let report = table.bulk(writes).await;
    let failures: Vec<_> = report.failures().map(|(place, error)| (place, error.code())).collect();
    let exists = Some(ErrorCode::EntityAlreadyExists);
    assert_eq!(failures, [(3, exists), (50, exists), (99, exists), (150, None)]);
    assert!(report.failures().all(|(_, error)| error.failed_index().is_none() && !error.is_ambiguous()));
    assert_eq!(table.query::<Entity>().all().await.unwrap().len(), 150);
}

#[tokio::test]
async fn writes_to_one_entity_keep_their_order() {
    let account = Account::open().await;
    let table = account.table().await;
    let writes: Vec<TableOperation> = (0..300)
        .map(|number| {
            TableOperation::insert_or_replace(&Entity::new("p", format!("{}", number % 7)).with("Number", number))
        })
        .collect();
    table.bulk(writes).concurrency(16).await.into_result().unwrap();
    let stored: Vec<Entity> = table.query().all().await.unwrap();
    let numbers: Vec<i32> = stored.iter().map(|entity| entity.property("Number").unwrap()).collect();
    assert_eq!(numbers, [294, 295, 296, 297, 298, 299, 293]);
}

#[tokio::test]
async fn large_entities_are_cut_by_size() {
    let account = Account::open().await;
    let table = account.table().await;
    let large = |row: usize| {
        (0..12).fold(Entity::new("p", row.to_string()), |entity, place| {
            entity.with(format!("Bytes{place}"), vec![row as u8; 60_000])
        })
    };
    let writes: Vec<TableOperation> = (0..10).map(|row| TableOperation::insert(&large(row))).collect();
    table.bulk(writes).await.into_result().unwrap();
    let read: Entity = table.get("p", "9").await.unwrap();
    assert_eq!(read.properties(), large(9).properties());
}

#[tokio::test]
async fn an_entity_that_cannot_be_made_fails_alone() {
    struct Never;
    impl FromEntity for Never {
        const SELECT: Option<&'static [&'static str]> = None;
        fn from_entity(_: Entity) -> Result<Self, EntityError> {
            Err(EntityError::new("never"))
        }
    }
    impl TableEntity for Never {
        fn to_entity(&self) -> Result<Entity, EntityError> {
            Err(EntityError::new("never"))
        }
    }
    let account = Account::open().await;
    let table = account.table().await;
    let report = table.bulk([TableOperation::insert(&Entity::new("p", "1")), TableOperation::insert(&Never)]).await;
    assert!(report.results[0].is_ok());
    assert_eq!(report.results[1].as_ref().unwrap_err().to_string(), "never");
}
