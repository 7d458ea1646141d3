//! A tour of the client, with the departments and employees of a company.
//!
//! ```text
//! tablerock --in-memory &
//! cargo run --package tablerock-client --example tour
//! ```
//!
//! `CLIENT_CONNECTION_STRING` selects another account than that of the development server.

use tablerock_client::sas::TablePermissions;
use tablerock_client::{
    DateTime, Entity, Error, Etag, Keyed, Result, TableEntity, TableOperation, TableServiceClient, TryStreamExt as _,
};

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
pub(crate) struct Employee {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    id: String,
    last_name: String,
    age: i32,
    email: Option<String>,
    #[entity(etag)]
    etag: Option<Etag>,
}

#[derive(TableEntity, Debug)]
#[entity(rename_all = "PascalCase")]
struct EmailOnly {
    email: Option<String>,
}

fn employee(department: &str, id: &str, last_name: &str, age: i32) -> Employee {
    let email = Some(format!("{}@example.com", last_name.to_lowercase()));
    Employee { department: department.into(), id: id.into(), last_name: last_name.into(), age, email, etag: None }
}

/// Runs the tour in a table.
pub(crate) async fn tour(service: &TableServiceClient, name: &str) -> Result<()> {
    let people = service.table(name);
    people.create_if_not_exists().await?;

    // A write and a point read.
    let mut ann = employee("Sales", "00001", "Ash", 41);
    ann.etag = Some(people.insert(&ann).await?);
    assert_eq!(people.get::<Employee>("Sales", "00001").await?, ann);

    // Two writers change the same entity: the second one gets an error.
    let mut mine = ann.clone();
    mine.age += 1;
    people.replace(&mine).await?;
    let late = people.replace(&ann).await;
    assert!(late.is_err_and(|error| error.is_precondition_failed()));

    // A bulk write in several partitions.
    let staff = [
        employee("Sales", "00002", "Birch", 29),
        employee("Sales", "00003", "Cedar", 35),
        employee("Marketing", "00004", "Dogwood", 52),
    ];
    people.bulk(staff.iter().map(TableOperation::insert)).await.into_result()?;

    // A projection to one property and the keys.
    let query = people.query::<Employee>().partition("Sales").filter(Employee::age().gt(30));
    let found: Vec<Keyed<EmailOnly>> = query.select().stream().try_collect().await?;
    let found: Vec<_> = found.iter().map(|found| (found.row_key.as_str(), found.value.email.as_deref())).collect();
    assert_eq!(found, [("00001", Some("ash@example.com")), ("00003", Some("cedar@example.com"))]);

    // Entity and index entity in one transaction.
    let by_email = Entity::new("Sales", "email_elm@example.com").with("Id", "00005");
    let outcome = people
        .transaction()
        .insert(&employee("Sales", "00005", "Elm", 22))
        .insert(&by_email)
        .insert(&ann)
        .commit()
        .await;
    let Err(Error::Transaction(failure)) = outcome else { panic!("00001 is there already") };
    assert_eq!((failure.index, failure.cause.code.as_str()), (2, "EntityAlreadyExists"));
    assert!(people.get_if_exists::<Entity>("Sales", "00005").await?.is_none());

    // A shared access signature that reads one department.
    let expiry = DateTime::from_unix_seconds(2_208_988_800); // 2040-01-01
    let sas =
        people.sas(TablePermissions::READ, expiry).from_partition("Marketing").to_partition("Marketing").sign()?;
    let guest = people.with_credential(sas)?;
    let seen = guest.query::<Employee>().all().await?;
    assert!(seen.iter().all(|employee| employee.department == "Marketing"));

    people.delete_table().await
}

#[tokio::main]
async fn main() -> Result<()> {
    let connection =
        std::env::var("CLIENT_CONNECTION_STRING").unwrap_or_else(|_| "UseDevelopmentStorage=true".to_owned());
    tour(&TableServiceClient::from_connection_string(&connection)?, "Tour").await
}
