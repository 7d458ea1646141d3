//! Projection into a smaller type, with keys, Timestamp and ETag still at hand.

use tablerock_client::{DateTime, Entity, Etag, Keyed, TableClient, TableEntity};

use crate::support::Account;

#[derive(TableEntity, Debug, PartialEq)]
struct EmailOnly {
    #[entity(rename = "Email")]
    email: Option<String>,
}

#[derive(TableEntity, Debug)]
struct EmailWithKeys {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    id: String,
    #[entity(rename = "Email")]
    email: Option<String>,
    #[entity(timestamp)]
    written: DateTime,
    #[entity(etag)]
    etag: Option<Etag>,
}

async fn staff(account: &Account) -> TableClient {
    let table = account.table().await;
    table.insert(&Entity::new("Sales", "1").with("Email", "ann@example.com").with("Age", 41)).await.unwrap();
    table.insert(&Entity::new("Sales", "2").with("Age", 29)).await.unwrap();
    table
}

#[tokio::test]
async fn a_smaller_type_keeps_keys_timestamp_and_etag() {
    let account = Account::open().await;
    let table = staff(&account).await;
    let full: Vec<Entity> = table.query().all().await.unwrap();
    let small = table.query::<Entity>().select::<EmailWithKeys>().all().await.unwrap();
    assert_eq!(small.len(), 2);
    for (small, full) in small.iter().zip(&full) {
        assert_eq!((&small.department, &small.id), (&full.partition_key, &full.row_key));
        assert_eq!((Some(small.written), &small.etag), (full.timestamp, &full.etag));
        assert_eq!(small.email, full.property("Email").unwrap());
    }
    // The ETag of a projection is good for a condition.
    table.delete(&small[1]).await.unwrap();
}

#[tokio::test]
async fn a_type_without_keys_gets_them_beside_it() {
    let account = Account::open().await;
    let table = staff(&account).await;
    let found = table.query::<Entity>().select::<Keyed<EmailOnly>>().all().await.unwrap();
    assert_eq!(found[0].value, EmailOnly { email: Some("ann@example.com".into()) });
    assert_eq!(found[1].value, EmailOnly { email: None });
    assert_eq!((found[1].partition_key.as_str(), found[1].row_key.as_str()), ("Sales", "2"));
    assert!(found.iter().all(|keyed| keyed.timestamp.is_some() && keyed.etag.is_some()));
    let point: Keyed<EmailOnly> = table.get_selected("Sales", "1").await.unwrap();
    assert_eq!(point, found[0]);
}

#[tokio::test]
async fn only_what_is_selected_travels() {
    let account = Account::open().await;
    let table = staff(&account).await;
    let found = table.query::<Entity>().select_properties(&["Age"]).all().await.unwrap();
    assert!(found.iter().all(|entity| entity.get("Email").is_none() && entity.get("Age").is_some()));
    assert!(found.iter().all(|entity| !entity.row_key.is_empty() && entity.etag.is_some()));
}
