//! Get and Set Table ACL.

use tablerock_protocol::ServiceError;
use tablerock_protocol::signing::TablePermissions;
use tablerock_protocol::xml::{BOM, StoredAccessPolicies};

use super::Call;
use crate::answer::Answer;

pub(super) async fn table_acl(call: &Call<'_>, table: &str) -> Result<Answer, ServiceError> {
    let policies =
        call.server.tables.table_acl(call.account(), table).await.map_err(|error| error.into_service_error())?;
    Ok(Answer::xml(200, format!("{BOM}{}", policies.render()).into_bytes()))
}

pub(super) async fn set_table_acl(call: &Call<'_>, table: &str) -> Result<Answer, ServiceError> {
    let policies = StoredAccessPolicies::parse(&call.body, TablePermissions::LETTERS)?;
    let set = call.server.tables.set_table_acl(call.account(), table, &policies).await;
    set.map_err(|error| error.into_service_error())?;
    Ok(Answer::empty(204))
}
