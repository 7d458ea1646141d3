//! Mixed types in one result: a bag, a resolver, or an enum selected by a property or a key prefix.

use tablerock_client::{Entity, EntityError, Error, FromEntity as _, StreamExt as _, TableEntity, Value};

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
async fn an_enum_tells_types_apart_by_a_property() {
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
    assert_eq!(error.to_string(), "entity \"Sales\", \"x\": no variant matches the entity");
}

#[tokio::test]
async fn an_enum_tells_types_apart_by_a_key() {
    let account = Account::open().await;
    let table = account.table().await;
    table.transaction().insert(&ann()).insert(&sales()).commit().await.unwrap();
    let read: Vec<ByKey> = table.query().all().await.unwrap();
    assert_eq!(read, [ByKey::Department(sales()), ByKey::Employee(ann())]);
}

/// An unknown type stays as it is.
#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(tag = "EntityType")]
enum AnyType {
    #[entity(rename = "Employee_V1.0")]
    Employee(Employee),
    #[entity(other)]
    Other(Entity),
}

#[tokio::test]
async fn an_enum_can_take_what_it_does_not_know_and_give_it_back() {
    let account = Account::open().await;
    let table = account.table().await;
    let newer = Entity::new("Sales", "empid_2").with("EntityType", "Employee_V2.0").with("Age", 3);
    table.transaction().insert(&AnyType::Employee(ann())).insert(&newer).insert(&sales()).commit().await.unwrap();
    let read: Vec<AnyType> = table.query().all().await.unwrap();
    let [AnyType::Other(department), AnyType::Employee(employee), AnyType::Other(unknown)] = read.as_slice() else {
        panic!("{read:?}")
    };
    assert_eq!((department.row_key.as_str(), employee), ("department", &ann()));
    assert_eq!(unknown.properties(), newer.properties());
    table.replace(&read[2]).await.unwrap();
    table.replace(&read[0]).await.unwrap();
    let again: Vec<Entity> = table.query().all().await.unwrap();
    assert_eq!(again[0].properties(), department.properties());
    assert_eq!(again[2].properties(), newer.properties());
}

#[tokio::test]
async fn one_that_does_not_fit_is_named_and_holds_up_no_other() {
    let account = Account::open().await;
    let table = account.table().await;
    for (row, name) in [("1", Some("Ash")), ("2", None), ("3", Some("Cedar")), ("4", None), ("5", Some("Elm"))] {
        let entity = Entity::new("Sales", row);
        let entity = name.into_iter().fold(entity, |entity, name| entity.with("LastName", name));
        table.insert(&entity).await.unwrap();
    }
    let query = table.query::<Employee>().page_size(3);
    let read: Vec<_> = query.clone().stream().collect().await;
    let told: Vec<_> = read.iter().map(|read| read.as_ref().map(|employee| employee.id.as_str())).collect();
    assert!(matches!(told.as_slice(), [Ok("1"), Err(_), Ok("3"), Err(_), Ok("5")]), "{told:?}");
    let Err(Error::Entity(error)) = &read[1] else { panic!("{:?}", read[1]) };
    assert_eq!((error.keys(), error.property()), (Some(("Sales", "2")), Some("LastName")));
    assert_eq!(error.to_string(), "entity \"Sales\", \"2\": property LastName: is missing");
    // A reader that stores the token gets past it.
    let page = query.clone().results().page(None).await.unwrap();
    assert!(matches!(page.items.as_slice(), [Ok(_), Err(Error::Entity(_)), Ok(_)]), "{:?}", page.items);
    let page = query.clone().results().page(page.continuation_token.as_ref()).await.unwrap();
    assert!(matches!(page.items.as_slice(), [Err(_), Ok(last)] if last.id == "5"), "{:?}", page.items);
    // A caller that wants all or nothing also gets the entity that failed.
    for error in [
        query.clone().all().await.unwrap_err(),
        query.page(None).await.unwrap_err(),
        table.get::<Employee>("Sales", "2").await.unwrap_err(),
    ] {
        assert!(error.to_string().starts_with("entity \"Sales\", \"2\""), "{error}");
    }
}

#[tokio::test]
async fn a_resolver_makes_of_each_entity_what_it_likes() {
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
async fn one_property_changes_without_knowing_the_type() {
    let account = Account::open().await;
    let table = account.table().await;
    table.insert(&ann()).await.unwrap();
    let mut bag: Entity = table.get("Sales", "empid_1").await.unwrap();
    bag.set("Email", "ann@example.com");
    let etag = table.merge(&bag.clone().select_properties(&["Email"])).await.unwrap();
    assert!(table.merge(&bag.select_properties(&["Email"])).await.unwrap_err().is_precondition_failed());
    let read: Entity = table.get("Sales", "empid_1").await.unwrap();
    assert_eq!(read.etag, Some(etag));
    assert_eq!(read.get("LastName"), Some(&Value::from("Ash")));
    assert_eq!(read.get("Email"), Some(&Value::from("ann@example.com")));
}
