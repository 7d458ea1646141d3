//! Index entities: lists of the ids of all employees with a last name, in the same partition, in another partition and in a
//! blob.

mod stage;

use stage::{Employee, Stage, employee};
use tablerock_client::{Entity, Result, TableClient, TableOperation};
use tablerock_patterns::{BlobList, EntityList, IndexList, ListStore, ListedEntities};

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
    let (in_partition, in_blob) = (directory.clone(), lists);
    elsewhere(&stage, "there", &joneses, move |name| EntityList::new(in_partition.clone(), "lastname", name)).await?;
    elsewhere(&stage, "blobs", &joneses, move |name| BlobList::new(in_blob.blob(name))).await?;
    stage.close().await
}

async fn elsewhere<S: ListStore>(
    stage: &Stage,
    name: &str,
    joneses: &[Employee],
    open: impl Fn(&str) -> S + Send + Sync + 'static,
) -> Result<()> {
    let (table, queue) = (stage.table(name).await?, stage.queue(name).await?);
    let poison = stage.queue(&format!("{name}-poison")).await?;
    let last_name = |entity: &Entity| vec![entity.property::<String>("LastName").unwrap_or_default()];
    let people = ListedEntities::new(table, queue, poison, last_name, open);
    for jones in joneses.iter().rev() {
        people.put(jones).await?;
    }
    assert_eq!(read_by(&people.list("Jones"), people.table()).await?, joneses);

    people.put(&Employee { last_name: "Kay".to_owned(), ..joneses[0].clone() }).await?;
    assert_eq!(read_by(&people.list("Jones"), people.table()).await?, joneses[1..]);
    assert_eq!(people.list("Kay").ids().await?, ["000152"]);
    people.delete("Sales", "000152").await?;
    assert!(people.list("Kay").ids().await?.is_empty());
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
