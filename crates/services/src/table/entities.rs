//! Writes and point reads of entities. Every write is a group transaction on one partition.

use tablerock_kv::{Bytes, Look, LookFuture, Transaction};
use tablerock_protocol::entity::keys_size;
use tablerock_protocol::{DateTime, ErrorCode, EtagCondition, limits};

use super::directory::FoundPartition;
use super::group::{Change, EntityGroup, EntityOperation};
use super::{Properties, StoredEntity, TableService, keys};
use crate::{Error, Result};

/// The result of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The entity now has this Timestamp, and the ETag that goes with it.
    Written(DateTime),
    Deleted,
}

impl TableService {
    /// Point read.
    pub async fn query_entity(
        &self,
        account: &str,
        table: &str,
        partition_key: &str,
        row_key: &str,
    ) -> Result<StoredEntity> {
        self.throttle.check_account(account)?;
        let key = [keys::entity_key(row_key)];
        let FoundPartition { partition, values } = self.find_partition(account, table, partition_key, &key).await?;
        self.throttle.check_partition(&partition, 1)?;
        self.load.read(account, table, partition_key, 1);
        let value = match values {
            Some(values) => values.into_iter().next().flatten(),
            None => self.store.get(&partition, &key[0]).await?,
        };
        Ok(StoredEntity::open(value.ok_or(ErrorCode::ResourceNotFound)?)?)
    }

    /// Applies all operations of a group, or none. One outcome per operation, in order; an error names the index
    /// of the operation that caused it.
    pub async fn apply(&self, account: &str, group: &EntityGroup) -> Result<Vec<Outcome>> {
        self.throttle.check_account(account)?;
        if self.directory.is_shared()
            && let Some(outcome) = Box::pin(self.apply_blind(account, group)).await?
        {
            return Ok(vec![outcome]);
        }
        let row_keys: Vec<Bytes> = group.operations().iter().map(|op| keys::entity_key(&op.row_key)).collect();
        let found = self.find_partition(account, group.table(), group.partition_key(), &row_keys).await;
        let FoundPartition { partition, values } = found.map_err(|error| error.at_index(0))?;
        self.throttle.check_partition(&partition, group.operations().len())?;
        self.load.write(account, group.table(), group.partition_key(), group.operations().len() as u64);
        self.timestamps.reserve().await?;

        let decide = |tx: &mut Transaction| {
            let current = row_keys.iter().map(|key| current(tx, key)).collect::<Result<Vec<_>>>()?;
            // All entities of a group get one Timestamp, later than any that they had.
            let newest = current.iter().flatten().map(StoredEntity::timestamp).max();
            let timestamp = self.timestamps.next_after(newest)?;
            let steps = group.operations().iter().zip(&row_keys).zip(&current).enumerate();
            steps
                .map(|(index, ((operation, key), current))| {
                    apply_one(tx, operation, key, current.as_ref(), timestamp).map_err(|error| error.at_index(index))
                })
                .collect()
        };
        let announcement = self.skip_index.as_ref().map(|skip_index| skip_index.announce(&partition, &row_keys));
        let outcome = match values {
            Some(values) => {
                let first = Look { partition: partition.clone(), seen: row_keys.iter().cloned().zip(values).collect() };
                let look = || -> LookFuture<'_, Error> {
                    Box::pin(self.look_again(account, group.table(), group.partition_key(), &row_keys))
                };
                self.store.transact_looking(first, look, decide).await
            }
            None => self.store.transact(&partition, row_keys.clone(), decide).await,
        };
        if let Some(announcement) = announcement {
            announcement.over();
        }
        outcome
    }
}

fn current(tx: &Transaction, key: &[u8]) -> Result<Option<StoredEntity>> {
    Ok(tx.get(key).cloned().map(StoredEntity::open).transpose()?)
}

fn apply_one(
    tx: &mut Transaction,
    operation: &EntityOperation,
    key: &Bytes,
    current: Option<&StoredEntity>,
    timestamp: DateTime,
) -> Result<Outcome> {
    let merged;
    let properties = match &operation.change {
        Change::Insert(properties) => {
            if current.is_some() {
                return Err(ErrorCode::EntityAlreadyExists.into());
            }
            properties
        }
        Change::Replace { properties, condition } => {
            check_condition(*condition, current)?;
            properties
        }
        Change::Merge { properties, condition } => {
            check_condition(*condition, current)?;
            match current {
                Some(current) => {
                    merged = properties.merged_onto(current)?;
                    &merged
                }
                None => properties,
            }
        }
        Change::Delete { condition } => {
            check_condition(Some(*condition), current)?;
            tx.delete(key.clone());
            return Ok(Outcome::Deleted);
        }
    };
    check_size(operation, properties)?;
    tx.put(key.clone(), properties.at(timestamp).into_bytes());
    Ok(Outcome::Written(timestamp))
}

/// With a condition the entity must be there, which is looked at first, and be the version asked for.
fn check_condition(condition: Option<EtagCondition>, current: Option<&StoredEntity>) -> Result<()> {
    let Some(condition) = condition else { return Ok(()) };
    let current = current.ok_or(ErrorCode::ResourceNotFound)?;
    if condition.admits(current.timestamp()) { Ok(()) } else { Err(ErrorCode::UpdateConditionNotSatisfied.into()) }
}

pub(super) fn check_size(operation: &EntityOperation, properties: &Properties) -> Result<(), Error> {
    if properties.count() > limits::ENTITY_PROPERTIES_MAX {
        return Err(ErrorCode::TooManyProperties.into());
    }
    let size = keys_size(&operation.partition_key, &operation.row_key) + properties.size();
    if size > limits::ENTITY_BYTES_MAX { Err(ErrorCode::EntityTooLarge.into()) } else { Ok(()) }
}
