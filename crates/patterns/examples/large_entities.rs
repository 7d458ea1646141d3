//! Large entities: an employee's photo is larger than an entity, so it is in a blob that stays consistent with the entity.

mod stage;

use stage::{Stage, employee};
use tablerock_client::{Entity, Result, TableEntity};
use tablerock_patterns::{LargeEntities, WorkOutcome};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let table = stage.table("People").await?;
    let (queue, poison) = (stage.queue("photos").await?, stage.queue("photos-poison").await?);
    let people = LargeEntities::new(table.clone(), stage.container("photos").await?, queue, poison);

    let photo: Vec<u8> = (0..3_000_000).map(|place| (place % 251) as u8).collect();
    let jones = employee("Sales", "000123", "Jun", "Jones", 43).to_entity()?.with("Photo", photo);
    people.insert(&jones).await?;
    let read = people.get_if_exists("Sales", "000123").await?.expect("it was just written");
    assert_eq!(read.get("Photo"), jones.get("Photo"));
    let stored: Entity = table.get("Sales", "000123").await?;
    assert!(stored.get("Photo").is_none() && stored.get("Age").is_some());

    // The write requires the version that was read.
    let older = read.clone().with("Photo", vec![1; 100_000]).with("Vita", "She was born. ".repeat(10_000));
    people.replace(&older).await?;
    assert!(people.put(&read).await.is_err_and(|error| error.is_precondition_failed()));
    let read = people.get_if_exists("Sales", "000123").await?.expect("it was just written");
    assert_eq!((read.get("Photo"), read.get("Vita")), (older.get("Photo"), older.get("Vita")));

    people.delete(&read).await?;
    assert!(people.get_if_exists("Sales", "000123").await?.is_none());
    assert!(matches!(people.work_once().await?, WorkOutcome::Nothing));
    stage.close().await
}
