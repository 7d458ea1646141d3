//! Stored access policies of a table.

use tablerock_kv::Bytes;
use tablerock_protocol::signing::TablePermissions;
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{ErrorCode, TableName};

use super::TableService;
use super::record::TableRecord;
use crate::{Result, namespace};

impl TableService {
    pub async fn table_acl(&self, account: &str, table: &str) -> Result<StoredAccessPolicies> {
        self.throttle.check_account(account)?;
        let record = self.table_record(account, table).await?.ok_or(ErrorCode::TableNotFound)?;
        Ok(namespace::decode_policies(&record.policies, TablePermissions::LETTERS)?)
    }

    /// Replaces the whole list.
    pub async fn set_table_acl(&self, account: &str, table: &str, policies: &StoredAccessPolicies) -> Result<()> {
        self.throttle.check_account(account)?;
        let policies = Bytes::from(policies.render());
        self.directory
            .transact(account, &TableName::fold(table), |entry| {
                let record = TableRecord::decode(entry.row().ok_or(ErrorCode::TableNotFound)?)?;
                entry.put(TableRecord { policies: policies.clone(), ..record }.encode());
                Ok(())
            })
            .await
    }
}
