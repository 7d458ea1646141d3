//! Query Entities: filter, projection, pages.

use tablerock_protocol::json::{EntityShape, append_entity, append_json_string};
use tablerock_protocol::{
    ErrorCode, Filter, MetadataLevel, QueryString, Select, ServiceError, TableName, continuation, limits,
};
use tablerock_services::table::EntityQuery;

use super::{Call, DATA_SERVICE_VERSION};
use crate::answer::Answer;
use crate::auth::Caller;
use crate::headers::AnswerHeader;
use crate::observe::Seen;

pub(super) async fn query_entities(call: &Call<'_>, table: &str, seen: &mut Seen<'_>) -> Result<Answer, ServiceError> {
    check_table_name(table)?;
    let level = call.accepted.level?;
    let select = Select::parse(call.query.value("$select"))?;
    let query = EntityQuery {
        filter: call.query.value("$filter").map(Filter::parse).transpose()?.flatten(),
        top: parse_top(call.query)?,
        from: parse_continuation(call.query)?,
        within: match call.caller {
            Caller::Table(grant) => Some(grant.keys.clone()),
            _ => None,
        },
    };
    let found = call.server.tables.query_entities(call.account(), table, &query).await;
    let page = found.map_err(|error| error.into_service_error())?;
    seen.entities_read = page.entities_read;
    seen.entities_returned = page.entities.len() as u64;

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
        written.map_err(|error| tablerock_services::Error::from(error).into_service_error())?;
    }
    body.extend_from_slice(b"]}");
    let answer = Answer::json(200, level, body).with(AnswerHeader::DataServiceVersion, DATA_SERVICE_VERSION);
    Ok(match page.next {
        None => answer,
        Some((partition_key, row_key)) => answer
            .with(AnswerHeader::NextPartitionKey, continuation::encode_key(&partition_key))
            .with(AnswerHeader::NextRowKey, continuation::encode_key(&row_key)),
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
pub(super) fn parse_top(query: &QueryString<'_>) -> Result<Option<usize>, ServiceError> {
    let Some(text) = query.value("$top") else { return Ok(None) };
    match text.trim().parse() {
        Ok(top) if top <= limits::PAGE_ITEMS_MAX => Ok(Some(top)),
        _ => Err(ErrorCode::InvalidInput.into()),
    }
}

/// Both tokens come together, except that a scan resuming at a partition's start may lack the row.
fn parse_continuation(query: &QueryString<'_>) -> Result<Option<(String, String)>, ServiceError> {
    match (query.value("NextPartitionKey"), query.value("NextRowKey")) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(ErrorCode::InvalidInput.into()),
        (Some(partition_key), row_key) => {
            let row_key = row_key.map(continuation::decode_key).transpose()?;
            Ok(Some((continuation::decode_key(partition_key)?, row_key.unwrap_or_default())))
        }
    }
}

/// A name that no table can have is refused as such. Names with `$` are the service's own tables, which are
/// looked up like any other.
pub(super) fn check_table_name(table: &str) -> Result<(), ServiceError> {
    if table.starts_with('$') { Ok(()) } else { TableName::check(table) }
}
