//! Get and Set Table ACL.

use tablerock_protocol::ServiceError;
use tablerock_protocol::signing::TablePermissions;
use tablerock_protocol::xml::{BOM, StoredAccessPolicies};

use super::{TableCall, check_table_name};
use crate::http::reply::Reply;

pub(super) async fn table_acl(call: &TableCall<'_>, table: &str) -> Result<Reply, ServiceError> {
    check_table_name(table)?;
    let policies = call.server().tables.table_acl(call.account(), table).await?;
    Ok(Reply::xml(200, format!("{BOM}{}", policies.render()).into_bytes()))
}

pub(super) async fn set_table_acl(call: &TableCall<'_>, table: &str) -> Result<Reply, ServiceError> {
    check_table_name(table)?;
    let policies = StoredAccessPolicies::parse(&call.body, TablePermissions::LETTERS)?;
    call.server().tables.set_table_acl(call.account(), table, &policies).await?;
    Ok(Reply::empty(204))
}
