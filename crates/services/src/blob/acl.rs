//! Stored access policies and public access of a container.

use tablerock_kv::{Bytes, Witness};
use tablerock_protocol::blob::{Conditions, LeaseId};
use tablerock_protocol::signing::BlobPermissions;
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{DateTime, ErrorCode};

use super::BlobService;
use super::record::{Container, PublicAccess};
use crate::{Result, namespace};

impl BlobService {
    pub async fn container_acl(
        &self,
        account: &str,
        name: &str,
        lease: Option<LeaseId>,
    ) -> Result<(Container, StoredAccessPolicies)> {
        let container = self.container(account, name, lease).await?;
        let policies = container.policies()?;
        Ok((container, policies))
    }

    /// The policies for a request that the policy with this id admits, and the witness that its commits rest on.
    pub async fn policies_for(&self, account: &str, name: &str, id: &str) -> Result<(StoredAccessPolicies, Witness)> {
        let policies_of =
            |row: &Bytes| namespace::decode_policies(&Container::decode(row)?.policies, BlobPermissions::LETTERS);
        let found = self.directory.policies_for(account, name, id, policies_of).await?;
        Ok(found.ok_or(ErrorCode::ContainerNotFound)?)
    }

    /// Replaces the whole list, and the public access.
    pub async fn set_container_acl(
        &self,
        account: &str,
        name: &str,
        conditions: &Conditions,
        lease: Option<LeaseId>,
        policies: &StoredAccessPolicies,
        public_access: PublicAccess,
    ) -> Result<DateTime> {
        let policies = Bytes::from(policies.render());
        self.change_container(account, name, conditions, lease, |container| {
            container.policies = policies.clone();
            container.public_access = public_access;
        })
        .await
    }
}

impl Container {
    /// The stored access policies.
    pub fn policies(&self) -> Result<StoredAccessPolicies> {
        Ok(namespace::decode_policies(&self.policies, BlobPermissions::LETTERS)?)
    }
}
