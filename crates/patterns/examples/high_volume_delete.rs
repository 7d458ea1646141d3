//! High-volume delete: logins are in a table for each day, and the oldest tables are deleted.

mod stage;

use stage::Stage;
use tablerock_client::{DateTime, Entity, Result};
use tablerock_patterns::{Period, PeriodTables};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let logins = PeriodTables::new(stage.tables.clone(), stage.name("Logins"), Period::Day);
    let day = |day: u32| DateTime::parse(&format!("2026-11-{day:02}T08:30:00Z")).expect("a day of November");
    for number in 1..=10 {
        for employee in ["000123", "000152", "000223"] {
            logins.insert(day(number), &Entity::new(employee, "08:30").with("Door", 1)).await?;
        }
    }
    assert_eq!(logins.table_names().await?.len(), 10);

    // One query over the tables of several days, in their order.
    let some_days = logins.query::<Entity>(day(2)..day(5)).partition("000123").all().await?;
    assert_eq!(some_days.len(), 4);

    let deleted = logins.delete_before(day(4)).await?;
    assert_eq!(deleted.len(), 3);
    assert_eq!(logins.table_names().await?.len(), 7);
    let kept = logins.table_at(day(4)).query::<Entity>().all().await?;
    assert_eq!(kept.len(), 3);
    logins.delete_before(day(30)).await?;
    stage.close().await
}
