//! Query Tables, Create Table, Delete Table, and the table resource itself.

use http::header;
use tablerock_protocol::filter::Schema;
use tablerock_protocol::json::{append_table, append_tables_head, parse_table_name};
use tablerock_protocol::media::check_json_content_type;
use tablerock_protocol::{ErrorCode, Filter, ServiceError, TableName, continuation};
use tablerock_services::table::TableQuery;

use super::query::parse_top;
use super::{DATA_SERVICE_VERSION, TableCall};
use crate::http::headers::ResponseHeader;
use crate::http::prefer::{RETURN_NO_CONTENT, prefer};
use crate::http::reply::Reply;

pub(super) async fn query_tables(call: &TableCall<'_>) -> Result<Reply, ServiceError> {
    let level = call.accepted.level?;
    let query = TableQuery {
        filter: call.parameter("$filter").map(|text| Filter::parse_with(text, Schema::TABLE)).transpose()?.flatten(),
        top: parse_top(call)?,
        from: call.parameter("NextTableName").map(continuation::decode_table).transpose()?,
    };
    let page = call.server().tables.query_tables(call.account(), &query).await?;
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
    let reply = Reply::json(200, level, body).with(ResponseHeader::DataServiceVersion, DATA_SERVICE_VERSION);
    Ok(match page.next {
        Some(next) => reply.with(ResponseHeader::NextTableName, continuation::encode_table(&next)),
        None => reply,
    })
}

pub(super) async fn create_table(call: &TableCall<'_>) -> Result<Reply, ServiceError> {
    check_json_content_type(call.header(&header::CONTENT_TYPE))?;
    let applied = prefer(call.headers);
    let level = match applied {
        Some(RETURN_NO_CONTENT) => None,
        _ => Some(call.accepted.level?),
    };
    let name = TableName::parse(&parse_table_name(&call.body)?)?;
    call.server().tables.create_table(call.account(), &name).await?;
    let location = format!("{}/Tables('{name}')", call.endpoint.base);
    let reply = match level {
        None => Reply::empty(204).with(ResponseHeader::DataServiceId, location.clone()),
        Some(level) => {
            let mut body = Vec::with_capacity(160);
            append_table(&mut body, &call.endpoint.base, call.account(), name.as_str(), level, true);
            Reply::json(201, level, body)
        }
    };
    let reply =
        reply.with(ResponseHeader::Location, location).with(ResponseHeader::DataServiceVersion, DATA_SERVICE_VERSION);
    Ok(match applied {
        Some(applied) => reply.with(ResponseHeader::PreferenceApplied, applied),
        None => reply,
    })
}

pub(super) async fn query_table(call: &TableCall<'_>, name: &str) -> Result<Reply, ServiceError> {
    let level = call.accepted.level?;
    let table = call.server().tables.query_table(call.account(), name).await?;
    let mut body = Vec::with_capacity(160);
    append_table(&mut body, &call.endpoint.base, call.account(), &table.name, level, true);
    Ok(Reply::json(200, level, body).with(ResponseHeader::DataServiceVersion, DATA_SERVICE_VERSION))
}

pub(super) async fn delete_table(call: &TableCall<'_>, name: &str) -> Result<Reply, ServiceError> {
    if TableName::check(name).is_err() {
        return Err(ErrorCode::ResourceNotFound.into());
    }
    call.server().tables.delete_table(call.account(), name).await?;
    Ok(Reply::empty(204))
}
