//! Containers: create, read, change, lease and delete.

use tablerock_kv::{Bytes, ScanLimits, Transaction};
use tablerock_protocol::blob::{Conditions, LeaseAction, LeaseId};
use tablerock_protocol::signing::BlobPermissions;
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{DateTime, ErrorCode, Metadata};

use super::container_record::{Container, PublicAccess};
use super::lease::{self, LeaseOutcome, Leased};
use super::{BlobService, keys};
use crate::Result;

const SCAN: ScanLimits = ScanLimits { records_max: 1_000, bytes_max: 4 << 20, deadline: None };

impl BlobService {
    pub async fn create_container(
        &self,
        account: &str,
        name: &str,
        metadata: &Metadata,
        public_access: PublicAccess,
    ) -> Result<DateTime> {
        let key = keys::directory_key(name);
        let id = self.container_ids.next().await?;
        self.timestamps.reserve().await?;
        let decide = |tx: &mut Transaction| {
            if tx.get(&key).is_some() {
                return Err(ErrorCode::ContainerAlreadyExists.into());
            }
            let changed = self.next_change(None)?;
            let policies = Bytes::new();
            let metadata = metadata.clone();
            let container = Container { id, changed, public_access, metadata, lease: None, policies };
            tx.put(key.clone(), container.encode());
            Ok(changed)
        };
        self.store.transact(&keys::directory_partition(account), vec![key.clone()], decide).await
    }

    /// A container's properties and metadata. A lease that is named must be the right one.
    pub async fn container(&self, account: &str, name: &str, lease: Option<LeaseId>) -> Result<Container> {
        let record = self.store.get(&keys::directory_partition(account), &keys::directory_key(name)).await?;
        let container = Container::decode(&record.ok_or(ErrorCode::ContainerNotFound)?)?;
        lease::check_read(container.lease.as_ref(), lease, self.clock.ticks(), Leased::Container)?;
        Ok(container)
    }

    pub async fn set_container_metadata(
        &self,
        account: &str,
        name: &str,
        conditions: &Conditions,
        lease: Option<LeaseId>,
        metadata: &Metadata,
    ) -> Result<DateTime> {
        self.change_container(account, name, conditions, lease, |container| container.metadata = metadata.clone()).await
    }

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

    /// Replaces the whole list, and who may read without signing.
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

    /// Applies an action to the lease of a container. Its ETag stays what it was.
    pub async fn lease_container(
        &self,
        account: &str,
        name: &str,
        conditions: &Conditions,
        action: LeaseAction,
    ) -> Result<(Container, LeaseOutcome)> {
        let key = keys::directory_key(name);
        let fresh = LeaseId(self.fresh_uuid());
        let decide = |tx: &mut Transaction| {
            let mut container = Container::decode(tx.get(&key).ok_or(ErrorCode::ContainerNotFound)?)?;
            conditions.check_write(Some(container.changed))?;
            let outcome = lease::apply(&mut container.lease, action, self.clock.ticks(), fresh)?;
            tx.put(key.clone(), container.encode());
            Ok((container, outcome))
        };
        self.store.transact(&keys::directory_partition(account), vec![key.clone()], decide).await
    }

    /// Deletes a container: its name is free at once, and its space comes back in the background.
    pub async fn delete_container(
        &self,
        account: &str,
        name: &str,
        conditions: &Conditions,
        lease: Option<LeaseId>,
    ) -> Result<()> {
        let key = keys::directory_key(name);
        let decide = |tx: &mut Transaction| {
            let container = Container::decode(tx.get(&key).ok_or(ErrorCode::ContainerNotFound)?)?;
            lease::check_write(container.lease.as_ref(), lease, self.clock.ticks(), Leased::Container)?;
            conditions.check_write(Some(container.changed))?;
            tx.delete(key.clone());
            tx.put(keys::drop_note_key(container.id), Bytes::new());
            Ok::<_, crate::Error>(container.id)
        };
        let id = self.store.transact(&keys::directory_partition(account), vec![key.clone()], decide).await?;
        // From here on nobody can reach the blobs, and the container is deleted. If they are not dropped now, the note is
        // found later.
        if let Err(error) = self.drop_blobs(account, id).await {
            tracing::warn!(%error, "the blobs of a deleted container stay for now");
        }
        Ok(())
    }

    /// Drops what containers left behind whose deletion was cut short. For the start of a server, and for later.
    pub async fn finish_drops(&self, account: &str) -> Result<()> {
        let mut range = keys::drop_notes(account);
        loop {
            let page = self.store.scan(&range, SCAN).await?;
            for note in page.records {
                self.drop_blobs(account, keys::container_of_drop_note(&note.key)?).await?;
            }
            let Some(next) = page.next else { return Ok(()) };
            range.start = next;
        }
    }

    async fn drop_blobs(&self, account: &str, container_id: u64) -> Result<()> {
        self.store.drop_range(keys::container_blobs(container_id)).await?;
        self.store.drop_range(keys::container_contents(container_id)).await?;
        if let Some(contents) = self.store.contents() {
            contents.remove_group(container_id).await?;
        }
        let forget = |tx: &mut Transaction| {
            tx.delete(keys::drop_note_key(container_id));
            Ok(())
        };
        self.store.transact(&keys::directory_partition(account), vec![], forget).await
    }

    /// Changes a container, which gives it a new ETag.
    async fn change_container(
        &self,
        account: &str,
        name: &str,
        conditions: &Conditions,
        lease: Option<LeaseId>,
        mut change: impl FnMut(&mut Container) + Send,
    ) -> Result<DateTime> {
        let key = keys::directory_key(name);
        self.timestamps.reserve().await?;
        let decide = |tx: &mut Transaction| {
            let mut container = Container::decode(tx.get(&key).ok_or(ErrorCode::ContainerNotFound)?)?;
            // Only a deletion needs the lease of a container; one that is named must be the right one.
            lease::check_read(container.lease.as_ref(), lease, self.clock.ticks(), Leased::Container)?;
            conditions.check_write(Some(container.changed))?;
            change(&mut container);
            container.changed = self.next_change(Some(container.changed))?;
            tx.put(key.clone(), container.encode());
            Ok(container.changed)
        };
        self.store.transact(&keys::directory_partition(account), vec![key.clone()], decide).await
    }
}

impl Container {
    /// The stored access policies.
    pub fn policies(&self) -> Result<StoredAccessPolicies> {
        if self.policies.is_empty() {
            return Ok(StoredAccessPolicies::default());
        }
        let unreadable = |_| tablerock_kv::Error::corrupt("stored access policies cannot be read");
        Ok(StoredAccessPolicies::parse(&self.policies, BlobPermissions::LETTERS).map_err(unreadable)?)
    }
}
