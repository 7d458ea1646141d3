//! The table directory: create, find and delete tables.

use std::time::Duration;

use tablerock_kv::{Bytes, ScanLimits, Wanted};
use tablerock_protocol::{ErrorCode, TableName, limits};

use super::TableService;
use super::known_tables::Lookup;
use super::record::TableRecord;
use crate::{Error, Result, keys};

/// How often deletions are looked for that were cut short.
pub(super) const SWEEP_TIME: Duration = Duration::from_secs(60);

/// A table that exists, found for one request.
#[derive(Debug, Clone)]
pub struct Table {
    /// As it was spelled when the table was created.
    pub name: String,
}

/// Where the entities of a partition are, and what was read there on the way.
#[derive(Debug)]
pub(super) struct FoundPartition {
    pub(super) partition: Bytes,
    /// The values of the records that the operation is about, if they came with the table's row.
    pub(super) values: Option<Vec<Option<Bytes>>>,
}

impl TableService {
    pub async fn create_table(&self, account: &str, name: &TableName) -> Result<()> {
        self.throttle.check_account(account)?;
        let key = keys::directory_key(&name.folded());
        let id = self.table_ids.next().await?;
        let record = TableRecord { id, name: name.as_str().to_owned(), policies: Bytes::new() }.encode();
        self.store
            .transact(&keys::directory_partition(account), vec![key.clone()], |tx| {
                if tx.get(&key).is_some() {
                    return Err(ErrorCode::TableAlreadyExists.into());
                }
                tx.put(key.clone(), record.clone());
                Ok(())
            })
            .await
    }

    /// Deletes a table: its name is free at once, and its space comes back in the background.
    pub async fn delete_table(&self, account: &str, name: &str) -> Result<()> {
        self.throttle.check_account(account)?;
        let key = keys::directory_key(&TableName::fold(name));
        let decide = |tx: &mut tablerock_kv::Transaction| -> Result<u64> {
            let record = tx.get(&key).ok_or(ErrorCode::ResourceNotFound)?;
            let id = TableRecord::decode(record)?.id;
            tx.delete(key.clone());
            tx.put(keys::drop_note_key(id), Bytes::new());
            Ok(id)
        };
        let deletion = self.known.as_ref().map(|known| known.deletion_begins(account, name));
        let deleted = self.store.transact(&keys::directory_partition(account), vec![key.clone()], decide).await;
        // A store that failed has not told what became of the commit.
        if let (Some(deletion), Ok(_) | Err(Error::Refused(_))) = (deletion, &deleted) {
            deletion.ended();
        }
        let id = deleted?;
        // From here on nobody can reach the entities, and the table is deleted. If they are not dropped now, the note is
        // found later.
        if let Err(error) = self.drop_entities(account, id).await {
            tracing::warn!(%error, "the entities of a deleted table stay for now");
        }
        Ok(())
    }

    /// Finishes deletions of these accounts that were cut short, round after round, for as long as it is let.
    pub async fn keep_sweeping(&self, accounts: &[String]) {
        loop {
            if let Err(error) = self.sweep_if_ours(accounts).await {
                tracing::warn!(%error, "the entities of deleted tables could not be dropped yet");
            }
            tokio::time::sleep(SWEEP_TIME).await;
        }
    }

    /// One round, if no other server on the store does it.
    pub async fn sweep_if_ours(&self, accounts: &[String]) -> Result<()> {
        if self.sweep_duty.is_ours().await? {
            for account in accounts {
                self.finish_drops(account).await?;
            }
        }
        Ok(())
    }

    /// Drops what tables left behind whose deletion was cut short. For the start of a server, and for later.
    pub async fn finish_drops(&self, account: &str) -> Result<()> {
        let mut range = keys::drop_notes(account);
        loop {
            let limits = ScanLimits { records_max: 1000, bytes_max: limits::PAGE_BYTES_MAX, deadline: None };
            let page = self.store.scan(&range, limits).await?;
            for note in page.records {
                self.drop_entities(account, keys::table_of_drop_note(&note.key)?).await?;
            }
            let Some(next) = page.next else { return Ok(()) };
            range.start = next;
        }
    }

    async fn drop_entities(&self, account: &str, table_id: u64) -> Result<()> {
        self.store.drop_range(keys::table_range(table_id)).await?;
        self.store
            .transact(&keys::directory_partition(account), vec![], |tx| {
                tx.delete(keys::drop_note_key(table_id));
                Ok(())
            })
            .await
    }

    /// The table as `GET /Tables('name')` shows it.
    pub async fn query_table(&self, account: &str, name: &str) -> Result<Table> {
        self.throttle.check_account(account)?;
        let record = self.table_record(account, name).await?.ok_or(ErrorCode::ResourceNotFound)?;
        Ok(Table { name: record.name })
    }

    /// The id of the table that an operation on entities names. Every such operation asks, so nothing else of the
    /// record is read.
    pub(super) async fn table_id(&self, account: &str, name: &str) -> Result<u64> {
        let Some(known) = &self.known else {
            return self.keep_guess(account, name, self.stored_record(account, name).await?.as_ref());
        };
        match known.look_up(account, name) {
            Lookup::Found(id) => Ok(id),
            Lookup::Unknown(search) => {
                let record = self.stored_record(account, name).await?.ok_or(ErrorCode::TableNotFound)?;
                let id = TableRecord::decode_id(&record)?;
                known.remember(search, id);
                Ok(id)
            }
        }
    }

    /// Finds the partition that an operation on entities names. If the table's id can only be guessed, the records that
    /// the operation is about are read with the row that tells whether the guess was right: one round trip for both.
    pub(super) async fn find_partition(
        &self,
        account: &str,
        table: &str,
        partition_key: &str,
        keys: &[Bytes],
    ) -> Result<FoundPartition> {
        let guess = if self.known.is_some() { None } else { self.guessed.get(account, table) };
        let id = match guess {
            None => self.table_id(account, table).await?,
            Some(guess) => {
                let partition = keys::entity_partition(guess, partition_key);
                let row = keys::directory_key(&TableName::fold(table));
                let wanted = [
                    Wanted { partition: keys::directory_partition(account), keys: vec![row] },
                    Wanted { partition: partition.clone(), keys: keys.to_vec() },
                ];
                let mut found = self.store.get_many(&wanted).await?.into_iter();
                let row = found.next().and_then(|mut values| values.pop()).flatten();
                let id = self.keep_guess(account, table, row.as_ref())?;
                if id == guess {
                    return Ok(FoundPartition { partition, values: found.next() });
                }
                id
            }
        };
        Ok(FoundPartition { partition: keys::entity_partition(id, partition_key), values: None })
    }

    /// The id in a table's row, which is the next guess.
    fn keep_guess(&self, account: &str, table: &str, row: Option<&Bytes>) -> Result<u64> {
        let id = row.map(|row| TableRecord::decode_id(row)).transpose()?;
        if self.guessed.get(account, table) != id {
            self.guessed.keep(account, table, id);
        }
        Ok(id.ok_or(ErrorCode::TableNotFound)?)
    }

    pub(super) async fn table_record(&self, account: &str, name: &str) -> Result<Option<TableRecord>> {
        let record = self.stored_record(account, name).await?;
        Ok(record.as_ref().map(TableRecord::decode).transpose()?)
    }

    async fn stored_record(&self, account: &str, name: &str) -> Result<Option<Bytes>> {
        let key = keys::directory_key(&TableName::fold(name));
        Ok(self.store.get(&keys::directory_partition(account), &key).await?)
    }
}
