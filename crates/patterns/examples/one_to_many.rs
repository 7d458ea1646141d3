//! One-to-many relationships in three designs: a department with its employees and their number.

mod stage;

use stage::{Employee, Stage, employee};
use tablerock_client::{Entity, Result, TableClient, TableOperation, TryStreamExt};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    separate(&stage.table("Departments").await?, &stage.table("Employees").await?).await?;
    together(&stage.table("Company").await?).await?;
    denormalised(&stage.table("Directory").await?).await?;
    stage.close().await
}

/// Departments and employees in separate tables scale independently, and the count is consistent eventually. A real
/// program stores an intent around the insert; see the example of the archive.
async fn separate(departments: &TableClient, employees: &TableClient) -> Result<()> {
    departments.insert(&Entity::new("Sales", "department").with("EmployeeCount", 0)).await?;
    for employee in some_employees() {
        employees.insert(&employee).await?;
    }
    let count = employees.query::<Employee>().partition("Sales").stream();
    let count = count.try_fold(0, async |count, _| Ok(count + 1)).await?;
    departments.merge(&Entity::new("Sales", "department").with("EmployeeCount", count)).any_version().await?;
    let sales: Entity = departments.get("Sales", "department").await?;
    assert_eq!(sales.property::<i32>("EmployeeCount")?, 3);
    Ok(())
}

/// Department and employees in one partition: one transaction inserts and counts, and one query reads all.
async fn together(company: &TableClient) -> Result<()> {
    company.insert(&Entity::new("Sales", "department").with("EmployeeCount", 0)).await?;
    for employee in some_employees() {
        let mut sales: Entity = company.get("Sales", "department").await?;
        sales.set("EmployeeCount", sales.property::<i32>("EmployeeCount")? + 1);
        // The department's ETag detects a concurrent count.
        company.transaction().replace(&sales).operation(TableOperation::insert(&employee)).commit().await?;
    }
    let all: Vec<Entity> = company.query().partition("Sales").all().await?;
    let (departments, employees): (Vec<_>, Vec<_>) = all.iter().partition(|entity| entity.row_key == "department");
    assert_eq!((departments[0].property::<i32>("EmployeeCount")?, employees.len()), (3, 3));
    Ok(())
}

/// Each employee has a copy of the department's properties: no other read is needed, and a change of the department writes
/// every employee.
async fn denormalised(directory: &TableClient) -> Result<()> {
    let with_manager = |employee: &Employee, manager: &str| {
        Entity::new(&employee.department, &employee.id).with("LastName", &*employee.last_name).with("Manager", manager)
    };
    directory
        .bulk(some_employees().iter().map(|one| TableOperation::insert(&with_manager(one, "Ann"))))
        .await
        .into_result()?;
    assert_eq!(directory.get::<Entity>("Sales", "000152").await?.property::<String>("Manager")?, "Ann");
    let promoted = some_employees().map(|one| TableOperation::merge(&with_manager(&one, "Jun")).any_version());
    directory.bulk(promoted).await.into_result()?;
    assert_eq!(directory.get::<Entity>("Sales", "000152").await?.property::<String>("Manager")?, "Jun");
    Ok(())
}

fn some_employees() -> [Employee; 3] {
    [("000123", "Jun", "Jones"), ("000152", "Kim", "Kay"), ("000223", "Lou", "Lee")]
        .map(|(id, first_name, last_name)| employee("Sales", id, first_name, last_name, 40))
}
