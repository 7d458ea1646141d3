//! Giving space back, also when something dies on the way.
//!
//! Contents and lists of pieces are written before the record that refers to them, and go after the record that did. In
//! between they could be forgotten for ever, so a note names them: durable before the first byte is written or the last
//! reference goes, and removed when it is known that each is referred to or gone. Whatever interrupts that, a dropped
//! connection, a refusal or the end of the process, the note is settled later: at once in the background, or at the next
//! start. Settling looks at what the blob refers to, so it is right in every case, and may be done twice.
//!
//! A store that servers share differs in two ways. A write that failed, or whose client went away, may still be on its way
//! to the database. It is given time to arrive, but no time is long enough: a commit that waits for a standby is bounded by
//! nothing. So before a note of such a write is settled, the blob is [fenced](fence): what was decided before that finds it
//! changed, and is refused when it arrives. If the fence cannot be made, the note stays. And a start settles nothing,
//! since other servers are at work; notes of a server that died are settled when they are older than any request can be.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Bytes, Clock, Error, Position, Range, Result, ScanLimits, Store, TICKS_PER_SECOND};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::address::{ContentAddress, Place};
use super::blocks::{UncommittedBlock, fence};
use super::content::CHUNK_BYTES;
use super::fields::{FieldReader, FieldWriter};
use super::keys;
use super::pieces::{self, Piece};
use super::record::{Blob, Body};
use crate::duty::Duty;

const FORMAT: u8 = 1;

/// Notes that may be open for contents under way, and as many for what is to go. More wait.
const NOTES_MAX: usize = 1024;

/// How long a write whose outcome nobody knows has to arrive at a shared store before it is fenced off. Nearly all are
/// made or lost by then, and chunks of content too, which no fence keeps out.
const ARRIVAL_TIME: Duration = Duration::from_secs(120);
/// Notes that wait for that. What is beyond stays as if its server had died.
const WAITING_MAX: usize = 16 * 1024;

/// When a note on a shared store is so old that its request must have ended.
const NOTE_TICKS_MAX: u64 = 7 * 24 * 3600 * TICKS_PER_SECOND;

/// Contents of up to so many chunks are deleted record by record. Above, the engine drops the range, which costs it more
/// at first and nothing for each record.
const DELETED_CHUNKS_MAX: u64 = 2;

const SCAN: ScanLimits = ScanLimits { records_max: 1_000, bytes_max: 4 << 20, deadline: None };

/// Something that a blob holds and that takes up space of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holding {
    /// With its length, or `u64::MAX` while nobody knows it.
    Content { id: u64, length: u64 },
    /// All of its records, however many there are by then.
    Layout { id: u64 },
}

impl Holding {
    /// What the body of a blob holds.
    pub(super) fn of(blob: &Blob) -> Option<Self> {
        match blob.body {
            Body::Inline(_) => None,
            Body::Whole { content } => Some(Self::Content { id: content, length: blob.length }),
            Body::Pieces { layout, .. } => Some(Self::Layout { id: layout }),
        }
    }
}

/// What a blob holds that may have to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) container_id: u64,
    pub(super) name: String,
    pub(super) holdings: Vec<Holding>,
}

impl Note {
    fn encode(&self) -> Bytes {
        let mut out = FieldWriter::new(FORMAT);
        out.number(self.container_id);
        out.text(&self.name);
        out.number(self.holdings.len() as u64);
        for holding in &self.holdings {
            let (kind, id, size) = match *holding {
                Holding::Content { id, length } => (1, id, length),
                Holding::Layout { id } => (2, id, 0),
            };
            out.byte(kind);
            out.number(id);
            out.number(size);
        }
        out.finish()
    }

    fn decode(record: &Bytes) -> Result<Self> {
        let mut fields = FieldReader::new(record, FORMAT, "a note about a blob")?;
        let (container_id, name) = (fields.number()?, fields.text()?);
        let mut holdings = Vec::new();
        for _ in 0..fields.count()? {
            let (kind, id, size) = (fields.byte()?, fields.number()?, fields.number()?);
            holdings.push(match kind {
                1 => Holding::Content { id, length: size },
                2 => Holding::Layout { id },
                _ => return Err(fields.corrupt()),
            });
        }
        fields.finish()?;
        Ok(Self { container_id, name, holdings })
    }
}

/// Who settles notes.
#[derive(Debug)]
pub(super) struct Tidying {
    store: Store,
    clock: Arc<dyn Clock>,
    /// Apart, because a write may have one of the first and wait for one of the second; never the other way round.
    arriving: Arc<Semaphore>,
    leaving: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// Whether a note is about something new or something old.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Arriving,
    Leaving,
}

/// A note that is written and not settled. When it is dropped, it is settled in the background.
#[derive(Debug)]
pub(super) struct OpenNote {
    tidying: Arc<Tidying>,
    key: Bytes,
    work: Option<Work>,
}

#[derive(Debug)]
struct Work {
    note: Note,
    known: Known,
    permit: OwnedSemaphorePermit,
}

/// What is known about the write that a note was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It was not sent yet.
    Unsent,
    /// It was sent, and there is no answer.
    Nothing,
    /// It is over, one way or the other.
    Over,
    /// Each holding is referred to by now, so that nobody has to look.
    Kept,
}

impl Tidying {
    pub(super) fn new(store: Store, clock: Arc<dyn Clock>) -> Arc<Self> {
        let notes = || Arc::new(Semaphore::new(NOTES_MAX));
        let waiting = Arc::new(Semaphore::new(WAITING_MAX));
        Arc::new(Self { store, clock, arriving: notes(), leaving: notes(), waiting })
    }

    /// Writes a note. `id` is one that nothing else has.
    pub(super) async fn open(self: &Arc<Self>, id: u64, note: Note, direction: Direction) -> Result<OpenNote> {
        let notes = match direction {
            Direction::Arriving => &self.arriving,
            Direction::Leaving => &self.leaving,
        };
        let permit = Arc::clone(notes).acquire_owned().await.expect("the semaphore is never closed");
        let key = match self.store.is_exclusive() {
            true => keys::holdings_note_key(id),
            false => keys::dated_holdings_note_key(self.clock.ticks(), id),
        };
        let value = note.encode();
        self.store
            .transact(&keys::notes_partition(), vec![], |tx| {
                tx.put(key.clone(), value.clone());
                Ok::<_, Error>(())
            })
            .await?;
        let known = match direction {
            Direction::Arriving => Known::Unsent,
            // Noted right before it is sent.
            Direction::Leaving => Known::Nothing,
        };
        let work = Some(Work { note, known, permit });
        Ok(OpenNote { tidying: Arc::clone(self), key, work })
    }

    /// Waits until everything that is under way in the background is done.
    pub(super) async fn rest(&self) {
        for notes in [&self.arriving, &self.leaving] {
            let all = notes.acquire_many(NOTES_MAX as u32).await;
            drop(all.expect("the semaphore is never closed"));
        }
    }

    /// Settles what the last process left. For the start, before anything is written.
    pub(super) async fn settle_all(&self) -> Result<()> {
        if !self.store.is_exclusive() {
            return Ok(());
        }
        self.settle_range(keys::holdings_notes(), None).await
    }

    /// Settles what servers left that died some time ago, for as long as it is this server's duty.
    pub(super) async fn settle_old(&self, duty: &Duty) -> Result<()> {
        if self.store.is_exclusive() {
            return Ok(());
        }
        let before = self.clock.ticks().saturating_sub(NOTE_TICKS_MAX);
        self.settle_range(keys::dated_holdings_notes(before), Some(duty)).await
    }

    async fn settle_range(&self, mut range: Range, duty: Option<&Duty>) -> Result<()> {
        loop {
            let page = self.store.scan(&range, SCAN).await?;
            for record in &page.records {
                let note = Note::decode(&record.value)?;
                if let Some(duty) = duty {
                    if !duty.is_still_ours().await? {
                        return Ok(());
                    }
                    self.fence(&note).await?;
                }
                self.settle(&note).await?;
                self.forget(record.key.clone()).await?;
            }
            let Some(next) = page.next else { return Ok(()) };
            range.start = next;
        }
    }

    async fn forget(&self, key: Bytes) -> Result<()> {
        let delete = |tx: &mut tablerock_kv::Transaction| {
            tx.delete(key.clone());
            Ok(())
        };
        self.store.transact(&keys::notes_partition(), vec![], delete).await
    }

    async fn settle_and_forget(&self, note: &Note, key: Bytes) {
        match self.settle(note).await {
            Ok(()) => self.forget_or_tell(key).await,
            Err(error) => tracing::warn!(%error, "what a blob left behind stays for now"),
        }
    }

    /// The same, for a write that may still be on its way.
    async fn fence_and_settle(&self, note: &Note, key: Bytes) {
        match self.fence(note).await {
            Ok(()) => self.settle_and_forget(note, key).await,
            Err(error) => tracing::warn!(%error, "what a write of unknown outcome left behind stays for now"),
        }
    }

    async fn fence(&self, note: &Note) -> Result<()> {
        fence(&self.store, self.clock.ticks(), &Place::new(note.container_id, &note.name)).await
    }

    async fn forget_or_tell(&self, key: Bytes) {
        if let Err(error) = self.forget(key).await {
            tracing::warn!(%error, "a note about a blob stays for now");
        }
    }

    /// Drops each holding of a note that the blob does not refer to.
    async fn settle(&self, note: &Note) -> Result<()> {
        let partition = keys::blob_partition(note.container_id, &note.name);
        let live = self.references(&partition).await?;
        let mut contents = BTreeSet::new();
        let mut layouts = Vec::new();
        for holding in &note.holdings {
            match *holding {
                Holding::Content { id, length } if !live.contents.contains(&id) => drop(contents.insert((id, length))),
                Holding::Layout { id } if !live.layouts.contains(&id) => {
                    let pieces = pieces::read_all(&self.store, &partition, id, u64::MAX).await?;
                    contents.extend(contents_of(&pieces));
                    layouts.push(id);
                }
                _ => {}
            }
        }
        if !contents.is_empty() {
            self.spare_pieces(&partition, &live, &mut contents).await?;
        }
        self.drop_contents(note.container_id, &contents).await?;
        // Last, because they tell which contents there are.
        for layout in layouts {
            self.delete_layout(&partition, layout).await?;
        }
        Ok(())
    }

    /// What the blob and its snapshots refer to themselves.
    async fn references(&self, partition: &Bytes) -> Result<Live> {
        let mut live = Live::default();
        let mut range = keys::snapshots(partition);
        range.end = Some(Position::new(partition.clone(), keys::BASE_KEY).successor());
        loop {
            let page = self.store.scan(&range, SCAN).await?;
            for record in &page.records {
                match Blob::decode(&record.value)?.body {
                    Body::Inline(_) => {}
                    Body::Whole { content } => drop(live.contents.insert(content)),
                    Body::Pieces { layout, .. } => drop(live.layouts.insert(layout)),
                }
            }
            let Some(next) = page.next else { return Ok(live) };
            range.start = next;
        }
    }

    /// Takes out the contents that lists of pieces or uncommitted blocks refer to.
    async fn spare_pieces(&self, partition: &Bytes, live: &Live, contents: &mut BTreeSet<(u64, u64)>) -> Result<()> {
        let mut spared = BTreeSet::new();
        for layout in &live.layouts {
            let pieces = pieces::read_all(&self.store, partition, *layout, u64::MAX).await?;
            spared.extend(pieces.iter().filter_map(Piece::content));
        }
        for block in UncommittedBlock::read_all(&self.store, partition).await? {
            spared.insert(block.content);
        }
        contents.retain(|(id, _)| !spared.contains(id));
        Ok(())
    }

    /// Contents with neighbouring ids go together: nothing else can lie between them.
    async fn drop_contents(&self, container_id: u64, contents: &BTreeSet<(u64, u64)>) -> Result<()> {
        let mut contents = contents.iter().copied().peekable();
        while let Some((first, length)) = contents.next() {
            let mut last = first;
            while let Some((id, _)) = contents.next_if(|(id, _)| *id == last + 1) {
                last = id;
            }
            if self.remove_files(container_id, first, last).await? {
                continue;
            }
            let chunks = length.div_ceil(CHUNK_BYTES as u64);
            if first == last && chunks <= DELETED_CHUNKS_MAX {
                self.delete_chunks(container_id, first, chunks).await?;
            } else {
                let partition = |content| ContentAddress { container_id, content }.partition();
                let range = Range::between(Position::start_of(partition(first)), Position::end_of(&partition(last)));
                self.store.drop_range(range).await?;
            }
        }
        Ok(())
    }

    /// Removes contents that are files; `false` if not all of them are.
    async fn remove_files(&self, container_id: u64, first: u64, last: u64) -> Result<bool> {
        let Some(contents) = self.store.contents() else { return Ok(false) };
        Ok(contents.remove(container_id, first..=last).await? == last - first + 1)
    }

    async fn delete_chunks(&self, container_id: u64, content_id: u64, chunks: u64) -> Result<()> {
        let delete = |tx: &mut tablerock_kv::Transaction| {
            (0..chunks).for_each(|index| tx.delete(keys::chunk_key(index)));
            Ok(())
        };
        let at = ContentAddress { container_id, content: content_id };
        self.store.transact(&at.partition(), vec![], delete).await
    }

    async fn delete_layout(&self, partition: &Bytes, layout: u64) -> Result<()> {
        let mut range = keys::pieces_from(partition, layout, 0);
        loop {
            let page = self.store.scan(&range, SCAN).await?;
            let delete = |tx: &mut tablerock_kv::Transaction| {
                page.records.iter().for_each(|record| tx.delete(record.key.clone()));
                Ok::<_, Error>(())
            };
            self.store.transact(partition, vec![], delete).await?;
            let Some(next) = page.next else { return Ok(()) };
            range.start = next;
        }
    }
}

#[derive(Debug, Default)]
struct Live {
    contents: BTreeSet<u64>,
    layouts: BTreeSet<u64>,
}

fn contents_of(pieces: &[Piece]) -> impl Iterator<Item = (u64, u64)> + '_ {
    pieces.iter().filter_map(|piece| Some((piece.content()?, piece.length)))
}

impl OpenNote {
    /// Tells how the write ended that was to refer to everything in the note. A rule that refused it is an end; a store
    /// that failed has not told what became of it.
    pub(super) fn ended<T>(self, outcome: &crate::Result<T>) {
        match outcome {
            Ok(_) => self.know(Known::Kept),
            Err(crate::Error::Refused(_)) => self.know(Known::Over),
            Err(crate::Error::Store(_)) => {}
        }
    }

    /// Says that the write goes out that is to refer to what is in the note.
    pub(super) fn sends(&mut self) {
        if let Some(work) = &mut self.work {
            work.known = Known::Nothing;
        }
    }

    /// Says that the write is over: it has taken effect, or never will.
    pub(super) fn over(self) {
        self.know(Known::Over);
    }

    fn know(mut self, known: Known) {
        if let Some(work) = &mut self.work {
            work.known = known;
        }
    }
}

impl Drop for OpenNote {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        // Without a runtime the process is ending, and the next one will find the note.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (tidying, key) = (Arc::clone(&self.tidying), std::mem::take(&mut self.key));
        let Work { note, known, permit } = work;
        if matches!(known, Known::Unsent | Known::Nothing) && !tidying.store.is_exclusive() {
            // Whoever has room for this is bounded apart, so that those who let their requests go hold up nobody else.
            let Ok(waiting) = Arc::clone(&tidying.waiting).try_acquire_owned() else { return };
            runtime.spawn(async move {
                tokio::time::sleep(ARRIVAL_TIME).await;
                match known {
                    Known::Nothing => tidying.fence_and_settle(&note, key).await,
                    _ => tidying.settle_and_forget(&note, key).await,
                }
                drop(waiting);
            });
            return;
        }
        runtime.spawn(async move {
            match known {
                Known::Kept => tidying.forget_or_tell(key).await,
                Known::Unsent | Known::Nothing | Known::Over => tidying.settle_and_forget(&note, key).await,
            }
            drop(permit);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_comes_back_as_it_was() {
        let holdings = vec![Holding::Content { id: 7, length: u64::MAX }, Holding::Layout { id: 300 }];
        let note = Note { container_id: 3, name: "a/é".to_owned(), holdings };
        let record = note.encode();
        assert_eq!(Note::decode(&record).unwrap(), note);
        assert!(Note::decode(&record.slice(..record.len() - 1)).is_err());
    }
}
