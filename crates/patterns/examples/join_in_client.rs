//! Join in the client: employees with the name of their office, by a query for each table and a map.

mod stage;

use std::collections::HashMap;

use stage::{Employee, Stage, employee};
use tablerock_client::{Entity, Result, TableOperation, TryStreamExt};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let (people, departments) = (stage.table("People").await?, stage.table("Departments").await?);
    let offices = [("Sales", "London"), ("Legal", "Lisbon")];
    let entities = offices.map(|(name, office)| Entity::new("contoso", name).with("Office", office));
    departments.bulk(entities.iter().map(TableOperation::insert)).await.into_result()?;
    let staff = ["Sales", "Legal", "Sales"].into_iter().enumerate();
    let staff: Vec<Employee> = staff.map(|(n, name)| employee(name, &format!("{n:06}"), "Jun", "Jones", 40)).collect();
    people.bulk(staff.iter().map(TableOperation::insert)).await.into_result()?;

    // Reads the small side into memory, and streams the large side.
    let small: Vec<Entity> = departments.query().partition("contoso").all().await?;
    let office_of = |entity: &Entity| Ok((entity.row_key.clone(), entity.property::<String>("Office")?));
    let offices: HashMap<String, String> = small.iter().map(office_of).collect::<Result<_>>()?;
    let joined = people.query::<Employee>().stream();
    let joined = joined.map_ok(|employee| (employee.id, offices.get(&employee.department).cloned()));
    let joined: Vec<(String, Option<String>)> = joined.try_collect().await?;
    let expected = [("000001", "Lisbon"), ("000000", "London"), ("000002", "London")];
    assert_eq!(joined, expected.map(|(id, office)| (id.to_owned(), Some(office.to_owned()))));
    stage.close().await
}
