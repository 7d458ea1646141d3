//! The table directory: create, find and delete tables.

use tablerock_kv::{Bytes, ScanLimits};
use tablerock_protocol::{ErrorCode, TableName, limits};

use super::TableService;
use super::known_tables::Lookup;
use super::record::TableRecord;
use crate::{Error, Result, keys};

/// A table that exists, found for one request.
#[derive(Debug, Clone)]
pub struct Table {
    /// As it was spelled when the table was created.
    pub name: String,
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
        // From here on nobody can reach the entities. If the server dies before they are dropped, the note is
        // found at the next start.
        self.drop_entities(account, id).await
    }

    /// Drops what tables left behind whose deletion was cut short. For the start of a server.
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
        let Some(known) = &self.known else { return self.stored_id(account, name).await };
        match known.look_up(account, name) {
            Lookup::Found(id) => Ok(id),
            Lookup::Unknown(search) => {
                let id = self.stored_id(account, name).await?;
                known.remember(search, id);
                Ok(id)
            }
        }
    }

    async fn stored_id(&self, account: &str, name: &str) -> Result<u64> {
        let record = self.stored_record(account, name).await?.ok_or(ErrorCode::TableNotFound)?;
        Ok(TableRecord::decode_id(&record)?)
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
