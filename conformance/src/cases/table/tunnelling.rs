//! `X-HTTP-Method`: other verbs inside a POST.

use serde_json::json;

use crate::batch::{self, Part};
use crate::expect::equal;
use crate::table::Table;
use crate::{Outcome, Session, cases};

cases! {
    MergeEntity {
        a_tunnelled_merge_merges,
        a_tunnelled_patch_merges,
        a_tunnelling_header_without_post_is_refused,
        an_unknown_tunnelled_method_is_refused,
        a_repeated_tunnelling_header_is_refused,
    }
    UpdateEntity {
        a_tunnelled_put_replaces,
    }
    DeleteEntity {
        a_tunnelled_delete_deletes,
    }
    EntityGroupTransaction {
        a_part_may_name_its_own_method_again,
        a_part_that_names_two_methods_is_refused,
    }
}

async fn seeded(at: &Session) -> Outcome<Table<'_>> {
    let table = at.table().await?;
    table.seed(json!({ "PartitionKey": "p", "RowKey": "r", "A": 1, "B": 2 })).await?;
    Ok(table)
}

async fn expect_tunnelled(at: &Session, method: &str, b_afterwards: Option<i64>) -> Outcome {
    let table = seeded(at).await?;
    let request = table.write("POST", "p", "r", json!({ "A": 3 })).header("X-HTTP-Method", method).if_match("*");
    request.send().await?.expect(204)?;
    let stored = table.stored("p", "r").await?;
    equal("A", stored["A"].as_i64(), Some(3))?;
    equal("B", stored.get("B").and_then(|value| value.as_i64()), b_afterwards)
}

async fn a_tunnelled_merge_merges(at: &Session) -> Outcome {
    expect_tunnelled(at, "MERGE", Some(2)).await
}

async fn a_tunnelled_patch_merges(at: &Session) -> Outcome {
    expect_tunnelled(at, "PATCH", Some(2)).await
}

async fn a_tunnelled_put_replaces(at: &Session) -> Outcome {
    expect_tunnelled(at, "PUT", None).await
}

async fn a_tunnelled_delete_deletes(at: &Session) -> Outcome {
    let table = seeded(at).await?;
    let request = at.post(table.entity_path("p", "r")).header("X-HTTP-Method", "DELETE").if_match("*");
    request.send().await?.expect(204)?;
    table.expect_rows(&[]).await
}

async fn a_tunnelling_header_without_post_is_refused(at: &Session) -> Outcome {
    let table = seeded(at).await?;
    let response = table.put("p", "r", json!({ "A": 3 })).header("X-HTTP-Method", "MERGE").send().await?;
    let message = "The X-HTTP-Method header was used with a method other than POST.";
    response.expect_error(400, "XMethodNotUsingPost", message)?;
    equal("A", table.stored("p", "r").await?["A"].as_i64(), Some(1))
}

/// The legacy library for Java sends its merges so.
async fn a_part_may_name_its_own_method_again(at: &Session) -> Outcome {
    let table = seeded(at).await?;
    let url = table.entity_url("p", "r");
    let merge = Part::new("MERGE", url, json!({ "A": 3 })).header("X-HTTP-Method", "MERGE").header("If-Match", "*");
    batch::commit(at, &[merge]).await?;
    let stored = table.stored("p", "r").await?;
    equal("A and B", (stored["A"].as_i64(), stored["B"].as_i64()), (Some(3), Some(2)))
}

async fn a_part_that_names_two_methods_is_refused(at: &Session) -> Outcome {
    let table = seeded(at).await?;
    let url = table.entity_url("p", "r");
    let part = Part::new("PUT", url, json!({ "A": 3 })).header("X-HTTP-Method", "MERGE").header("If-Match", "*");
    let response = batch::send(at, &[part]).await?;
    let message = "0:The X-HTTP-Method header was used with a method other than POST.";
    batch::expect_failed(&response, 400, "XMethodNotUsingPost", message)
}

async fn an_unknown_tunnelled_method_is_refused(at: &Session) -> Outcome {
    let table = seeded(at).await?;
    let request = table.write("POST", "p", "r", json!({ "A": 3 })).header("X-HTTP-Method", "FROB").if_match("*");
    request.send().await?.expect_code(400, "XMethodIncorrectValue")?;
    Ok(())
}

async fn a_repeated_tunnelling_header_is_refused(at: &Session) -> Outcome {
    let table = seeded(at).await?;
    let request = table.write("POST", "p", "r", json!({ "A": 3 })).if_match("*");
    let request = request.another_header("X-HTTP-Method", "MERGE").another_header("X-HTTP-Method", "MERGE");
    request.send().await?.expect_code(400, "XMethodIncorrectCount")?;
    Ok(())
}
