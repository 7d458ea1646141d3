//! Inter-partition secondary index: employees are in the partition of their department, and copies by email address in other
//! partitions, so that both scale independently.

mod stage;

use stage::{Employee, Stage, employee};
use tablerock_client::{Entity, Result};
use tablerock_patterns::{CopiesAcrossPartitions, WorkOutcome};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let table = stage.table("People").await?;
    let (queue, poison) = (stage.queue("copies").await?, stage.queue("copies-poison").await?);
    // An employee from before there was an index.
    table.insert(&employee("Legal", "000100", "Lou", "Lee", 50)).await?;

    let people = CopiesAcrossPartitions::new(table.clone(), queue, poison)
        .index("email", |employee: &Employee| Some(employee.email.clone()));
    assert_eq!(people.verify().await?.missing, 1);
    people.rebuild().await?;
    assert_eq!(people.find_by("email", "leel@contoso.com").first().await?.map(|lee| lee.age), Some(50));

    let jones = employee("Sales", "000223", "Jun", "Jones", 43);
    people.insert(&jones).await?;
    let mut by_email = people.find_by("email", "jonesj@contoso.com").first().await?.expect("Jones has an address");
    assert_eq!(by_email, jones);

    by_email.email = "jun@contoso.com".into();
    by_email.etag = Some(people.replace(&by_email).await?);
    assert!(people.find_by("email", "jonesj@contoso.com").first().await?.is_none());
    assert_eq!(people.find_by("email", "jun@contoso.com").all().await?, [by_email.clone()]);
    assert!(people.verify().await?.is_consistent());

    people.delete(&by_email).await?;
    people.delete_by_keys("Legal", "000100").any_version().await?;
    assert!(table.query::<Entity>().first().await?.is_none());
    // No writer died, so no intent is left.
    assert!(matches!(people.work_once().await?, WorkOutcome::Nothing));
    stage.close().await
}
