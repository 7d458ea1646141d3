//! D: index entities. All employees with a last name, by a list of their ids: in a blob, in the same partition, and in
//! another partition.

mod stage;

use stage::{Employee, Stage, employee};
use tablerock_client::{Result, TableClient, Write};
use tablerock_patterns::{BlobList, EntityList, IndexList, ListStore};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let (people, lists) = (stage.table("People").await?, stage.container("lists").await?);
    let joneses = [employee("Sales", "000152", "Ann", "Jones", 31), employee("Sales", "000223", "Jun", "Jones", 43)];

    // In the same partition: the employee and the list are one transaction, so the list is never wrong.
    let here = IndexList::new(EntityList::new(people.clone(), "Sales", "lastname_Jones"));
    for jones in &joneses {
        here.add_together(&jones.id, &[Write::insert(jones)]).await?;
    }
    assert_eq!(read_by(&here, &people).await?, joneses);

    // In another partition or in a blob: the list is written after the employee, and lags behind for as long.
    let there = IndexList::new(EntityList::new(people.clone(), "lastname_Sales", "Jones"));
    let in_a_blob = IndexList::new(BlobList::new(lists.blob("Sales/Jones")));
    for jones in joneses.iter().rev() {
        assert!(there.add(&jones.id).await? && in_a_blob.add(&jones.id).await?);
        assert!(!there.add(&jones.id).await? && !in_a_blob.add(&jones.id).await?);
    }
    assert_eq!(read_by(&there, &people).await?, joneses);
    assert_eq!(read_by(&in_a_blob, &people).await?, joneses);

    here.remove_together("000152", &[Write::delete_at("Sales", "000152").any_version()]).await?;
    assert!(there.remove("000152").await? && in_a_blob.remove("000152").await?);
    assert_eq!(read_by(&here, &people).await?, joneses[1..]);
    stage.close().await
}

/// One read for the list and one for each employee, all by keys. An id whose employee is gone is passed over.
async fn read_by<S: ListStore>(list: &IndexList<S>, people: &TableClient) -> Result<Vec<Employee>> {
    let mut employees = Vec::new();
    for id in list.ids().await? {
        employees.extend(people.get_if_exists("Sales", &id).await?);
    }
    Ok(employees)
}
