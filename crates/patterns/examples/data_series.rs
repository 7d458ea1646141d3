//! Data series: the messages of each employee by hour. A day is one entity with 24 properties.

mod stage;

use stage::Stage;
use tablerock_client::{DateTime, Result, TryStreamExt};
use tablerock_patterns::{Period, Series};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let messages = Series::<i64>::new(stage.table("Messages").await?, Period::Day);
    let time = |text: &str| DateTime::parse(text).expect("a time");
    for hour in 8..18 {
        messages.record("000123", time(&format!("2026-11-16T{hour:02}:59:59Z")), hour * 10).await?;
    }
    messages.record("000123", time("2026-11-17T00:00:00Z"), 1).await?;
    // Correcting an hour keeps the others, and an update depends on the value.
    messages.record("000123", time("2026-11-16T08:00:00Z"), 81).await?;
    messages.update("000123", time("2026-11-16T08:30:00Z"), |count| count.unwrap_or(0) + 1).await?;

    let day = messages.values("000123", time("2026-11-16T12:00:00Z")).await?;
    assert_eq!((day[7], day[8], day[17], day[18]), (None, Some(82), Some(170), None));
    let days = messages.range("000123", time("2026-11-16T00:00:00Z")..time("2026-11-18T00:00:00Z"));
    let days: Vec<_> = days.try_collect().await?;
    assert_eq!((days.len(), days[1].start, days[1].values[0]), (2, time("2026-11-17T00:00:00Z"), Some(1)));

    // Temperatures by the minute, with an entity for each hour.
    let temperatures = Series::<f64>::new(stage.table("Temperatures").await?, Period::Hour);
    temperatures.record("office", time("2026-11-16T08:59:00Z"), 21.5).await?;
    assert_eq!(temperatures.values("office", time("2026-11-16T08:00:00Z")).await?[59], Some(21.5));
    stage.close().await
}
