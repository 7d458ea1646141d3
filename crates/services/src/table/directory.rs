//! The table directory: create, find and delete tables.

use tablerock_kv::Bytes;
use tablerock_protocol::{ErrorCode, TableName};

use super::TableService;
use super::record::TableRecord;
use crate::{Result, keys};

/// A table that exists, found for one request.
#[derive(Debug, Clone)]
pub struct Table {
    pub(super) id: u64,
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
        let key = keys::directory_key(&name.to_ascii_lowercase());
        let decide = |tx: &mut tablerock_kv::Transaction| -> Result<u64> {
            let record = tx.get(&key).ok_or(ErrorCode::ResourceNotFound)?;
            let id = TableRecord::decode(record)?.id;
            tx.delete(key.clone());
            Ok(id)
        };
        let id = self.store.transact(&keys::directory_partition(account), vec![key.clone()], decide).await?;
        // From here on nobody can reach the entities. A crash before the range is dropped leaves them as garbage
        // that costs space and nothing else.
        Ok(self.store.drop_range(keys::table_range(id)).await?)
    }

    /// The table as `GET /Tables('name')` shows it.
    pub async fn query_table(&self, account: &str, name: &str) -> Result<Table> {
        self.throttle.check_account(account)?;
        let record = self.table_record(account, name).await?.ok_or(ErrorCode::ResourceNotFound)?;
        Ok(Table { id: record.id, name: record.name })
    }

    /// The table that an operation on entities names.
    pub(super) async fn table(&self, account: &str, name: &str) -> Result<Table> {
        let record = self.table_record(account, name).await?.ok_or(ErrorCode::TableNotFound)?;
        Ok(Table { id: record.id, name: record.name })
    }

    pub(super) async fn table_record(&self, account: &str, name: &str) -> Result<Option<TableRecord>> {
        let key = keys::directory_key(&name.to_ascii_lowercase());
        let record = self.store.get(&keys::directory_partition(account), &key).await?;
        Ok(record.as_ref().map(TableRecord::decode).transpose()?)
    }
}
