//! Anti-patterns: increasing keys and log entries in a table, the advice for them, and better keys.

mod stage;

use stage::Stage;
use tablerock_client::{Entity, Result, TableOperation};
use tablerock_patterns::{Finding, advise};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let table = stage.table("Log").await?;
    let bad: Vec<Entity> = (0..100)
        .map(|second| Entity::new(format!("20261116T0830{:02}.{:02}", second / 2, second % 2 * 50), "entry"))
        .collect();
    let advice = advise(bad.iter().map(|entity| (entity.partition_key.as_str(), entity.row_key.as_str())));
    for advice in &advice {
        println!("{:?}: {} {}", advice.finding, advice.reason, advice.remedy);
    }
    let findings: Vec<Finding> = advice.iter().map(|advice| advice.finding).collect();
    assert_eq!(findings, [Finding::Append, Finding::LogData]);

    // Partitions by employee with the time in the RowKey distribute the load, and keep an employee's entries together.
    let good =
        (0..100).map(|entry| Entity::new(format!("{:06}", entry * 7919 % 13), format!("{:03}", entry * 31 % 100)));
    let good: Vec<Entity> = good.collect();
    assert!(advise(good.iter().map(|entity| (entity.partition_key.as_str(), entity.row_key.as_str()))).is_empty());
    table.bulk(good.iter().map(TableOperation::insert)).await.into_result()?;
    stage.close().await
}
