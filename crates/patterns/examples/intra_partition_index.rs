//! Intra-partition secondary index: point reads of employees by id and by email address.

mod stage;

use stage::{Employee, Stage, employee};
use tablerock_client::{Entity, Result};
use tablerock_patterns::CopiesInPartition;

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let people = CopiesInPartition::new(stage.table("People").await?);
    let people = people.index("email", |employee: &Employee| Some(employee.email.clone()));

    let jones = employee("Sales", "000223", "Jun", "Jones", 43);
    people.insert(&jones).await?;
    let mut by_email = people.find_by("Sales", "email", "jonesj@contoso.com").await?.expect("Jones has an address");
    assert_eq!(by_email, jones);

    // One transaction moves the copy to a new address and changes the entity. An entity that was found by a second key
    // can be written like any other.
    let mut by_id = people.get_if_exists("Sales", "000223").await?.expect("Jones was inserted");
    by_email.email = "jun@contoso.com".into();
    by_email.etag = Some(people.replace(&by_email).await?);
    assert!(people.find_by("Sales", "email", "jonesj@contoso.com").await?.is_none());
    let moved = people.find_by("Sales", "email", "jun@contoso.com").await?;
    assert_eq!(moved.as_ref(), Some(&by_email));

    // A write of an old version fails, and so does an insert with the address of another employee.
    by_id.age = 44;
    assert!(people.put(&by_id).await.is_err_and(|error| error.is_precondition_failed()));
    let thief = Employee { email: "jun@contoso.com".into(), ..employee("Sales", "000224", "Tia", "Thief", 30) };
    assert!(people.insert(&thief).await.is_err_and(|error| error.is_conflict()));

    assert!(people.verify().await?.is_consistent());
    people.delete(&by_email).await?;
    assert!(people.table().query::<Entity>().first().await?.is_none());
    stage.close().await
}
