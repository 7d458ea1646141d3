//! The services on a store: opened, settled and closed. Who may come, and by which ports, is for whoever serves them.

use std::sync::Arc;

use tablerock_kv::{Clock, Rng, Store};
use tablerock_server::{Account, Accounts, MemoryBudget, Metrics, Operation, Server};
use tablerock_services::{
    AccountService, Analytics, BlobService, Error as ServiceFailure, QueueService, TableService, ThrottleTargets,
};

/// What the services are told about their callers.
pub(crate) struct ServiceOptions {
    pub(crate) accounts: Vec<Account>,
    pub(crate) throttle: ThrottleTargets,
    pub(crate) accept_tokens: bool,
    pub(crate) host_style: bool,
}

/// Opens the services on a store, and settles what a process before this one left unfinished.
pub(crate) async fn open(
    terms: ServiceOptions,
    store: &Store,
    clock: Arc<dyn Clock>,
) -> Result<Server, ServiceFailure> {
    let tables = open_tables(&terms.accounts, terms.throttle, store, &clock).await?;
    let queues = open_queues(&terms.accounts, store, &clock).await?;
    let blobs = open_blobs(&terms.accounts, store, &clock).await?;
    let account_settings = AccountService::new(store.clone());
    let accounts = terms.accounts.iter().map(|account| account.name.as_str());
    let analytics = Analytics::open(&account_settings, &blobs, clock.clone(), accounts, Operation::names_of).await?;
    Ok(Server {
        accounts: Accounts::new(terms.accounts),
        tables,
        queues,
        blobs,
        settings: account_settings,
        analytics,
        clock,
        rng: Rng::from_os(),
        metrics: Metrics::new(),
        memory: MemoryBudget::default(),
        accept_tokens: terms.accept_tokens,
        host_style: terms.host_style,
    })
}

async fn open_tables(
    accounts: &[Account],
    throttle: ThrottleTargets,
    store: &Store,
    clock: &Arc<dyn Clock>,
) -> Result<TableService, ServiceFailure> {
    let tables = TableService::open(store.clone(), clock.clone(), throttle).await?;
    for account in accounts {
        tables.finish_drops(account.name.as_str()).await?;
    }
    Ok(tables)
}

async fn open_queues(
    accounts: &[Account],
    store: &Store,
    clock: &Arc<dyn Clock>,
) -> Result<QueueService, ServiceFailure> {
    let queues = QueueService::open(store.clone(), clock.clone(), Rng::from_os()).await?;
    for account in accounts {
        queues.finish_drops(account.name.as_str()).await?;
    }
    Ok(queues)
}

async fn open_blobs(
    accounts: &[Account],
    store: &Store,
    clock: &Arc<dyn Clock>,
) -> Result<BlobService, ServiceFailure> {
    let blobs = BlobService::open(store.clone(), clock.clone(), Rng::from_os()).await?;
    for account in accounts {
        blobs.finish_drops(account.name.as_str()).await?;
    }
    Ok(blobs)
}

/// Settles what a process before this one left unfinished, so that the services can be opened on a store that takes no
/// writes any more.
pub(crate) async fn settle(accounts: &[Account], store: &Store, clock: &Arc<dyn Clock>) -> Result<(), String> {
    let settled = async {
        open_tables(accounts, ThrottleTargets::default(), store, clock).await?.close().await?;
        // It is not closed: that saves the time, by which a copy would take the store for one that has been written to.
        open_queues(accounts, store, clock).await?;
        open_blobs(accounts, store, clock).await?.close().await
    };
    settled.await.map_err(|error| format!("cannot read the data: {error}"))
}

/// Leaves everything as a clean stop should. Requests have ended.
pub(crate) async fn close(server: &Server, store: &Store) -> Result<(), String> {
    server.analytics.close(&server.tables, &server.blobs).await;
    close_quietly(server, store).await
}

/// The same without a word of what was asked here: requests of our own are not an account's traffic.
pub(crate) async fn close_quietly(server: &Server, store: &Store) -> Result<(), String> {
    let closed = async {
        server.blobs.close().await.map_err(|error| error.to_string())?;
        server.queues.close().await.map_err(|error| error.to_string())?;
        server.tables.close().await.map_err(|error| error.to_string())?;
        store.close().await.map_err(|error| error.to_string())
    };
    closed.await.map_err(|error| format!("the data was not closed cleanly, but nothing acknowledged is lost: {error}"))
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

    /// A copy that goes on asks whether the store is as it was, and settling comes before that.
    #[tokio::test]
    async fn to_settle_a_store_where_nothing_is_unfinished_changes_nothing() {
        let (store, clock): (_, Arc<dyn Clock>) = (Store::in_memory(), Arc::new(SystemClock));
        let accounts = [Account { name: AccountName::parse("acct").unwrap(), keys: Vec::new() }];
        let queues = open_queues(&accounts, &store, &clock).await.unwrap();
        queues.create_queue("acct", &QueueName::parse("jobs").unwrap(), &Metadata::default()).await.unwrap();
        queues.close().await.unwrap();
        let before = records(&store).await;
        assert!(before.len() > 2);
        settle(&accounts, &store, &clock).await.unwrap();
        assert_eq!(records(&store).await, before);
    }
}
