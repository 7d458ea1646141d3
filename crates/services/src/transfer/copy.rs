//! A copy of an account from one store to another.

use std::collections::HashSet;

use tablerock_kv::{Bytes, Error, Record, Result, ScanLimits, Store, Transaction};
use tokio::task::JoinSet;

use super::ceilings;
use super::checkpoint::Checkpoint;
use super::holdings::{Holding, Kind, holdings, settings};
use super::renumbering::Renumbering;
use crate::{blob, keys};

/// What is read at once, and then written.
const PAGE: ScanLimits = ScanLimits { records_max: 1_000, bytes_max: 4 << 20, deadline: None };
/// Commits that are under way at a time: each waits for a sync, which they share.
const COMMITS_MAX: usize = 32;
/// After so many pages it is noted how far the copy is.
const PAGES_BETWEEN_NOTES: usize = 8;
/// Rows of a directory that are written at once.
const ROWS_MAX: usize = 500;

/// How far a copy is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Records and their bytes, with what an earlier run has copied.
    pub records: u64,
    pub bytes: u64,
    /// Tables, queues and containers that are done, of all that there are.
    pub holdings_done: usize,
    pub holdings: usize,
}

/// Copies all that an account has. A copy that was cut off goes on where it was. Nothing may be written to the account in
/// the old store meanwhile; that something was is noticed where ids tell, and not otherwise.
pub async fn copy_account(
    from: &Store,
    to: &Store,
    account: &str,
    tell: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Progress> {
    let note = match Checkpoint::read(to, account).await? {
        Some(note) => note,
        None => {
            check_absent(to, account).await?;
            let note = Checkpoint::new(Renumbering::reserve(from, to).await?);
            note.save(to, account).await?;
            note
        }
    };
    Copying { from, to, account, note, progress: Progress::default(), tell, pages: 0 }.run().await
}

async fn check_absent(to: &Store, account: &str) -> Result<()> {
    for kind in Kind::ALL {
        if !holdings(to, account, kind).await?.is_empty() {
            return Err(Error::invalid(format!(
                "the account {account} already has tables, queues or containers where it is to go; delete them, or \
                 copy before servers with this account are started there"
            )));
        }
    }
    Ok(())
}

struct Copying<'a> {
    from: &'a Store,
    to: &'a Store,
    account: &'a str,
    note: Checkpoint,
    progress: Progress,
    tell: &'a (dyn Fn(Progress) + Send + Sync),
    pages: usize,
}

impl Copying<'_> {
    async fn run(mut self) -> Result<Progress> {
        let mut all = Vec::new();
        for kind in Kind::ALL {
            let mut of_kind = holdings(self.from, self.account, kind).await?;
            // A later run finds its place by ids, which stay when names come and go.
            of_kind.sort_by_key(|holding| holding.id);
            all.extend(of_kind);
        }
        self.progress.holdings = all.len();
        for holding in &all {
            if (holding.kind, holding.id) >= (self.note.kind, self.note.id) {
                self.copy_holding(holding).await?;
            }
            self.progress.holdings_done += 1;
            self.report();
        }
        ceilings::raise_all(self.from, self.to).await?;
        self.publish(&all).await?;
        Checkpoint::remove(self.to, self.account).await?;
        Ok(self.progress)
    }

    async fn copy_holding(&mut self, holding: &Holding) -> Result<()> {
        let mut range = holding.records();
        if (self.note.kind, self.note.id) == (holding.kind, holding.id) {
            range.start = range.start.max(self.note.position.clone());
        }
        loop {
            let page = self.from.scan(&range, PAGE).await?;
            if holding.kind == Kind::Container {
                self.copy_contents(holding, &page.records).await?;
            }
            let renumbered = page.records.into_iter().map(|record| self.note.renumbering.record(holding.kind, record));
            let records = renumbered.collect::<Result<Vec<_>>>()?;
            self.note.records += records.len() as u64;
            self.note.bytes += records.iter().map(|record| (record.key.len() + record.value.len()) as u64).sum::<u64>();
            self.write(records).await?;
            let Some(next) = page.next else { return Ok(()) };
            range.start = next.clone();
            self.pages += 1;
            if self.pages.is_multiple_of(PAGES_BETWEEN_NOTES) {
                (self.note.kind, self.note.id, self.note.position) = (holding.kind, holding.id, next);
                self.note.save(self.to, self.account).await?;
            }
            self.report();
        }
    }

    fn report(&mut self) {
        (self.progress.records, self.progress.bytes) = (self.note.records, self.note.bytes);
        (self.tell)(self.progress);
    }

    /// Writes records, those of a partition together.
    async fn write(&self, records: Vec<Record>) -> Result<()> {
        let mut commits: JoinSet<Result<()>> = JoinSet::new();
        let mut records = records.into_iter().peekable();
        while let Some(first) = records.next() {
            let partition = first.partition.clone();
            let mut writes = vec![(first.key, first.value)];
            while let Some(record) = records.next_if(|record| record.partition == partition) {
                writes.push((record.key, record.value));
            }
            if commits.len() >= COMMITS_MAX {
                finish_one(&mut commits).await?;
            }
            let to = self.to.clone();
            commits.spawn(async move { put_all(&to, &partition, &writes).await });
        }
        while !commits.is_empty() {
            finish_one(&mut commits).await?;
        }
        Ok(())
    }

    /// Copies the contents that records of blobs refer to, each once a blob, and watches over blocks that no list has named.
    async fn copy_contents(&mut self, holding: &Holding, records: &[Record]) -> Result<()> {
        let container_id = self.note.renumbering.id(Kind::Container, holding.id)?;
        let mut copied = HashSet::new();
        let mut blob_before = Bytes::new();
        for record in records {
            if record.partition != blob_before {
                (blob_before, copied) = (record.partition.clone(), HashSet::new());
            }
            for (content, length) in blob::contents_of_record(&record.key, &record.value)? {
                if copied.insert(content) {
                    let new = (container_id, self.note.renumbering.contents.apply(content)?);
                    blob::copy_content(self.from, (holding.id, content), self.to, new, length).await?;
                    self.note.bytes += length;
                }
            }
            if let Some((key, value)) = blob::watch_note_of(record, container_id)? {
                put_all(self.to, &blob::keys::notes_partition(), &[(key, value)]).await?;
            }
        }
        Ok(())
    }

    /// Makes the account visible in the new store.
    async fn publish(&self, all: &[Holding]) -> Result<()> {
        let settings = settings(self.from, self.account).await?;
        if !settings.is_empty() {
            put_all(self.to, &keys::account_partition(self.account), &settings).await?;
        }
        for kind in Kind::ALL {
            let of_kind = all.iter().filter(|holding| holding.kind == kind);
            let rows = of_kind.map(|holding| {
                let id = self.note.renumbering.id(kind, holding.id)?;
                Ok((holding.key.clone(), holding.row_with_id(id)))
            });
            let rows = rows.collect::<Result<Vec<_>>>()?;
            for rows in rows.chunks(ROWS_MAX) {
                put_all(self.to, &kind.directory(self.account), rows).await?;
            }
        }
        Ok(())
    }
}

async fn finish_one(commits: &mut JoinSet<Result<()>>) -> Result<()> {
    match commits.join_next().await {
        None => Ok(()),
        Some(Ok(outcome)) => outcome,
        Some(Err(error)) => Err(Error::internal("records were not written").with_source(error)),
    }
}

async fn put_all(to: &Store, partition: &[u8], writes: &[(Bytes, Bytes)]) -> Result<()> {
    let put = |tx: &mut Transaction| {
        writes.iter().for_each(|(key, value)| tx.put(key.clone(), value.clone()));
        Ok(())
    };
    to.transact(partition, vec![], put).await
}
