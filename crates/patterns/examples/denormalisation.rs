//! Denormalisation: a department's entity has a copy of its manager's name, so that displaying it takes one read.

mod stage;

use stage::{Stage, employee};
use tablerock_client::{Entity, Result, TableClient, TableEntity, TableOperation};

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
    /// A copy of the name in the manager's entity.
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
    // Both are in one partition, so that one transaction changes them.
    company.transaction().insert(&sales).insert(&jones).commit().await?;
    assert_eq!(company.get::<Department>("Sales", "department").await?.manager_email, "jonesj@contoso.com");

    jones.email = "jun@contoso.com".into();
    change_manager(&company, &jones).await?;
    assert_eq!(company.get::<Department>("Sales", "department").await?.manager_email, "jun@contoso.com");
    stage.close().await
}

/// Changes both copies of the name in one transaction, and no other property.
async fn change_manager(company: &TableClient, manager: &stage::Employee) -> Result<()> {
    let manager = manager.to_entity()?.select_properties(&["Email"]);
    let department = Entity::new("Sales", "department").with("ManagerEmail", manager.property::<String>("Email")?);
    let changes = [&manager, &department].map(|change| TableOperation::merge(change).any_version());
    company.transaction().operations(changes).commit().await.map(drop)
}
