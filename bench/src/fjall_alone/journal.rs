//! The groups that Tablerock has committed, read from the journals that it left: how many records went to disk with one
//! sync, and which. `docs/formats.md` describes the format of a journal.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
/// Number of items and sequence number.
const START_BYTES: usize = 4 + 8;
/// Checksum and magic bytes.
const END_BYTES: usize = 8 + 4;

/// Key and value.
pub type Record = (Vec<u8>, Vec<u8>);

/// The records of each batch in the journals below a directory, in the order in which they were written.
pub fn groups(directory: &Path) -> Result<Vec<Vec<Record>>> {
    let mut journals = Vec::new();
    collect(directory, &mut journals)?;
    journals.sort();
    let mut groups = Vec::new();
    for (_, path) in journals {
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut reader = Reader { rest: &bytes };
        while let Some(group) = reader.batch() {
            groups.push(group);
        }
    }
    Ok(groups)
}

fn collect(directory: &Path, journals: &mut Vec<(u64, PathBuf)>) -> Result<()> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            collect(&path, journals)?;
        } else if path.extension().is_some_and(|extension| extension == "jnl") {
            let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
            journals.push((number.ok_or_else(|| format!("{} has no number", path.display()))?, path));
        }
    }
    Ok(())
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    /// The next batch; `None` at the end, which may be followed by room that is not written yet.
    fn batch(&mut self) -> Option<Vec<Record>> {
        if self.take(1)? != [START] {
            return None;
        }
        let items = u32::from_le_bytes(self.take(START_BYTES)?[..4].try_into().ok()?);
        let records = (0..items).map(|_| self.item()).collect::<Option<Vec<_>>>()?;
        if self.take(1)? != [END] {
            return None;
        }
        self.take(END_BYTES)?;
        Some(records)
    }

    fn item(&mut self) -> Option<Record> {
        if self.take(1)? != [ITEM] {
            return None;
        }
        // Kind, compression and keyspace say nothing about the cost.
        self.take(1 + 1 + 8)?;
        let key_bytes = u16::from_le_bytes(self.take(2)?.try_into().ok()?);
        self.take(4)?;
        let value_bytes = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
        Some((self.take(usize::from(key_bytes))?.to_vec(), self.take(value_bytes as usize)?.to_vec()))
    }

    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_that_fjall_wrote_are_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let database = fjall::Database::builder(directory.path())
            .journal_compression(fjall::CompressionType::None)
            .open()
            .unwrap();
        let keyspace = database.keyspace("records", fjall::KeyspaceCreateOptions::default).unwrap();
        for size in [1_u8, 3] {
            let mut batch = database.batch();
            for number in 0..size {
                batch.insert(&keyspace, [size, number], vec![number; 1000]);
            }
            batch.durability(Some(fjall::PersistMode::SyncData)).commit().unwrap();
        }
        let groups = groups(directory.path()).unwrap();
        let own = |group: &&Vec<Record>| group.iter().all(|(_, value)| value.len() == 1000);
        let sizes: Vec<usize> = groups.iter().filter(own).map(Vec::len).collect();
        assert_eq!(sizes, [1, 3]);
        assert_eq!(groups.last().unwrap()[2], (vec![3, 2], vec![2; 1000]));
    }
}
