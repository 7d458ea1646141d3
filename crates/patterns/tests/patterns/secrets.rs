//! What a resolver calls a secret stays one, whatever keys a pattern writes it under.

use tablerock_client::encryption::{AesKey, EncryptionPolicy};
use tablerock_client::{Entity, TableClient, Value};
use tablerock_patterns::{CopiesInPartition, LargeEntities, WideEntities};

use crate::killed::{all, email};
use crate::mortal::Process;
use crate::support::{Account, unique_name};

/// A table on which the salary of employee 000123 is a secret, and on which it is read as it is stored.
async fn tables(account: &Account, row_key: &'static str) -> (TableClient, TableClient) {
    let plain = account.table().await;
    let encryption = EncryptionPolicy::new(AesKey::new("local:test", &[7; 32]).unwrap());
    let encryption = encryption.encryption_resolver(move |_, row, name| row == row_key && name == "Salary");
    (plain.clone().with_encryption(encryption), plain)
}

fn is_stored_openly(entities: &[Entity]) -> bool {
    entities.iter().any(|entity| matches!(entity.get("Salary"), Some(Value::String(_))))
}

#[tokio::test]
async fn a_secret_of_a_wide_entity_is_one_in_its_parts() {
    let account = Account::open().await;
    let (sealed, plain) = tables(&account, "000123").await;
    let surveys = WideEntities::new(sealed);
    let mut survey = Entity::new("Sales", "000123").with("Salary", "93,000");
    (0..300).for_each(|question| survey.set(format!("Q{question}"), question));
    surveys.insert(&survey).await.unwrap();
    assert!(!is_stored_openly(&all(&plain).await));
    // Also after it was read and written by who knows nothing of the resolver.
    let read = surveys.get_if_exists("Sales", "000123").await.unwrap().unwrap();
    assert_eq!(read.properties(), survey.properties());
    surveys.put(&read.with_keys("Sales", "000124")).await.unwrap();
    assert!(!is_stored_openly(&all(&plain).await));
}

#[tokio::test]
async fn a_secret_under_one_key_is_one_in_all_copies() {
    let account = Account::open().await;
    let (sealed, plain) = tables(&account, "000123").await;
    let people = CopiesInPartition::new(sealed.clone()).index("email", email);
    let jones = |email: &str| Entity::new("Sales", "000123").with("Email", email).with("Salary", "93,000");
    people.insert(&jones("a")).await.unwrap();
    assert!(!is_stored_openly(&all(&plain).await));
    let read = people.find_by("Sales", "email", "a").await.unwrap().unwrap();
    assert_eq!(read.property::<String>("Salary").unwrap(), "93,000");
    people.replace(&jones("b")).if_match(read.etag.unwrap()).await.unwrap();
    assert!(!is_stored_openly(&all(&plain).await));
    let copy: Entity = sealed.get("Sales", "email_b").await.unwrap();
    assert_eq!(copy.property::<String>("Salary").unwrap(), "93,000");
}

#[tokio::test]
async fn a_large_value_that_is_a_secret_is_refused_and_so_is_one_that_cannot_be_read_back() {
    let account = Account::open().await;
    let (sealed, _) = tables(&account, "000123").await;
    let (process, name) = (Process::healthy(&account), unique_name());
    let (queue, poison) = (process.queues.queue(&name), process.queues.queue(format!("{name}-poison")));
    let people = LargeEntities::new(sealed, process.blobs.container(&name), queue.clone(), poison);
    people.create_if_not_exists().await.unwrap();
    let secret = Entity::new("Sales", "000123").with("Salary", "9".repeat(40_000));
    let error = people.put(&secret).await.unwrap_err().to_string();
    assert!(error.contains("Salary") && error.contains("encrypted"), "{error}");
    let huge = Entity::new("Sales", "000124").with("Photo", vec![0; (64 << 20) + 1]);
    let error = people.put(&huge).await.unwrap_err().to_string();
    assert!(error.contains("Photo") && error.contains("67108864"), "{error}");
    assert_eq!(queue.approximate_message_count().await.unwrap(), 0);
    people.put(&secret.with_keys("Sales", "000124")).await.unwrap();
}
