//! How the suite gets at an engine, and runs one behaviour of it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::Engine;

/// How long one behaviour may take before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(120);

/// Makes engines to test.
#[async_trait]
pub trait Harness: Send + 'static {
    /// The optional capabilities of the engine.
    fn capabilities(&self) -> Capabilities;

    /// A fresh engine without records.
    async fn open(&mut self) -> Arc<dyn Engine>;

    /// The same data again, in an engine opened after the given one was closed. Called only if
    /// [`survives_reopening`](Capabilities::survives_reopening) is declared.
    async fn reopen(&mut self, closed: Arc<dyn Engine>) -> Arc<dyn Engine> {
        let _ = closed;
        unreachable!("an engine that survives reopening has a harness that reopens it")
    }
}

/// The optional capabilities of an engine.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    /// Whether data outlives the engine.
    pub survives_reopening: bool,
    /// How long it takes at most until dropped records are gone.
    pub sweeps_within: Duration,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self { survives_reopening: false, sweeps_within: Duration::from_secs(10) }
    }
}

/// Runs one behaviour on several threads, and panics if it does not hold or does not end.
pub fn check<H: Harness, F: Future<Output = ()>>(behaviour: impl FnOnce(Box<dyn Harness>) -> F, harness: H) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    let runtime = runtime.expect("a test can have a runtime");
    runtime.block_on(async {
        let outcome = tokio::time::timeout(PATIENCE, behaviour(Box::new(harness))).await;
        outcome.expect("the behaviour ends in time");
    });
}
