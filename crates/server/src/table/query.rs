//! Query Entities: filter, projection, pages.

use tablerock_protocol::json::{EntityShape, append_entity, append_json_string};
use tablerock_protocol::{ErrorCode, Filter, MetadataLevel, Select, ServiceError, continuation, limits};
use tablerock_services::table::EntityQuery;

use super::{DATA_SERVICE_VERSION, TableCall, check_table_name};
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

pub(super) async fn query_entities(call: &TableCall<'_>, table: &str) -> Result<Reply, ServiceError> {
    check_table_name(table)?;
    let level = call.accepted.level?;
    let select = Select::parse(call.parameter("$select"))?;
    let query = EntityQuery {
        filter: call.parameter("$filter").map(Filter::parse).transpose()?.flatten(),
        top: parse_top(call)?,
        from: parse_continuation(call)?,
        within: call.caller.key_range().cloned(),
    };
    let page = call.server().tables.query_entities(call.account(), table, &query).await?;
    call.cx.counts.add_read(page.entities_read);
    call.cx.counts.add_returned(page.entities.len() as u64);

    let shape = EntityShape { location: call.location(table), level, select: &select };
    let mut body =
        Vec::with_capacity(256 + page.entities.iter().map(|e| 256 + e.entity.bytes_len() * 2).sum::<usize>());
    append_head(&mut body, &shape);
    for (index, found) in page.entities.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        let (partition_key, row_key, entity) = (&found.partition_key, &found.row_key, &found.entity);
        let written = entity.read(|properties| {
            append_entity(&mut body, &shape, false, partition_key, row_key, entity.timestamp(), properties);
        });
        written.map_err(tablerock_services::Error::from)?;
    }
    body.extend_from_slice(b"]}");
    let reply = Reply::json(200, level, body).with(ResponseHeader::DataServiceVersion, DATA_SERVICE_VERSION);
    Ok(match page.next {
        None => reply,
        Some((partition_key, row_key)) => reply
            .with(ResponseHeader::NextPartitionKey, continuation::encode_key(&partition_key))
            .with(ResponseHeader::NextRowKey, continuation::encode_key(&row_key)),
    })
}

fn append_head(body: &mut Vec<u8>, shape: &EntityShape<'_>) {
    body.push(b'{');
    if shape.level != MetadataLevel::None {
        body.extend_from_slice(b"\"odata.metadata\":");
        let suffix = shape.select.metadata_suffix();
        append_json_string(body, &format!("{}/$metadata#{}{suffix}", shape.location.base, shape.location.table));
        body.push(b',');
    }
    body.extend_from_slice(b"\"value\":[");
}

/// `$top`: a number from 0 to 1000.
pub(super) fn parse_top(call: &TableCall<'_>) -> Result<Option<usize>, ServiceError> {
    let Some(text) = call.parameter("$top") else { return Ok(None) };
    match text.trim().parse() {
        Ok(top) if top <= limits::PAGE_ITEMS_MAX => Ok(Some(top)),
        _ => Err(ErrorCode::InvalidInput.into()),
    }
}

/// Both tokens come together, except that a scan resuming at a partition's start may lack the row.
fn parse_continuation(call: &TableCall<'_>) -> Result<Option<(String, String)>, ServiceError> {
    match (call.parameter("NextPartitionKey"), call.parameter("NextRowKey")) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(ErrorCode::InvalidInput.into()),
        (Some(partition_key), row_key) => {
            let row_key = row_key.map(continuation::decode_key).transpose()?;
            Ok(Some((continuation::decode_key(partition_key)?, row_key.unwrap_or_default())))
        }
    }
}
