//! Reading decrypts encrypted properties without being given their names.

use tablerock_client::encryption::{AesKey, EncryptionError, EncryptionPolicy, KeyRing};
use tablerock_client::{Entity, Error, Keyed, StreamExt as _, TableEntity};

use super::{Employee, ann, encryption, key};
use crate::support::Account;

#[derive(TableEntity, Debug, PartialEq)]
#[entity(rename_all = "PascalCase", no_columns)]
struct SalaryOnly {
    salary: String,
}

#[tokio::test]
async fn projections_bring_what_decrypting_needs() {
    let account = Account::open().await;
    let table = account.table().await.with_encryption(encryption());
    table.insert(&ann()).await.unwrap();
    let salary = SalaryOnly { salary: ann().salary };
    assert_eq!(table.get_selected::<SalaryOnly>("Sales", "00001").await.unwrap(), salary);
    let read = table.query::<Entity>().select::<Keyed<SalaryOnly>>().first().await.unwrap().unwrap();
    assert_eq!((read.row_key.as_str(), read.value), ("00001", salary));
}

#[tokio::test]
async fn a_ring_reads_entities_of_many_keys() {
    let account = Account::open().await;
    let table = account.table().await;
    for id in ["2024", "2025", "2026"] {
        let employee = Employee { id: id.into(), ..ann() };
        table.with_encryption(EncryptionPolicy::new(key(id))).insert(&employee).await.unwrap();
    }
    let ring = KeyRing::new().with(key("2024")).with(key("2025"));
    let reader = table.with_encryption(encryption().key_resolver(ring));
    let read = reader.query::<Employee>().all().await.unwrap();
    assert!(read.len() == 3 && read.iter().all(|employee| employee.salary == ann().salary));
    let error = table.with_encryption(encryption()).query::<Employee>().all().await.unwrap_err();
    assert!(matches!(&error, Error::Encryption(EncryptionError::UnknownKey(id)) if id == "2024"), "{error}");
}

#[tokio::test]
async fn one_that_is_damaged_is_named_and_holds_up_no_other() {
    let account = Account::open().await;
    let table = account.table().await.with_encryption(encryption());
    for id in ["1", "2", "3"] {
        table.insert(&Employee { id: id.into(), ..ann() }).await.unwrap();
    }
    let damage = Entity::new("Sales", "2").with("Salary", b"not what was encrypted");
    table.without_encryption().merge(&damage).any_version().await.unwrap();
    let read: Vec<_> = table.query::<Employee>().stream().collect().await;
    assert!(matches!(read.as_slice(), [Ok(_), Err(_), Ok(_)]), "{read:?}");
    let Err(Error::Encryption(EncryptionError::Damaged(why))) = &read[1] else { panic!("{:?}", read[1]) };
    assert!(why.ends_with("(entity \"Sales\", \"2\")"), "{why}");
}

#[tokio::test]
async fn plain_entities_are_read_unless_encryption_is_required() {
    let account = Account::open().await;
    let table = account.table().await;
    table.insert(&Entity::new("p", "r").with("A", 1)).await.unwrap();
    let read: Entity = table.with_encryption(encryption()).get("p", "r").await.unwrap();
    assert_eq!(read.properties().len(), 1);
    let error = table.with_encryption(encryption().require_encryption()).get::<Entity>("p", "r").await.unwrap_err();
    assert!(matches!(error, Error::Encryption(EncryptionError::NotEncrypted)), "{error}");
}

#[tokio::test]
async fn the_wrong_key_under_the_right_id_is_told() {
    let account = Account::open().await;
    let table = account.table().await;
    table.with_encryption(encryption()).insert(&ann()).await.unwrap();
    let impostor = EncryptionPolicy::new(AesKey::new("2026", &[1; 32]).unwrap());
    let error = table.with_encryption(impostor).get::<Employee>("Sales", "00001").await.unwrap_err();
    assert!(matches!(&error, Error::Encryption(EncryptionError::Key { id, .. }) if id == "2026"), "{error}");
}
