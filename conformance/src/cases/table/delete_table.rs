//! Delete Table.

use crate::expect::equal;
use crate::{Failure, Outcome, Session, cases};

cases! {
    DeleteTable {
        delete_table_answers_with_nothing,
        a_deleted_table_is_gone,
        delete_table_matches_in_any_case,
        deleting_a_missing_table_finds_no_resource,
        a_table_created_again_is_empty,
    }
}

async fn delete_table_answers_with_nothing(at: &Session) -> Outcome {
    let table = at.table().await?;
    at.delete(format!("/Tables('{}')", table.name)).send().await?.expect(204)?.expect_no_body()?;
    Ok(())
}

async fn a_deleted_table_is_gone(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    at.delete(format!("/Tables('{}')", table.name)).send().await?.expect(204)?;
    let gone = &[(404, "TableNotFound"), (409, "TableBeingDeleted")];
    table.query().send().await?.expect_any_code(gone)?;
    table.read("p", "r").send().await?.expect_any_code(gone)?;
    let filter = format!("TableName eq '{}'", table.name);
    let listed = at.get("/Tables").query("$filter", &filter).send().await?;
    equal("tables listed", listed.items()?.len(), 0)
}

async fn delete_table_matches_in_any_case(at: &Session) -> Outcome {
    let table = at.table().await?;
    at.delete(format!("/Tables('{}')", table.name.to_uppercase())).send().await?.expect(204)?;
    table.query().send().await?.expect_one_of(&[404, 409])?;
    Ok(())
}

async fn deleting_a_missing_table_finds_no_resource(at: &Session) -> Outcome {
    let response = at.delete(format!("/Tables('{}')", at.unused_name())).send().await?;
    response.expect_error(404, "ResourceNotFound", "The specified resource does not exist.")?;
    Ok(())
}

async fn a_table_created_again_is_empty(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    at.delete(format!("/Tables('{}')", table.name)).send().await?.expect(204)?;
    let again = at.create(&table.name).send().await?;
    if again.status() == 409 {
        again.expect_error(409, "TableBeingDeleted", "The specified table is being deleted. Try operation later.")?;
        return Err(Failure::skipped("the target takes its time to delete a table"));
    }
    again.expect(201)?;
    table.expect_rows(&[]).await
}
