//! C7: mixed types in one result: a bag, a resolver, or an enum that tells them apart by a property or a key prefix.

use tablerock_client::{Entity, EntityError, FromEntity as _, TableEntity, Value};

use crate::support::Account;

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Employee {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    id: String,
    last_name: String,
}

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Department {
    #[entity(partition_key)]
    name: String,
    #[entity(row_key)]
    row: String,
    employee_count: i32,
}

/// By a property that names the type and its version.
#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(tag = "EntityType")]
enum ByType {
    #[entity(rename = "Employee_V1.0")]
    Employee(Employee),
    Department(Department),
}

/// By the beginning of a key.
#[derive(TableEntity, Debug, Clone, PartialEq)]
enum ByKey {
    #[entity(row_prefix = "empid_")]
    Employee(Employee),
    #[entity(partition_prefix = "Sales", row_prefix = "department")]
    Department(Department),
}

fn ann() -> Employee {
    Employee { department: "Sales".into(), id: "empid_1".into(), last_name: "Ash".into() }
}

fn sales() -> Department {
    Department { name: "Sales".into(), row: "department".into(), employee_count: 1 }
}

#[tokio::test]
async fn c7_an_enum_tells_types_apart_by_a_property() {
    let account = Account::open().await;
    let table = account.table().await;
    let written = [ByType::Department(sales()), ByType::Employee(ann())];
    table.transaction().insert(&written[0]).insert(&written[1]).commit().await.unwrap();
    let read: Vec<ByType> = table.query().partition("Sales").all().await.unwrap();
    assert_eq!(read, written);
    let bag: Entity = table.get("Sales", "empid_1").await.unwrap();
    assert_eq!(bag.get("EntityType"), Some(&Value::from("Employee_V1.0")));
    table.insert(&Entity::new("Sales", "x").with("EntityType", "Employee_V2.0")).await.unwrap();
    let error = table.get::<ByType>("Sales", "x").await.unwrap_err();
    assert_eq!(error.to_string(), "no type for the entity \"Sales\", \"x\"");
}

#[tokio::test]
async fn c7_an_enum_tells_types_apart_by_a_key() {
    let account = Account::open().await;
    let table = account.table().await;
    table.transaction().insert(&ann()).insert(&sales()).commit().await.unwrap();
    let read: Vec<ByKey> = table.query().all().await.unwrap();
    assert_eq!(read, [ByKey::Department(sales()), ByKey::Employee(ann())]);
}

#[tokio::test]
async fn c7_a_resolver_makes_of_each_entity_what_it_likes() {
    let account = Account::open().await;
    let table = account.table().await;
    table.transaction().insert(&ann()).insert(&sales()).commit().await.unwrap();
    let describe = |entity: Entity| -> Result<String, EntityError> {
        match entity.row_key.split_once('_') {
            Some(("empid", _)) => Employee::from_entity(entity).map(|employee| employee.last_name),
            _ => Department::from_entity(entity).map(|department| format!("{} people", department.employee_count)),
        }
    };
    let read = table.query::<Entity>().resolve(describe).all().await.unwrap();
    assert_eq!(read, ["1 people", "Ash"]);
}

#[tokio::test]
async fn c7_one_property_changes_without_knowing_the_type() {
    let account = Account::open().await;
    let table = account.table().await;
    table.insert(&ann()).await.unwrap();
    let mut bag: Entity = table.get("Sales", "empid_1").await.unwrap();
    bag.set("Email", "ann@example.com");
    let etag = table.merge(&bag.clone().only(&["Email"])).await.unwrap();
    assert!(table.merge(&bag.only(&["Email"])).await.unwrap_err().is_changed());
    let read: Entity = table.get("Sales", "empid_1").await.unwrap();
    assert_eq!(read.etag, Some(etag));
    assert_eq!(read.get("LastName"), Some(&Value::from("Ash")));
    assert_eq!(read.get("Email"), Some(&Value::from("ann@example.com")));
}
