//! Query Tables, Create Table, Delete Table, and the table resource itself.

use http::header;
use tablerock_protocol::json::{append_table, append_tables_head, parse_table_name};
use tablerock_protocol::media::check_json_content_type;
use tablerock_protocol::{ErrorCode, Filter, ServiceError, TableName, continuation};
use tablerock_services::table::TableQuery;

use super::query::parse_top;
use super::{Call, DATA_SERVICE_VERSION, RETURN_NO_CONTENT, prefer};
use crate::answer::Answer;
use crate::headers::AnswerHeader;

pub(super) async fn query_tables(call: &Call<'_>) -> Result<Answer, ServiceError> {
    let level = call.accepted.level?;
    let query = TableQuery {
        filter: call.query.value("$filter").map(Filter::parse).transpose()?.flatten(),
        top: parse_top(call.query)?,
        from: call.query.value("NextTableName").map(continuation::decode_table).transpose()?,
    };
    let page = call.server.tables.query_tables(call.account(), &query).await.map_err(|e| e.into_service_error())?;
    let base = &call.endpoint.base;
    let mut body = Vec::with_capacity(128 + 40 * page.names.len());
    append_tables_head(&mut body, base, level);
    for (index, name) in page.names.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        append_table(&mut body, base, call.account(), name, level, false);
    }
    body.extend_from_slice(b"]}");
    let answer = Answer::json(200, level, body).with(AnswerHeader::DataServiceVersion, DATA_SERVICE_VERSION);
    Ok(match page.next {
        Some(next) => answer.with(AnswerHeader::NextTableName, continuation::encode_table(&next)),
        None => answer,
    })
}

pub(super) async fn create_table(call: &Call<'_>) -> Result<Answer, ServiceError> {
    check_json_content_type(call.header(header::CONTENT_TYPE))?;
    let applied = prefer(call.headers);
    let level = match applied {
        Some(RETURN_NO_CONTENT) => None,
        _ => Some(call.accepted.level?),
    };
    let name = TableName::parse(&parse_table_name(&call.body)?)?;
    call.server.tables.create_table(call.account(), &name).await.map_err(|error| error.into_service_error())?;
    let location = format!("{}/Tables('{name}')", call.endpoint.base);
    let answer = match level {
        None => Answer::empty(204).with(AnswerHeader::DataServiceId, location.clone()),
        Some(level) => {
            let mut body = Vec::with_capacity(160);
            append_table(&mut body, &call.endpoint.base, call.account(), name.as_str(), level, true);
            Answer::json(201, level, body)
        }
    };
    let answer =
        answer.with(AnswerHeader::Location, location).with(AnswerHeader::DataServiceVersion, DATA_SERVICE_VERSION);
    Ok(match applied {
        Some(applied) => answer.with(AnswerHeader::PreferenceApplied, applied),
        None => answer,
    })
}

pub(super) async fn query_table(call: &Call<'_>, name: &str) -> Result<Answer, ServiceError> {
    let level = call.accepted.level?;
    let table =
        call.server.tables.query_table(call.account(), name).await.map_err(|error| error.into_service_error())?;
    let mut body = Vec::with_capacity(160);
    append_table(&mut body, &call.endpoint.base, call.account(), &table.name, level, true);
    Ok(Answer::json(200, level, body).with(AnswerHeader::DataServiceVersion, DATA_SERVICE_VERSION))
}

pub(super) async fn delete_table(call: &Call<'_>, name: &str) -> Result<Answer, ServiceError> {
    if TableName::check(name).is_err() {
        return Err(ErrorCode::ResourceNotFound.into());
    }
    call.server.tables.delete_table(call.account(), name).await.map_err(|error| error.into_service_error())?;
    Ok(Answer::empty(204))
}
