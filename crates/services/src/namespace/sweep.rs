//! Deleting the records of dropped objects: at once, or in the background after an interruption.

use super::directory::Directory;
use super::keys::id_of_tombstone;
use crate::Result;

/// A service whose objects have names in a directory, and whose garbage is swept in the background.
pub(crate) trait Sweep: Sync {
    fn directory(&self) -> &Directory;

    /// Deletes everything stored under an id that no name leads to.
    fn drop_records(&self, id: u64) -> impl Future<Output = Result<()>> + Send;

    /// Deletes other garbage of the service; returns how many objects that were.
    fn sweep_rest(&self) -> impl Future<Output = Result<u64>> + Send {
        async { Ok(0) }
    }
}

/// Runs sweeps for as long as the future is polled. A failed sweep is logged and retried with the next one. Each sweep asks
/// for the accounts, which can change meanwhile.
pub(crate) async fn keep_sweeping(service: &impl Sweep, accounts: impl Fn() -> Vec<String>) {
    let Directory { namespace, sweep_period, .. } = service.directory();
    let namespace = namespace.object();
    loop {
        match sweep_if_leader(service, &accounts()).await {
            Ok(0) => {}
            Ok(swept) => tracing::debug!(namespace, swept, "swept"),
            Err(error) => tracing::warn!(namespace, %error, "sweep failed, will retry"),
        }
        tokio::time::sleep(*sweep_period).await;
    }
}

/// Runs one sweep, unless another server on the store holds the lease.
pub(crate) async fn sweep_if_leader(service: &impl Sweep, accounts: &[String]) -> Result<u64> {
    if !service.directory().sweep_lease.try_acquire().await? {
        return Ok(0);
    }
    for account in accounts {
        finish_drops(service, account).await?;
    }
    service.sweep_rest().await
}

/// Finishes the drops of an account that were interrupted.
pub(crate) async fn finish_drops(service: &impl Sweep, account: &str) -> Result<()> {
    let Directory { store, namespace, .. } = service.directory();
    let mut tombstones = store.records(namespace.tombstones(account));
    while let Some(tombstone) = tombstones.next().await? {
        let id = id_of_tombstone(&tombstone.key)?;
        finish_drop(service, account, id).await.inspect_err(|error| {
            tracing::warn!(namespace = namespace.object(), account, id, %error, "finishing a drop failed, will retry");
        })?;
    }
    Ok(())
}

/// Deletes the records of an object that has just been dropped. A failure is only logged: no name leads to the records
/// any more, and a sweep finds the tombstone.
pub(crate) async fn drop_or_retry(service: &impl Sweep, account: &str, name: &str, id: u64) {
    if let Err(error) = finish_drop(service, account, id).await {
        let namespace = service.directory().namespace.object();
        tracing::warn!(namespace, account, name, id, %error, "deleting the records of a dropped object failed, will retry");
    }
}

async fn finish_drop(service: &impl Sweep, account: &str, id: u64) -> Result<()> {
    service.drop_records(id).await?;
    service.directory().delete_tombstone(account, id).await
}
