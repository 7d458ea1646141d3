//! Inter-partition secondary index: employees are in the partition of their department, and copies by email address in other
//! partitions, so that both scale independently.

mod stage;

use stage::{Stage, employee};
use tablerock_client::{Entity, Result, TableEntity};
use tablerock_patterns::{CopiesAcrossPartitions, WorkOutcome};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) fn copy_keys(entity: &Entity) -> Vec<(String, String)> {
    let email: String = entity.property("Email").unwrap_or_default();
    vec![(format!("email_{}", entity.partition_key), email)]
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let (queue, poison) = (stage.queue("copies").await?, stage.queue("copies-poison").await?);
    let people = CopiesAcrossPartitions::new(stage.table("People").await?, queue, poison, copy_keys);

    let jones = employee("Sales", "000223", "Jun", "Jones", 43).to_entity()?;
    people.put(&jones).await?;
    let by_email: Entity = people.table().get("email_Sales", "jonesj@contoso.com").await?;
    assert_eq!(by_email.property::<i32>("Age")?, 43);

    people.put(&jones.clone().with("Email", "jun@contoso.com")).await?;
    let table = people.table();
    assert!(table.get_if_exists::<Entity>("email_Sales", "jonesj@contoso.com").await?.is_none());
    assert!(table.get_if_exists::<Entity>("email_Sales", "jun@contoso.com").await?.is_some());

    people.delete("Sales", "000223").await?;
    assert!(table.query::<Entity>().first().await?.is_none());
    // No writer died, so no intent is left.
    assert!(matches!(people.work_once().await?, WorkOutcome::Nothing));
    stage.close().await
}
