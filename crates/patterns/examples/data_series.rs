//! Data series: the messages of each employee by hour. A day is one entity with 24 properties.

mod stage;

use stage::Stage;
use tablerock_client::{DateTime, Result};
use tablerock_patterns::DaySeries;

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let messages = DaySeries::new(stage.table("Messages").await?);
    let time = |text: &str| DateTime::parse(text).expect("a time");
    for hour in 8..18 {
        messages.record("000123", time(&format!("2026-11-16T{hour:02}:59:59Z")), hour * 10).await?;
    }
    messages.record("000123", time("2026-11-17T00:00:00Z"), 1).await?;
    // Correcting an hour keeps the others.
    messages.record("000123", time("2026-11-16T08:00:00Z"), 81).await?;

    let day = messages.day("000123", time("2026-11-16T12:00:00Z")).await?;
    assert_eq!((day[7], day[8], day[17], day[18]), (None, Some(81), Some(170), None));
    let days = messages.days("000123", time("2026-11-16T00:00:00Z"), time("2026-11-18T00:00:00Z")).await?;
    assert_eq!(days.iter().map(|(date, _)| date.as_str()).collect::<Vec<_>>(), ["20261116", "20261117"]);
    assert_eq!(days[1].1[0], Some(1));
    stage.close().await
}
