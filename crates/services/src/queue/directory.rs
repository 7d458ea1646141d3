//! The queue directory: create, find, clear and delete queues, and their metadata.

use tablerock_kv::{Bytes, Look, LookFuture, Transaction};
use tablerock_protocol::{ErrorCode, Metadata, QueueName};

use super::record::QueueRecord;
use super::{QueueService, count, keys};
use crate::namespace::{self, Entry, FoundRecords, Sweep};
use crate::{Error, Result};

/// The outcome of Create Queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    New,
    /// The queue existed, with the same metadata.
    Before,
}

/// The result of Get Queue Metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueState {
    pub metadata: Metadata,
    /// All stored messages: visible ones, invisible ones, and expired ones that have not been removed.
    pub messages: u64,
}

/// A queue that was found for a transaction on its messages.
#[derive(Debug)]
pub(super) struct FoundQueue {
    pub(super) id: u64,
    /// The records that were read together with the queue's row.
    first: Option<Look>,
}

impl QueueService {
    pub async fn create_queue(&self, account: &str, name: &QueueName, metadata: &Metadata) -> Result<Created> {
        let id = self.directory.next_id().await?;
        let row = QueueRecord { id, metadata: metadata.clone(), policies: Bytes::new() }.encode();
        self.directory
            .transact(account, name.as_str(), |entry| match entry.row() {
                Some(row) if QueueRecord::decode(row)?.metadata.says_the_same_as(metadata) => Ok(Created::Before),
                Some(_) => Err(ErrorCode::QueueAlreadyExists.into()),
                None => {
                    entry.put(row.clone());
                    Ok(Created::New)
                }
            })
            .await
    }

    /// Deletes a queue. Its name is free at once; its space is reclaimed in the background.
    pub async fn delete_queue(&self, account: &str, name: &QueueName) -> Result<()> {
        let id = self
            .change_queue(account, name, |entry, record| {
                entry.bury(record.id);
                record.id
            })
            .await?;
        namespace::drop_or_retry(self, account, name.as_str(), id).await;
        Ok(())
    }

    /// Removes all messages at once, however many there are: the queue continues under a new id.
    ///
    /// A write that began before may still commit under the old id. To every client it looks as if it had happened
    /// before the queue was cleared.
    pub async fn clear_messages(&self, account: &str, name: &QueueName) -> Result<()> {
        let new_id = self.directory.next_id().await?;
        let old_id = self
            .change_queue(account, name, |entry, record| {
                let old_id = record.id;
                entry.bury_records(old_id);
                entry.put(QueueRecord { id: new_id, ..record }.encode());
                old_id
            })
            .await?;
        namespace::drop_or_retry(self, account, name.as_str(), old_id).await;
        Ok(())
    }

    pub async fn queue_metadata(&self, account: &str, name: &QueueName) -> Result<QueueState> {
        let record = self.queue_record(account, name).await?;
        Ok(QueueState { metadata: record.metadata, messages: count::read(&self.store, record.id).await? })
    }

    /// Replaces all metadata.
    pub async fn set_queue_metadata(&self, account: &str, name: &QueueName, metadata: &Metadata) -> Result<()> {
        self.change_queue(account, name, |entry, record| {
            entry.put(QueueRecord { metadata: metadata.clone(), ..record }.encode());
        })
        .await
    }

    /// Finishes the interrupted deletions and clearings of an account.
    pub async fn finish_drops(&self, account: &str) -> Result<()> {
        namespace::finish_drops(self, account).await
    }

    /// Changes the record of a queue that exists.
    pub(super) async fn change_queue<T>(
        &self,
        account: &str,
        name: &QueueName,
        change: impl Fn(&mut Entry<'_>, QueueRecord) -> T + Send + Sync,
    ) -> Result<T> {
        self.directory
            .transact(account, name.as_str(), |entry| {
                let record = QueueRecord::decode(entry.row().ok_or(ErrorCode::QueueNotFound)?)?;
                Ok(change(entry, record))
            })
            .await
    }

    /// Finds the queue that a transaction on messages names. On a store that servers share, the records that the transaction
    /// reads are read together with the queue's row.
    pub(super) async fn find_queue(&self, account: &str, name: &QueueName, keys: &[Bytes]) -> Result<FoundQueue> {
        if !self.directory.is_shared() {
            return Ok(FoundQueue { id: self.queue_id(account, name).await?, first: None });
        }
        let (id, first) = self.look_at(account, name, keys).await?;
        Ok(FoundQueue { id, first: Some(first) })
    }

    async fn look_at(&self, account: &str, name: &QueueName, keys: &[Bytes]) -> Result<(u64, Look)> {
        let found = self.directory.look(account, name.as_str(), keys::messages_partition, keys).await?;
        let FoundRecords { id, partition, values } = found.ok_or(ErrorCode::QueueNotFound)?;
        Ok((id, Look { partition, seen: keys.iter().cloned().zip(values).collect() }))
    }

    /// Runs a transaction on the messages of a queue. After a conflict on a store that servers share, it rests on a new look at
    /// the queue's row as well.
    pub(super) async fn transact_messages<T>(
        &self,
        account: &str,
        name: &QueueName,
        found: FoundQueue,
        keys: Vec<Bytes>,
        decide: impl FnMut(&mut Transaction) -> Result<T> + Send,
    ) -> Result<T> {
        let Some(first) = found.first else {
            return self.store.transact(&keys::messages_partition(found.id), keys, decide).await;
        };
        let look = || -> LookFuture<'_, Error> {
            let keys = &keys;
            Box::pin(async move { Ok(self.look_at(account, name, keys).await?.1) })
        };
        self.store.transact_looking(first, look, decide).await
    }

    /// Returns the id of the queue that an operation on messages names.
    pub(super) async fn queue_id(&self, account: &str, name: &QueueName) -> Result<u64> {
        Ok(self.directory.id(account, name.as_str()).await?.ok_or(ErrorCode::QueueNotFound)?)
    }

    pub(super) async fn queue_record(&self, account: &str, name: &QueueName) -> Result<QueueRecord> {
        let row = self.directory.row(account, name.as_str()).await?;
        Ok(QueueRecord::decode(&row.ok_or(ErrorCode::QueueNotFound)?)?)
    }
}

impl Sweep for QueueService {
    fn directory(&self) -> &namespace::Directory {
        &self.directory
    }

    async fn drop_records(&self, id: u64) -> Result<()> {
        self.front_cache.forget(id);
        Ok(self.store.drop_range(keys::messages_range(id)).await?)
    }

    async fn sweep_rest(&self) -> Result<u64> {
        self.sweep().await
    }
}
