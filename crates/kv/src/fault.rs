//! An engine that fails on command, for tests of the layers above: commits that conflict, an engine that is unavailable,
//! commits that take effect although the response is lost.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use parking_lot::Mutex;

use crate::{BlindPut, Commit, Engine, Error, Health, Page, Range, Result, ScanLimits, Wanted, Witness};

/// The calls that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// `Engine::get`.
    Get,
    /// `Engine::get_many`.
    GetMany,
    /// `Engine::scan`.
    Scan,
    /// `Engine::read_newest`.
    ReadNewest,
    /// `Engine::commit` and `Engine::commit_witnessed`.
    Commit,
    /// `Engine::put_blind`.
    PutBlind,
    /// `Engine::drop_range`.
    DropRange,
    /// `Engine::close`.
    Close,
}

/// The fate of one call.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Nothing: the call goes through. Useful to let the first of several pass.
    Pass,
    /// The call fails and has no effect.
    Fail(Error),
    /// The call takes effect, and fails all the same, as when a connection breaks before the response.
    FailAfter(Error),
    /// The call goes through, later.
    Delay(Duration),
    /// The call fails, and a commit is still on its way: [`deliver`](FaultEngine::deliver) makes it.
    Strand(Error),
}

/// Wraps an engine and follows a script. Without one it changes nothing.
///
/// ```
/// use std::sync::Arc;
/// use tablerock_kv::fault::{Call, Fault};
/// use tablerock_kv::{Error, ErrorKind, FaultEngine, MemoryEngine, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
/// let store = Store::new(engine.clone());
/// engine.script(Call::Get, [Fault::Pass, Fault::Fail(Error::unavailable("the cable is out"))]);
///
/// assert!(store.get(b"p", b"k").await.is_ok());
/// assert_eq!(store.get(b"p", b"k").await.unwrap_err().kind(), ErrorKind::Unavailable);
/// assert!(store.get(b"p", b"k").await.is_ok());
/// assert_eq!(engine.calls(Call::Get), 3);
/// # }
/// ```
#[derive(Debug)]
pub struct FaultEngine {
    inner: Arc<dyn Engine>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    scripts: HashMap<Call, VecDeque<Fault>>,
    always: HashMap<Call, Fault>,
    calls: HashMap<Call, usize>,
    records_scanned: usize,
    stranded: Vec<Commit>,
    health: Option<Health>,
}

impl FaultEngine {
    /// Wraps an engine; no call fails yet.
    pub fn new(inner: Arc<dyn Engine>) -> Self {
        Self { inner, state: Mutex::default() }
    }

    /// Appends faults for the next calls of a kind, one fault a call.
    pub fn script(&self, call: Call, faults: impl IntoIterator<Item = Fault>) {
        self.state.lock().scripts.entry(call).or_default().extend(faults);
    }

    /// Sets the fault of every call of a kind after its script; [`Fault::Pass`] ends it.
    pub fn always(&self, call: Call, fault: Fault) {
        self.state.lock().always.insert(call, fault);
    }

    /// Sets the result of [`health`](Engine::health); with `None` it is that of the wrapped engine.
    pub fn set_health(&self, health: Option<Health>) {
        self.state.lock().health = health;
    }

    /// Returns the number of calls of a kind.
    pub fn calls(&self, call: Call) -> usize {
        self.state.lock().calls.get(&call).copied().unwrap_or(0)
    }

    /// Returns the number of records that all scans together have returned.
    pub fn records_scanned(&self) -> usize {
        self.state.lock().records_scanned
    }

    /// Makes the stranded commits, in order, and returns the outcome of each.
    pub async fn deliver(&self) -> Vec<Result<()>> {
        let stranded = std::mem::take(&mut self.state.lock().stranded);
        let mut outcomes = Vec::with_capacity(stranded.len());
        for commit in stranded {
            outcomes.push(self.inner.commit(commit).await);
        }
        outcomes
    }

    async fn apply<T>(&self, call: Call, act: impl Future<Output = Result<T>> + Send) -> Result<T> {
        self.follow(self.next(call), act).await
    }

    async fn follow<T>(&self, fault: Fault, act: impl Future<Output = Result<T>> + Send) -> Result<T> {
        match fault {
            Fault::Pass => act.await,
            Fault::Fail(error) | Fault::Strand(error) => Err(error),
            Fault::FailAfter(error) => act.await.and(Err(error)),
            Fault::Delay(delay) => {
                tokio::time::sleep(delay).await;
                act.await
            }
        }
    }

    fn next(&self, call: Call) -> Fault {
        let state = &mut *self.state.lock();
        *state.calls.entry(call).or_default() += 1;
        let scripted = state.scripts.get_mut(&call).and_then(VecDeque::pop_front);
        scripted.or_else(|| state.always.get(&call).cloned()).unwrap_or(Fault::Pass)
    }
}

#[async_trait]
impl Engine for FaultEngine {
    async fn get(&self, partition: &[u8], key: &[u8]) -> Result<Option<Bytes>> {
        self.apply(Call::Get, self.inner.get(partition, key)).await
    }

    async fn get_many(&self, wanted: &[Wanted]) -> Result<Vec<Vec<Option<Bytes>>>> {
        self.apply(Call::GetMany, self.inner.get_many(wanted)).await
    }

    async fn scan(&self, range: &Range, limits: ScanLimits) -> Result<Page> {
        let page = self.apply(Call::Scan, self.inner.scan(range, limits)).await?;
        self.state.lock().records_scanned += page.records.len();
        Ok(page)
    }

    async fn read_newest(&self, partition: &[u8], keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.apply(Call::ReadNewest, self.inner.read_newest(partition, keys)).await
    }

    async fn commit(&self, commit: Commit) -> Result<()> {
        match self.next(Call::Commit) {
            Fault::Strand(error) => {
                self.state.lock().stranded.push(commit);
                Err(error)
            }
            fault => self.follow(fault, self.inner.commit(commit)).await,
        }
    }

    async fn commit_witnessed(&self, commit: Commit, witness: &Witness) -> Result<()> {
        match self.next(Call::Commit) {
            Fault::Strand(error) => {
                self.state.lock().stranded.push(commit);
                Err(error)
            }
            fault => self.follow(fault, self.inner.commit_witnessed(commit, witness)).await,
        }
    }

    async fn put_blind(&self, put: BlindPut, row: (&[u8], &[u8])) -> Result<(bool, Option<Bytes>)> {
        self.apply(Call::PutBlind, self.inner.put_blind(put, row)).await
    }

    async fn drop_range(&self, range: Range) -> Result<()> {
        self.apply(Call::DropRange, self.inner.drop_range(range)).await
    }

    fn is_exclusive(&self) -> bool {
        self.inner.is_exclusive()
    }

    fn health(&self) -> Health {
        let set = self.state.lock().health.clone();
        set.unwrap_or_else(|| self.inner.health())
    }

    async fn close(&self) -> Result<()> {
        self.apply(Call::Close, self.inner.close()).await
    }
}
