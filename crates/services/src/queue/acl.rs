//! Stored access policies of a queue.

use tablerock_kv::{Bytes, Witness};
use tablerock_protocol::signing::QueuePermissions;
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{ErrorCode, QueueName};

use super::QueueService;
use super::record::QueueRecord;
use crate::{Result, namespace};

impl QueueService {
    pub async fn queue_acl(&self, account: &str, name: &QueueName) -> Result<StoredAccessPolicies> {
        let record = self.queue_record(account, name).await?;
        Ok(namespace::decode_policies(&record.policies, QueuePermissions::LETTERS)?)
    }

    /// The same for a request that the policy with this id admits, and the witness that its commits rest on.
    pub async fn policies_for(
        &self,
        account: &str,
        name: &QueueName,
        id: &str,
    ) -> Result<(StoredAccessPolicies, Witness)> {
        let policies_of =
            |row: &Bytes| namespace::decode_policies(&QueueRecord::decode(row)?.policies, QueuePermissions::LETTERS);
        let found = self.directory.policies_for(account, name.as_str(), id, policies_of).await?;
        Ok(found.ok_or(ErrorCode::QueueNotFound)?)
    }

    /// Replaces the whole list.
    pub async fn set_queue_acl(&self, account: &str, name: &QueueName, policies: &StoredAccessPolicies) -> Result<()> {
        let policies = Bytes::from(policies.render());
        self.change_queue(account, name, |entry, record| {
            entry.put(QueueRecord { policies: policies.clone(), ..record }.encode());
        })
        .await
    }
}
