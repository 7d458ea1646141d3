//! The container directory: create, read, change, lease and delete containers.

use tablerock_kv::Bytes;
use tablerock_protocol::blob::{Conditions, LeaseAction, LeaseId};
use tablerock_protocol::{DateTime, ErrorCode, Metadata};

use super::lease::{self, LeaseOutcome, Leased};
use super::record::{Container, PublicAccess};
use super::{BlobService, keys};
use crate::namespace::{self, Entry, Sweep};
use crate::{Error, Result};

impl BlobService {
    pub async fn create_container(
        &self,
        account: &str,
        name: &str,
        metadata: &Metadata,
        public_access: PublicAccess,
    ) -> Result<DateTime> {
        let id = self.directory.next_id().await?;
        self.timestamps.reserve().await?;
        let decide = |entry: &mut Entry<'_>| {
            if entry.row().is_some() {
                return Err(ErrorCode::ContainerAlreadyExists.into());
            }
            let changed = self.next_change(None)?;
            let (metadata, policies) = (metadata.clone(), Bytes::new());
            entry.put(Container { id, changed, public_access, metadata, lease: None, policies }.encode());
            Ok(changed)
        };
        let changed = self.directory.transact(account, name, decide).await?;
        if let Err(error) = self.usages.create(id).await {
            // Its blobs are counted when its usage is needed.
            tracing::debug!(account, container = name, %error, "cannot store the usage of a new container");
        }
        Ok(changed)
    }

    /// Creates a private container unless it is there.
    pub async fn ensure_container(&self, account: &str, name: &str) -> Result<()> {
        match self.create_container(account, name, &Metadata::default(), PublicAccess::Private).await {
            Err(Error::Refused(refused)) if refused.code == ErrorCode::ContainerAlreadyExists => Ok(()),
            created => created.map(|_| ()),
        }
    }

    /// Returns a container's properties and metadata. A lease that the request names must be the right one.
    pub async fn container(&self, account: &str, name: &str, lease: Option<LeaseId>) -> Result<Container> {
        let row = self.directory.row(account, name).await?;
        let container = Container::decode(&row.ok_or(ErrorCode::ContainerNotFound)?)?;
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

    /// Applies an action to the lease of a container. Its ETag does not change.
    pub async fn lease_container(
        &self,
        account: &str,
        name: &str,
        conditions: &Conditions,
        action: LeaseAction,
    ) -> Result<(Container, LeaseOutcome)> {
        let fresh = LeaseId(self.fresh_uuid());
        let decide = |entry: &mut Entry<'_>| {
            let mut container = found(entry)?;
            conditions.check_write(Some(container.changed))?;
            let outcome = lease::apply(&mut container.lease, action, self.clock.ticks(), fresh)?;
            entry.put(container.encode());
            Ok((container, outcome))
        };
        self.directory.transact(account, name, decide).await
    }

    /// Deletes a container. Its name is free at once; its space is reclaimed in the background.
    pub async fn delete_container(
        &self,
        account: &str,
        name: &str,
        conditions: &Conditions,
        lease: Option<LeaseId>,
    ) -> Result<()> {
        let decide = |entry: &mut Entry<'_>| {
            let container = found(entry)?;
            lease::check_write(container.lease.as_ref(), lease, self.clock.ticks(), Leased::Container)?;
            conditions.check_write(Some(container.changed))?;
            entry.bury(container.id);
            Ok(container.id)
        };
        let id = self.directory.transact(account, name, decide).await?;
        namespace::drop_or_retry(self, account, name, id).await;
        Ok(())
    }

    /// Finishes the interrupted deletions of an account.
    pub async fn finish_drops(&self, account: &str) -> Result<()> {
        namespace::finish_drops(self, account).await
    }

    /// Returns the id of the container that an operation on blobs names.
    pub(super) async fn container_id(&self, account: &str, container: &str) -> Result<u64> {
        Ok(self.directory.id(account, container).await?.ok_or(ErrorCode::ContainerNotFound)?)
    }

    /// Changes a container, which gives it a new ETag.
    pub(super) async fn change_container(
        &self,
        account: &str,
        name: &str,
        conditions: &Conditions,
        lease: Option<LeaseId>,
        mut change: impl FnMut(&mut Container) + Send,
    ) -> Result<DateTime> {
        self.timestamps.reserve().await?;
        let decide = |entry: &mut Entry<'_>| {
            let mut container = found(entry)?;
            // Only a deletion needs the lease of a container; one that is named must be the right one.
            lease::check_read(container.lease.as_ref(), lease, self.clock.ticks(), Leased::Container)?;
            conditions.check_write(Some(container.changed))?;
            change(&mut container);
            container.changed = self.next_change(Some(container.changed))?;
            entry.put(container.encode());
            Ok(container.changed)
        };
        self.directory.transact(account, name, decide).await
    }
}

fn found(entry: &Entry<'_>) -> Result<Container> {
    Ok(Container::decode(entry.row().ok_or(ErrorCode::ContainerNotFound)?)?)
}

impl Sweep for BlobService {
    fn directory(&self) -> &namespace::Directory {
        &self.directory
    }

    async fn drop_records(&self, id: u64) -> Result<()> {
        self.usages.forget(id);
        self.store.drop_range(keys::container_blobs(id)).await?;
        self.store.drop_range(keys::container_contents(id)).await?;
        self.store.drop_range(keys::container_tags(id)).await?;
        self.store.drop_range(keys::usage_of_container(id)).await?;
        if let Some(contents) = self.store.contents() {
            contents.remove_group(id).await?;
        }
        Ok(())
    }

    async fn sweep_rest(&self) -> Result<u64> {
        self.drop_old_blocks().await?;
        self.reclaimer.resolve_abandoned(&self.directory.sweep_lease).await?;
        self.reclaimer.merge_noted(&self.directory.sweep_lease).await?;
        Ok(0)
    }
}
