//! Stored access policies of a queue.

use tablerock_kv::Bytes;
use tablerock_protocol::QueueName;
use tablerock_protocol::signing::QueuePermissions;
use tablerock_protocol::xml::StoredAccessPolicies;

use super::QueueService;
use super::record::QueueRecord;
use crate::{Result, namespace};

impl QueueService {
    pub async fn queue_acl(&self, account: &str, name: &QueueName) -> Result<StoredAccessPolicies> {
        let record = self.queue_record(account, name).await?;
        Ok(namespace::decode_policies(&record.policies, QueuePermissions::LETTERS)?)
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
