//! Inserts and upserts that do not look first, on a store that servers share.
//!
//! An insert needs that there is no entity, an upsert that there is none with a later Timestamp. The statement that writes
//! compares that itself, and the table's row is read behind it in the same round trip. If the row leads to another id, the
//! entity was written where nothing can reach it: under the id of a table that is gone.

use tablerock_kv::{BlindPut, Bytes, Replaces, Witness};
use tablerock_protocol::{ErrorCode, TableName};

use super::entities::{Outcome, check_size};
use super::group::{Change, EntityGroup};
use super::{TableService, keys};
use crate::Result;

impl TableService {
    /// Applies a group that needs no look. `None` if it does: for what it is, or for what the store has.
    pub(super) async fn apply_blind(&self, account: &str, group: &EntityGroup) -> Result<Option<Outcome>> {
        let [operation] = group.operations() else { return Ok(None) };
        let (properties, replaces) = match &operation.change {
            Change::Insert(properties) => (properties, Replaces::Nothing),
            Change::Replace { properties, condition: None } => (properties, Replaces::Earlier),
            Change::Replace { .. } | Change::Merge { .. } | Change::Delete { .. } => return Ok(None),
        };
        let name = TableName::fold(group.table());
        let Some(id) = self.directory.hint(account, &name) else { return Ok(None) };
        // A missing table comes before an entity that is too large. A witness is compared by transactions only.
        if check_size(operation, properties).is_err() || Witness::current().is_some() {
            return Ok(None);
        }
        let (partition, key) =
            (keys::entity_partition(id, group.partition_key()), keys::entity_key(&operation.row_key));
        self.throttle.check_partition(&partition, 1)?;
        self.timestamps.reserve().await?;
        let timestamp = self.timestamps.next()?;
        let value = properties.at(timestamp).into_bytes();
        let put = BlindPut { partition: partition.clone(), key: key.clone(), value, replaces };
        let (is_put, found_id) = self.directory.put_blind(account, &name, put).await?;
        if found_id != Some(id) {
            self.remove_stray(&partition, &key, is_put).await;
            return Ok(None);
        }
        match (is_put, replaces) {
            (true, _) => {
                self.load.write(account, group.table(), group.partition_key(), 1);
                Ok(Some(Outcome::Written(timestamp)))
            }
            (false, Replaces::Nothing) => Err(crate::Error::from(ErrorCode::EntityAlreadyExists).at_index(0)),
            // It has a later Timestamp, which a look finds.
            (false, Replaces::Earlier) => Ok(None),
        }
    }

    /// Removes an entity from a table that is gone. If this fails, it stays until the table's range is swept again.
    async fn remove_stray(&self, partition: &Bytes, key: &Bytes, is_put: bool) {
        if is_put && let Err(error) = self.store.write(partition, |tx| tx.delete(key.clone())).await {
            tracing::debug!(%error, "an entity of a table that is gone was not removed");
        }
    }
}
