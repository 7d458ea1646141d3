//! Projection into a smaller type, with keys, Timestamp and ETag still at hand.

use tablerock_client::{ClientOptions, DateTime, Entity, Etag, FromEntity, Keyed, TableClient, TableEntity};

use crate::support::{Account, Script};

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

#[derive(TableEntity, Debug)]
struct AgeOnly {
    #[entity(rename = "Age")]
    age: i32,
}

#[derive(TableEntity, Debug)]
#[entity(tag = "Kind")]
enum Tagged {
    Email(Keyed<EmailOnly>),
    Age(Keyed<AgeOnly>),
}

#[tokio::test]
async fn a_type_reads_its_own_properties_unless_the_whole_is_asked_for() {
    let account = Account::open().await;
    let script = Script::new([]);
    let name = staff(&account).await.name().to_owned();
    let table = account.tables_with(ClientOptions::new().transport(script.clone())).table(name);
    let age = table.get::<AgeOnly>("Sales", "1").await.unwrap().age;
    assert_eq!(age, 41);
    table.query::<EmailWithKeys>().all().await.unwrap();
    table.query::<EmailWithKeys>().whole().all().await.unwrap();
    table.query::<Entity>().all().await.unwrap();
    table.query::<EmailWithKeys>().resolve(|entity| Ok(entity.properties().len())).all().await.unwrap();
    let selects = script.requests().into_iter().map(|request| {
        let query = request.uri().query().unwrap_or_default().to_owned();
        query.split('&').find_map(|part| part.strip_prefix("$select=")).map(str::to_owned)
    });
    let own = |name: &str| Some(format!("PartitionKey%2CRowKey%2CTimestamp%2C{name}"));
    assert_eq!(selects.collect::<Vec<_>>(), [own("Age"), own("Email"), None, None, None]);
}

#[test]
fn an_enum_asks_for_the_properties_of_all_its_variants() {
    assert_eq!(Tagged::SELECT, Some(["Kind", "Email", "Age"].as_slice()));
}
