//! Compound keys: an employee and the yearly reviews are adjacent, and are queried by id, by id and year, or by a range of
//! years.

mod stage;

use stage::{Employee, Stage, employee};
use tablerock_client::{Result, TableEntity};
use tablerock_patterns::keys::{compound, compound_prefix, zero_padded};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Review {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    id_and_year: String,
    manager_rating: i32,
    comments: String,
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let people = stage.table("People").await?;
    let id = zero_padded(123, 6)?;
    people.insert(&employee("Sales", &id, "Jun", "Jones", 43)).await?;
    for (year, manager_rating) in [(2010, 3), (2011, 4), (2012, 5)] {
        let id_and_year = compound([&id, &year.to_string()]);
        let comments = format!("What we said in {year}");
        people.insert(&Review { department: "Sales".into(), id_and_year, manager_rating, comments }).await?;
    }
    people.insert(&employee("Sales", &zero_padded(1234, 6)?, "Kim", "Kay", 25)).await?;

    let last: Review = people.get("Sales", compound([&id, "2012"])).await?;
    assert_eq!(last.manager_rating, 5);
    let all = people.query::<Review>().partition("Sales").row_prefix(compound_prefix([&id])).all().await?;
    assert_eq!(all.len(), 3);
    let (from, to) = (compound([&id, "2010"]), compound([&id, "2012"]));
    let early = people.query::<Review>().partition("Sales").row_range(from..to).all().await?;
    assert_eq!(early.iter().map(|review| review.manager_rating).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(people.get::<Employee>("Sales", &id).await?.age, 43);
    stage.close().await
}
