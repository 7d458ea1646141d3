//! The table directory: create, find and delete tables.

use tablerock_kv::{Bytes, Look};
use tablerock_protocol::{ErrorCode, TableName};

use super::record::TableRecord;
use super::table_id_cache::Lookup;
use super::{TableService, keys};
use crate::namespace::{self, FoundRecords, Sweep};
use crate::{Error, Result};

/// A table that exists, found for one request.
#[derive(Debug, Clone)]
pub struct Table {
    /// The spelling with which the table was created.
    pub name: String,
}

/// The partition that holds the entities of a request.
#[derive(Debug)]
pub(super) struct FoundPartition {
    pub(super) partition: Bytes,
    /// The values of the requested records, if they were read together with the table's row.
    pub(super) values: Option<Vec<Option<Bytes>>>,
}

impl TableService {
    pub async fn create_table(&self, account: &str, name: &TableName) -> Result<()> {
        self.throttle.check_account(account)?;
        let id = self.directory.next_id().await?;
        let row = TableRecord { id, name: name.as_str().to_owned(), policies: Bytes::new() }.encode();
        self.directory
            .transact(account, &name.folded(), |entry| {
                if entry.row().is_some() {
                    return Err(ErrorCode::TableAlreadyExists.into());
                }
                entry.put(row.clone());
                Ok(())
            })
            .await
    }

    /// Deletes a table. Its name is free at once; its space is reclaimed in the background.
    pub async fn delete_table(&self, account: &str, name: &str) -> Result<()> {
        self.throttle.check_account(account)?;
        let deletion = self.id_cache.as_ref().map(|cache| cache.deletion_begins(account, name));
        let deleted = self
            .directory
            .transact(account, &TableName::fold(name), |entry| {
                let id = namespace::id_of_row(entry.row().ok_or(ErrorCode::ResourceNotFound)?)?;
                entry.bury(id);
                Ok(id)
            })
            .await;
        // After an error of the store the outcome of the commit is unknown, and the id stays out of the cache.
        if let (Some(deletion), Ok(_) | Err(Error::Refused(_))) = (deletion, &deleted) {
            deletion.ended();
        }
        namespace::drop_or_retry(self, account, name, deleted?).await;
        Ok(())
    }

    /// Finishes interrupted deletions of these accounts, round after round, until the future is dropped.
    pub async fn keep_sweeping(&self, accounts: impl Fn() -> Vec<String>) {
        namespace::keep_sweeping(self, accounts).await;
    }

    /// Runs one sweep, unless another server on the store holds the lease.
    pub async fn sweep_if_ours(&self, accounts: &[String]) -> Result<u64> {
        namespace::sweep_if_leader(self, accounts).await
    }

    /// Finishes the interrupted deletions of an account.
    pub async fn finish_drops(&self, account: &str) -> Result<()> {
        namespace::finish_drops(self, account).await
    }

    /// The table as `GET /Tables('name')` shows it.
    pub async fn query_table(&self, account: &str, name: &str) -> Result<Table> {
        self.throttle.check_account(account)?;
        let record = self.table_record(account, name).await?.ok_or(ErrorCode::ResourceNotFound)?;
        Ok(Table { name: record.name })
    }

    /// Checks that a table exists, for a request that fails anyway and may have the wrong reason.
    pub async fn check_table(&self, account: &str, name: &str) -> Result<()> {
        self.table_id(account, name).await.map(|_| ())
    }

    /// Returns the id of the table that an operation on entities names. Every such operation asks, so only the id is
    /// decoded.
    pub(super) async fn table_id(&self, account: &str, name: &str) -> Result<u64> {
        let Some(cache) = &self.id_cache else {
            let id = self.directory.id(account, &TableName::fold(name)).await?;
            return Ok(id.ok_or(ErrorCode::TableNotFound)?);
        };
        match cache.look_up(account, name) {
            Lookup::Found(id) => Ok(id),
            Lookup::Unknown(lookup) => {
                let row = self.table_row(account, name).await?.ok_or(ErrorCode::TableNotFound)?;
                let id = namespace::id_of_row(&row)?;
                cache.remember(lookup, id);
                Ok(id)
            }
        }
    }

    /// Finds the partition that an operation on entities names. On a store that servers share, the requested records are
    /// always read together with the row that has the table's id.
    pub(super) async fn find_partition(
        &self,
        account: &str,
        table: &str,
        partition_key: &str,
        keys: &[Bytes],
    ) -> Result<FoundPartition> {
        if self.id_cache.is_some() {
            let id = self.table_id(account, table).await?;
            return Ok(FoundPartition { partition: keys::entity_partition(id, partition_key), values: None });
        }
        let (partition, values) = self.look_at(account, table, partition_key, keys).await?;
        Ok(FoundPartition { partition, values: Some(values) })
    }

    async fn look_at(
        &self,
        account: &str,
        table: &str,
        partition_key: &str,
        keys: &[Bytes],
    ) -> Result<(Bytes, Vec<Option<Bytes>>)> {
        let partition_of = |id| keys::entity_partition(id, partition_key);
        let found = self.directory.look(account, &TableName::fold(table), partition_of, keys).await?;
        let FoundRecords { partition, values, .. } = found.ok_or(ErrorCode::TableNotFound)?;
        Ok((partition, values))
    }

    /// Reads what a write rests on again, after a conflict.
    pub(super) async fn look_again(
        &self,
        account: &str,
        table: &str,
        partition_key: &str,
        keys: &[Bytes],
    ) -> Result<Look> {
        let (partition, values) = self.look_at(account, table, partition_key, keys).await?;
        Ok(Look { partition, seen: keys.iter().cloned().zip(values).collect() })
    }

    /// The id under which a query begins to read. On a store that servers share it is that of last time, which
    /// [`confirm_id`](Self::confirm_id) confirms after the pages.
    pub(super) async fn first_id(&self, account: &str, table: &str) -> Result<u64> {
        if self.directory.is_shared()
            && let Some(hint) = self.directory.hint(account, &TableName::fold(table))
        {
            return Ok(hint);
        }
        self.table_id(account, table).await
    }

    /// Returns whether a table still has the id under which its records were read.
    pub(super) async fn confirm_id(&self, account: &str, table: &str, id: u64) -> Result<bool> {
        Ok(!self.directory.is_shared() || self.directory.confirm(account, &TableName::fold(table), id).await?)
    }

    pub(super) async fn table_record(&self, account: &str, name: &str) -> Result<Option<TableRecord>> {
        Ok(self.table_row(account, name).await?.as_ref().map(TableRecord::decode).transpose()?)
    }

    async fn table_row(&self, account: &str, name: &str) -> Result<Option<Bytes>> {
        self.directory.row(account, &TableName::fold(name)).await
    }
}

impl Sweep for TableService {
    fn directory(&self) -> &namespace::Directory {
        &self.directory
    }

    async fn drop_records(&self, id: u64) -> Result<()> {
        Ok(self.store.drop_range(keys::table_range(id)).await?)
    }
}
