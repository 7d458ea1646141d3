//! Log tail: the latest expense claims of an employee. The newest is the first of its partition.

mod stage;

use stage::Stage;
use tablerock_client::{DateTime, Result, TableEntity};
use tablerock_patterns::keys::{compound, inverted_ticks, time_from_inverted_ticks};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Claim {
    #[entity(partition_key)]
    employee: String,
    /// Inverted ticks and a suffix for claims of the same tick.
    #[entity(row_key)]
    when: String,
    amount: f64,
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let claims = stage.table("Claims").await?;
    for day in 1..=30 {
        let time = DateTime::parse(&format!("2026-11-{day:02}T12:00:00Z")).expect("a day of November");
        let when = compound([&inverted_ticks(time), "a"]);
        claims.insert(&Claim { employee: "000123".into(), when, amount: f64::from(day) }).await?;
    }
    let latest = claims.query::<Claim>().partition("000123").limit(10).all().await?;
    assert_eq!(latest.first().map(|claim| claim.amount), Some(30.0));
    assert_eq!(latest.last().map(|claim| claim.amount), Some(21.0));
    assert_eq!(time_from_inverted_ticks(&latest[0].when), DateTime::parse("2026-11-30T12:00:00Z").ok());

    // Claims since a time: all keys before that of the time.
    let since = DateTime::parse("2026-11-29T00:00:00Z").expect("a day of November");
    let recent =
        claims.query::<Claim>().partition("000123").row_range(""..inverted_ticks(since).as_str()).all().await?;
    assert_eq!(recent.len(), 2);
    stage.close().await
}
