//! The accounts of a store, and the named objects of each: tables, queues and containers.

use tablerock_kv::{Bytes, Position, Range, Result, ScanLimits, Store};

use crate::namespace::{Namespace, account_of, id_of_row};
use crate::{blob, keys, queue};

/// A table, a queue or a container.
#[derive(Debug, Clone)]
pub(super) struct NamedObject {
    pub(super) kind: Namespace,
    pub(super) id: u64,
    /// Its row in the directory.
    pub(super) key: Bytes,
    pub(super) row: Bytes,
}

impl NamedObject {
    /// All its records, without the contents of blobs.
    pub(super) fn records(&self) -> Range {
        match self.kind {
            Namespace::Tables => crate::table::keys::table_range(self.id),
            Namespace::Queues => queue::keys::messages_range(self.id),
            Namespace::Containers => blob::keys::container_blobs(self.id),
        }
    }
}

/// Returns all objects of a kind that an account has, by name.
pub(super) async fn named_objects(store: &Store, account: &str, kind: Namespace) -> Result<Vec<NamedObject>> {
    let mut rows = store.records(kind.rows(account, "", ""));
    let mut found = Vec::new();
    while let Some(row) = rows.next().await? {
        found.push(NamedObject { kind, id: id_of_row(&row.value)?, key: row.key, row: row.value });
    }
    Ok(found)
}

/// The settings of an account's services.
pub(super) async fn settings(store: &Store, account: &str) -> Result<Vec<(Bytes, Bytes)>> {
    let page = store.scan(&Range::partition(&keys::account_partition(account)), ScanLimits::PAGE).await?;
    Ok(page.records.into_iter().map(|record| (record.key, record.value)).collect())
}

/// Returns the accounts that have any object in a store, by name.
pub async fn accounts_of(store: &Store) -> Result<Vec<String>> {
    const FIRST: ScanLimits = ScanLimits { records_max: 1, bytes_max: 1, deadline: None };
    let mut accounts = std::collections::BTreeSet::new();
    for kind in Namespace::ALL {
        let mut range = kind.directories();
        // One look for each account: the rest of its directory is skipped.
        while let Some(record) = store.scan(&range, FIRST).await?.records.into_iter().next() {
            let account = account_of(&record.partition)?;
            if !named_objects(store, &account, kind).await?.is_empty() {
                accounts.insert(account);
            }
            range.start = Position::end_of(&record.partition);
        }
    }
    Ok(accounts.into_iter().collect())
}
