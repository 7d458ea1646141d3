//! Filling a page of a query with the entities that match.

use std::cell::Cell;

use tablerock_kv::Bytes;
use tablerock_kv::key::key_bytes_to_text;
use tablerock_protocol::{Filter, limits};

use super::query::{EntityPage, FoundEntity};
use super::stored_entity::{EntityRow, corrupt};
use super::{StoredEntity, keys};
use crate::Result;

/// A page of entities while it is filled.
pub(super) struct PageFiller<'a> {
    pub(super) filter: Option<&'a Filter>,
    items_max: usize,
    bytes: usize,
    pub(super) page: EntityPage,
}

impl<'a> PageFiller<'a> {
    pub(super) fn new(filter: Option<&'a Filter>, items_max: usize) -> Self {
        Self { filter, items_max, bytes: 0, page: EntityPage::default() }
    }

    /// How many more entities the page takes.
    pub(super) fn missing(&self) -> usize {
        self.items_max - self.page.entities.len()
    }

    /// Adds a record to the page if it matches; true if the page is full and the next one begins with this record.
    pub(super) fn take(&mut self, partition: &Bytes, key: &Bytes, value: Bytes) -> Result<bool> {
        // The first entity always fits, however large it is: a page without any would never end.
        let is_full = self.missing() == 0 || (self.bytes + value.len() > limits::PAGE_BYTES_MAX && self.bytes > 0);
        if is_full {
            self.stop_at(partition, key)?;
            return Ok(true);
        }
        let entity = StoredEntity::open(value)?;
        let (partition_key, row_key) =
            (key_bytes_to_text(keys::partition_key_of(partition)?)?, key_bytes_to_text(key)?);
        if let Some(filter) = self.filter {
            let row = EntityRow {
                partition_key: &partition_key,
                row_key: &row_key,
                entity: &entity,
                corrupt: Cell::new(false),
            };
            let matches = filter.matches(&row);
            // A filter cannot fail, so an unreadable property is reported next to its result.
            if row.corrupt.get() {
                return Err(corrupt().into());
            }
            if !matches {
                return Ok(false);
            }
        }
        self.bytes += entity.bytes_len();
        let (partition_key, row_key) = (partition_key.into_owned(), row_key.into_owned());
        self.page.entities.push(FoundEntity { partition_key, row_key, entity });
        Ok(false)
    }

    /// Ends the page: the next one begins here.
    pub(super) fn stop_at(&mut self, partition: &[u8], key: &[u8]) -> Result<()> {
        let partition_key = key_bytes_to_text(keys::partition_key_of(partition)?)?.into_owned();
        self.page.next = Some((partition_key, key_bytes_to_text(key)?.into_owned()));
        Ok(())
    }
}
