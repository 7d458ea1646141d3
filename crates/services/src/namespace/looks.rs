//! Reading the records of an object together with the row of its name.
//!
//! On a store that servers share, another server may drop an object at any time, and its records are swept a while later. So
//! records count only if a row that was read with them, or after them, still leads to their id.

use tablerock_kv::{BlindPut, Bytes, Page, Range, ScanLimits, Wanted};

use super::directory::Directory;
use super::id_of_row;
use super::keys::row_key;
use crate::Result;

/// The looks at an object that is dropped and created between them.
pub(crate) const LOOKS_MAX: usize = 8;

/// Some records of an object.
#[derive(Debug)]
pub(crate) struct FoundRecords {
    pub(crate) id: u64,
    pub(crate) partition: Bytes,
    pub(crate) values: Vec<Option<Bytes>>,
}

impl Directory {
    /// Whether other servers write to the store.
    pub(crate) fn is_shared(&self) -> bool {
        self.hints.is_some()
    }

    /// Returns the id that a name had last, on a store that servers share.
    pub(crate) fn hint(&self, account: &str, name: &str) -> Option<u64> {
        self.hints.as_ref()?.get(account, name)
    }

    /// The partition and the key of a row.
    pub(crate) fn row_at(&self, account: &str, name: &str) -> (Bytes, Bytes) {
        (self.namespace.directory(account), row_key(name))
    }

    /// Returns the id in a row, and keeps it as the next hint.
    pub(super) fn keep_hint(&self, account: &str, name: &str, row: Option<&Bytes>) -> Result<Option<u64>> {
        let id = row.map(|row| id_of_row(row)).transpose()?;
        if let Some(hints) = &self.hints
            && hints.get(account, name) != id
        {
            hints.keep(account, name, id);
        }
        Ok(id)
    }

    /// Reads some records of an object; `None` if there is no such name. On a store that servers share they are read together
    /// with the row, at the id that the name had last. If the row has another one, they are read again.
    pub(crate) async fn look(
        &self,
        account: &str,
        name: &str,
        partition_of: impl Fn(u64) -> Bytes + Send,
        keys: &[Bytes],
    ) -> Result<Option<FoundRecords>> {
        let Some(mut id) = self.first_id(account, name).await? else { return Ok(None) };
        if !self.is_shared() {
            let (partition, mut values) = (partition_of(id), Vec::with_capacity(keys.len()));
            for key in keys {
                values.push(self.store.get(&partition, key).await?);
            }
            return Ok(Some(FoundRecords { id, partition, values }));
        }
        for _ in 0..LOOKS_MAX {
            let (directory, row) = self.row_at(account, name);
            let partition = partition_of(id);
            let wanted = [
                Wanted { partition: directory, keys: vec![row] },
                Wanted { partition: partition.clone(), keys: keys.to_vec() },
            ];
            let mut found = self.store.get_many(&wanted).await?.into_iter();
            let row = found.next().and_then(|mut values| values.pop()).flatten();
            match self.keep_hint(account, name, row.as_ref())? {
                None => return Ok(None),
                Some(found_id) if found_id == id => {
                    return Ok(Some(FoundRecords { id, partition, values: found.next().unwrap_or_default() }));
                }
                Some(found_id) => id = found_id,
            }
        }
        Err(again_and_again())
    }

    /// The id under which a page begins to be read. On a store that servers share it is that of last time, which is to be
    /// [confirmed](Self::confirm) after the page.
    pub(crate) async fn first_id(&self, account: &str, name: &str) -> Result<Option<u64>> {
        match self.hint(account, name) {
            Some(hint) => Ok(Some(hint)),
            None => self.id(account, name).await,
        }
    }

    /// Returns whether a name still leads to the id under which records were read. A dropped object is swept a while later,
    /// so a server that stood still might otherwise show a part of it.
    pub(crate) async fn confirm(&self, account: &str, name: &str, id: u64) -> Result<bool> {
        Ok(!self.is_shared() || self.id(account, name).await? == Some(id))
    }

    /// Reads a page of the records of an object; `None` if the name no longer leads to this id.
    pub(crate) async fn page(
        &self,
        account: &str,
        name: &str,
        id: u64,
        range: &Range,
        limits: ScanLimits,
    ) -> Result<Option<Page>> {
        if !self.is_shared() {
            return Ok(Some(self.store.scan(range, limits).await?));
        }
        let (directory, row) = self.row_at(account, name);
        let (page, row) = self.store.scan_then_get(range, limits, (&directory, &row)).await?;
        Ok((self.keep_hint(account, name, row.as_ref())? == Some(id)).then_some(page))
    }

    /// Puts a record of an object without reading it before. Returns whether it was put, and the id that the name led to
    /// after that.
    pub(crate) async fn put_blind(&self, account: &str, name: &str, put: BlindPut) -> Result<(bool, Option<u64>)> {
        let (directory, row) = self.row_at(account, name);
        let (is_put, row) = self.store.put_blind(put, (&directory, &row)).await?;
        Ok((is_put, self.keep_hint(account, name, row.as_ref())?))
    }
}

/// The error of an object that has another id at each look.
pub(crate) fn again_and_again() -> crate::Error {
    tablerock_kv::Error::unavailable("the object is dropped and created again and again; retry later").into()
}
