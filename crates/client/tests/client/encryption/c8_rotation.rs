//! Key rotation wraps the content key again, with the only merge that encryption allows.

use tablerock_client::encryption::{EncryptionPolicy, KeyRing};
use tablerock_client::{ClientOptions, Entity, TableClient};

use super::{Employee, ann, encryption, key};
use crate::support::{Account, Script, Step};

fn rotating(table: &TableClient) -> TableClient {
    table.with_encryption(encryption().key_resolver(KeyRing::new().with(key("2025"))))
}

#[tokio::test]
async fn rotation_changes_the_wrapping_and_nothing_else() {
    let account = Account::open().await;
    let table = account.table().await;
    let old = table.with_encryption(EncryptionPolicy::new(key("2025")));
    old.insert(&ann()).await.unwrap();
    let before: Entity = table.get("Sales", "00001").await.unwrap();
    assert!(rotating(&table).rewrap_key("Sales", "00001").await.unwrap());
    let after: Entity = table.get("Sales", "00001").await.unwrap();
    for (was, is) in before.properties().iter().zip(after.properties()) {
        assert_eq!(was.name, is.name);
        assert_eq!(was.value == is.value, was.name != "_ClientEncryptionMetadata1", "{}", was.name);
    }
    assert_eq!(table.with_encryption(encryption()).get::<Employee>("Sales", "00001").await.unwrap(), ann());
    assert!(old.get::<Employee>("Sales", "00001").await.is_err());
}

#[tokio::test]
async fn rotation_leaves_alone_what_has_the_key_or_none() {
    let account = Account::open().await;
    let table = account.table().await;
    table.with_encryption(encryption()).insert(&ann()).await.unwrap();
    table.insert(&Entity::new("p", "r").with("A", 1)).await.unwrap();
    let before: Vec<Entity> = table.query().all().await.unwrap();
    assert!(!rotating(&table).rewrap_key("Sales", "00001").await.unwrap());
    assert!(!rotating(&table).rewrap_key("p", "r").await.unwrap());
    assert_eq!(table.query::<Entity>().all().await.unwrap(), before);
    assert!(rotating(&table).rewrap_key("p", "nobody").await.unwrap_err().is_not_found());
    assert!(table.rewrap_key("p", "r").await.is_err());
}

#[tokio::test]
async fn a_rotation_whose_answer_was_lost_says_that_it_has_happened() {
    let account = Account::open().await;
    let table = account.table().await;
    table.with_encryption(EncryptionPolicy::new(key("2025"))).insert(&ann()).await.unwrap();
    let script = Script::new([Step::Deliver, Step::LoseAnswer]);
    let scripted = account.tables_with(ClientOptions::new().transport(script.clone())).table(table.name());
    assert!(rotating(&scripted).rewrap_key("Sales", "00001").await.unwrap());
    assert_eq!(script.requests().len(), 4);
    assert!(!rotating(&scripted).rewrap_key("Sales", "00001").await.unwrap());
}

#[tokio::test]
async fn rotation_beside_writers_loses_no_write() {
    let account = Account::open().await;
    let table = account.table().await;
    let writer = table.with_encryption(EncryptionPolicy::new(key("2025")));
    let with_salary = |salary: usize| Employee { salary: salary.to_string(), ..ann() };
    writer.insert(&with_salary(0)).await.unwrap();
    let writes = async {
        for salary in 1..=20 {
            writer.insert_or_replace(&with_salary(salary)).await.unwrap();
        }
    };
    let rotations = async {
        for _ in 0..20 {
            rotating(&table).rewrap_key("Sales", "00001").await.unwrap();
        }
    };
    tokio::join!(writes, rotations);
    let read: Employee = rotating(&table).get("Sales", "00001").await.unwrap();
    assert_eq!(read, with_salary(20));
}
