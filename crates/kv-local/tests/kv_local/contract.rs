//! The local engine keeps the contract of every engine.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::Engine;
use tablerock_kv::suite::{Capabilities, Harness};
use tablerock_kv_local::{LocalEngine, LocalOptions};

struct Local(tempfile::TempDir);

impl Local {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn engine(&self) -> Arc<dyn Engine> {
        let options = LocalOptions { sweep_delay: Duration::from_millis(20), ..LocalOptions::default() };
        Arc::new(LocalEngine::open_with(self.0.path(), &options).unwrap())
    }
}

#[async_trait::async_trait]
impl Harness for Local {
    fn capabilities(&self) -> Capabilities {
        Capabilities { survives_reopening: true, ..Capabilities::default() }
    }

    async fn open(&mut self) -> Arc<dyn Engine> {
        self.engine()
    }

    async fn reopen(&mut self, closed: Arc<dyn Engine>) -> Arc<dyn Engine> {
        drop(closed);
        self.engine()
    }
}

tablerock_kv::engine_suite!(Local::new());
