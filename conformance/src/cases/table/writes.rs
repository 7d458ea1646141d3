//! Update, merge, the two upserts and delete: what they keep, what they return, what they reject.

use serde_json::json;

use super::etags::instant;
use crate::expect::{ensure, equal};
use crate::table::Table;
use crate::{Outcome, Session, cases};

cases! {
    UpdateEntity {
        update_answers_with_an_etag_and_nothing_else,
        update_replaces_all_properties,
        update_of_a_missing_entity_is_not_found,
        update_with_a_stale_etag_is_refused,
        update_with_the_current_etag_is_served,
        update_in_a_missing_table_is_not_found,
        a_property_may_change_its_type,
        a_missing_entity_goes_before_a_stale_etag,
        prefer_is_ignored_on_updates,
        keys_in_the_body_of_an_update_do_not_move_the_entity,
    }
    MergeEntity {
        merge_answers_with_an_etag_and_nothing_else,
        merge_keeps_what_is_not_sent,
        patch_is_the_same_as_merge,
        merge_does_not_remove_by_null,
        merge_of_a_missing_entity_is_not_found,
        merge_with_a_stale_etag_is_refused,
        merge_may_change_a_type,
        merge_of_nothing_writes_a_new_timestamp,
    }
    InsertOrReplaceEntity {
        insert_or_replace_inserts,
        insert_or_replace_replaces,
        insert_or_replace_in_a_missing_table_is_not_found,
    }
    InsertOrMergeEntity {
        insert_or_merge_inserts,
        insert_or_merge_merges,
        insert_or_merge_by_patch_merges,
    }
    DeleteEntity {
        delete_answers_without_etag,
        delete_with_the_current_etag_is_served,
        delete_with_a_stale_etag_is_refused,
        delete_of_a_missing_entity_is_not_found,
        delete_in_a_missing_table_is_not_found,
        delete_without_if_match_is_refused,
        an_entity_can_be_inserted_again_after_a_delete,
    }
}

const NOT_FOUND: &str = "The specified resource does not exist.";
const NO_TABLE: &str = "The table specified does not exist.";
const CONDITION: &str = "The update condition specified in the request was not satisfied.";

/// One entity `p`/`r` with `A` = 1 and `B` = 2, and its etag.
async fn seeded(at: &Session) -> Outcome<(Table<'_>, String)> {
    let table = at.table().await?;
    let etag = table.seed(json!({ "PartitionKey": "p", "RowKey": "r", "A": 1, "B": 2 })).await?.etag()?;
    Ok((table, etag))
}

/// The seeded entity after a second write, and the etag of the first.
async fn seeded_twice(at: &Session) -> Outcome<(Table<'_>, String)> {
    let (table, stale) = seeded(at).await?;
    table.merge("p", "r", json!({ "A": 10 })).if_match("*").send().await?.expect(204)?;
    Ok((table, stale))
}

async fn expect_properties(table: &Table<'_>, a: Option<i64>, b: Option<i64>) -> Outcome {
    let stored = table.stored("p", "r").await?;
    equal("A", stored.get("A").and_then(|value| value.as_i64()), a)?;
    equal("B", stored.get("B").and_then(|value| value.as_i64()), b)
}

async fn expect_bare_204(at: &Session, verb: &str, if_match: Option<&str>) -> Outcome {
    let (table, _) = seeded(at).await?;
    let mut request = table.write(verb, "p", "r", json!({ "A": 3 }));
    if let Some(etag) = if_match {
        request = request.if_match(etag);
    }
    let response = request.send().await?;
    response.expect(204)?.expect_no_body()?.expect_no_header("Location")?;
    equal("ETag", response.etag()?, table.read("p", "r").send().await?.etag()?)
}

async fn update_answers_with_an_etag_and_nothing_else(at: &Session) -> Outcome {
    expect_bare_204(at, "PUT", Some("*")).await?;
    expect_bare_204(at, "PUT", None).await
}

async fn merge_answers_with_an_etag_and_nothing_else(at: &Session) -> Outcome {
    for verb in ["MERGE", "PATCH"] {
        expect_bare_204(at, verb, Some("*")).await?;
        expect_bare_204(at, verb, None).await?;
    }
    Ok(())
}

async fn update_replaces_all_properties(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    table.put("p", "r", json!({ "A": 3 })).if_match("*").send().await?.expect(204)?;
    expect_properties(&table, Some(3), None).await
}

async fn update_of_a_missing_entity_is_not_found(at: &Session) -> Outcome {
    let table = at.table().await?;
    let response = table.put("p", "r", json!({ "A": 3 })).if_match("*").send().await?;
    response.expect_error(404, "ResourceNotFound", NOT_FOUND)?;
    table.expect_rows(&[]).await
}

async fn update_with_a_stale_etag_is_refused(at: &Session) -> Outcome {
    let (table, stale) = seeded_twice(at).await?;
    let response = table.put("p", "r", json!({ "A": 3 })).if_match(&stale).send().await?;
    response.expect_error(412, "UpdateConditionNotSatisfied", CONDITION)?;
    expect_properties(&table, Some(10), Some(2)).await
}

async fn update_with_the_current_etag_is_served(at: &Session) -> Outcome {
    let (table, etag) = seeded(at).await?;
    table.put("p", "r", json!({ "A": 3 })).if_match(&etag).send().await?.expect(204)?;
    expect_properties(&table, Some(3), None).await
}

async fn update_in_a_missing_table_is_not_found(at: &Session) -> Outcome {
    let response = at.missing_table().put("p", "r", json!({ "A": 3 })).if_match("*").send().await?;
    response.expect_error(404, "TableNotFound", NO_TABLE)?;
    Ok(())
}

async fn a_property_may_change_its_type(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    table.put("p", "r", json!({ "A": "text" })).if_match("*").send().await?.expect(204)?;
    equal("A", table.stored("p", "r").await?["A"].as_str(), Some("text"))
}

async fn a_missing_entity_goes_before_a_stale_etag(at: &Session) -> Outcome {
    let (table, etag) = seeded(at).await?;
    table.delete("p", "r").send().await?.expect(204)?;
    let update = table.put("p", "r", json!({ "A": 3 })).if_match(&etag).send().await?;
    update.expect_error(404, "ResourceNotFound", NOT_FOUND)?;
    table.delete("p", "r").if_match(&etag).send().await?.expect_error(404, "ResourceNotFound", NOT_FOUND)?;
    Ok(())
}

async fn prefer_is_ignored_on_updates(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    let response = table.put("p", "r", json!({ "A": 3 })).prefer("return-content").send().await?;
    response.expect(204)?.expect_no_body()?.expect_no_header("Preference-Applied")?;
    Ok(())
}

/// Refusing them is allowed; following them is not.
async fn keys_in_the_body_of_an_update_do_not_move_the_entity(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    let same = json!({ "PartitionKey": "p", "RowKey": "r", "A": 3 });
    table.put("p", "r", same).if_match("*").send().await?.expect(204)?;
    let other = json!({ "PartitionKey": "q", "RowKey": "s", "A": 4 });
    table.put("p", "r", other).if_match("*").send().await?.expect_one_of(&[204, 400])?;
    let rows = table.query().send().await?;
    equal("partitions", rows.column("PartitionKey")?, ["p"])?;
    equal("rows", rows.column("RowKey")?, ["r"])
}

async fn expect_merged_by(at: &Session, verb: &str, if_match: Option<&str>) -> Outcome {
    let (table, _) = seeded(at).await?;
    let request = table.write(verb, "p", "r", json!({ "A": 3 }));
    let request = if let Some(etag) = if_match { request.if_match(etag) } else { request };
    request.send().await?.expect(204)?;
    expect_properties(&table, Some(3), Some(2)).await
}

async fn merge_keeps_what_is_not_sent(at: &Session) -> Outcome {
    expect_merged_by(at, "MERGE", Some("*")).await
}

async fn patch_is_the_same_as_merge(at: &Session) -> Outcome {
    expect_merged_by(at, "PATCH", Some("*")).await
}

async fn merge_does_not_remove_by_null(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    table.merge("p", "r", json!({ "A": null, "B": 5 })).if_match("*").send().await?.expect(204)?;
    expect_properties(&table, Some(1), Some(5)).await
}

async fn merge_of_a_missing_entity_is_not_found(at: &Session) -> Outcome {
    let table = at.table().await?;
    for verb in ["MERGE", "PATCH"] {
        let response = table.write(verb, "p", "r", json!({ "A": 3 })).if_match("*").send().await?;
        response.expect_error(404, "ResourceNotFound", NOT_FOUND)?;
    }
    table.expect_rows(&[]).await
}

async fn merge_with_a_stale_etag_is_refused(at: &Session) -> Outcome {
    let (table, stale) = seeded_twice(at).await?;
    let response = table.merge("p", "r", json!({ "A": 3 })).if_match(&stale).send().await?;
    response.expect_error(412, "UpdateConditionNotSatisfied", CONDITION)?;
    expect_properties(&table, Some(10), Some(2)).await
}

async fn merge_may_change_a_type(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    table.merge("p", "r", json!({ "A": true })).if_match("*").send().await?.expect(204)?;
    equal("A", table.stored("p", "r").await?["A"].as_bool(), Some(true))
}

async fn merge_of_nothing_writes_a_new_timestamp(at: &Session) -> Outcome {
    let (table, before) = seeded(at).await?;
    let after = table.merge("p", "r", "{}").if_match("*").send().await?.expect(204)?.etag()?;
    ensure(instant(&after) > instant(&before), || format!("{after} does not follow {before}"))?;
    expect_properties(&table, Some(1), Some(2)).await
}

async fn insert_or_replace_inserts(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.put("p", "r", json!({ "A": 3 })).send().await?.expect(204)?;
    expect_properties(&table, Some(3), None).await
}

async fn insert_or_replace_replaces(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    table.put("p", "r", json!({ "A": 3 })).send().await?.expect(204)?;
    expect_properties(&table, Some(3), None).await
}

async fn insert_or_replace_in_a_missing_table_is_not_found(at: &Session) -> Outcome {
    let table = at.missing_table();
    table.put("p", "r", json!({ "A": 3 })).send().await?.expect_error(404, "TableNotFound", NO_TABLE)?;
    table.merge("p", "r", json!({ "A": 3 })).send().await?.expect_error(404, "TableNotFound", NO_TABLE)?;
    Ok(())
}

async fn insert_or_merge_inserts(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.merge("p", "r", json!({ "A": 3 })).send().await?.expect(204)?;
    expect_properties(&table, Some(3), None).await
}

async fn insert_or_merge_merges(at: &Session) -> Outcome {
    expect_merged_by(at, "MERGE", None).await
}

async fn insert_or_merge_by_patch_merges(at: &Session) -> Outcome {
    expect_merged_by(at, "PATCH", None).await
}

async fn delete_answers_without_etag(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    let response = table.delete("p", "r").send().await?;
    response.expect(204)?.expect_no_body()?.expect_no_header("ETag")?;
    table.expect_rows(&[]).await
}

async fn delete_with_the_current_etag_is_served(at: &Session) -> Outcome {
    let (table, etag) = seeded(at).await?;
    table.delete("p", "r").if_match(&etag).send().await?.expect(204)?;
    table.expect_rows(&[]).await
}

async fn delete_with_a_stale_etag_is_refused(at: &Session) -> Outcome {
    let (table, stale) = seeded_twice(at).await?;
    let response = table.delete("p", "r").if_match(&stale).send().await?;
    response.expect_error(412, "UpdateConditionNotSatisfied", CONDITION)?;
    table.expect_rows(&["r"]).await
}

async fn delete_of_a_missing_entity_is_not_found(at: &Session) -> Outcome {
    let response = at.table().await?.delete("p", "r").send().await?;
    response.expect_error(404, "ResourceNotFound", NOT_FOUND)?;
    Ok(())
}

async fn delete_in_a_missing_table_is_not_found(at: &Session) -> Outcome {
    let response = at.missing_table().delete("p", "r").send().await?;
    response.expect_error(404, "TableNotFound", NO_TABLE)?;
    Ok(())
}

async fn delete_without_if_match_is_refused(at: &Session) -> Outcome {
    let (table, _) = seeded(at).await?;
    let response = table.delete("p", "r").without("If-Match").send().await?;
    response.expect_any_code(&[(400, "InvalidInput"), (400, "MissingRequiredHeader")])?;
    table.expect_rows(&["r"]).await
}

async fn an_entity_can_be_inserted_again_after_a_delete(at: &Session) -> Outcome {
    let (table, first) = seeded(at).await?;
    table.delete("p", "r").send().await?.expect(204)?;
    let second = table.seed(json!({ "PartitionKey": "p", "RowKey": "r" })).await?.etag()?;
    ensure(instant(&second) > instant(&first), || format!("{second} does not follow {first}"))
}
