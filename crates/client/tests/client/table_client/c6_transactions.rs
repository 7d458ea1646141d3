//! Group transactions, all or nothing, with the failing operation in the error.

use tablerock_client::transport::BoxFuture;
use tablerock_client::{Entity, Error, ErrorCode, TableClient, TableOperation, Value};

use crate::support::Account;

fn entity(row: impl Into<String>) -> Entity {
    Entity::new("p", row).with("A", 1).with("Text", "line\r\n--changeset_x\r\n\r\nline é")
}

#[tokio::test]
async fn every_kind_of_write_goes_in_one_transaction() {
    let account = Account::open().await;
    let table = account.table().await;
    let mut old: Vec<Entity> = ["replace", "merge", "delete", "upsert"].map(entity).to_vec();
    for entity in &mut old {
        entity.etag = Some(table.insert(entity).await.unwrap());
    }
    let change = |place: usize| {
        let mut changed = Entity::new("p", old[place].row_key.clone()).with("B", 2_i64);
        changed.etag = old[place].etag.clone();
        changed
    };
    let etags = table
        .transaction()
        .insert(&entity("insert"))
        .replace(&change(0))
        .merge(&change(1))
        .delete(&old[2])
        .insert_or_replace(&change(3))
        .insert_or_merge(&entity("new o'b %"))
        .commit()
        .await
        .unwrap();
    assert_eq!(etags.iter().map(Option::is_some).collect::<Vec<_>>(), [true, true, true, false, true, true]);
    let found: Vec<Entity> = table.query().all().await.unwrap();
    let shape: Vec<_> = found.iter().map(|entity| (entity.row_key.as_str(), entity.properties().len())).collect();
    assert_eq!(shape, [("insert", 2), ("merge", 3), ("new o'b %", 2), ("replace", 1), ("upsert", 1)]);
    assert_eq!(found[0].get("Text"), entity("x").get("Text"));
    assert_eq!(found[0].etag, etags[0]);
}

#[tokio::test]
async fn a_failure_names_its_operation_and_leaves_nothing() {
    let account = Account::open().await;
    let table = account.table().await;
    let mut old = entity("old");
    old.etag = Some(table.insert(&old).await.unwrap());
    table.replace(&old).await.unwrap();
    for (write, code, status) in [
        (TableOperation::insert(&old), ErrorCode::EntityAlreadyExists, 409),
        (TableOperation::replace(&old), ErrorCode::UpdateConditionNotSatisfied, 412),
        (TableOperation::delete_by_keys("p", "none").any_version(), ErrorCode::ResourceNotFound, 404),
    ] {
        let group = table.transaction().insert(&entity("1")).insert(&entity("2")).operation(write).insert(&entity("3"));
        let error = group.commit().await.unwrap_err();
        assert_eq!((error.failed_index(), error.code(), error.status()), (Some(2), Some(code), Some(status)));
        let Error::Transaction(failure) = &error else { panic!("{error:?}") };
        assert!(!failure.cause.message.starts_with("2:"), "{}", failure.cause.message);
        assert_eq!(table.query::<Entity>().all().await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn what_cannot_be_one_transaction_is_said_before_it_is_sent() {
    let account = Account::open().await;
    let table = account.table().await;
    let other = table.transaction().insert(&entity("1")).insert(&Entity::new("q", "1")).commit().await.unwrap_err();
    assert!(
        other.to_string().starts_with("operation 1 of the transaction was not sent: its partition is \"q\""),
        "{other}"
    );
    assert_eq!(other.failed_index(), Some(1));
    let many: Vec<TableOperation> = (0..101).map(|row| TableOperation::insert(&entity(row.to_string()))).collect();
    assert_eq!(table.transaction().operations(many).commit().await.unwrap_err().failed_index(), Some(100));
    assert!(table.transaction().commit().await.unwrap().is_empty());
    let full: Vec<TableOperation> = (0..100).map(|row| TableOperation::insert(&entity(row.to_string()))).collect();
    assert_eq!(table.transaction().operations(full).commit().await.unwrap().len(), 100);
    let unread = table.transaction().insert(&entity("0")).replace(&entity("1")).commit().await.unwrap_err();
    assert!(unread.to_string().contains("no ETag"), "{unread}");
    assert_eq!(unread.failed_index(), Some(1));
    let large = |row: &str| {
        (0..15).fold(Entity::new("p", row), |large, index| large.with(format!("P{index}"), vec![7_u8; 60_000]))
    };
    let group = ["1", "2", "3", "4"].iter().fold(table.transaction(), |group, row| group.insert(&large(row)));
    let large = group.commit().await.unwrap_err();
    assert_eq!(large.failed_index(), Some(3), "{large}");
    let mut secret = entity("1");
    secret.mark_encrypted("Text");
    let plain = table.transaction().insert(&entity("0")).insert(&secret).commit().await.unwrap_err();
    assert!(plain.to_string().contains("call with_encryption"), "{plain}");
    assert_eq!(plain.failed_index(), Some(1));
    let named = entity("1").with("Timestamp", 1);
    let named = table.transaction().insert(&named).commit().await.unwrap_err();
    assert!(
        matches!(&named, Error::InvalidOperation { index: 0, source } if matches!(**source, Error::Invalid(_))),
        "{named}"
    );
}

/// A write with borrowed entities can be a task of its own, and a method of a trait.
#[tokio::test]
async fn writes_can_go_to_another_thread() {
    fn boxed<'a>(table: &'a TableClient, entity: &'a Entity) -> BoxFuture<'a, usize> {
        Box::pin(async move {
            let group = table.transaction().insert(entity).commit().await.unwrap();
            let bulk = table.bulk([TableOperation::insert_or_replace(entity)]).await.into_result().unwrap();
            let read = table.query::<Entity>().all().await.unwrap();
            group.len() + bulk.len() + read.len()
        })
    }
    let account = Account::open().await;
    let table = account.table().await;
    assert_eq!(tokio::spawn(async move { boxed(&table, &entity("1")).await }).await.unwrap(), 3);
}

#[tokio::test]
async fn one_entity_twice_is_refused_by_the_service() {
    let account = Account::open().await;
    let table = account.table().await;
    let group = table.transaction().insert(&entity("1")).insert_or_merge(&entity("1"));
    let error = group.commit().await.unwrap_err();
    assert_eq!((error.code(), error.failed_index()), (Some(ErrorCode::InvalidDuplicateRow), Some(1)));
    assert!(table.get_if_exists::<Entity>("p", "1").await.unwrap().is_none());
}

#[tokio::test]
async fn a_transaction_with_a_shared_access_signature_works_too() {
    use tablerock_client::sas::TablePermissions;
    let account = Account::open().await;
    let table = account.table().await;
    let permissions = TablePermissions::ADD | TablePermissions::UPDATE | TablePermissions::READ;
    let expiry = tablerock_client::DateTime::parse("2040-01-01").unwrap();
    let guest = table.with_credential(table.sas(permissions, expiry).sign().unwrap()).unwrap();
    guest.transaction().insert(&entity("1")).insert_or_replace(&entity("2")).commit().await.unwrap();
    let read: Entity = guest.get("p", "2").await.unwrap();
    assert_eq!(read.get("A"), Some(&Value::Int32(1)));
}
