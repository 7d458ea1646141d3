//! Eventually consistent transactions: a queue message moves former employees from *Current* to *Archive*, which no
//! transaction spans.

mod stage;

use std::time::Duration;

use stage::{Employee, Stage, employee};
use tablerock_client::Result;
use tablerock_patterns::{Archive, WorkOutcome};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let (current, old) = (stage.table("Current").await?, stage.table("Archive").await?);
    let (queue, poison) = (stage.queue("archive").await?, stage.queue("archive-poison").await?);
    let archive = Archive::new(current.clone(), old.clone(), queue, poison);

    let jones = employee("Sales", "000223", "Jun", "Jones", 43);
    current.insert(&jones).await?;
    archive.request("Sales", "000223").await?;
    assert!(current.get_if_exists::<Employee>("Sales", "000223").await?.is_some());

    // A worker, which runs until the program ends: here, until the employee has left.
    let has_left = async {
        while !matches!(current.get_if_exists::<Employee>("Sales", "000223").await, Ok(None)) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let counts = archive.run(has_left).await;
    assert_eq!((counts.finished, counts.poisoned), (1, 0));
    assert!(current.get_if_exists::<Employee>("Sales", "000223").await?.is_none());
    assert_eq!(old.get::<Employee>("Sales", "000223").await?, jones);

    // A repeated request changes nothing.
    archive.request("Sales", "000223").await?;
    assert!(matches!(archive.work_once().await?, WorkOutcome::Finished));
    assert_eq!(old.get::<Employee>("Sales", "000223").await?, jones);
    stage.close().await
}
