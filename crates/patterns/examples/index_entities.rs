//! Index entities: lists of the ids of all employees with a last name, in the same partition, in another partition and in a
//! blob.

mod stage;

use stage::{Employee, Stage, employee};
use tablerock_client::{Result, TableClient, TableOperation};
use tablerock_patterns::{BlobLists, EntityList, IndexList, ListPlace, ListStore, ListedEntities, TableLists};

#[tokio::main]
async fn main() -> Result<()> {
    story(&stage::connection_string()).await
}

pub(crate) async fn story(connection_string: &str) -> Result<()> {
    let stage = Stage::new(connection_string)?;
    let (people, lists) = (stage.table("People").await?, stage.container("lists").await?);
    let joneses = [employee("Sales", "000152", "Ann", "Jones", 31), employee("Sales", "000223", "Jun", "Jones", 43)];

    // In the same partition, one transaction writes employee and list, so that the list is always current.
    let here = IndexList::new(EntityList::new(people.clone(), "Sales", "lastname_Jones"));
    for jones in &joneses {
        here.add_with(&jones.id, &[TableOperation::insert(jones)]).await?;
    }
    assert_eq!(read_by(&here, &people).await?, joneses);

    here.remove_with("000152", &[TableOperation::delete_by_keys("Sales", "000152").any_version()]).await?;
    assert_eq!(read_by(&here, &people).await?, joneses[1..]);

    // No transaction spans another partition or a blob, so an intent is around the writes of employee and list.
    let directory = stage.table("Directory").await?;
    elsewhere(&stage, "there", &joneses, TableLists::new(directory)).await?;
    elsewhere(&stage, "blobs", &joneses, BlobLists::new(lists)).await?;
    stage.close().await
}

async fn elsewhere(stage: &Stage, name: &str, joneses: &[Employee], lists: impl ListPlace) -> Result<()> {
    let (table, queue) = (stage.table(name).await?, stage.queue(name).await?);
    let poison = stage.queue(&format!("{name}-poison")).await?;
    let people = ListedEntities::new(table, lists, queue, poison)
        .index("last_name", |employee: &Employee| Some(employee.last_name.clone()));
    for jones in joneses.iter().rev() {
        people.insert(jones).await?;
    }
    let mut found = people.find_by("last_name", "Jones").all().await?;
    assert_eq!(found, joneses);

    // An employee who was found by the name can be written, unless another writer was faster.
    found[0].last_name = "Kay".to_owned();
    let old = found[0].clone();
    found[0].etag = Some(people.replace(&found[0]).await?);
    assert!(people.replace(&old).await.is_err_and(|error| error.is_precondition_failed()));
    assert_eq!(people.find_by("last_name", "Jones").all().await?, joneses[1..]);
    assert_eq!(people.list("last_name", "Kay").ids().await?, ["Sales_000152"]);
    people.delete(&found[0]).await?;
    assert!(people.list("last_name", "Kay").ids().await?.is_empty());
    assert!(people.verify().await?.is_consistent());
    Ok(())
}

/// Reads the list and each employee by key. Skips ids without an employee.
async fn read_by<S: ListStore>(list: &IndexList<S>, people: &TableClient) -> Result<Vec<Employee>> {
    let mut employees = Vec::new();
    for id in list.ids().await? {
        employees.extend(people.get_if_exists("Sales", &id).await?);
    }
    Ok(employees)
}
