//! Structs that change over time: properties that a program does not know, that are missing, or that are shared.

use std::borrow::Cow;

use tablerock_client as renamed;
use tablerock_client::entity::Properties;
use tablerock_client::{Entity, Etag, FromEntity, Keyed, PropertyValue, TableEntity, ToProperties, Value};

use crate::support::Account;

#[derive(PropertyValue, Debug, Clone, PartialEq)]
#[entity(rename_all = "snake_case")]
enum Status {
    Active,
    OnLeave,
    #[entity(rename = "gone")]
    Left,
    #[entity(other)]
    Other(String),
}

#[derive(PropertyValue, Debug, Clone, PartialEq)]
struct Badge(u64);

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Address {
    street: String,
    city: Option<String>,
}

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "camelCase", crate = renamed)]
struct Employee {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    id: String,
    status: Status,
    badge: Badge,
    #[entity(default)]
    visits: u64,
    #[entity(default = seven)]
    desk_number: i32,
    #[entity(default, json)]
    tags: Vec<String>,
    digest: [u8; 4],
    note: Cow<'static, str>,
    #[entity(flatten)]
    address: Address,
    #[entity(etag)]
    etag: Option<Etag>,
    #[entity(rest)]
    rest: Properties,
}

fn seven() -> i32 {
    7
}

fn stored() -> Entity {
    Entity::new("Sales", "1")
        .with("status", "on_leave")
        .with("badge", 12_i64)
        .with("digest", [1_u8, 2, 3, 4])
        .with("note", "n")
        .with("Street", "Main")
        .with("Unknown", 5_000_000_000_i64)
        .with("Later", "x")
}

#[tokio::test]
async fn an_old_program_keeps_the_properties_of_a_newer_one() {
    let account = Account::open().await;
    let table = account.table().await;
    table.insert(&stored()).await.unwrap();
    let mut ann: Employee = table.get("Sales", "1").await.unwrap();
    assert_eq!((&ann.status, ann.visits, ann.desk_number, ann.tags.len()), (&Status::OnLeave, 0, 7, 0));
    assert_eq!((ann.badge.0, ann.digest, ann.note.as_ref()), (12, [1, 2, 3, 4], "n"));
    assert_eq!(ann.address, Address { street: "Main".into(), city: None });
    assert_eq!(ann.rest.iter().map(|property| property.name.as_ref()).collect::<Vec<_>>(), ["Unknown", "Later"]);
    ann.status = Status::Other("retired".into());
    ann.address.city = Some("Bern".into());
    table.replace(&ann).await.unwrap();
    let read: Entity = table.get("Sales", "1").await.unwrap();
    assert_eq!(read.get("Unknown"), Some(&Value::Int64(5_000_000_000)));
    assert_eq!(read.property::<String>("Later").unwrap(), "x");
    assert_eq!(read.property::<String>("City").unwrap(), "Bern");
    assert_eq!(read.property::<Status>("status").unwrap(), Status::Other("retired".into()));
    assert_eq!(read.property::<i32>("deskNumber").unwrap(), 7);
    let found = table.query::<Employee>().filter(Employee::badge().eq(Badge(12)).and(Employee::visits().eq(0_u64)));
    assert_eq!(found.all().await.unwrap().len(), 1);
    let left = table.query::<Employee>().filter(Employee::status().eq(Status::Left)).count().await.unwrap();
    assert_eq!(left, 0);
}

#[test]
fn values_of_an_enum_are_strings() {
    for (status, text) in [(Status::Active, "active"), (Status::Left, "gone"), (Status::Other("x".into()), "x")] {
        assert_eq!(status.to_value().unwrap(), Some(Value::from(text)));
        assert_eq!(Status::from_value(Value::from(text)).unwrap(), status);
    }
}

#[test]
fn two_fields_cannot_write_one_property() {
    let mut ann = Employee::from_entity(stored()).unwrap();
    ann.rest.set("note", "again");
    let error = ann.to_entity().unwrap_err();
    assert!(error.to_string().starts_with("property note: two fields have it"), "{error}");
}

#[derive(TableEntity, Debug, PartialEq)]
struct Nested<T: FromEntity + ToProperties> {
    #[entity(rename = "Own")]
    own: i32,
    #[entity(flatten)]
    inner: T,
}

#[test]
fn a_projection_asks_for_the_properties_of_flattened_structs() {
    assert_eq!(Nested::<Address>::SELECT, Some(["Own", "Street", "City"].as_slice()));
    assert_eq!(Nested::<Entity>::SELECT, None);
    assert_eq!(Employee::SELECT, None);
}

#[tokio::test]
async fn a_struct_without_keys_is_written_with_keys_beside_it() {
    let account = Account::open().await;
    let table = account.table().await;
    let address = Address { street: "Main".into(), city: None };
    table.insert(&Keyed::new("p", "r", address.clone())).await.unwrap();
    let mut read: Keyed<Address> = table.get("p", "r").await.unwrap();
    assert_eq!(read.value, address);
    read.value.city = Some("Bern".into());
    table.replace(&read).await.unwrap();
    table.replace(&read).await.unwrap_err();
}
