//! Entity group transactions that fail: nothing is applied, and the failing operation is named.

use serde_json::json;

use crate::batch::{self, Part};
use crate::expect::{ensure, equal};
use crate::table::Table;
use crate::{Outcome, Session, cases};

cases! {
    EntityGroupTransaction {
        a_failure_at_any_index_of_100_names_it_and_changes_nothing,
        a_duplicate_row_fails_the_batch,
        another_partition_fails_the_batch,
        another_table_fails_the_batch,
        more_than_100_operations_fail_the_batch,
        a_missing_entity_fails_the_batch,
        a_missing_table_fails_the_batch,
        a_stale_etag_fails_the_batch,
        a_missing_key_fails_the_batch,
        a_forbidden_key_fails_the_batch,
        a_failure_undoes_every_kind_of_write,
        keys_that_read_alike_when_joined_are_no_duplicates,
        a_batch_over_4_mib_is_too_large,
        a_batch_near_4_mib_is_accepted,
        an_unparsable_batch_is_refused,
        an_empty_batch_is_refused,
        a_second_changeset_is_not_applied,
        a_query_beside_a_changeset_is_refused,
        a_failed_authentication_fails_the_whole_batch_in_json,
        an_invalid_entity_fails_the_batch,
        a_malformed_operation_changes_nothing,
    }
}

fn insert(at: &Session, table: &Table, row: &str) -> Part {
    Part::insert(table, &at.base(), json!({ "PartitionKey": "p", "RowKey": row }))
}

/// The batch fails with this error, and the table is as it was.
async fn expect_failure(
    at: &Session,
    table: &Table<'_>,
    parts: &[Part],
    status: u16,
    code: &str,
    text: &str,
) -> Outcome {
    let before = table.query().send().await?.items()?;
    batch::expect_failed(&batch::send(at, parts).await?, status, code, text)?;
    equal("the table afterwards", table.query().send().await?.items()?, before)
}

async fn a_failure_at_any_index_of_100_names_it_and_changes_nothing(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["taken"]).await?;
    for failing in [0, 1, 50, 99] {
        let row = |index: usize| if index == failing { "taken".to_owned() } else { format!("{index:03}") };
        let parts: Vec<Part> = (0..100).map(|index| insert(at, &table, &row(index))).collect();
        let text = format!("{failing}:The specified entity already exists.");
        expect_failure(at, &table, &parts, 409, "EntityAlreadyExists", &text).await?;
    }
    Ok(())
}

async fn a_duplicate_row_fails_the_batch(at: &Session) -> Outcome {
    let table = at.table().await?;
    let parts = [insert(at, &table, "1"), insert(at, &table, "2"), insert(at, &table, "1")];
    let text = "2:The batch request contains multiple changes with same row key. \
        An entity can appear only once in a batch request.";
    expect_failure(at, &table, &parts, 400, "InvalidDuplicateRow", text).await
}

async fn another_partition_fails_the_batch(at: &Session) -> Outcome {
    let table = at.table().await?;
    let other = Part::insert(&table, &at.base(), json!({ "PartitionKey": "q", "RowKey": "2" }));
    let parts = [insert(at, &table, "1"), other];
    let text = "1:All commands in a batch must operate on same entity group.";
    expect_failure(at, &table, &parts, 400, "CommandsInBatchActOnDifferentPartitions", text).await
}

async fn another_table_fails_the_batch(at: &Session) -> Outcome {
    let (table, other) = (at.table().await?, at.table().await?);
    let response = batch::send(at, &[insert(at, &table, "1"), insert(at, &other, "2")]).await?;
    let answers = batch::changeset_answers(&response)?;
    equal("parts", answers.len(), 1)?;
    answers[0].expect_any_code(&[(400, "CommandsInBatchActOnDifferentPartitions"), (400, "InvalidInput")])?;
    table.expect_rows(&[]).await?;
    other.expect_rows(&[]).await
}

async fn more_than_100_operations_fail_the_batch(at: &Session) -> Outcome {
    let table = at.table().await?;
    let parts: Vec<Part> = (0..101).map(|row| insert(at, &table, &format!("{row:03}"))).collect();
    let answers = batch::changeset_answers(&batch::send(at, &parts).await?)?;
    equal("parts", answers.len(), 1)?;
    answers[0].expect_code(400, "InvalidInput")?;
    let message = answers[0].error()?.message;
    let text = message.split_once(':').map(|(_, text)| text);
    equal("message", text, Some("The batch request operation exceeds the maximum 100 changes per change set."))?;
    table.expect_rows(&[]).await
}

async fn a_missing_entity_fails_the_batch(at: &Session) -> Outcome {
    let table = at.table().await?;
    let text = "1:The specified resource does not exist.";
    for verb in ["PUT", "MERGE", "DELETE"] {
        let body = if verb == "DELETE" { "" } else { r#"{"A":1}"# };
        let missing = Part::new(verb, table.entity_url("p", "2"), body).header("If-Match", "*");
        expect_failure(at, &table, &[insert(at, &table, "1"), missing], 404, "ResourceNotFound", text).await?;
    }
    Ok(())
}

async fn a_missing_table_fails_the_batch(at: &Session) -> Outcome {
    let table = at.missing_table();
    let response = batch::send(at, &[insert(at, &table, "1"), insert(at, &table, "2")]).await?;
    batch::expect_failed(&response, 404, "TableNotFound", "0:The table specified does not exist.")?;
    batch::changeset_answers(&response)?[0].expect_no_header("Cache-Control")?;
    Ok(())
}

async fn a_stale_etag_fails_the_batch(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["2"]).await?;
    let text = "1:The update condition specified in the request was not satisfied.";
    for verb in ["PUT", "MERGE", "DELETE"] {
        let body = if verb == "DELETE" { "" } else { r#"{"A":1}"# };
        let stale = Part::new(verb, table.entity_url("p", "2"), body).header("If-Match", "W/\"old\"");
        let parts = [insert(at, &table, "1"), stale];
        expect_failure(at, &table, &parts, 412, "UpdateConditionNotSatisfied", text).await?;
    }
    Ok(())
}

async fn a_missing_key_fails_the_batch(at: &Session) -> Outcome {
    let table = at.table().await?;
    let keyless = Part::insert(&table, &at.base(), json!({ "PartitionKey": "p" }));
    let text = "1:The values are not specified for all properties in the entity.";
    expect_failure(at, &table, &[insert(at, &table, "1"), keyless], 400, "PropertiesNeedValue", text).await
}

async fn a_forbidden_key_fails_the_batch(at: &Session) -> Outcome {
    let table = at.table().await?;
    let text = "1:The 'RowKey' parameter of value 'a/b' is out of range.";
    let parts = [insert(at, &table, "1"), insert(at, &table, "a/b")];
    expect_failure(at, &table, &parts, 400, "OutOfRangeInput", text).await
}

async fn a_failure_undoes_every_kind_of_write(at: &Session) -> Outcome {
    let table = at.table().await?;
    for row in ["delete", "merge", "taken", "update"] {
        table.seed(json!({ "PartitionKey": "p", "RowKey": row, "A": 1 })).await?;
    }
    let parts = [
        insert(at, &table, "new"),
        Part::new("PUT", table.entity_url("p", "update"), json!({ "A": 2 })).header("If-Match", "*"),
        Part::new("MERGE", table.entity_url("p", "merge"), json!({ "B": 2 })),
        Part::new("DELETE", table.entity_url("p", "delete"), "").header("If-Match", "*"),
        insert(at, &table, "taken"),
    ];
    let text = "4:The specified entity already exists.";
    expect_failure(at, &table, &parts, 409, "EntityAlreadyExists", text).await
}

/// `a` + `bc` and `ab` + `c` are different keys; in one batch they differ in partition, not in being duplicates.
async fn keys_that_read_alike_when_joined_are_no_duplicates(at: &Session) -> Outcome {
    let table = at.table().await?;
    let entity = |p: &str, r: &str| Part::insert(&table, &at.base(), json!({ "PartitionKey": p, "RowKey": r }));
    let answers = batch::changeset_answers(&batch::send(at, &[entity("a", "bc"), entity("ab", "c")]).await?)?;
    answers[0].expect_code(400, "CommandsInBatchActOnDifferentPartitions")?;
    Ok(())
}

/// Inserts of this many bytes of text each, as many as given.
fn bulky(at: &Session, table: &Table, count: usize, characters: usize) -> Vec<Part> {
    let text = "x".repeat(characters);
    let entity = |row: usize| json!({ "PartitionKey": "p", "RowKey": format!("{row:03}"), "A": text, "B": text });
    (0..count).map(|row| Part::insert(table, &at.base(), entity(row))).collect()
}

async fn a_batch_over_4_mib_is_too_large(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = batch::send(at, &bulky(at, &table, 70, 31_000)).await?;
    let message = "The request body is too large and exceeds the maximum permissible limit.";
    response.expect_error(413, "RequestBodyTooLarge", message)?;
    table.expect_rows(&[]).await
}

async fn a_batch_near_4_mib_is_accepted(at: &Session) -> Outcome {
    let table = at.table().await?;
    batch::commit(at, &bulky(at, &table, 66, 31_000)).await?;
    Ok(())
}

async fn an_unparsable_batch_is_refused(at: &Session) -> Outcome {
    for body in ["", "nonsense", "--other\r\n\r\n--other--\r\n"] {
        batch::request(at, body).send().await?.expect_code(400, "InvalidInput")?;
    }
    Ok(())
}

async fn an_empty_batch_is_refused(at: &Session) -> Outcome {
    let response = batch::send(at, &[]).await?;
    response.expect_code(400, "InvalidInput")?;
    Ok(())
}

async fn a_second_changeset_is_not_applied(at: &Session) -> Outcome {
    let table = at.table().await?;
    let one = batch::changeset_body(&[insert(at, &table, "1")]);
    let two = batch::changeset_body(&[insert(at, &table, "2")]);
    let closing = format!("--{}--\r\n", batch::BATCH_BOUNDARY);
    let body = format!("{}{two}", one.strip_suffix(closing.as_str()).unwrap_or(&one));
    let response = batch::request(at, body).send().await?;
    response.expect_one_of(&[202, 400])?;
    let rows = table.query().send().await?.column("RowKey")?;
    ensure(!rows.contains(&"2".to_owned()), || "the second changeset was applied".to_owned())
}

async fn a_query_beside_a_changeset_is_refused(at: &Session) -> Outcome {
    let table = at.table().await?;
    let query = batch::query_body(&Part::new("GET", table.entity_url("p", "1"), ""));
    let changeset = batch::changeset_body(&[insert(at, &table, "1")]);
    let closing = format!("--{}--\r\n", batch::BATCH_BOUNDARY);
    let body = format!("{}{changeset}", query.strip_suffix(closing.as_str()).unwrap_or(&query));
    batch::request(at, body).send().await?.expect_one_of(&[202, 400])?;
    table.expect_rows(&[]).await
}

/// Go reads the body before it looks at the status, so this one has to be JSON.
async fn a_failed_authentication_fails_the_whole_batch_in_json(at: &Session) -> Outcome {
    let table = at.table().await?;
    let body = batch::changeset_body(&[insert(at, &table, "1")]);
    let response = batch::request(at, body).key(b"wrong").send().await?;
    response.expect_code(403, "AuthenticationFailed")?;
    ensure(response.text().starts_with('{'), || format!("not JSON: {}", response.text()))?;
    table.expect_rows(&[]).await
}

async fn an_invalid_entity_fails_the_batch(at: &Session) -> Outcome {
    let table = at.table().await?;
    let odd = r#"{"PartitionKey":"p","RowKey":"2","D":"0001-01-01T00:00:00Z","D@odata.type":"Edm.DateTime"}"#;
    let parts = [insert(at, &table, "1"), Part::insert(&table, &at.base(), odd)];
    let text = "1:The 'D' parameter of value '01/01/0001 00:00:00' is out of range.";
    expect_failure(at, &table, &parts, 400, "OutOfRangeInput", text).await
}

/// Whether the error is that of the batch or of its part is left open.
async fn a_malformed_operation_changes_nothing(at: &Session) -> Outcome {
    let table = at.table().await?;
    let malformed = Part::insert(&table, &at.base(), r#"{"PartitionKey":"p","RowKey":"2""#);
    let response = batch::send(at, &[insert(at, &table, "1"), malformed]).await?;
    if response.status() == 202 {
        batch::changeset_answers(&response)?[0].expect_code(400, "InvalidInput")?;
    } else {
        response.expect_code(400, "InvalidInput")?;
    }
    table.expect_rows(&[]).await
}
