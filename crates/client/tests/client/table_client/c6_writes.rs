//! Every write, with ETag conditions.

use crate::support::{self, Account};
use tablerock_client::{Entity, Error, ErrorCode, Etag, TableOperation, Value};

#[tokio::test]
async fn an_insert_happens_once() {
    let account = Account::open().await;
    let table = account.table().await;
    let ann = Entity::new("Sales", "1").with("Name", "Ann");
    let etag = table.insert(&ann).await.unwrap();
    let error = table.insert(&ann).await.unwrap_err();
    assert_eq!((error.is_conflict(), error.code()), (true, Some(ErrorCode::EntityAlreadyExists)));
    let failure = error.service_failure().unwrap();
    assert!(failure.request_id.is_some() && !failure.client_request_id.is_empty());
    assert_eq!((failure.attempts, failure.after_lost_response), (1, false));
    let read: Entity = table.get("Sales", "1").await.unwrap();
    assert_eq!(read.etag, Some(etag));
}

#[tokio::test]
async fn an_insert_can_bring_the_entity_back() {
    let account = Account::open().await;
    let table = account.table().await;
    let stored: Entity = table.insert(&Entity::new("p", "r").with("Count", 5_i64)).return_content().await.unwrap();
    assert!(stored.timestamp.is_some() && stored.etag.is_some());
    assert_eq!(stored.get("Count"), Some(&Value::Int64(5)));
    let read: Entity = table.get("p", "r").await.unwrap();
    assert_eq!(read, stored);
}

#[tokio::test]
async fn replace_removes_what_it_leaves_out_and_merge_keeps_it() {
    let account = Account::open().await;
    let table = account.table().await;
    let mut ann = Entity::new("p", "r").with("A", 1).with("B", 2);
    ann.etag = Some(table.insert(&ann).await.unwrap());
    let change = ann.clone().select_properties(&["B"]).with("B", 3);
    ann.etag = Some(table.merge(&change).await.unwrap());
    let read: Entity = table.get("p", "r").await.unwrap();
    assert_eq!((read.get("A"), read.get("B")), (Some(&Value::Int32(1)), Some(&Value::Int32(3))));
    let mut lone = Entity::new("p", "r").with("C", true);
    lone.etag = ann.etag;
    table.replace(&lone).await.unwrap();
    let read: Entity = table.get("p", "r").await.unwrap();
    assert_eq!(read.properties(), lone.properties());
}

#[tokio::test]
async fn a_version_that_has_passed_is_refused() {
    let account = Account::open().await;
    let table = account.table().await;
    let mut ann = Entity::new("p", "r").with("A", 1);
    ann.etag = Some(table.insert(&ann).await.unwrap());
    let newer = table.replace(&ann).await.unwrap();
    assert_ne!(Some(&newer), ann.etag.as_ref());
    for error in [
        table.replace(&ann).await.unwrap_err(),
        table.merge(&ann).await.unwrap_err(),
        table.delete(&ann).await.unwrap_err(),
        table.delete(&ann).if_exists().await.unwrap_err(),
    ] {
        assert!(error.is_precondition_failed(), "{error}");
        assert_eq!(error.code(), Some(ErrorCode::UpdateConditionNotSatisfied));
    }
    let newest = table.merge(&ann).if_match(newer).await.unwrap();
    table.replace(&ann).any_version().await.unwrap();
    assert!(table.delete(&ann).if_match(newest).await.unwrap_err().is_precondition_failed());
    table.delete_by_keys("p", "r").any_version().await.unwrap();
}

#[tokio::test]
async fn a_condition_is_never_left_to_chance() {
    let account = Account::open().await;
    let table = account.table().await;
    let unread = Entity::new("p", "r");
    for error in [
        table.replace(&unread).await.unwrap_err(),
        table.merge(&unread).await.unwrap_err(),
        table.delete(&unread).await.unwrap_err(),
        table.delete_by_keys("p", "r").await.unwrap_err(),
    ] {
        assert!(matches!(error, Error::Invalid(_)), "{error}");
    }
}

#[tokio::test]
async fn an_etag_is_a_version_and_nothing_else() {
    let account = Account::open().await;
    let table = account.table().await;
    table.insert(&Entity::new("p", "r").with("A", 1)).await.unwrap();
    table.insert(&Entity::new("p", "victim")).await.unwrap();
    let injected = "W/\"x\"\r\nContent-Length: 0\r\n\r\n--changeset";
    for (tag, why) in [("*", "any_version"), (" * ", "any_version"), (injected, "header"), ("W/\"\u{7f}\"", "header")] {
        let mut read = Entity::new("p", "r").with("A", 2);
        read.etag = Some(Etag::from(tag));
        let given = Entity::new("p", "r");
        for error in [
            table.replace(&read).await.unwrap_err(),
            table.merge(&given).if_match(tag).await.unwrap_err(),
            table.delete(&read).await.unwrap_err(),
            table.delete_by_keys("p", "r").if_match(tag).if_exists().await.unwrap_err(),
            table.transaction().replace(&read).commit().await.unwrap_err(),
            table
                .transaction()
                .operation(TableOperation::delete_by_keys("p", "r").if_match(tag))
                .commit()
                .await
                .unwrap_err(),
            table.bulk([TableOperation::merge(&read)]).await.into_result().unwrap_err(),
        ] {
            assert!(
                matches!(error.operation_error(), Error::Invalid(text) if text.contains(why)),
                "{tag:?}: {error:?}"
            );
        }
    }
    let read: Entity = table.get("p", "r").await.unwrap();
    assert_eq!(read.get("A"), Some(&Value::Int32(1)));
}

#[tokio::test]
async fn a_name_that_means_something_else_is_refused() {
    let account = Account::open().await;
    let table = account.table().await;
    for name in ["PartitionKey", "RowKey", "Timestamp", "a@b", "a@odata.type", "odata.etag", "odata.x"] {
        let entity = Entity::new("p", "r").with("Good", 1).with(name, "x");
        for error in [
            table.insert(&entity).await.unwrap_err(),
            table.insert_or_merge(&entity).await.unwrap_err(),
            table.transaction().insert(&entity).commit().await.unwrap_err(),
            table.bulk([TableOperation::insert(&entity)]).await.into_result().unwrap_err(),
        ] {
            assert!(matches!(error.operation_error(), Error::Invalid(why) if why.contains(name)), "{name}: {error:?}");
        }
    }
    // What else is wrong with a name is the service's to say.
    let error = table.insert(&Entity::new("p", "r").with("a-b", 1)).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::PropertyNameInvalid));
}

#[tokio::test]
async fn replace_and_merge_of_what_is_not_there_fail_and_upserts_do_not() {
    let account = Account::open().await;
    let table = account.table().await;
    let ann = Entity::new("p", "r").with("A", 1);
    assert!(table.replace(&ann).any_version().await.unwrap_err().is_not_found());
    assert!(table.merge(&ann).any_version().await.unwrap_err().is_not_found());
    table.insert_or_merge(&ann).await.unwrap();
    table.insert_or_merge(&Entity::new("p", "r").with("B", 2)).await.unwrap();
    let read: Entity = table.get("p", "r").await.unwrap();
    assert_eq!(read.properties().len(), 2);
    table.insert_or_replace(&ann).await.unwrap();
    let read: Entity = table.get("p", "r").await.unwrap();
    assert_eq!(read.properties(), ann.properties());
}

#[tokio::test]
async fn delete_if_exists_tells_whether_it_did() {
    let account = Account::open().await;
    let table = account.table().await;
    let mut ann = Entity::new("p", "r");
    ann.etag = Some(table.insert(&ann).await.unwrap());
    assert!(table.delete(&ann).if_exists().await.unwrap());
    assert!(!table.delete(&ann).if_exists().await.unwrap());
    assert!(!table.delete_by_keys("p", "r").any_version().if_exists().await.unwrap());
    assert!(table.delete(&ann).await.unwrap_err().is_not_found());
    let tag = Etag::from("W/\"datetime'2020-01-01T00%3A00%3A00Z'\"");
    assert!(table.delete_by_keys("p", "r").if_match(tag).await.unwrap_err().is_not_found());
    let nowhere = account.tables().table(support::unique_name());
    let error = nowhere.delete_by_keys("p", "r").any_version().if_exists().await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::TableNotFound));
}

#[tokio::test]
async fn keys_may_hold_whatever_the_service_allows() {
    let account = Account::open().await;
    let table = account.table().await;
    for key in ["", "'", "''", "a b", "a+b", "a%2Fb", "(x),RowKey='", "é日😀", "a&b=c", "a;b", "~.-_", "$x"] {
        let mut entity = Entity::new(key, key).with("Key", key);
        entity.etag = Some(table.insert(&entity).await.unwrap());
        let read: Entity = table.get(key, key).await.unwrap();
        assert_eq!((read.partition_key.as_str(), read.row_key.as_str()), (key, key));
        table.delete(&entity).await.unwrap();
    }
}

#[tokio::test]
async fn tables_are_created_and_dropped_once() {
    let account = Account::open().await;
    let table = account.tables().table(support::unique_name());
    assert!(table.create_if_not_exists().await.unwrap());
    assert!(!table.create_if_not_exists().await.unwrap());
    assert_eq!(table.create().await.unwrap_err().code(), Some(ErrorCode::TableAlreadyExists));
    assert!(table.delete_table_if_exists().await.unwrap());
    assert!(!table.delete_table_if_exists().await.unwrap());
    assert!(table.delete_table().await.unwrap_err().is_not_found());
}
