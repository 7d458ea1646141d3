//! Which names a table may have.

use crate::expect::equal;
use crate::{Outcome, Session, cases};

cases! {
    CreateTable {
        names_of_3_and_of_63_characters_are_accepted,
        names_of_2_and_of_64_characters_are_refused,
        names_with_other_than_letters_and_digits_are_refused,
        names_that_start_with_a_digit_are_refused,
        an_empty_name_is_refused,
        the_name_tables_is_reserved,
        a_name_keeps_its_case,
    }
    DeleteTable {
        deleting_an_impossible_name_finds_nothing,
    }
    QueryEntities {
        a_system_table_without_analytics_is_not_found,
    }
    InsertEntity {
        an_impossible_table_name_in_an_entity_url_is_refused,
    }
}

async fn names_of_3_and_of_63_characters_are_accepted(at: &Session) -> Outcome {
    let random = at.unused_name();
    // A short name cannot be made unlikely to exist, so a clash counts as much as a creation.
    let short = format!("z{}", &random[random.len() - 2..]);
    if at.get(format!("/Tables('{short}')")).send().await?.status() == 404 {
        at.create(&short).send().await?.expect(201)?;
    }
    let long = format!("{random}{}", "x".repeat(63 - random.len()));
    at.create(&long).send().await?.expect(201)?;
    Ok(())
}

async fn names_of_2_and_of_64_characters_are_refused(at: &Session) -> Outcome {
    let message = "The specified resource name length is not within the permissible limits.";
    for name in ["ab".to_owned(), "a".repeat(64)] {
        at.create(&name).send().await?.expect_error(400, "OutOfRangeInput", message)?;
    }
    Ok(())
}

/// The service itself writes "specifed".
const CHARACTERS: &str = "The specifed resource name contains invalid characters.";

async fn names_with_other_than_letters_and_digits_are_refused(at: &Session) -> Outcome {
    for name in ["with-dash", "with_underscore", "with space", "émigré", "dollar$sign"] {
        at.create(name).send().await?.expect_error(400, "InvalidResourceName", CHARACTERS)?;
    }
    Ok(())
}

async fn names_that_start_with_a_digit_are_refused(at: &Session) -> Outcome {
    at.create("1digit").send().await?.expect_error(400, "InvalidResourceName", CHARACTERS)?;
    Ok(())
}

async fn an_empty_name_is_refused(at: &Session) -> Outcome {
    at.create("").send().await?.expect_any_code(&[(400, "OutOfRangeInput"), (400, "InvalidResourceName")])?;
    Ok(())
}

async fn the_name_tables_is_reserved(at: &Session) -> Outcome {
    for name in ["tables", "Tables", "TABLES"] {
        let response = at.create(name).send().await?;
        response.expect_any_code(&[(400, "InvalidInput"), (404, "InvalidInput"), (404, "ResourceNotFound")])?;
    }
    Ok(())
}

async fn a_name_keeps_its_case(at: &Session) -> Outcome {
    let mixed = at.unused_name().replacen("conf", "ConF", 1);
    at.create(&mixed).send().await?.expect(201)?;
    let found = at.get("/Tables").query("$filter", &format!("TableName eq '{mixed}'")).send().await?;
    equal("tables found", found.column("TableName")?, [mixed.as_str()])
}

async fn deleting_an_impossible_name_finds_nothing(at: &Session) -> Outcome {
    at.delete("/Tables('bad-name')").send().await?.expect_code(404, "ResourceNotFound")?;
    Ok(())
}

async fn a_system_table_without_analytics_is_not_found(at: &Session) -> Outcome {
    let response = at.get("/$MetricsHourPrimaryTransactionsTable()").query("$top", "1").send().await?;
    if response.status() != 200 {
        response.expect_code(404, "TableNotFound")?;
    }
    Ok(())
}

async fn an_impossible_table_name_in_an_entity_url_is_refused(at: &Session) -> Outcome {
    let entity = serde_json::json!({ "PartitionKey": "p", "RowKey": "r" });
    let characters = at.post("/bad-name").json(&entity).send().await?;
    characters.expect_code(400, "InvalidResourceName")?;
    let length = at.post("/ab").json(&entity).send().await?;
    length.expect_code(400, "OutOfRangeInput")?;
    Ok(())
}
