//! An engine that shows what another has and takes nothing: for a store that is being copied elsewhere while it is read.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{Commit, Contents, Engine, Error, Health, Page, Range, Result, ScanLimits, Wanted, Witness};

/// Wraps an engine and rejects writes, with a reason.
///
/// ```
/// use std::sync::Arc;
/// use tablerock_kv::{Error, ErrorKind, MemoryEngine, ReadOnlyEngine, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let store = Store::new(Arc::new(ReadOnlyEngine::new(Arc::new(MemoryEngine::new()), "it is being copied")));
/// assert_eq!(store.get(b"p", b"k").await.unwrap(), None);
///
/// let written = store.transact(b"p", vec![], |tx| {
///     tx.put(b"k".to_vec(), b"v".to_vec());
///     Ok::<_, Error>(())
/// });
/// assert_eq!(written.await.unwrap_err().kind(), ErrorKind::Unavailable);
/// # }
/// ```
#[derive(Debug)]
pub struct ReadOnlyEngine {
    inner: Arc<dyn Engine>,
    why: String,
}

impl ReadOnlyEngine {
    /// Wraps an engine; writes fail with `why`.
    pub fn new(inner: Arc<dyn Engine>, why: impl Into<String>) -> Self {
        Self { inner, why: why.into() }
    }

    fn refusal(&self) -> Error {
        Error::unavailable(self.why.as_str())
    }
}

#[async_trait]
impl Engine for ReadOnlyEngine {
    async fn get(&self, partition: &[u8], key: &[u8]) -> Result<Option<Bytes>> {
        self.inner.get(partition, key).await
    }

    async fn get_many(&self, wanted: &[Wanted]) -> Result<Vec<Vec<Option<Bytes>>>> {
        self.inner.get_many(wanted).await
    }

    async fn scan(&self, range: &Range, limits: ScanLimits) -> Result<Page> {
        self.inner.scan(range, limits).await
    }

    async fn read_newest(&self, partition: &[u8], keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.inner.read_newest(partition, keys).await
    }

    /// A commit that writes nothing only asks whether something still holds.
    async fn commit(&self, commit: Commit) -> Result<()> {
        if commit.writes.is_empty() { self.inner.commit(commit).await } else { Err(self.refusal()) }
    }

    async fn commit_witnessed(&self, commit: Commit, _witness: &Witness) -> Result<()> {
        self.commit(commit).await
    }

    async fn scan_then_get(
        &self,
        range: &Range,
        limits: ScanLimits,
        row: (&[u8], &[u8]),
    ) -> Result<(Page, Option<Bytes>)> {
        self.inner.scan_then_get(range, limits, row).await
    }

    async fn drop_range(&self, _range: Range) -> Result<()> {
        Err(self.refusal())
    }

    async fn nodes_of(&self, partitions: &[Bytes]) -> Result<Vec<Option<String>>> {
        self.inner.nodes_of(partitions).await
    }

    fn is_exclusive(&self) -> bool {
        self.inner.is_exclusive()
    }

    /// A writer records an intent before it writes a content, and that commit is rejected.
    fn contents(&self) -> Option<Arc<dyn Contents>> {
        self.inner.contents()
    }

    fn health(&self) -> Health {
        match self.inner.health() {
            Health::Healthy => Health::ReadOnly(self.why.clone()),
            other => other,
        }
    }

    /// The opener of the wrapped engine closes it.
    async fn close(&self) -> Result<()> {
        Ok(())
    }
}
