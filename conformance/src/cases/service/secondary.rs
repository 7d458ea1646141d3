//! The secondary endpoint: reads in any form, and no writes.

use serde_json::json;

use crate::batch::{self, Part};
use crate::{Outcome, Session, cases};

cases! {
    CreateTable {
        a_write_to_the_secondary_is_refused_in_the_words_of_the_service,
    }
    CreateQueue {
        a_queue_is_not_created_at_the_secondary,
    }
    CreateContainer {
        a_container_is_not_created_at_the_secondary,
    }
    EntityGroupTransaction {
        a_batch_with_a_query_is_a_read_at_the_secondary,
        a_group_is_a_write_at_the_secondary,
    }
}

const NO_WRITES: &str = "Write operations are not allowed.";

async fn a_write_to_the_secondary_is_refused_in_the_words_of_the_service(at: &Session) -> Outcome {
    let response = at.create(&at.unused_name()).at_secondary().send().await?;
    response.expect_error(403, "InsufficientAccountPermissions", NO_WRITES)?;
    Ok(())
}

async fn a_queue_is_not_created_at_the_secondary(at: &Session) -> Outcome {
    let response = at.missing_queue().create()?.at_secondary().send().await?;
    response.expect_error(403, "InsufficientAccountPermissions", NO_WRITES)?;
    Ok(())
}

async fn a_container_is_not_created_at_the_secondary(at: &Session) -> Outcome {
    let response = at.missing_container().create()?.at_secondary().send().await?;
    response.expect_error(403, "InsufficientAccountPermissions", NO_WRITES)?;
    Ok(())
}

fn at_secondary<'s>(at: &'s Session, body: String) -> crate::request::Request<'s> {
    batch::request(at, body).at_secondary()
}

async fn a_batch_with_a_query_is_a_read_at_the_secondary(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    let url = format!("{}{}", at.target().secondary.base(), table.entity_path("p", "r"));
    let response = at_secondary(at, batch::query_body(&Part::new("GET", url, ""))).send().await?;
    batch::query_answer(&response)?.expect(200)?;
    Ok(())
}

async fn a_group_is_a_write_at_the_secondary(at: &Session) -> Outcome {
    let table = at.table().await?;
    let part = Part::insert(&table, &at.target().secondary.base(), json!({ "PartitionKey": "p", "RowKey": "r" }));
    let response = at_secondary(at, batch::changeset_body(&[part])).send().await?;
    response.expect_error(403, "InsufficientAccountPermissions", NO_WRITES)?;
    table.expect_rows(&[]).await
}
