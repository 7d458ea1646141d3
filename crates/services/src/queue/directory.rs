//! The queue directory: create, find, clear and delete queues, and their metadata.

use tablerock_kv::{Bytes, ScanLimits, Transaction};
use tablerock_protocol::{ErrorCode, Metadata, QueueName, limits};

use super::record::QueueRecord;
use super::{QueueService, count, keys};
use crate::Result;

/// What Create Queue did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Created {
    New,
    /// It was there already, with the same metadata.
    Before,
}

/// What Get Queue Metadata tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueState {
    pub metadata: Metadata,
    /// All messages that are stored: visible ones, invisible ones, and expired ones that are still to be removed.
    pub messages: u64,
}

impl QueueService {
    pub async fn create_queue(&self, account: &str, name: &QueueName, metadata: &Metadata) -> Result<Created> {
        let key = keys::directory_key(name.as_str());
        let id = self.queue_ids.next().await?;
        let record = QueueRecord { id, metadata: metadata.clone(), policies: Bytes::new() }.encode();
        let decide = |tx: &mut Transaction| match tx.get(&key) {
            Some(there) if QueueRecord::decode(there)?.metadata.says_the_same_as(metadata) => Ok(Created::Before),
            Some(_) => Err(ErrorCode::QueueAlreadyExists.into()),
            None => {
                tx.put(key.clone(), record.clone());
                Ok(Created::New)
            }
        };
        self.store.transact(&keys::directory_partition(account), vec![key.clone()], decide).await
    }

    /// Deletes a queue: its name is free at once, and its space comes back in the background.
    pub async fn delete_queue(&self, account: &str, name: &QueueName) -> Result<()> {
        let id = self
            .change_queue(account, name, |tx, key, record| {
                tx.delete(key.clone());
                tx.put(keys::drop_note_key(record.id), Bytes::new());
                record.id
            })
            .await?;
        self.drop_messages_or_later(account, id).await;
        Ok(())
    }

    /// Removes all messages at once, however many there are: the queue goes on under another id.
    ///
    /// A write that began before may still land under the old id. To every client it looks as if it had come before
    /// the queue was cleared.
    pub async fn clear_messages(&self, account: &str, name: &QueueName) -> Result<()> {
        let new_id = self.queue_ids.next().await?;
        let old_id = self
            .change_queue(account, name, |tx, key, record| {
                tx.put(key.clone(), QueueRecord { id: new_id, ..record.clone() }.encode());
                tx.put(keys::drop_note_key(record.id), Bytes::new());
                record.id
            })
            .await?;
        self.drop_messages_or_later(account, old_id).await;
        Ok(())
    }

    pub async fn queue_metadata(&self, account: &str, name: &QueueName) -> Result<QueueState> {
        let record = self.queue_record(account, name).await?;
        Ok(QueueState { metadata: record.metadata, messages: count::read(&self.store, record.id).await? })
    }

    /// Replaces all metadata.
    pub async fn set_queue_metadata(&self, account: &str, name: &QueueName, metadata: &Metadata) -> Result<()> {
        self.change_queue(account, name, |tx, key, record| {
            tx.put(key.clone(), QueueRecord { metadata: metadata.clone(), ..record.clone() }.encode());
        })
        .await
    }

    /// Drops the messages of queues whose deletion or clearing was cut short. For the start of a server, and for
    /// later.
    pub async fn finish_drops(&self, account: &str) -> Result<()> {
        let mut range = keys::drop_notes(account);
        loop {
            let limits = ScanLimits { records_max: 1000, bytes_max: limits::PAGE_BYTES_MAX, deadline: None };
            let page = self.store.scan(&range, limits).await?;
            for note in page.records {
                self.drop_messages(account, keys::queue_of_drop_note(&note.key)?).await?;
            }
            let Some(next) = page.next else { return Ok(()) };
            range.start = next;
        }
    }

    /// For messages that nobody can reach any more. If they are not dropped now, the note is found later.
    async fn drop_messages_or_later(&self, account: &str, queue_id: u64) {
        if let Err(error) = self.drop_messages(account, queue_id).await {
            tracing::warn!(%error, "the messages of a deleted queue stay for now");
        }
    }

    async fn drop_messages(&self, account: &str, queue_id: u64) -> Result<()> {
        self.heads.forget(queue_id);
        self.store.drop_range(keys::messages_range(queue_id)).await?;
        self.store
            .transact(&keys::directory_partition(account), vec![], |tx| {
                tx.delete(keys::drop_note_key(queue_id));
                Ok(())
            })
            .await
    }

    /// Changes the record of a queue that exists.
    pub(super) async fn change_queue<T>(
        &self,
        account: &str,
        name: &QueueName,
        change: impl Fn(&mut Transaction, &Bytes, &QueueRecord) -> T + Send + Sync,
    ) -> Result<T> {
        let key = keys::directory_key(name.as_str());
        let decide = |tx: &mut Transaction| {
            let record = QueueRecord::decode(tx.get(&key).ok_or(ErrorCode::QueueNotFound)?)?;
            Ok(change(tx, &key, &record))
        };
        self.store.transact(&keys::directory_partition(account), vec![key.clone()], decide).await
    }

    /// The id of the queue that an operation on messages names. Every such operation asks, so nothing else of the
    /// record is read.
    pub(super) async fn queue_id(&self, account: &str, name: &QueueName) -> Result<u64> {
        Ok(QueueRecord::decode_id(&self.stored_record(account, name).await?)?)
    }

    pub(super) async fn queue_record(&self, account: &str, name: &QueueName) -> Result<QueueRecord> {
        Ok(QueueRecord::decode(&self.stored_record(account, name).await?)?)
    }

    async fn stored_record(&self, account: &str, name: &QueueName) -> Result<Bytes> {
        let key = keys::directory_key(name.as_str());
        let stored = self.store.get(&keys::directory_partition(account), &key).await?;
        Ok(stored.ok_or(ErrorCode::QueueNotFound)?)
    }
}
