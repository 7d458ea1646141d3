//! Requests to `/T/Tables`, `/T/$batch` and the like. None succeeds; the table is looked up before the rest is judged.

use http::header;
use tablerock_protocol::media::check_json_content_type;
use tablerock_protocol::resource::key_count_error;
use tablerock_protocol::{ErrorCode, ServiceError};

use super::request::NestedRequest;
use super::{TableCall, check_table_name};

pub(super) async fn reject(call: &TableCall<'_>, request: NestedRequest<'_>) -> ServiceError {
    match judge(call, request).await {
        Ok(error) | Err(error) => error,
    }
}

/// The error of the request itself, or the one that precedes it.
async fn judge(call: &TableCall<'_>, request: NestedRequest<'_>) -> Result<ServiceError, ServiceError> {
    let (NestedRequest::Insert(table) | NestedRequest::Delete(table)) = request;
    check_table_name(table)?;
    if matches!(request, NestedRequest::Insert(_)) {
        check_json_content_type(call.header(&header::CONTENT_TYPE))?;
    }
    call.server().tables.check_table(call.account(), table).await?;
    Ok(match request {
        NestedRequest::Insert(_) => ErrorCode::PropertiesNeedValue.into(),
        NestedRequest::Delete(_) => key_count_error(&format!("{}.{table}", call.account())),
    })
}
