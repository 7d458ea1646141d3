//! Operations on tables and queues with each parameter that Azure documents for them, one at a time and with a value that
//! cannot be met. A service that accepts such a request has not read the parameter.

use crate::expect::ensure;
use crate::request::Request;
use crate::{Outcome, Session, cases};

cases! {
    QueryTables { query_tables_reads_its_parameters }
    CreateTable { create_table_reads_its_parameters }
    QueryEntities { query_entities_reads_its_parameters }
    QueryEntity { query_entity_reads_its_parameters }
    InsertEntity { insert_entity_reads_its_parameters }
    UpdateEntity { update_entity_reads_its_parameters }
    DeleteEntity { delete_entity_reads_its_parameters }
    ListQueues { list_queues_reads_its_parameters }
    GetQueueMetadata { get_queue_metadata_reads_its_parameters }
    PutMessage { put_message_reads_its_parameters }
    GetMessages { get_messages_reads_its_parameters }
    PeekMessages { peek_messages_reads_its_parameters }
    UpdateMessage { update_message_reads_its_parameters }
    DeleteMessage { delete_message_reads_its_parameters }
}

const TIMEOUT: (&str, &str) = ("timeout", "soon");
const COUNT: (&str, &str) = ("numofmessages", "33");
const VISIBILITY: (&str, &str) = ("visibilitytimeout", "604801");

/// Sends the request with each parameter in turn, which has to be rejected, and then without, which has to succeed.
async fn reads(request: Request<'_>, parameters: &[(&str, &str)]) -> Outcome {
    let mut accepted = Vec::new();
    for (name, value) in parameters {
        if request.clone().query(name, value).send().await?.status() < 300 {
            accepted.push(*name);
        }
    }
    ensure(accepted.is_empty(), || format!("{}: accepted and not done: {}", request.summary(), accepted.join(", ")))?;
    request.send().await?.expect_one_of(&[200, 201, 202, 204]).map(drop)
}

async fn query_tables_reads_its_parameters(at: &Session) -> Outcome {
    reads(at.get("/Tables"), &[TIMEOUT, ("$top", "many"), ("$filter", "TableName near 'a'"), ("$orderby", "a")]).await
}

async fn create_table_reads_its_parameters(at: &Session) -> Outcome {
    let name = at.unused_name();
    at.drop_afterwards(&name);
    reads(at.create(&name), &[TIMEOUT]).await
}

async fn query_entities_reads_its_parameters(at: &Session) -> Outcome {
    let table = at.table().await?;
    reads(table.query(), &[TIMEOUT, ("$top", "many"), ("$filter", "A near 1"), ("$orderby", "A"), ("$skip", "1")]).await
}

async fn query_entity_reads_its_parameters(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    reads(table.read("p", "r"), &[TIMEOUT]).await
}

async fn insert_entity_reads_its_parameters(at: &Session) -> Outcome {
    let table = at.table().await?;
    reads(table.insert(r#"{"PartitionKey":"p","RowKey":"r"}"#), &[TIMEOUT]).await
}

async fn update_entity_reads_its_parameters(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    reads(table.put("p", "r", "{}").if_match("*"), &[TIMEOUT]).await
}

async fn delete_entity_reads_its_parameters(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.seed_rows(&["r"]).await?;
    reads(table.delete("p", "r").if_match("*"), &[TIMEOUT]).await
}

async fn list_queues_reads_its_parameters(at: &Session) -> Outcome {
    let request = at.to_queues("GET", "/")?.query("comp", "list");
    reads(request, &[TIMEOUT, ("maxresults", "many"), ("include", "nothing")]).await
}

async fn get_queue_metadata_reads_its_parameters(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    reads(queue.metadata()?, &[TIMEOUT]).await
}

async fn put_message_reads_its_parameters(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    reads(queue.put("text")?, &[TIMEOUT, VISIBILITY, ("messagettl", "0")]).await
}

async fn get_messages_reads_its_parameters(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    reads(queue.get()?, &[TIMEOUT, VISIBILITY, COUNT]).await
}

async fn peek_messages_reads_its_parameters(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    reads(queue.peek()?, &[TIMEOUT, COUNT]).await
}

async fn update_message_reads_its_parameters(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let message = queue.seed("text").await?;
    reads(queue.update(&message, "1")?, &[TIMEOUT, ("popreceipt", "none")]).await
}

async fn delete_message_reads_its_parameters(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let message = queue.seed("text").await?;
    reads(queue.delete(&message)?, &[TIMEOUT, ("popreceipt", "none")]).await
}
