//! What accounts there are in a store, and what each has: tables, queues and containers.

use tablerock_kv::key::KeyReader;
use tablerock_kv::{Bytes, Error, Position, Range, Result, ScanLimits, Store};

use crate::{blob, keys, queue};

const SCAN: ScanLimits = ScanLimits { records_max: 1_000, bytes_max: 4 << 20, deadline: None };
/// Begins each directory's record.
const DIRECTORY_FORMAT: u8 = 1;

/// What a name in a directory stands for, in the order in which they are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Table,
    Queue,
    Container,
}

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Table, Self::Queue, Self::Container];

    /// The partition of an account's directory.
    pub(super) fn directory(self, account: &str) -> Bytes {
        match self {
            Self::Table => keys::directory_partition(account),
            Self::Queue => queue::keys::directory_partition(account),
            Self::Container => blob::keys::directory_partition(account),
        }
    }

    /// The rows of the directory, without notes.
    fn directory_rows(self, account: &str) -> Range {
        match self {
            Self::Table => keys::directory_tables(account),
            Self::Queue => queue::keys::directory_queues(account, "", ""),
            Self::Container => blob::keys::directory_containers(account),
        }
    }
}

/// A table, a queue or a container.
#[derive(Debug, Clone)]
pub(super) struct Holding {
    pub(super) kind: Kind,
    pub(super) id: u64,
    /// Its row in the directory.
    pub(super) key: Bytes,
    pub(super) row: Bytes,
}

impl Holding {
    /// All records that it holds, but for the contents of blobs.
    pub(super) fn records(&self) -> Range {
        match self.kind {
            Kind::Table => keys::table_range(self.id),
            Kind::Queue => queue::keys::messages_range(self.id),
            Kind::Container => blob::keys::container_blobs(self.id),
        }
    }

    /// Its row under another id. All directories have the id in the same place.
    pub(super) fn row_with_id(&self, id: u64) -> Bytes {
        [&self.row[..1], &id.to_be_bytes(), &self.row[9..]].concat().into()
    }
}

/// All that an account has of a kind, by name.
pub(super) async fn holdings(store: &Store, account: &str, kind: Kind) -> Result<Vec<Holding>> {
    let mut found = Vec::new();
    let mut range = kind.directory_rows(account);
    loop {
        let page = store.scan(&range, SCAN).await?;
        for record in page.records {
            found.push(Holding { kind, id: id_of_row(&record.value)?, key: record.key, row: record.value });
        }
        let Some(next) = page.next else { return Ok(found) };
        range.start = next;
    }
}

/// The id that a directory's row leads to.
pub(super) fn id_of_row(row: &[u8]) -> Result<u64> {
    match row.split_first_chunk::<9>() {
        Some(([DIRECTORY_FORMAT, id @ ..], _)) => Ok(u64::from_be_bytes(*id)),
        _ => Err(Error::corrupt("a row of a directory cannot be read")),
    }
}

/// The settings of an account's services.
pub(super) async fn settings(store: &Store, account: &str) -> Result<Vec<(Bytes, Bytes)>> {
    let page = store.scan(&Range::partition(&keys::account_partition(account)), SCAN).await?;
    Ok(page.records.into_iter().map(|record| (record.key, record.value)).collect())
}

/// The accounts that have anything in a store, in the order of their names.
pub async fn accounts_of(store: &Store) -> Result<Vec<String>> {
    const FIRST: ScanLimits = ScanLimits { records_max: 1, bytes_max: 1, deadline: None };
    let mut accounts = std::collections::BTreeSet::new();
    for kind in Kind::ALL {
        let tag = &kind.directory("")[..1];
        let mut range = Range::partitions(tag);
        // One look for each account: the rest of its directory is skipped.
        while let Some(record) = store.scan(&range, FIRST).await?.records.into_iter().next() {
            let mut pieces = KeyReader::new(&record.partition);
            pieces.tag()?;
            let account = pieces.text()?.into_owned();
            if !holdings(store, &account, kind).await?.is_empty() {
                accounts.insert(account);
            }
            range.start = Position::end_of(&record.partition);
        }
    }
    Ok(accounts.into_iter().collect())
}
