//! Stored access policies of a table.

use tablerock_kv::{Bytes, Witness};
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

    /// The same for a request that the policy with this id admits, and the witness that its commits rest on.
    pub async fn policies_for(&self, account: &str, table: &str, id: &str) -> Result<(StoredAccessPolicies, Witness)> {
        self.throttle.check_account(account)?;
        let policies_of =
            |row: &Bytes| namespace::decode_policies(&TableRecord::decode(row)?.policies, TablePermissions::LETTERS);
        let found = self.directory.policies_for(account, &TableName::fold(table), id, policies_of).await?;
        Ok(found.ok_or(ErrorCode::TableNotFound)?)
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
