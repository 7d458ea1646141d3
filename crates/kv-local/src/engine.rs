//! The engine: its calls, and the start and stop of its threads.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use fjall::PersistMode;
use parking_lot::Mutex;
use tablerock_kv::key::physical;
use tablerock_kv::{Commit, Contents, Engine, Error, ErrorKind, Health, Page, Range, Result, ScanLimits};

use crate::commit_queue::{CommitQueue, QueuePermit, QueuedCommit, Shut, Writes};
use crate::committer::{Committer, SyncHook};
use crate::contents::{ContentFiles, FrameSeeds};
use crate::database::{self, Handles, KEY_BYTES_MAX};
use crate::directory::Directory;
use crate::failure::translate;
use crate::garbage::{Deleted, Garbage};
use crate::overlay::{Overlay, Stripe, Write};
use crate::shared::Shared;
use crate::statistics::Counters;
use crate::sweep_queue::SweepQueue;
use crate::sweeper::Sweeper;
use crate::view::{Published, View};
use crate::{LocalOptions, Statistics, walk};

/// The maximum size of one commit, far above that of any request.
const COMMIT_BYTES_MAX: usize = 64 << 20;

/// Smaller values are copied on their way in: they may be a small part of a large buffer, such as the body of a request,
/// which they would keep in memory.
const COPY_BYTES_BOUND: usize = 64 << 10;

/// The time for one group after which the engine reports that it is read-only.
const STALL: Duration = Duration::from_secs(30);

/// A data directory, open for reading and writing.
pub struct LocalEngine {
    pub(crate) shared: Arc<Shared>,
    sweep_queue: Arc<SweepQueue>,
    contents: Arc<ContentFiles>,
    sweep_delay: Duration,
    is_new: bool,
    /// Released on close.
    pub(crate) open: Mutex<Option<Open>>,
}

pub(crate) struct Open {
    threads: Vec<JoinHandle<()>>,
    pub(crate) handles: Handles,
    /// Last, so that the directory is unlocked only when everything in it is closed.
    directory: Directory,
}

impl LocalEngine {
    /// Opens a data directory and creates it if it does not exist; see [`LocalOptions::create_if_missing`]. An error whose source is a
    /// [`LocationError`](crate::LocationError) is about the directory itself.
    pub fn open(location: &Path) -> Result<Self> {
        Self::open_with(location, &LocalOptions::default())
    }

    /// Opens a data directory with `options`; see [`open`](LocalEngine::open).
    pub fn open_with(location: &Path, options: &LocalOptions) -> Result<Self> {
        Self::open_with_hook(location, options, Box::new(|| Ok(())))
    }

    pub(crate) fn open_with_hook(location: &Path, options: &LocalOptions, before_sync: SyncHook) -> Result<Self> {
        let mut directory = Directory::open(location, options.create_if_missing)?;
        let is_new = !directory.has_data();
        let handles = database::open(&mut directory, options)?;
        let identity = directory.ensure_identity()?;
        handles.rotate_full_buffers()?;
        let sweep_queue = Arc::new(SweepQueue::load(&handles.own)?);
        let shared = Arc::new(Shared {
            published: Published::new(View::open(&handles)),
            overlay: Overlay::new(),
            queue: CommitQueue::new(options.queue_bytes_max),
            counters: Counters::default(),
            deleted: Deleted::default(),
            writing_since: Mutex::new(None),
        });
        let committer = Committer { handles: handles.clone(), shared: Arc::clone(&shared), before_sync };
        let sweeper = Sweeper {
            handles: handles.clone(),
            shared: Arc::clone(&shared),
            queue: Arc::clone(&sweep_queue),
            data: directory.data(),
            garbage_check_interval: options.garbage_check_interval,
            garbage: Garbage::default(),
            is_journal_garbage: false,
            swept: vec![],
        };
        let threads =
            vec![start("tablerock-commit", move || committer.run())?, start("tablerock-sweep", move || sweeper.run())?];
        let contents = Arc::new(ContentFiles::new(directory.contents(), FrameSeeds::of(identity)));
        let open = Mutex::new(Some(Open { threads, handles, directory }));
        Ok(Self { shared, sweep_queue, contents, sweep_delay: options.sweep_delay, is_new, open })
    }

    /// Returns whether opening created the data: there was none.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Returns counters since the engine was opened, and the current backlog.
    pub fn statistics(&self) -> Statistics {
        let disk_bytes = self.shared.published.load().map_or(0, |view| view.disk_bytes());
        self.shared.counters.read(self.shared.queue.pending_bytes(), self.sweep_queue.unswept(), disk_bytes)
    }

    /// Checks a commit against the newest values and queues it, as one step for its partition. Returns `None` if there is
    /// nothing to wait for.
    fn admit(&self, commit: PreparedCommit, permit: QueuePermit) -> Result<Option<QueuedCommit>> {
        let mut stripe = self.shared.overlay.lock(commit.stripe);
        // A record that is not in the overlay now is in this view.
        let view = self.shared.published.load()?;
        let (rests_on_pending, holds) = match &commit.expected[..] {
            [(key, expected)] => match stripe.get(key) {
                Some(newest) => (true, newest == expected),
                None => match stripe.take_read(key) {
                    Some(newest) => (false, newest == *expected),
                    None => (false, view.get(key)? == *expected),
                },
            },
            several => hold_all(&stripe, &view, several)?,
        };
        if !holds {
            self.shared.counters.conflicted();
            return Err(Error::conflict("a record changed since it was read"));
        }
        if commit.writes.is_empty() && !rests_on_pending {
            self.shared.counters.committed(1);
            return Ok(None);
        }
        let pending = commit.writes.clone();
        let queued =
            self.shared.queue.push(Writes::Partition { stripe: commit.stripe, writes: commit.writes }, permit)?;
        stripe.insert(queued.sequence, &pending);
        Ok(Some(queued))
    }

    fn read_newest_one(&self, stripe: usize, key: Vec<u8>) -> Result<Option<Bytes>> {
        let commits = {
            let stripe = self.shared.overlay.lock(stripe);
            if let Some(pending) = stripe.get(&key) {
                return Ok(pending.clone());
            }
            stripe.commits()
        };
        // Loaded after the overlay was read: a record that had left the overlay by then is in this view.
        let value = self.shared.published.load()?.get(&key)?;
        self.shared.overlay.lock(stripe).note_read(commits, key, &value);
        Ok(value)
    }

    /// Waits until a commit in the queue is durable.
    async fn committed(&self, queued: QueuedCommit) -> Result<()> {
        if queued.begins_group {
            self.gather().await;
        }
        queued.result.await.unwrap_or_else(|_| Err(self.shared.queue.shut_error()))
    }

    /// Wakes the committer once this thread has nothing else to do. Requests that are ready by then join the group, which
    /// saves syncs; a lone request does not wait.
    async fn gather(&self) {
        // Also if the caller is cancelled: other commits may have joined the group.
        let _wake = WakeOnDrop(&self.shared.queue);
        tokio::task::yield_now().await;
    }

    /// Stops the threads, which first write the waiting commits, notes a clean stop, and unlocks the directory.
    fn shut_down(&self) -> Option<impl FnOnce() -> Result<()> + Send + 'static> {
        let open = self.open.lock().take()?;
        self.sweep_queue.stop();
        self.shared.queue.shut(Shut::Closed);
        let shared = Arc::clone(&self.shared);
        Some(move || {
            let Open { threads, handles, directory } = open;
            for thread in threads {
                // The panic of a thread has already shut the queue.
                let _ = thread.join();
            }
            shared.published.withdraw();
            let is_clean = matches!(shared.queue.shut_reason(), Some(Shut::Closed));
            let synced = if is_clean { handles.database.persist(PersistMode::SyncAll) } else { Ok(()) };
            drop(handles);
            synced.map_err(|error| translate("cannot sync the journal", error))?;
            if is_clean && database::is_closed(&directory.data()) {
                directory.note_clean_stop()?;
            }
            drop(directory);
            Ok(())
        })
    }
}

#[async_trait]
impl Engine for LocalEngine {
    async fn get(&self, partition: &[u8], key: &[u8]) -> Result<Option<Bytes>> {
        self.shared.published.load()?.get(&physical::encode(partition, key))
    }

    async fn scan(&self, range: &Range, limits: ScanLimits) -> Result<Page> {
        let walk = walk::start(&*self.shared.published.load()?, range, limits);
        walk::finish(walk?).await
    }

    async fn read_newest(&self, partition: &[u8], keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let stripe = self.shared.overlay.stripe_of(partition);
        if let [key] = keys {
            return Ok(vec![self.read_newest_one(stripe, physical::encode(partition, key))?]);
        }
        let keys: Vec<_> = keys.iter().map(|key| physical::encode(partition, key)).collect();
        let pending: Vec<_> = {
            let stripe = self.shared.overlay.lock(stripe);
            keys.iter().map(|key| stripe.get(key).cloned()).collect()
        };
        // Loaded after the overlay was read: a record that had left the overlay by then is in this view.
        let view = self.shared.published.load()?;
        let settled: Vec<_> =
            std::iter::zip(&keys, &pending).filter(|(_, pending)| pending.is_none()).map(|(key, _)| &key[..]).collect();
        let mut settled = view.get_all(&settled)?.into_iter();
        Ok(pending.into_iter().map(|pending| pending.unwrap_or_else(|| settled.next().flatten())).collect())
    }

    async fn commit(&self, commit: Commit) -> Result<()> {
        let commit = PreparedCommit::new(commit, &self.shared.overlay)?;
        let permit = self.shared.queue.reserve(commit.bytes).await?;
        match self.admit(commit, permit)? {
            Some(queued) => self.committed(queued).await,
            None => Ok(()),
        }
    }

    async fn drop_range(&self, range: Range) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let (start, end) = physical::encode_range(&range);
        check_key(&start)?;
        check_key(&end.unwrap_or_default())?;
        let intent = self.sweep_queue.create(range);
        let record = intent.record();
        let permit = self.shared.queue.reserve(record.key.len()).await?;
        let queued = self.shared.queue.push(Writes::Background { records: vec![], own: vec![record] }, permit)?;
        // Before the result, so that a cancelled caller does not leave the range unswept until a restart.
        self.sweep_queue.add(intent, self.sweep_delay);
        self.committed(queued).await
    }

    fn is_exclusive(&self) -> bool {
        // The directory is locked, and a commit is checked and accepted in one step.
        true
    }

    fn contents(&self) -> Option<Arc<dyn Contents>> {
        Some(Arc::clone(&self.contents) as Arc<dyn Contents>)
    }

    fn health(&self) -> Health {
        let stalled = self.shared.writing_since.lock().is_some_and(|since| Instant::now() - since > STALL);
        match self.shared.queue.shut_reason() {
            Some(_) if self.open.lock().is_none() => Shut::Closed.health(),
            Some(shut) => shut.health(),
            None if stalled => Health::ReadOnly(format!("no write has reached the disk in {} s", STALL.as_secs())),
            None => Health::Healthy,
        }
    }

    async fn close(&self) -> Result<()> {
        let Some(shut_down) = self.shut_down() else { return Ok(()) };
        let done = tokio::task::spawn_blocking(shut_down).await;
        done.unwrap_or_else(|error| Err(Error::internal("closing the engine was interrupted").with_source(error)))
    }
}

impl Drop for LocalEngine {
    fn drop(&mut self) {
        if let Some(shut_down) = self.shut_down()
            && let Err(error) = shut_down()
        {
            tracing::warn!(%error, "closing a dropped engine failed");
        }
    }
}

impl std::fmt::Debug for LocalEngine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LocalEngine").field("health", &self.health()).finish_non_exhaustive()
    }
}

/// Returns whether some expectations are about records on their way to disk, and whether all of them hold.
fn hold_all(stripe: &Stripe, view: &View, expected: &[(Vec<u8>, Option<Bytes>)]) -> Result<(bool, bool)> {
    let (pending, settled): (Vec<_>, Vec<_>) = expected.iter().partition(|(key, _)| stripe.get(key).is_some());
    let keys: Vec<_> = settled.iter().map(|(key, _)| &key[..]).collect();
    let holds = pending.iter().all(|(key, value)| stripe.get(key) == Some(value))
        && std::iter::zip(view.get_all(&keys)?, settled).all(|(newest, (_, value))| newest == *value);
    Ok((!pending.is_empty(), holds))
}

struct WakeOnDrop<'a>(&'a CommitQueue);

impl Drop for WakeOnDrop<'_> {
    fn drop(&mut self) {
        self.0.wake();
    }
}

/// A commit by stripe and physical key.
struct PreparedCommit {
    stripe: usize,
    expected: Vec<(Vec<u8>, Option<Bytes>)>,
    writes: Vec<Write>,
    bytes: usize,
}

impl PreparedCommit {
    fn new(commit: Commit, overlay: &Overlay) -> Result<Self> {
        let Commit { partition, expected, writes } = commit;
        let stripe = overlay.stripe_of(&partition);
        let encode = |key: &[u8]| physical::encode(&partition, key);
        let expected = expected.into_iter().map(|(key, value)| (encode(&key), value)).collect();
        let write = |(key, value): (Bytes, Option<Bytes>)| Write { key: encode(&key).into(), value: value.map(own) };
        let writes: Vec<_> = writes.into_iter().map(write).collect();
        let bytes = writes.iter().map(|write| write.key.len() + write.value.as_ref().map_or(0, Bytes::len)).sum();
        writes.iter().try_for_each(|write| check_key(&write.key))?;
        if bytes > COMMIT_BYTES_MAX {
            return Err(Error::invalid(format!("a commit of {bytes} bytes is larger than {COMMIT_BYTES_MAX}")));
        }
        Ok(Self { stripe, expected, writes, bytes })
    }
}

fn check_key(physical: &[u8]) -> Result<()> {
    if physical.len() <= KEY_BYTES_MAX {
        return Ok(());
    }
    let message = format!("partition and key have more than {KEY_BYTES_MAX} bytes together");
    Err(Error::new(ErrorKind::TooLong, message))
}

fn own(value: Bytes) -> Bytes {
    if value.len() < COPY_BYTES_BOUND { Bytes::copy_from_slice(&value) } else { value }
}

fn start(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
    thread.map_err(|error| Error::unavailable("cannot start a thread").with_source(error))
}
