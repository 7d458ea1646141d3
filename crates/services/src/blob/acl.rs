//! Stored access policies and public access of a container.

use tablerock_kv::Bytes;
use tablerock_protocol::DateTime;
use tablerock_protocol::blob::{Conditions, LeaseId};
use tablerock_protocol::signing::BlobPermissions;
use tablerock_protocol::xml::StoredAccessPolicies;

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
