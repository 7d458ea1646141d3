//! Point reads by keys into a typed struct, or into a dynamic bag; and exact values on the way.

use crate::support::{self, Account};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tablerock_client::{DateTime, Entity, ErrorCode, Etag, FromEntity as _, TableEntity, Uuid, Value};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Address {
    street: String,
    numbers: Vec<u32>,
}

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Everything {
    #[entity(partition_key)]
    partition: String,
    #[entity(row_key)]
    row: Uuid,
    text: String,
    small: i32,
    large: i64,
    real: f64,
    truth: bool,
    moment: DateTime,
    by_time: time::OffsetDateTime,
    by_chrono: chrono::DateTime<chrono::Utc>,
    id: Uuid,
    bytes: Vec<u8>,
    shared_bytes: Bytes,
    maybe: Option<i64>,
    #[entity(json)]
    address: Address,
    #[entity(json, rename = "formerAddress")]
    former_address: Option<Address>,
    #[entity(skip)]
    scratch: u8,
    #[entity(timestamp)]
    written: Option<DateTime>,
    #[entity(etag)]
    etag: Option<Etag>,
}

fn everything(ticks: u64) -> Everything {
    let moment = DateTime::from_ticks(ticks);
    let nanoseconds = (i128::from(ticks) - 621_355_968_000_000_000) * 100;
    Everything {
        partition: "o'b r+(é)%".into(),
        row: Uuid::from_u128(7),
        text: "日 \"quoted\" \\ \u{1F600}".into(),
        small: i32::MIN,
        large: i64::MIN + 1,
        real: 3.0,
        truth: true,
        moment,
        by_time: time::OffsetDateTime::from_unix_timestamp_nanos(nanoseconds).unwrap(),
        by_chrono: chrono::DateTime::from_timestamp(
            nanoseconds.div_euclid(1_000_000_000) as i64,
            nanoseconds.rem_euclid(1_000_000_000) as u32,
        )
        .unwrap(),
        id: Uuid::from_u128(u128::MAX - 1),
        bytes: (0..=255).collect(),
        shared_bytes: Bytes::new(),
        maybe: Some(i64::MAX),
        address: Address { street: "Löwengasse".into(), numbers: vec![1, 2] },
        former_address: None,
        scratch: 0,
        written: None,
        etag: None,
    }
}

#[tokio::test]
async fn every_type_survives_the_round_trip_exactly() {
    let account = Account::open().await;
    let table = account.table().await;
    for ticks in [DateTime::MIN_STORED.ticks(), 637_000_000_000_000_001, 638_000_000_000_000_000, DateTime::MAX.ticks()]
    {
        let sent = everything(ticks);
        let etag = table.insert_or_replace(&sent).await.unwrap();
        let read: Everything = table.get(&sent.partition, sent.row.to_string()).await.unwrap();
        assert_eq!(read.etag, Some(etag));
        assert!(read.written.is_some());
        assert_eq!(read, Everything { written: read.written, etag: read.etag.clone(), ..sent });
    }
}

#[tokio::test]
async fn doubles_keep_their_type_and_bits() {
    let account = Account::open().await;
    let table = account.table().await;
    let numbers = [0.0, -0.0, 1.0, -1e15, 1e300, 5e-324, 0.1, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    for (place, number) in numbers.into_iter().enumerate() {
        let row = place.to_string();
        table.insert(&Entity::new("p", &row).with("Number", number)).await.unwrap();
        let read: Entity = table.get("p", &row).await.unwrap();
        let Some(Value::Double(back)) = read.get("Number") else { panic!("{number}: {read:?}") };
        assert!(back.to_bits() == number.to_bits() || (back.is_nan() && number.is_nan()), "{number} {back}");
    }
}

#[tokio::test]
async fn a_bag_holds_whatever_there_is() {
    let account = Account::open().await;
    let table = account.table().await;
    let sent = everything(638_000_000_000_000_001);
    table.insert(&sent).await.unwrap();
    let bag: Entity = table.get(&sent.partition, sent.row.to_string()).await.unwrap();
    assert_eq!(bag.get("Large"), Some(&Value::Int64(i64::MIN + 1)));
    assert_eq!(bag.get("Address"), Some(&Value::from(r#"{"street":"Löwengasse","numbers":[1,2]}"#)));
    assert_eq!(bag.get("formerAddress"), None);
    assert_eq!(bag.get("Scratch"), None);
    assert_eq!(Everything::from_entity(bag).unwrap().large, i64::MIN + 1);
}

#[tokio::test]
async fn what_is_not_there_is_none_or_an_error_that_says_so() {
    let account = Account::open().await;
    let table = account.table().await;
    assert_eq!(table.get_if_exists::<Entity>("p", "r").await.unwrap(), None);
    let error = table.get::<Entity>("p", "r").await.unwrap_err();
    assert_eq!((error.status(), error.code()), (Some(404), Some(ErrorCode::ResourceNotFound)));
    assert!(!error.is_ambiguous());
    let nowhere = account.tables().table(support::unique_name());
    let error = nowhere.get_if_exists::<Entity>("p", "r").await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::TableNotFound));
}

#[tokio::test]
async fn an_entity_that_does_not_fit_its_type_names_the_property() {
    #[derive(TableEntity, Debug)]
    struct Person {
        #[entity(rename = "Age")]
        _age: i32,
    }
    let account = Account::open().await;
    let table = account.table().await;
    table.insert(&Entity::new("p", "text").with("Age", "forty")).await.unwrap();
    table.insert(&Entity::new("p", "none")).await.unwrap();
    let error = table.get::<Person>("p", "text").await.unwrap_err();
    assert_eq!(error.to_string(), "entity \"p\", \"text\": property Age: is Edm.String, not Edm.Int32");
    let error = table.get::<Person>("p", "none").await.unwrap_err();
    assert_eq!(error.to_string(), "entity \"p\", \"none\": property Age: is missing");
}
