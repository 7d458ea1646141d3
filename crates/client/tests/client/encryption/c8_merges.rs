//! Merges are refused, with the reason.

use tablerock_client::encryption::EncryptionError;
use tablerock_client::{Entity, Error, TableOperation, Value};

use super::{Employee, ann, encryption};
use crate::support::Account;

#[tokio::test]
async fn no_merge_goes_into_an_encrypted_entity() {
    let account = Account::open().await;
    let table = account.table().await.with_encryption(encryption());
    table.insert(&ann()).await.unwrap();
    let change = Entity::new("Sales", "00001").with("Name", "Anna");
    for error in [
        table.merge(&change).any_version().await.unwrap_err(),
        table.insert_or_merge(&change).await.unwrap_err(),
        table.transaction().insert_or_merge(&change).commit().await.unwrap_err(),
        table.bulk([TableOperation::merge(&change).any_version()]).await.into_result().unwrap_err(),
    ] {
        let is_told = matches!(error.operation_error(), Error::Encryption(EncryptionError::NotAllowed(why)) if why.contains("merge"));
        assert!(is_told, "{error}");
    }
    assert_eq!(table.get::<Employee>("Sales", "00001").await.unwrap(), ann());
}

#[tokio::test]
async fn what_is_in_the_open_can_be_merged_around_the_encryption() {
    let account = Account::open().await;
    let table = account.table().await.with_encryption(encryption());
    table.insert(&ann()).await.unwrap();
    let change = Entity::new("Sales", "00001").with("Name", "Anna");
    table.without_encryption().merge(&change).any_version().await.unwrap();
    let read: Entity = table.get("Sales", "00001").await.unwrap();
    assert_eq!((read.get("Name"), read.get("Salary")), (Some(&Value::from("Anna")), Some(&Value::from(ann().salary))));
}
