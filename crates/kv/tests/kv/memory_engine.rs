//! The memory engine keeps the contract.

use std::sync::Arc;

use tablerock_kv::suite::{Capabilities, Harness};
use tablerock_kv::{Engine, MemoryEngine};

struct Memory;

#[async_trait::async_trait]
impl Harness for Memory {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn open(&mut self) -> Arc<dyn Engine> {
        Arc::new(MemoryEngine::new())
    }
}

tablerock_kv::engine_suite!(Memory);
