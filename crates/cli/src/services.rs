//! Opens, recovers and closes the services of a store. `serve.rs` and `copy` decide on ports and accounts.

use std::sync::Arc;

use tablerock_kv::{Clock, Rng, Store};
use tablerock_server::{Account, MemoryBudget, Metrics, Operation, ServedAccounts, Server};
use tablerock_services::{
    AccountService, Analytics, BlobService, Error as ServiceFailure, QueueService, TableService, ThrottleTargets,
};

/// The options of the services.
pub(crate) struct ServiceOptions {
    pub(crate) accounts: Vec<Account>,
    pub(crate) throttle: ThrottleTargets,
    pub(crate) accept_tokens: bool,
    pub(crate) host_style: bool,
    pub(crate) is_loose: bool,
}

/// Opens the services of a store, and finishes what an earlier process left unfinished.
pub(crate) async fn open(
    options: ServiceOptions,
    store: &Store,
    clock: Arc<dyn Clock>,
) -> Result<Server, ServiceFailure> {
    let (tables, queues, blobs) = open_services(&options.accounts, options.throttle, store, &clock).await?;
    let account_settings = AccountService::new(store.clone());
    let accounts = options.accounts.iter().map(|account| account.name.as_str());
    let analytics = Analytics::open(&account_settings, &blobs, clock.clone(), accounts, Operation::names_of).await?;
    Ok(Server {
        accounts: ServedAccounts::new(options.accounts),
        tables,
        queues,
        blobs,
        settings: account_settings,
        analytics,
        clock,
        rng: Rng::from_os(),
        metrics: Metrics::new(),
        memory: MemoryBudget::default(),
        accept_tokens: options.accept_tokens,
        host_style: options.host_style,
        is_loose: options.is_loose,
    })
}

/// Opens the three services and finishes interrupted drops.
async fn open_services(
    accounts: &[Account],
    throttle: ThrottleTargets,
    store: &Store,
    clock: &Arc<dyn Clock>,
) -> Result<(TableService, QueueService, BlobService), ServiceFailure> {
    let tables = TableService::open(store.clone(), clock.clone(), throttle).await?;
    let queues = QueueService::open(store.clone(), clock.clone(), Rng::from_os()).await?;
    let blobs = BlobService::open(store.clone(), clock.clone(), Rng::from_os()).await?;
    for account in accounts.iter().map(|account| account.name.as_str()) {
        tables.finish_drops(account).await?;
        queues.finish_drops(account).await?;
        blobs.finish_drops(account).await?;
    }
    Ok((tables, queues, blobs))
}

/// Prepares accounts that a running server did not serve yet, as [`open`] does for those of a start.
pub(crate) async fn add_accounts(server: &Server, accounts: &[Account]) -> Result<(), String> {
    let served = server.accounts.current();
    let added = accounts.iter().map(|account| account.name.as_str()).filter(|name| served.find(name).is_none());
    let prepared = async {
        for account in added {
            server.prepare_account(account).await?;
        }
        Ok(())
    };
    prepared.await.map_err(|error: ServiceFailure| format!("cannot read the data of new accounts: {error}"))
}

/// Finishes what an earlier process left unfinished, so that the services can then be opened on a read-only store.
pub(crate) async fn recover(accounts: &[Account], store: &Store, clock: &Arc<dyn Clock>) -> Result<(), String> {
    let recovered = async {
        // The queues are not closed: that would save their clock, and a copy that resumes would then see a changed store.
        let (tables, _, blobs) = open_services(accounts, ThrottleTargets::default(), store, clock).await?;
        tables.close().await?;
        blobs.close().await
    };
    recovered.await.map_err(|error| format!("cannot read the data: {error}"))
}

/// Writes pending analytics and closes the store. All requests must have ended.
pub(crate) async fn close(server: &Server, store: &Store) -> Result<(), String> {
    server.analytics.close(&server.tables, &server.blobs).await;
    close_without_analytics(server, store).await
}

/// Closes the store without writing analytics: requests of a copy are not the account's traffic.
pub(crate) async fn close_without_analytics(server: &Server, store: &Store) -> Result<(), String> {
    let closed = async {
        server.blobs.close().await.map_err(|error| error.to_string())?;
        server.queues.close().await.map_err(|error| error.to_string())?;
        server.tables.close().await.map_err(|error| error.to_string())?;
        store.close().await.map_err(|error| error.to_string())
    };
    closed.await.map_err(|error| format!("cannot close the store cleanly: {error}; no acknowledged write is lost"))
}

#[cfg(test)]
mod tests {
    use tablerock_kv::{Range, Record, ScanLimits, SystemClock};
    use tablerock_protocol::{AccountName, Metadata, QueueName};

    use super::*;

    async fn records(store: &Store) -> Vec<Record> {
        let all = ScanLimits { records_max: usize::MAX, bytes_max: usize::MAX, deadline: None };
        store.scan(&Range::partitions(b""), all).await.unwrap().records
    }

    /// A copy that resumes checks that the store is unchanged, after recovery.
    #[tokio::test]
    async fn recovery_of_a_store_with_nothing_unfinished_changes_nothing() {
        let (store, clock): (_, Arc<dyn Clock>) = (Store::in_memory(), Arc::new(SystemClock));
        let accounts = [Account { name: AccountName::parse("acct").unwrap(), keys: Vec::new() }];
        let opened = open_services(&accounts, ThrottleTargets::default(), &store, &clock).await;
        let (_, queues, _) = opened.unwrap();
        queues.create_queue("acct", &QueueName::parse("jobs").unwrap(), &Metadata::default()).await.unwrap();
        queues.close().await.unwrap();
        let before = records(&store).await;
        assert!(before.len() > 2);
        recover(&accounts, &store, &clock).await.unwrap();
        assert_eq!(records(&store).await, before);
    }
}
