//! An engine that behaves as only some do: it keeps commits waiting.

use std::sync::Arc;

use async_trait::async_trait;
use tablerock_kv::{Bytes, Commit, Engine, Health, MemoryEngine, Page, Range, Result, ScanLimits};
use tokio::sync::watch;

/// Delays commits that it has accepted: they land later, even if no caller waits for them any more.
#[derive(Debug)]
pub(crate) struct HeldEngine {
    inner: Arc<MemoryEngine>,
    held: watch::Sender<bool>,
    /// How many commits have been accepted and have not landed.
    pending: Arc<watch::Sender<usize>>,
}

impl HeldEngine {
    pub(crate) fn new(inner: Arc<MemoryEngine>) -> Self {
        Self { inner, held: watch::Sender::new(false), pending: Arc::new(watch::Sender::new(0)) }
    }

    pub(crate) fn hold(&self) {
        self.held.send_replace(true);
    }

    pub(crate) fn release(&self) {
        self.held.send_replace(false);
    }
}

#[async_trait]
impl Engine for HeldEngine {
    async fn get(&self, partition: &[u8], key: &[u8]) -> Result<Option<Bytes>> {
        self.inner.get(partition, key).await
    }

    async fn scan(&self, range: &Range, limits: ScanLimits) -> Result<Page> {
        self.inner.scan(range, limits).await
    }

    async fn read_newest(&self, partition: &[u8], keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.pending.subscribe().wait_for(|pending| *pending == 0).await.expect("this engine has the sender");
        self.inner.read_newest(partition, keys).await
    }

    async fn commit(&self, commit: Commit) -> Result<()> {
        let (inner, pending, mut held) = (self.inner.clone(), self.pending.clone(), self.held.subscribe());
        pending.send_modify(|pending| *pending += 1);
        let landing = tokio::spawn(async move {
            let _ = held.wait_for(|held| !held).await;
            let outcome = inner.commit(commit).await;
            pending.send_modify(|pending| *pending -= 1);
            outcome
        });
        landing.await.expect("a commit does not panic")
    }

    async fn drop_range(&self, range: Range) -> Result<()> {
        self.inner.drop_range(range).await
    }

    fn is_exclusive(&self) -> bool {
        true
    }

    fn health(&self) -> Health {
        self.inner.health()
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}
