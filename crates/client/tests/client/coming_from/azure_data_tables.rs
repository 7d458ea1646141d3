//! The samples of `docs/coming-from-azure-data-tables.md`, as functions that a test runs. The page has the lines between
//! the marks.

use serde::{Deserialize, Serialize};
use tablerock_client::entity::Serde;
use tablerock_client::{
    Entity, Error, ErrorCode, Etag, Keyed, Result, TableClient, TableEntity, TableServiceClient, TryStreamExt,
};

use crate::support::{Account, unique_name};

// [types]
#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Person {
    #[entity(partition_key)]
    city: String,
    #[entity(row_key)]
    surname: String,
    name: String,
    age: i32,
    #[entity(etag)]
    etag: Option<Etag>,
}
// [/types]

// [serde-types]
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
struct OldPerson {
    #[serde(rename = "PartitionKey")]
    city: String,
    #[serde(rename = "RowKey")]
    surname: String,
    #[serde(rename = "Name")]
    name: String,
    #[serde(rename = "Age")]
    age: i64,
}
// [/serde-types]

fn client(connection_string: &str, name: &str) -> Result<TableClient> {
    // [client]
    let service = TableServiceClient::from_connection_string(connection_string)?;
    let people = service.table(name);
    // [/client]
    Ok(people)
}

async fn writes(people: &TableClient, mut ann: Person) -> Result<Person> {
    // [writes]
    ann.etag = Some(people.insert(&ann).await?);
    ann.age += 1;
    ann.etag = Some(people.replace(&ann).await?); // if nobody else has changed it
    people.merge(&Entity::new(&ann.city, &ann.surname).with("Name", "Anna")).any_version().await?;
    people.insert_or_replace(&ann).await?;
    // [/writes]
    Ok(ann)
}

async fn reads(people: &TableClient) -> Result<(Person, Option<Person>)> {
    // [reads]
    let ann: Person = people.get("Milan", "Ash").await?;
    let maybe: Option<Person> = people.get_if_exists("Milan", "Birch").await?;
    // [/reads]
    Ok((ann, maybe))
}

async fn queries(people: &TableClient) -> Result<usize> {
    let mut count = 0;
    // [queries]
    let query = people.query::<Person>().partition("Milan").filter(Person::age().gt(30)).page_size(100);
    let mut found = query.stream();
    while let Some(person) = found.try_next().await? {
        println!("{}", person.name);
        count += 1;
    }
    // [/queries]
    Ok(count)
}

async fn transaction(people: &TableClient, ann: &Person, bob: &Person) -> Result<()> {
    // [transaction]
    let outcome = people.transaction().insert_or_replace(ann).insert(bob).commit().await;
    match outcome {
        Ok(etags) => println!("{} written", etags.len()),
        Err(error) => println!("nothing was written: operation {:?} failed", error.failed_index()),
    }
    // [/transaction]
    Ok(())
}

async fn errors(people: &TableClient, ann: &Person) -> Result<bool> {
    // [errors]
    let existed = match people.insert(ann).await {
        Ok(_) => false,
        Err(error) if error.code() == Some(ErrorCode::EntityAlreadyExists) => true,
        Err(error) => return Err(error),
    };
    // [/errors]
    Ok(existed)
}

async fn with_serde(people: &TableClient) -> Result<OldPerson> {
    // [serde]
    let old = OldPerson { city: "Milan".into(), surname: "Elm".into(), name: "Eve".into(), age: 33 };
    people.insert(&Serde(old)).await?;
    let Serde(mut old): Serde<OldPerson> = people.get("Milan", "Elm").await?;

    // With the ETag at hand:
    let mut keyed: Keyed<Serde<OldPerson>> = people.get("Milan", "Elm").await?;
    keyed.value.0.age += 1;
    people.replace(&keyed).await?;
    // [/serde]
    old.age += 1;
    Ok(old)
}

#[tokio::test]
async fn the_samples_for_azure_data_tables_run() {
    let account = Account::open().await;
    let people = client(account.connection_string(), &unique_name()).unwrap();
    people.create().await.unwrap();
    let person = |surname: &str, name: &str| {
        let (city, surname, name) = ("Milan".to_owned(), surname.to_owned(), name.to_owned());
        Person { city, surname, name, age: 41, etag: None }
    };
    let ann = writes(&people, person("Ash", "Ann")).await.unwrap();
    let (read, none) = reads(&people).await.unwrap();
    assert_eq!((read.name.as_str(), read.age, none), ("Ann", 42, None));
    transaction(&people, &ann, &person("Birch", "Bob")).await.unwrap();
    assert_eq!(queries(&people).await.unwrap(), 2);
    assert!(errors(&people, &ann).await.unwrap());
    let old = with_serde(&people).await.unwrap();
    // An integer of 64 bits is Edm.Int64, which an i32 does not read.
    let Err(Error::Entity(error)) = people.get::<Person>("Milan", "Elm").await else { panic!("its age is an Int64") };
    assert_eq!((old.age, error.property()), (34, Some("Age")));
}
