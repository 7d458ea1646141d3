//! Stored access policies of a table.

use tablerock_kv::Bytes;
use tablerock_protocol::signing::TablePermissions;
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{ErrorCode, TableName};

use super::TableService;
use super::record::TableRecord;
use crate::{Result, keys};

impl TableService {
    pub async fn table_acl(&self, account: &str, table: &str) -> Result<StoredAccessPolicies> {
        self.throttle.check_account(account)?;
        let record = self.table_record(account, table).await?.ok_or(ErrorCode::TableNotFound)?;
        if record.policies.is_empty() {
            return Ok(StoredAccessPolicies::default());
        }
        let unreadable = |_| tablerock_kv::Error::corrupt("stored access policies cannot be read");
        Ok(StoredAccessPolicies::parse(&record.policies, TablePermissions::LETTERS).map_err(unreadable)?)
    }

    /// Replaces the whole list.
    pub async fn set_table_acl(&self, account: &str, table: &str, policies: &StoredAccessPolicies) -> Result<()> {
        self.throttle.check_account(account)?;
        let key = keys::directory_key(&TableName::fold(table));
        let policies = Bytes::from(policies.render());
        self.store
            .transact(&keys::directory_partition(account), vec![key.clone()], |tx| {
                let mut record = TableRecord::decode(tx.get(&key).ok_or(ErrorCode::TableNotFound)?)?;
                record.policies = policies.clone();
                tx.put(key.clone(), record.encode());
                Ok(())
            })
            .await
    }
}
