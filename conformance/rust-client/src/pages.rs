//! One page of all entities.

use serde_json::{Value, json};
use tablerock_client::{ContinuationToken, Entity, Error, TableClient};

/// Reads the first page, or that of the keys of a continuation.
pub(crate) async fn run(
    table: &TableClient,
    size: usize,
    next_partition_key: Option<&str>,
    next_row_key: Option<&str>,
) -> Result<Value, Error> {
    let token = next_partition_key.map(|partition| ContinuationToken::from_next_keys(partition, next_row_key));
    let page = table.query::<Entity>().page_size(size).page(token.transpose()?.as_ref()).await?;
    let keys: Vec<Value> = page.items.iter().map(keys).collect();
    let next = page.continuation_token.map(|token| {
        let (partition, row) = token.next_keys();
        json!({ "partition": partition, "row": row })
    });
    Ok(json!({ "keys": keys, "next": next }))
}

/// Both keys of an entity.
pub(crate) fn keys(entity: &Entity) -> Value {
    json!([entity.partition_key, entity.row_key])
}
