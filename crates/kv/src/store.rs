//! The handle the layers hold: an engine, and transactions on top of its one primitive.
//!
//! A transaction declares what it reads, decides in plain synchronous code, and commits once. Nothing is locked
//! in between: if what it read has changed by the time of the commit, all of it runs again.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::{
    BlindPut, Commit, Contents, Engine, Error, ErrorKind, Health, MemoryEngine, Page, Range, Records, Result, Rng,
    ScanLimits, Transaction, Wanted, Witness,
};

/// How often a transaction runs before its caller gets the error that the partition is too busy.
const ATTEMPTS_MAX: u32 = 64;

/// How many of those follow one another at once. Most conflicts are over by then.
const ATTEMPTS_WITHOUT_PAUSE: u32 = 4;

const PAUSE_MS_MAX: u64 = 32;

/// Queues for transactions that met a conflict; partitions share them by a hash.
const TURNS: usize = 256;

/// The result of a look, for [`Store::transact_looking`].
#[derive(Debug, Clone)]
pub struct Look {
    /// The partition of the transaction.
    pub partition: Bytes,
    /// The values of the keys that the transaction reads.
    pub seen: BTreeMap<Bytes, Option<Bytes>>,
}

/// A look in progress.
pub type LookFuture<'a, E> = Pin<Box<dyn Future<Output = Result<Look, E>> + Send + 'a>>;

fn too_busy() -> Error {
    Error::unavailable(format!("the partition is too busy: {ATTEMPTS_MAX} attempts met a conflict; retry later"))
}

/// An engine, ready for the layers. Clones share it.
#[derive(Debug, Clone)]
pub struct Store {
    engine: Arc<dyn Engine>,
    rng: Arc<Rng>,
    /// Where a conflict costs round trips, transactions that met one on a partition retry one after the other: `None` on
    /// an engine that decides in memory, where retrying at once is faster.
    turns: Option<Arc<[tokio::sync::Mutex<()>]>>,
}

impl Store {
    /// Returns a store on an engine.
    pub fn new(engine: Arc<dyn Engine>) -> Self {
        Self::with_dice(engine, Arc::new(Rng::from_os()))
    }

    /// As [`new`](Store::new), with the randomness that spreads retries given from outside.
    pub fn with_dice(engine: Arc<dyn Engine>, rng: Arc<Rng>) -> Self {
        let turns = (!engine.is_exclusive()).then(|| (0..TURNS).map(|_| tokio::sync::Mutex::new(())).collect());
        Self { engine, rng, turns }
    }

    /// A store on a fresh [`MemoryEngine`].
    pub fn in_memory() -> Self {
        Self::new(Arc::new(MemoryEngine::new()))
    }

    /// The value of one record, as far as it is durable.
    pub async fn get(&self, partition: &[u8], key: &[u8]) -> Result<Option<Bytes>> {
        self.engine.get(partition, key).await
    }

    /// The values of some records of several partitions, each as far as it is durable; see [`Engine::get_many`].
    pub async fn get_many(&self, wanted: &[Wanted]) -> Result<Vec<Vec<Option<Bytes>>>> {
        self.engine.get_many(wanted).await
    }

    /// The node that has each of some partitions, where nodes have some each; see [`Engine::nodes_of`].
    pub async fn nodes_of(&self, partitions: &[Bytes]) -> Result<Vec<Option<String>>> {
        self.engine.nodes_of(partitions).await
    }

    /// The durable records of a range in order, until a limit is reached; see [`Page::next`] for the rest.
    ///
    /// ```
    /// use tablerock_kv::{Error, Range, ScanLimits, Store};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let store = Store::in_memory();
    /// store
    ///     .transact(b"fruit", vec![], |tx| {
    ///         tx.put("pear", "");
    ///         tx.put("apple", "");
    ///         Ok::<_, Error>(())
    ///     })
    ///     .await?;
    ///
    /// let limits = ScanLimits { records_max: 1, bytes_max: 1 << 20, deadline: None };
    /// let page = store.scan(&Range::partition(b"fruit"), limits).await?;
    /// assert_eq!(page.records[0].key, "apple");
    ///
    /// let rest = Range { start: page.next.expect("there are pears"), ..Range::partition(b"fruit") };
    /// let page = store.scan(&rest, limits).await?;
    /// assert_eq!(page.records[0].key, "pear");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn scan(&self, range: &Range, limits: ScanLimits) -> Result<Page> {
        self.engine.scan(range, limits).await
    }

    /// Reads all durable records of a range in order, in pages of at most [`ScanLimits::PAGE`].
    ///
    /// ```
    /// use tablerock_kv::{Error, Range, Store};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let store = Store::in_memory();
    /// store
    ///     .transact(b"fruit", vec![], |tx| {
    ///         tx.put("pear", "");
    ///         tx.put("apple", "");
    ///         Ok::<_, Error>(())
    ///     })
    ///     .await?;
    ///
    /// let mut records = store.records(Range::partition(b"fruit"));
    /// while let Some(record) = records.next().await? {
    ///     println!("{:?}", record.key);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn records(&self, range: Range) -> Records<'_> {
        self.records_with(range, ScanLimits::PAGE)
    }

    /// As [`records`](Store::records), with other limits for a page.
    pub fn records_with(&self, range: Range, limits: ScanLimits) -> Records<'_> {
        Records::new(self, range, limits)
    }

    /// Where large contents are better off than in records, if there is such a place.
    pub fn contents(&self) -> Option<Arc<dyn Contents>> {
        self.engine.contents()
    }

    /// Reads `keys` of one partition, lets `decide` judge them and write, and commits: all of it or nothing,
    /// serializable within the partition, and durable when this returns.
    ///
    /// `decide` runs again when another writer changed what it saw, so it must not act outside the transaction.
    /// When it fails, its error is returned only once the values it saw are known to be durable: a client
    /// never receives an error that a crash could make untrue.
    ///
    /// Keys may be written without being declared; reading one that was not declared fails with
    /// [`Invalid`](ErrorKind::Invalid).
    ///
    /// ```
    /// use tablerock_kv::{Bytes, Error, ErrorKind, Store};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let store = Store::in_memory();
    /// let key = Bytes::from_static(b"name");
    /// let insert = async || {
    ///     store
    ///         .transact(b"p", vec![key.clone()], |tx| match tx.get(&key) {
    ///             Some(_) => Err(Error::invalid("it exists already")),
    ///             None => Ok(tx.put(key.clone(), "value")),
    ///         })
    ///         .await
    /// };
    /// assert!(insert().await.is_ok());
    /// assert_eq!(insert().await.unwrap_err().kind(), ErrorKind::Invalid);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn transact<T, E: From<Error>>(
        &self,
        partition: &[u8],
        mut keys: Vec<Bytes>,
        decide: impl FnMut(&mut Transaction) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        keys.sort_unstable();
        keys.dedup();
        self.attempt(partition, &keys, None, decide).await
    }

    /// As [`transact`](Store::transact), for who has read the keys already: the first attempt rests on what was seen, and
    /// only if that has changed since are they read again.
    pub async fn transact_seen<T, E: From<Error>>(
        &self,
        partition: &[u8],
        seen: BTreeMap<Bytes, Option<Bytes>>,
        decide: impl FnMut(&mut Transaction) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        let (keys, values): (Vec<_>, Vec<_>) = seen.into_iter().unzip();
        self.attempt(partition, &keys, Some(values), decide).await
    }

    /// As [`transact_seen`](Store::transact_seen), for a decision that also rests on another partition. After a conflict, `look`
    /// reads all of it again: what was true of the other partition before the conflict may not be true any more.
    pub async fn transact_looking<'a, T, E: From<Error>>(
        &self,
        first: Look,
        mut look: impl FnMut() -> LookFuture<'a, E> + Send,
        mut decide: impl FnMut(&mut Transaction) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        let (mut seen, mut turn) = (Some(first), None);
        for attempt in 1..=ATTEMPTS_MAX {
            let Look { partition, seen } = match seen.take() {
                Some(seen) => seen,
                None => look().await?,
            };
            let (keys, values): (Vec<_>, Vec<_>) = seen.into_iter().unzip();
            let mut transaction = Transaction::new(&keys, values);
            let decision = decide(&mut transaction);
            let commit = transaction.into_commit(partition.clone(), decision.is_ok())?;
            if commit.expected.is_empty() && commit.writes.is_empty() {
                return decision;
            }
            match self.commit(commit).await {
                Ok(()) => return decision,
                Err(error) if error.kind() == ErrorKind::Conflict => {
                    self.give_way(&partition, &mut turn, attempt).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(too_busy().into())
    }

    /// Puts a record without reading it before; see [`Engine::put_blind`]. It rests on no [witness](Witness).
    pub async fn put_blind(&self, put: BlindPut, row: (&[u8], &[u8])) -> Result<(bool, Option<Bytes>)> {
        self.engine.put_blind(put, row).await
    }

    /// Reads a page, and then a record; see [`Engine::scan_then_get`].
    pub async fn scan_then_get(
        &self,
        range: &Range,
        limits: ScanLimits,
        row: (&[u8], &[u8]),
    ) -> Result<(Page, Option<Bytes>)> {
        self.engine.scan_then_get(range, limits, row).await
    }

    /// Commits, with the witness of the work that runs. An exclusive engine sees every change, and needs none.
    async fn commit(&self, commit: Commit) -> Result<()> {
        if self.engine.is_exclusive() || commit.writes.is_empty() {
            return self.engine.commit(commit).await;
        }
        match Witness::current() {
            Some(witness) => self.engine.commit_witnessed(commit, &witness).await,
            None => self.engine.commit(commit).await,
        }
    }

    /// Writes records of one partition without reading any: all of them or none, durable when this returns.
    pub async fn write(&self, partition: &[u8], mut writes: impl FnMut(&mut Transaction) + Send) -> Result<()> {
        let decide = |tx: &mut Transaction| {
            writes(tx);
            Ok(())
        };
        self.attempt(partition, &[], None, decide).await
    }

    /// Runs a transaction until it meets no conflict. The keys are in order.
    async fn attempt<T, E: From<Error>>(
        &self,
        partition: &[u8],
        keys: &[Bytes],
        mut seen: Option<Vec<Option<Bytes>>>,
        mut decide: impl FnMut(&mut Transaction) -> Result<T, E> + Send,
    ) -> Result<T, E> {
        let partition = Bytes::copy_from_slice(partition);
        let mut turn = None;
        for attempt in 1..=ATTEMPTS_MAX {
            let values = match seen.take() {
                Some(values) => Ok(values),
                None if keys.is_empty() => Ok(vec![]),
                None => self.engine.read_newest(&partition, keys).await,
            };
            let values = match values {
                // A read that the engine aborted in favour of others counts as a commit that met them.
                Err(error) if error.kind() == ErrorKind::Conflict => {
                    self.give_way(&partition, &mut turn, attempt).await;
                    continue;
                }
                values => values?,
            };
            let mut transaction = Transaction::new(keys, values);
            let decision = decide(&mut transaction);
            let commit = transaction.into_commit(partition.clone(), decision.is_ok())?;
            if commit.expected.is_empty() && commit.writes.is_empty() {
                return decision;
            }
            match self.commit(commit).await {
                Ok(()) => return decision,
                Err(error) if error.kind() == ErrorKind::Conflict => {
                    self.give_way(&partition, &mut turn, attempt).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(too_busy().into())
    }

    /// After a conflict: takes a turn on the partition, for as long as `turn` lives, and lets the others finish.
    async fn give_way<'a>(
        &'a self,
        partition: &[u8],
        turn: &mut Option<tokio::sync::MutexGuard<'a, ()>>,
        attempt: u32,
    ) {
        if turn.is_none() {
            *turn = self.wait_for_turn(partition).await;
        }
        self.pause(attempt).await;
    }

    /// Waits until no other transaction of this process tries again on the partition.
    async fn wait_for_turn(&self, partition: &[u8]) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        let turns = self.turns.as_ref()?;
        let mut hasher = DefaultHasher::new();
        partition.hash(&mut hasher);
        Some(turns[hasher.finish() as usize % turns.len()].lock().await)
    }

    /// Lets the others finish: not at all at first, then for a random while that grows.
    async fn pause(&self, attempt: u32) {
        let Some(late) = attempt.checked_sub(ATTEMPTS_WITHOUT_PAUSE) else { return };
        let pause_ms_max = PAUSE_MS_MAX.min(1 << late.min(16));
        tokio::time::sleep(Duration::from_millis(1 + self.rng.below(pause_ms_max))).await;
    }

    /// Drops a range that no reader can reach any more and no writer will use again; the space is reclaimed in
    /// the background.
    pub async fn drop_range(&self, range: Range) -> Result<()> {
        self.engine.drop_range(range).await
    }

    /// Whether every change goes through this engine; see [`Engine::is_exclusive`].
    pub fn is_exclusive(&self) -> bool {
        self.engine.is_exclusive()
    }

    /// Whether the engine can serve.
    pub fn health(&self) -> Health {
        self.engine.health()
    }

    /// Finishes the commits in progress, flushes, and rejects everything after.
    pub async fn close(&self) -> Result<()> {
        self.engine.close().await
    }
}
