//! The key range of a table's shared access signature: one contiguous range in key order, not a rectangle.

use serde_json::json;

use crate::batch::{self, Part};
use crate::expect::equal;
use crate::sas::TableSas;
use crate::table::Table;
use crate::{Outcome, Session, cases};

cases! {
    Authentication {
        a_start_partition_bounds_a_query,
        an_end_partition_bounds_a_query,
        a_start_row_bounds_its_partition_only,
        an_end_row_bounds_its_partition_only,
        both_ends_of_a_range_are_inclusive,
        a_read_outside_the_range_finds_nothing,
        writes_outside_the_range_are_refused,
        writes_inside_the_range_are_served,
        a_batch_with_a_table_sas_is_served,
        a_batch_without_the_permission_is_refused,
        a_batch_outside_the_range_is_refused,
        a_batch_with_the_sas_of_another_table_is_refused,
    }
}

/// Partitions a, b, c with rows 1, 2, 3 each; row keys repeat the partition so that they tell them apart.
async fn grid(at: &Session) -> Outcome<Table<'_>> {
    let table = at.table().await?;
    for partition in ["a", "b", "c"] {
        for row in 1..=3 {
            table.seed(json!({ "PartitionKey": partition, "RowKey": format!("{partition}{row}") })).await?;
        }
    }
    Ok(table)
}

async fn expect_visible(at: &Session, table: &Table<'_>, sas: TableSas, rows: &[&str]) -> Outcome {
    let response = table.query().sas(&sas.query(at.target())).send().await?;
    equal("rows inside the range", response.column("RowKey")?, rows)
}

async fn a_start_partition_bounds_a_query(at: &Session) -> Outcome {
    let table = grid(at).await?;
    let sas = TableSas { spk: "b".into(), ..TableSas::new(&table.name, "r") };
    expect_visible(at, &table, sas, &["b1", "b2", "b3", "c1", "c2", "c3"]).await
}

async fn an_end_partition_bounds_a_query(at: &Session) -> Outcome {
    let table = grid(at).await?;
    let sas = TableSas { epk: "b".into(), ..TableSas::new(&table.name, "r") };
    expect_visible(at, &table, sas, &["a1", "a2", "a3", "b1", "b2", "b3"]).await
}

async fn a_start_row_bounds_its_partition_only(at: &Session) -> Outcome {
    let table = grid(at).await?;
    let sas = TableSas { spk: "b".into(), srk: "b3".into(), ..TableSas::new(&table.name, "r") };
    expect_visible(at, &table, sas, &["b3", "c1", "c2", "c3"]).await
}

async fn an_end_row_bounds_its_partition_only(at: &Session) -> Outcome {
    let table = grid(at).await?;
    let sas = TableSas { epk: "b".into(), erk: "b1".into(), ..TableSas::new(&table.name, "r") };
    expect_visible(at, &table, sas, &["a1", "a2", "a3", "b1"]).await
}

async fn both_ends_of_a_range_are_inclusive(at: &Session) -> Outcome {
    let table = grid(at).await?;
    let sas = TableSas {
        spk: "a".into(),
        srk: "a3".into(),
        epk: "c".into(),
        erk: "c1".into(),
        ..TableSas::new(&table.name, "r")
    };
    expect_visible(at, &table, sas, &["a3", "b1", "b2", "b3", "c1"]).await
}

fn only_b(table: &Table) -> TableSas {
    TableSas { spk: "b".into(), epk: "b".into(), ..TableSas::new(&table.name, "raud") }
}

async fn a_read_outside_the_range_finds_nothing(at: &Session) -> Outcome {
    let table = grid(at).await?;
    let sas = only_b(&table).query(at.target());
    table.read("a", "a1").sas(&sas).send().await?.expect_code(404, "ResourceNotFound")?;
    table.read("b", "b1").sas(&sas).send().await?.expect(200)?;
    Ok(())
}

async fn writes_outside_the_range_are_refused(at: &Session) -> Outcome {
    let table = grid(at).await?;
    let sas = only_b(&table).query(at.target());
    let writes = [
        table.insert(json!({ "PartitionKey": "c", "RowKey": "new" })),
        table.put("a", "a1", json!({ "A": 1 })).if_match("*"),
        table.merge("a", "a1", json!({ "A": 1 })).if_match("*"),
        table.put("a", "new", json!({ "A": 1 })),
        table.merge("a", "new", json!({ "A": 1 })),
        table.delete("a", "a1"),
    ];
    for write in writes {
        let message = "This request is not authorized to perform this operation.";
        write.sas(&sas).send().await?.expect_error(403, "AuthorizationFailure", message)?;
    }
    table.expect_rows(&["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3"]).await
}

async fn writes_inside_the_range_are_served(at: &Session) -> Outcome {
    let table = grid(at).await?;
    let sas = only_b(&table).query(at.target());
    table.insert(json!({ "PartitionKey": "b", "RowKey": "b4" })).sas(&sas).send().await?.expect(201)?;
    table.delete("b", "b4").sas(&sas).send().await?.expect(204)?;
    Ok(())
}

fn insert_into(at: &Session, table: &Table, partition: &str) -> Vec<Part> {
    vec![Part::insert(table, &at.base(), json!({ "PartitionKey": partition, "RowKey": "new" }))]
}

async fn a_batch_with_a_table_sas_is_served(at: &Session) -> Outcome {
    let table = at.table().await?;
    let body = batch::changeset_body(&insert_into(at, &table, "p"));
    let sas = TableSas::new(&table.name, "a").query(at.target());
    let answers = batch::changeset_answers(&batch::request(at, body).sas(&sas).send().await?)?;
    equal("statuses", answers.iter().map(|a| a.status()).collect::<Vec<_>>(), [204])?;
    table.expect_rows(&["new"]).await
}

/// Whether the error is that of the batch or of its operation is left open; that nothing happened is not.
async fn expect_batch_refused(at: &Session, table: &Table<'_>, partition: &str, sas: &TableSas) -> Outcome {
    let body = batch::changeset_body(&insert_into(at, table, partition));
    let response = batch::request(at, body).sas(&sas.query(at.target())).send().await?;
    if response.status() == 202 {
        batch::changeset_answers(&response)?[0].expect(403)?;
    } else {
        response.expect(403)?;
    }
    equal("rows written", table.query().send().await?.items()?.len(), 0)
}

async fn a_batch_without_the_permission_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    expect_batch_refused(at, &table, "p", &TableSas::new(&table.name, "rud")).await
}

async fn a_batch_outside_the_range_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    expect_batch_refused(at, &table, "a", &only_b(&table)).await
}

async fn a_batch_with_the_sas_of_another_table_is_refused(at: &Session) -> Outcome {
    let (table, other) = (at.table().await?, at.table().await?);
    expect_batch_refused(at, &table, "p", &TableSas::new(&other.name, "raud")).await
}
