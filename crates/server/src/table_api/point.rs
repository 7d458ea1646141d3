//! Query Entity: one entity by both keys.

use http::header;
use tablerock_protocol::json::{EntityShape, append_entity};
use tablerock_protocol::{ErrorCode, EtagCondition, Select, ServiceError, etag};

use super::query::check_table_name;
use super::{Call, DATA_SERVICE_VERSION};
use crate::answer::Answer;
use crate::headers::AnswerHeader;
use crate::observe::Seen;

pub(super) async fn query_entity(
    call: &Call<'_>,
    table: &str,
    partition_key: &str,
    row_key: &str,
    seen: &mut Seen<'_>,
) -> Result<Answer, ServiceError> {
    check_table_name(table)?;
    let level = call.accepted.level?;
    let select = Select::parse(call.query.value("$select"))?;
    if !call.caller.can_read(partition_key, row_key) {
        return Err(ErrorCode::ResourceNotFound.into());
    }
    let found = call.server.tables.query_entity(call.account(), table, partition_key, row_key).await;
    let entity = found.map_err(|error| error.into_service_error())?;
    seen.entities_read = 1;
    if let Some(header) = call.header(header::IF_NONE_MATCH)
        && EtagCondition::parse(header)?.admits(entity.timestamp())
    {
        return Err(ServiceError::new(ErrorCode::ConditionNotMet).status(304));
    }
    let shape = EntityShape { location: call.location(table), level, select: &select };
    let mut body = Vec::with_capacity(512 + entity.bytes_len() * 2);
    let written = entity.read(|properties| {
        append_entity(&mut body, &shape, true, partition_key, row_key, entity.timestamp(), properties);
    });
    written.map_err(|error| tablerock_services::Error::from(error).into_service_error())?;
    seen.entities_returned = 1;
    let answer = Answer::json(200, level, body).with(AnswerHeader::Etag, etag(entity.timestamp()));
    Ok(answer.with(AnswerHeader::DataServiceVersion, DATA_SERVICE_VERSION))
}
