//! Query Entity: one entity by both keys.

use http::header;
use tablerock_protocol::json::{EntityShape, append_entity};
use tablerock_protocol::{ErrorCode, EtagCondition, Select, ServiceError, etag};

use super::request::EntityAddress;
use super::{DATA_SERVICE_VERSION, TableCall, check_table_name};
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

pub(super) async fn query_entity(call: &TableCall<'_>, at: EntityAddress<'_>) -> Result<Reply, ServiceError> {
    let EntityAddress { table, partition_key, row_key } = at;
    check_table_name(table)?;
    let level = call.accepted.level?;
    let select = Select::parse(call.parameter("$select"))?;
    if !call.caller.can_read(partition_key, row_key) {
        return Err(ErrorCode::ResourceNotFound.into());
    }
    let entity = call.server().tables.query_entity(call.account(), table, partition_key, row_key).await?;
    call.cx.counts.add_read(1);
    if let Some(header) = call.header(&header::IF_NONE_MATCH)
        && EtagCondition::parse(header)?.admits(entity.timestamp())
    {
        return Err(ServiceError::new(ErrorCode::ConditionNotMet).status(304));
    }
    let shape = EntityShape { location: call.location(table), level, select: &select };
    let mut body = Vec::with_capacity(512 + entity.bytes_len() * 2);
    let written = entity.read(|properties| {
        append_entity(&mut body, &shape, true, partition_key, row_key, entity.timestamp(), properties);
    });
    written.map_err(tablerock_services::Error::from)?;
    call.cx.counts.add_returned(1);
    let reply = Reply::json(200, level, body).with(ResponseHeader::Etag, etag(entity.timestamp()));
    Ok(reply.with(ResponseHeader::DataServiceVersion, DATA_SERVICE_VERSION))
}
