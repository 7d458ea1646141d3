//! Inheritance: managers and engineers in one table. An enum distinguishes them, and a projection reads and changes their
//! common properties.

mod stage;

use stage::Stage;
use tablerock_client::{Entity, Keyed, Result, TableEntity};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Manager {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    id: String,
    last_name: String,
    reports: i32,
}

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Engineer {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    id: String,
    last_name: String,
    discipline: String,
}

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(tag = "EntityType")]
enum Staff {
    #[entity(rename = "Manager_v1")]
    Manager(Manager),
    #[entity(rename = "Engineer_v1")]
    Engineer(Engineer),
}

/// The common properties.
#[derive(TableEntity, Debug, PartialEq)]
#[entity(rename_all = "PascalCase", no_columns)]
struct Named {
    last_name: String,
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let people = stage.table("People").await?;
    let text = str::to_owned;
    let jones = Manager { department: text("IT"), id: text("000123"), last_name: text("Jones"), reports: 7 };
    let kay =
        Engineer { department: text("IT"), id: text("000152"), last_name: text("Kay"), discipline: text("storage") };
    let staff = [Staff::Manager(jones), Staff::Engineer(kay)];
    people.transaction().insert(&staff[0]).insert(&staff[1]).commit().await?;

    assert_eq!(people.query::<Staff>().partition("IT").all().await?, staff);
    let named = people.query::<Entity>().partition("IT").select::<Keyed<Named>>().all().await?;
    assert_eq!(named.iter().map(|one| one.value.last_name.as_str()).collect::<Vec<_>>(), ["Jones", "Kay"]);

    people.merge(&Entity::new("IT", "000152").with("LastName", "Quay")).any_version().await?;
    let Staff::Engineer(quay) = people.get("IT", "000152").await? else { panic!("an engineer stays one") };
    assert_eq!((quay.last_name.as_str(), quay.discipline.as_str()), ("Quay", "storage"));
    stage.close().await
}
