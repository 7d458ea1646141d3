//! Intra-partition secondary index: point reads of employees by id and by email address.

mod stage;

use stage::{Stage, employee};
use tablerock_client::{Entity, Result, TableEntity};
use tablerock_patterns::CopiesInPartition;

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) fn row_keys(entity: &Entity) -> Vec<String> {
    let text = |name: &str| entity.property::<String>(name).unwrap_or_default();
    vec![format!("empid_{}", text("Id")), format!("email_{}", text("Email"))]
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let people = CopiesInPartition::new(stage.table("People").await?, row_keys);

    // The id is also a property: the RowKey of a copy does not have it.
    let jones = employee("Sales", "000223", "Jun", "Jones", 43).to_entity()?.with("Id", "000223");
    people.insert(&jones).await?;
    let by_email: Entity = people.table().get("Sales", "email_jonesj@contoso.com").await?;
    assert_eq!(by_email.property::<String>("Id")?, "000223");

    // One transaction moves the copy to a new address and changes the entity.
    let by_id: Entity = people.table().get("Sales", "empid_000223").await?;
    people.replace(&by_id, &by_id.clone().with("Email", "jun@contoso.com")).await?;
    assert!(people.table().get_if_exists::<Entity>("Sales", "email_jonesj@contoso.com").await?.is_none());
    let by_email: Entity = people.table().get("Sales", "email_jun@contoso.com").await?;
    assert_eq!(by_email.property::<i32>("Age")?, 43);

    // A write of an old version fails, and so does an insert with the address of another employee.
    assert!(
        people.replace(&by_id, &by_id.clone().with("Age", 44)).await.is_err_and(|error| error.is_precondition_failed())
    );
    let thief = employee("Sales", "000224", "Tia", "Thief", 30).to_entity()?;
    let thief = thief.with("Id", "000224").with("Email", "jun@contoso.com");
    assert!(people.insert(&thief).await.is_err_and(|error| error.is_conflict()));

    let by_id: Entity = people.table().get("Sales", "empid_000223").await?;
    people.delete(&by_id).await?;
    assert!(people.table().query::<Entity>().first().await?.is_none());
    stage.close().await
}
