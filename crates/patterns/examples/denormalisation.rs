//! D: denormalisation. A department's entity carries what is shown of its manager, so that showing it takes one read.

mod stage;

use stage::{Stage, employee};
use tablerock_client::{Entity, Result, TableClient, TableEntity, Write};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Department {
    #[entity(partition_key)]
    name: String,
    #[entity(row_key)]
    row: String,
    employee_count: i32,
    manager_id: String,
    /// What the manager's own entity says, repeated.
    manager_name: String,
    manager_email: String,
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let company = stage.table("Company").await?;
    let mut jones = employee("Sales", "empid_000223", "Jun", "Jones", 43);
    let sales = Department {
        name: "Sales".into(),
        row: "department".into(),
        employee_count: 1,
        manager_id: jones.id.clone(),
        manager_name: "Jun Jones".into(),
        manager_email: jones.email.clone(),
    };
    // Both in one partition, so that they change together.
    company.transaction().insert(&sales).insert(&jones).commit().await?;
    assert_eq!(company.get::<Department>("Sales", "department").await?.manager_email, "jonesj@contoso.com");

    jones.email = "jun@contoso.com".into();
    change_manager(&company, &jones).await?;
    assert_eq!(company.get::<Department>("Sales", "department").await?.manager_email, "jun@contoso.com");
    stage.close().await
}

/// What is said twice is changed twice, in one transaction, and nothing else is.
async fn change_manager(company: &TableClient, manager: &stage::Employee) -> Result<()> {
    let manager = manager.to_entity()?.only(&["Email"]);
    let department = Entity::new("Sales", "department").with("ManagerEmail", manager.property::<String>("Email")?);
    let changes = [&manager, &department].map(|change| Write::merge(change).any_version());
    company.transaction().writes(changes).commit().await.map(drop)
}
