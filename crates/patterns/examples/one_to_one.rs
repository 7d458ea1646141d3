//! One-to-one relationships: an employee and a salary with restricted access are two entities of one partition, written in
//! one transaction and read separately.

mod stage;

use stage::{Employee, Stage, employee};
use tablerock_client::{Result, TableEntity};
use tablerock_patterns::keys::compound;

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

#[derive(TableEntity, Debug, Clone, PartialEq)]
#[entity(rename_all = "PascalCase")]
struct Salary {
    #[entity(partition_key)]
    department: String,
    #[entity(row_key)]
    row: String,
    amount: f64,
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let people = stage.table("People").await?;
    let jones = employee("Sales", "000123", "Jun", "Jones", 43);
    let salary = Salary { department: "Sales".into(), row: compound(["salary", "000123"]), amount: 93_000.0 };
    people.transaction().insert(&jones).insert(&salary).commit().await?;
    assert_eq!(people.get::<Salary>("Sales", "salary_000123").await?, salary);
    // A shared access signature for a range of rows gives access to employees without salaries.
    let employees = people.query::<Employee>().partition("Sales").row_range("0"..":").all().await?;
    assert_eq!(employees, [jones]);
    stage.close().await
}
