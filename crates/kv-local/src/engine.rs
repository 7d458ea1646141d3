//! The engine: what each call does, and the life of the threads behind it.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use fjall::PersistMode;
use parking_lot::Mutex;
use tablerock_kv::key::physical;
use tablerock_kv::{Commit, Contents, Engine, Error, Health, Page, Range, Result, ScanLimits};

use crate::committer::{Committer, Seam, Shared};
use crate::contents::ContentFiles;
use crate::database::{self, Handles, KEY_BYTES_MAX};
use crate::directory::Directory;
use crate::failure::translate;
use crate::intents::Intents;
use crate::overlay::{Overlay, Stripe, Write};
use crate::queue::{Place, Queue, Room, Shut, Writes};
use crate::statistics::Counters;
use crate::sweeper::Sweeper;
use crate::view::{Published, View};
use crate::{LocalOptions, Statistics, walk};

/// The most that one commit may write, far above what any request carries.
const COMMIT_BYTES_MAX: usize = 64 << 20;

/// Values below this are copied on their way in: they may be a small part of a big buffer, such as the body of a
/// request, which would stay in memory as long as they do.
const COPY_BYTES_BOUND: usize = 64 << 10;

/// How long the disk may be at work on one group before the engine calls itself unwell.
const STALL: Duration = Duration::from_secs(30);

/// A data directory, open for reading and writing.
pub struct LocalEngine {
    pub(crate) shared: Arc<Shared>,
    intents: Arc<Intents>,
    contents: Arc<ContentFiles>,
    sweep_delay: Duration,
    /// What closing lets go of.
    pub(crate) open: Mutex<Option<Open>>,
}

pub(crate) struct Open {
    threads: Vec<JoinHandle<()>>,
    pub(crate) handles: Handles,
    /// Last, so that the directory is free only when everything in it is closed.
    directory: Directory,
}

impl LocalEngine {
    /// Opens a data directory, and makes it if it is not there.
    pub fn open(location: &Path) -> Result<Self> {
        Self::open_with(location, &LocalOptions::default())
    }

    /// As [`open`](LocalEngine::open), with other than the default options.
    pub fn open_with(location: &Path, options: &LocalOptions) -> Result<Self> {
        Self::open_at_seam(location, options, Box::new(|| Ok(())))
    }

    pub(crate) fn open_at_seam(location: &Path, options: &LocalOptions, seam: Seam) -> Result<Self> {
        let directory = Directory::open(location)?;
        let handles = database::open(&directory, options)?;
        handles.rotate_full_buffers()?;
        let intents = Arc::new(Intents::load(&handles.own)?);
        let shared = Arc::new(Shared {
            published: Published::new(View::open(&handles)),
            overlay: Overlay::new(),
            queue: Queue::new(options.queue_bytes_max),
            counters: Counters::default(),
            writing_since: Mutex::new(None),
        });
        let committer = Committer { handles: handles.clone(), shared: Arc::clone(&shared), seam };
        let sweeper = Sweeper {
            handles: handles.clone(),
            shared: Arc::clone(&shared),
            intents: Arc::clone(&intents),
            data: directory.data(),
            garbage_bytes: 0,
            swept: vec![],
        };
        let threads =
            vec![start("tablerock-commit", move || committer.run())?, start("tablerock-sweep", move || sweeper.run())?];
        let contents = Arc::new(ContentFiles::new(directory.contents()));
        let open = Mutex::new(Some(Open { threads, handles, directory }));
        Ok(Self { shared, intents, contents, sweep_delay: options.sweep_delay, open })
    }

    /// What has been done since the engine was opened, and what waits.
    pub fn statistics(&self) -> Statistics {
        let disk_bytes = self.shared.published.load().map_or(0, |view| view.disk_bytes());
        self.shared.counters.read(self.shared.queue.pending_bytes(), self.intents.unswept(), disk_bytes)
    }

    /// Checks a commit against the newest values and puts it in the queue, as one step for its partition. Tells
    /// its place there, or nothing if there is nothing to wait for.
    fn admit(&self, change: Change, room: Room) -> Result<Option<Place>> {
        let mut stripe = self.shared.overlay.lock(change.stripe);
        // What is not in the overlay by now is in this view.
        let view = self.shared.published.load()?;
        let (rests_on_pending, holds) = match &change.expected[..] {
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
        if change.writes.is_empty() && !rests_on_pending {
            self.shared.counters.committed(1);
            return Ok(None);
        }
        let pending = change.writes.clone();
        let place = self.shared.queue.push(Writes::Partition { stripe: change.stripe, writes: change.writes }, room)?;
        stripe.insert(place.sequence, &pending);
        Ok(Some(place))
    }

    fn read_newest_one(&self, stripe: usize, key: Vec<u8>) -> Result<Option<Bytes>> {
        let commits = {
            let stripe = self.shared.overlay.lock(stripe);
            if let Some(pending) = stripe.get(&key) {
                return Ok(pending.clone());
            }
            stripe.commits()
        };
        // Loaded after the overlay was looked at: what had left it by then is here.
        let value = self.shared.published.load()?.get(&key)?;
        self.shared.overlay.lock(stripe).note_read(commits, key, &value);
        Ok(value)
    }

    /// Waits until a commit in the queue is durable.
    async fn answered(&self, place: Place) -> Result<()> {
        if place.begins_group {
            self.gather().await;
        }
        place.answer.await.unwrap_or_else(|_| Err(self.shared.queue.shut_error()))
    }

    /// Calls the committer once this thread has nothing else to do. Requests that are ready by then join the group: a
    /// sync for each few of them would take the time that they need to get here. A lone one goes at once.
    async fn gather(&self) {
        // Also if the caller goes away meanwhile: others may wait in the group by now.
        let _call = CallWhenDropped(&self.shared.queue);
        tokio::task::yield_now().await;
    }

    /// Stops the threads, which finish what waits, and lets go of the directory.
    fn shut_down(&self) -> Option<impl FnOnce() -> Result<()> + Send + 'static> {
        let open = self.open.lock().take()?;
        self.intents.stop();
        self.shared.queue.shut(Shut::Closed);
        let shared = Arc::clone(&self.shared);
        Some(move || {
            let Open { threads, handles, directory } = open;
            for thread in threads {
                // A thread that died has said so already.
                let _ = thread.join();
            }
            shared.published.withdraw();
            let synced = match shared.queue.shut_reason() {
                Some(Shut::Closed) => handles.database.persist(PersistMode::SyncAll),
                _ => Ok(()),
            };
            drop(handles);
            drop(directory);
            synced.map_err(|error| translate("cannot sync the journal", error))
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
        // Loaded after the overlay was looked at: what had left it by then is here.
        let view = self.shared.published.load()?;
        let settled: Vec<_> =
            std::iter::zip(&keys, &pending).filter(|(_, pending)| pending.is_none()).map(|(key, _)| &key[..]).collect();
        let mut settled = view.get_all(&settled)?.into_iter();
        Ok(pending.into_iter().map(|pending| pending.unwrap_or_else(|| settled.next().flatten())).collect())
    }

    async fn commit(&self, commit: Commit) -> Result<()> {
        let change = Change::prepare(commit, &self.shared.overlay)?;
        let room = self.shared.queue.reserve(change.bytes).await?;
        match self.admit(change, room)? {
            Some(place) => self.answered(place).await,
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
        let intent = self.intents.create(range);
        let note = intent.note();
        let room = self.shared.queue.reserve(note.key.len()).await?;
        let place = self.shared.queue.push(Writes::Background { records: vec![], own: vec![note] }, room)?;
        // Before the answer, so that a caller who goes away does not leave the range behind until a restart.
        self.intents.add(intent, self.sweep_delay);
        self.answered(place).await
    }

    fn is_exclusive(&self) -> bool {
        // The directory is locked, and a commit is accepted in one step.
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
            None if stalled => Health::ReadOnly(format!("no write has reached the disk for {} s", STALL.as_secs())),
            None => Health::Healthy,
        }
    }

    async fn close(&self) -> Result<()> {
        let Some(shut_down) = self.shut_down() else { return Ok(()) };
        let done = tokio::task::spawn_blocking(shut_down).await;
        done.unwrap_or_else(|error| Err(Error::internal("closing was cut short").with_source(error)))
    }
}

impl Drop for LocalEngine {
    fn drop(&mut self) {
        if let Some(shut_down) = self.shut_down()
            && let Err(error) = shut_down()
        {
            tracing::warn!(%error, "the engine was dropped without being closed");
        }
    }
}

impl std::fmt::Debug for LocalEngine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LocalEngine").field("health", &self.health()).finish_non_exhaustive()
    }
}

/// Whether some of the expectations are about records on their way to disk, and whether all of them hold.
fn hold_all(stripe: &Stripe, view: &View, expected: &[(Vec<u8>, Option<Bytes>)]) -> Result<(bool, bool)> {
    let (pending, settled): (Vec<_>, Vec<_>) = expected.iter().partition(|(key, _)| stripe.get(key).is_some());
    let keys: Vec<_> = settled.iter().map(|(key, _)| &key[..]).collect();
    let holds = pending.iter().all(|(key, value)| stripe.get(key) == Some(value))
        && std::iter::zip(view.get_all(&keys)?, settled).all(|(newest, (_, value))| newest == *value);
    Ok((!pending.is_empty(), holds))
}

struct CallWhenDropped<'a>(&'a Queue);

impl Drop for CallWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.call();
    }
}

/// A commit in the terms of this engine: by stripe and physical key.
struct Change {
    stripe: usize,
    expected: Vec<(Vec<u8>, Option<Bytes>)>,
    writes: Vec<Write>,
    bytes: usize,
}

impl Change {
    fn prepare(commit: Commit, overlay: &Overlay) -> Result<Self> {
        let Commit { partition, expected, writes } = commit;
        let stripe = overlay.stripe_of(&partition);
        let encode = |key: &[u8]| physical::encode(&partition, key);
        let expected = expected.into_iter().map(|(key, value)| (encode(&key), value)).collect();
        let write = |(key, value): (Bytes, Option<Bytes>)| Write { key: encode(&key).into(), value: value.map(own) };
        let writes: Vec<_> = writes.into_iter().map(write).collect();
        let bytes = writes.iter().map(|write| write.key.len() + write.value.as_ref().map_or(0, Bytes::len)).sum();
        writes.iter().try_for_each(|write| check_key(&write.key))?;
        if bytes > COMMIT_BYTES_MAX {
            return Err(Error::invalid(format!("a commit of {bytes} bytes is greater than {COMMIT_BYTES_MAX}")));
        }
        Ok(Self { stripe, expected, writes, bytes })
    }
}

fn check_key(physical: &[u8]) -> Result<()> {
    if physical.len() <= KEY_BYTES_MAX {
        return Ok(());
    }
    Err(Error::invalid(format!("partition and key have more than {KEY_BYTES_MAX} bytes together")))
}

fn own(value: Bytes) -> Bytes {
    if value.len() < COPY_BYTES_BOUND { Bytes::copy_from_slice(&value) } else { value }
}

fn start(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
    thread.map_err(|error| Error::unavailable("cannot start a thread").with_source(error))
}
