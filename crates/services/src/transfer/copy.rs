//! A copy of an account from one store to another.

use std::collections::HashSet;

use tablerock_kv::{Bytes, Error, Position, Record, Result, Store};
use tokio::task::JoinSet;

use super::checkpoint::Checkpoint;
use super::named_objects::{NamedObject, named_objects, settings};
use super::renumbering::Renumbering;
use super::source::Source;
use super::{ceilings, directories};
use crate::namespace::Namespace;
use crate::{blob, keys};

/// Commits that are in progress at a time: each waits for a sync, which they share.
const COMMITS_MAX: usize = 32;

/// The settings of a copy.
#[derive(Debug, Clone, Copy)]
pub struct CopyTerms<'a> {
    /// The name of the old store. An interrupted copy resumes only from a store of the same name.
    pub source: &'a str,
    /// After so many records, or so many bytes of records and contents, it is noted how far the copy is.
    pub note_records: u64,
    pub note_bytes: u64,
}

impl<'a> CopyTerms<'a> {
    pub fn from_store(source: &'a str) -> Self {
        Self { source, note_records: 8_000, note_bytes: 64 << 20 }
    }
}

/// How far a copy is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Records and bytes, those of contents among them, with what an earlier run has copied.
    pub records: u64,
    pub bytes: u64,
    /// Tables, queues and containers that are done, of all that there are.
    pub holdings_done: usize,
    pub holdings: usize,
}

/// Copies all that an account has. A copy that was cut off goes on where it was, unless the old store is another or has been
/// written to since. Nothing may be written to the account in the old store meanwhile; that something was is noticed where
/// ids tell, and not otherwise.
pub async fn copy_account(
    from: &Store,
    to: &Store,
    account: &str,
    terms: &CopyTerms<'_>,
    tell: &(dyn Fn(Progress) + Send + Sync),
) -> Result<Progress> {
    let mut all = Vec::new();
    for kind in Namespace::ALL {
        let mut of_kind = named_objects(from, account, kind).await?;
        // A later run finds its place by ids, which stay when names come and go.
        of_kind.sort_by_key(|object| object.id);
        all.extend(of_kind);
    }
    let source = Source::look(from, terms.source, &all).await?;
    let note = match Checkpoint::read(to, account).await? {
        Some(note) => {
            source.check_same(&note.source, account)?;
            directories::check_free(to, account, &note.renumbering).await?;
            note
        }
        None => {
            directories::check_free(to, account, &Renumbering::default()).await?;
            let note = Checkpoint::new(source, Renumbering::reserve(from, to).await?);
            note.save(to, account).await?;
            note
        }
    };
    let progress = Progress { holdings: all.len(), ..Progress::default() };
    let noted = (note.records, note.bytes);
    let of_blob = (Bytes::new(), HashSet::new());
    Copying { from, to, account, terms, note, noted, of_blob, progress, tell }.run(&all).await
}

struct Copying<'a> {
    from: &'a Store,
    to: &'a Store,
    account: &'a str,
    terms: &'a CopyTerms<'a>,
    note: Checkpoint,
    /// Records and bytes when the note was saved last.
    noted: (u64, u64),
    /// A blob's partition, and its contents that this run has copied.
    of_blob: (Bytes, HashSet<u64>),
    progress: Progress,
    tell: &'a (dyn Fn(Progress) + Send + Sync),
}

impl Copying<'_> {
    async fn run(mut self, all: &[NamedObject]) -> Result<Progress> {
        for object in all {
            if (object.kind, object.id) >= (self.note.kind, self.note.id) {
                self.copy_holding(object).await?;
            }
            self.progress.holdings_done += 1;
            self.report();
        }
        ceilings::raise_all(self.from, self.to).await?;
        if all.iter().any(|object| object.kind == Namespace::Containers) {
            blob::restart_build(self.to).await?;
        }
        self.publish(all).await?;
        Checkpoint::remove(self.to, self.account).await?;
        Ok(self.progress)
    }

    async fn copy_holding(&mut self, object: &NamedObject) -> Result<()> {
        let mut range = object.records();
        if (self.note.kind, self.note.id) == (object.kind, object.id) {
            range.start = range.start.max(self.note.position.clone());
        }
        let mut pages = self.from.records(range);
        while let Some(records) = pages.next_page().await? {
            self.copy_page(object, records).await?;
            self.report();
        }
        if self.noted == (self.note.records, self.note.bytes) {
            return Ok(());
        }
        self.save_note(object.kind, object.id.saturating_add(1), Position::new(Bytes::new(), Bytes::new())).await
    }

    /// Copies records with the contents that they refer to. What is noted as copied has been written before.
    async fn copy_page(&mut self, object: &NamedObject, records: Vec<Record>) -> Result<()> {
        let mut copied = Vec::with_capacity(records.len());
        for record in records {
            if object.kind == Namespace::Containers {
                self.copy_contents(object, &record).await?;
            }
            let place = Position::new(record.partition.clone(), record.key.clone());
            let record = self.note.renumbering.record(object.kind, record)?;
            self.note.records += 1;
            self.note.bytes += (record.key.len() + record.value.len()) as u64;
            copied.push(record);
            if self.is_note_due() {
                self.write(std::mem::take(&mut copied)).await?;
                self.save_note(object.kind, object.id, place.successor()).await?;
            }
        }
        self.write(copied).await
    }

    fn is_note_due(&self) -> bool {
        let (records, bytes) = self.noted;
        self.note.records - records >= self.terms.note_records || self.note.bytes - bytes >= self.terms.note_bytes
    }

    async fn save_note(&mut self, kind: Namespace, id: u64, position: Position) -> Result<()> {
        (self.note.kind, self.note.id, self.note.position) = (kind, id, position);
        self.note.save(self.to, self.account).await?;
        self.noted = (self.note.records, self.note.bytes);
        Ok(())
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

    /// Copies the contents that a record of a blob refers to, each once a blob, and watches over blocks that no list has named.
    async fn copy_contents(&mut self, object: &NamedObject, record: &Record) -> Result<()> {
        let container_id = self.note.renumbering.id(Namespace::Containers, object.id)?;
        if record.partition != self.of_blob.0 {
            self.of_blob = (record.partition.clone(), HashSet::new());
        }
        for (content, length) in blob::contents_of_record(&record.key, &record.value)? {
            if self.of_blob.1.insert(content) {
                let new = (container_id, self.note.renumbering.contents.apply(content)?);
                let (from, to, tell) = (self.from, self.to, self.tell);
                let (bytes, progress) = (&mut self.note.bytes, &mut self.progress);
                let told = |part: u64| {
                    *bytes += part;
                    progress.bytes = *bytes;
                    tell(*progress);
                };
                blob::copy_content(from, (object.id, content), to, new, length, told).await?;
            }
        }
        if let Some((key, value)) = blob::block_watch_of(record, container_id)? {
            put_all(self.to, &blob::keys::intents_partition(), &[(key, value)]).await?;
        }
        Ok(())
    }

    /// Makes the account visible in the new store.
    async fn publish(&self, all: &[NamedObject]) -> Result<()> {
        let settings = settings(self.from, self.account).await?;
        if !settings.is_empty() {
            put_all(self.to, &keys::account_partition(self.account), &settings).await?;
        }
        directories::publish(self.to, self.account, &self.note.renumbering, all).await
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
    to.write(partition, |tx| writes.iter().for_each(|(key, value)| tx.put(key.clone(), value.clone()))).await
}
