//! What is encrypted on its way out: what a struct marks, what a resolver chooses, in every kind of write.

use tablerock_client::encryption::EncryptionError;
use tablerock_client::entity::Properties;
use tablerock_client::{Entity, Error, Etag, TableEntity, TableOperation, Value};

use super::{Employee, ann, encryption};
use crate::support::Account;

const METADATA: [&str; 2] = ["_ClientEncryptionMetadata1", "_ClientEncryptionMetadata2"];

fn is_binary(entity: &Entity, name: &str) -> bool {
    matches!(entity.get(name), Some(Value::Binary(_)))
}

#[tokio::test]
async fn what_a_struct_marks_is_stored_as_binary_and_the_rest_in_the_open() {
    let account = Account::open().await;
    let table = account.table().await.with_encryption(encryption());
    table.insert(&ann()).await.unwrap();
    let stored: Entity = table.without_encryption().get("Sales", "00001").await.unwrap();
    assert!(is_binary(&stored, "Salary") && stored.get("Notes").is_none());
    assert_eq!(stored.get("Name"), Some(&Value::from("Ann")));
    assert!(METADATA.iter().all(|name| stored.get(name).is_some()));
    assert_eq!(table.get::<Employee>("Sales", "00001").await.unwrap(), ann());
}

#[tokio::test]
async fn a_resolver_chooses_by_partition_row_and_name() {
    let account = Account::open().await;
    let chosen = |partition: &str, row: &str, name: &str| (partition, row, name) == ("p", "r", "Secret");
    let table = account.table().await.with_encryption(encryption().encryption_resolver(chosen));
    for (partition, row, is_chosen) in [("p", "r", true), ("p", "s", false), ("q", "r", false)] {
        let entity = Entity::new(partition, row).with("Secret", "x").with("Plain", "y");
        table.insert(&entity).await.unwrap();
        let stored: Entity = table.without_encryption().get(partition, row).await.unwrap();
        assert_eq!((is_binary(&stored, "Secret"), is_binary(&stored, "Plain")), (is_chosen, false));
        assert_eq!(table.encrypts(partition, row, "Secret"), is_chosen);
        assert!(!table.without_encryption().encrypts(partition, row, "Secret"));
        let read: Entity = table.get(partition, row).await.unwrap();
        assert_eq!(read.properties(), entity.properties());
    }
}

#[tokio::test]
async fn replaces_transactions_and_bulks_encrypt_as_well() {
    let account = Account::open().await;
    let table = account.table().await.with_encryption(encryption());
    let with_salary = |id: &str, salary: &str| Employee { id: id.into(), salary: salary.into(), ..ann() };
    table.insert_or_replace(&with_salary("1", "one")).await.unwrap();
    table.replace(&with_salary("1", "two")).any_version().await.unwrap();
    table.transaction().insert(&with_salary("2", "three")).insert(&with_salary("3", "four")).commit().await.unwrap();
    let more: Vec<Employee> = (4..9).map(|id| with_salary(&id.to_string(), "five")).collect();
    table.bulk(more.iter().map(TableOperation::insert)).await.into_result().unwrap();
    let echoed: Employee = table.insert(&with_salary("9", "six")).return_content().await.unwrap();
    assert_eq!(echoed.salary, "six");
    let stored: Vec<Entity> = table.without_encryption().query().all().await.unwrap();
    assert!(stored.len() == 9 && stored.iter().all(|entity| is_binary(entity, "Salary")));
    let salaries: Vec<String> =
        table.query::<Employee>().all().await.unwrap().into_iter().map(|employee| employee.salary).collect();
    assert_eq!(salaries, ["two", "three", "four", "five", "five", "five", "five", "five", "six"]);
}

#[tokio::test]
async fn every_entity_has_a_content_key_of_its_own() {
    let account = Account::open().await;
    let table = account.table().await.with_encryption(encryption());
    table.insert(&ann()).await.unwrap();
    let plain = table.without_encryption();
    let first: Entity = plain.get("Sales", "00001").await.unwrap();
    table.replace(&ann()).any_version().await.unwrap();
    let second: Entity = plain.get("Sales", "00001").await.unwrap();
    for name in ["Salary", METADATA[0], METADATA[1]] {
        assert_ne!(first.get(name), second.get(name), "{name}");
    }
}

#[tokio::test]
async fn a_client_without_a_key_writes_nothing_that_is_marked() {
    #[derive(TableEntity)]
    #[entity(tag = "Kind")]
    enum Staff {
        Employee(Employee),
    }
    let account = Account::open().await;
    let table = account.table().await;
    for error in [
        table.insert(&ann()).await.unwrap_err(),
        table.insert(&Staff::Employee(ann())).await.unwrap_err(),
        table.transaction().insert(&ann()).commit().await.unwrap_err(),
        table.bulk([TableOperation::insert(&ann())]).await.into_result().unwrap_err(),
    ] {
        assert!(matches!(error.operation_error(), Error::Invalid(why) if why.contains("Salary")), "{error}");
    }
    assert!(table.query::<Entity>().first().await.unwrap().is_none());
}

#[tokio::test]
async fn what_was_read_encrypted_is_written_encrypted_whatever_its_type() {
    let account = Account::open().await;
    let table = account.table().await.with_encryption(encryption());
    table.insert(&ann()).await.unwrap();
    let mut bag: Entity = table.get("Sales", "00001").await.unwrap();
    bag.set("Salary", "94,000 €");
    table.replace(&bag).await.unwrap();
    let copy = bag.with_keys("Sales", "copy");
    table.insert(&copy).await.unwrap();
    for row in ["00001", "copy"] {
        let stored: Entity = table.without_encryption().get("Sales", row).await.unwrap();
        assert!(is_binary(&stored, "Salary"), "{row}");
        assert_eq!(table.get::<Employee>("Sales", row).await.unwrap().salary, "94,000 €");
    }
    assert!(matches!(table.without_encryption().insert_or_replace(&copy).await, Err(Error::Invalid(_))));
}

#[tokio::test]
async fn a_bag_can_mark_what_is_to_be_encrypted() {
    let account = Account::open().await;
    let table = account.table().await.with_encryption(encryption());
    let mut entity = Entity::new("p", "r").with("Secret", "x").with("Plain", "y");
    entity.mark_encrypted("Secret");
    assert!(matches!(table.without_encryption().insert(&entity).await, Err(Error::Invalid(_))));
    table.insert(&entity).await.unwrap();
    let stored: Entity = table.without_encryption().get("p", "r").await.unwrap();
    assert!(is_binary(&stored, "Secret") && !is_binary(&stored, "Plain"));
}

#[tokio::test]
async fn only_text_can_be_encrypted() {
    let account = Account::open().await;
    let table = account.table().await.with_encryption(encryption().encryption_resolver(|_, _, name| name == "Age"));
    let error = table.insert(&Entity::new("p", "r").with("Age", 41)).await.unwrap_err();
    assert!(matches!(error, Error::Encryption(EncryptionError::NotAllowed(_))), "{error}");
}

/// A struct that does not know the encrypted property carries it through, and it stays encrypted.
#[tokio::test]
async fn the_rest_of_a_struct_is_encrypted_again() {
    #[derive(TableEntity)]
    #[entity(rename_all = "PascalCase")]
    struct Named {
        #[entity(partition_key)]
        department: String,
        #[entity(row_key)]
        id: String,
        name: String,
        #[entity(etag)]
        etag: Option<Etag>,
        #[entity(rest)]
        rest: Properties,
    }

    let account = Account::open().await;
    let table = account.table().await.with_encryption(encryption());
    table.insert(&ann()).await.unwrap();
    let mut named: Named = table.get("Sales", "00001").await.unwrap();
    assert_eq!(named.rest.property::<String>("Salary").unwrap(), ann().salary);
    named.name = "Anna".into();
    table.replace(&named).await.unwrap();
    let stored: Entity = table.without_encryption().get("Sales", "00001").await.unwrap();
    assert!(matches!(stored.get("Salary"), Some(Value::Binary(_))), "{stored:?}");
    let read: Employee = table.get("Sales", "00001").await.unwrap();
    assert_eq!(read, Employee { name: "Anna".into(), ..ann() });
}
