//! D: anti-patterns. Keys that only grow, and log entries in a table: what an advisor says about them, and what the keys
//! look like when one listens.

mod stage;

use stage::Stage;
use tablerock_client::{Entity, Result, Write};
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
        println!("{:?}: {} {}", advice.finding, advice.why, advice.instead);
    }
    let findings: Vec<Finding> = advice.iter().map(|advice| advice.finding).collect();
    assert_eq!(findings, [Finding::Append, Finding::LogData]);

    // By employee, the time in the RowKey: the load is spread, and an employee's entries are side by side.
    let good =
        (0..100).map(|entry| Entity::new(format!("{:06}", entry * 7919 % 13), format!("{:03}", entry * 31 % 100)));
    let good: Vec<Entity> = good.collect();
    assert!(advise(good.iter().map(|entity| (entity.partition_key.as_str(), entity.row_key.as_str()))).is_empty());
    table.bulk(good.iter().map(Write::insert)).await.into_result()?;
    stage.close().await
}
