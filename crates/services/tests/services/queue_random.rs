//! Random steps on a queue, compared with a model of it.

use std::sync::Arc;

use tablerock_kv::{MemoryEngine, Store};
use tablerock_testkit::queue_model::Comparison;

const SEEDS: u64 = 40;
const STEPS: usize = 500;

async fn compare(store: fn() -> Store) {
    for seed in 0..SEEDS {
        // A failing test shows its output, and so the seed.
        println!("seed {seed}");
        let mut comparison = Comparison::new(store(), seed).await;
        for _ in 0..STEPS {
            comparison.step().await;
        }
    }
}

#[tokio::test]
async fn a_queue_does_what_the_model_does() {
    compare(Store::in_memory).await;
}

#[tokio::test]
async fn a_queue_in_a_store_that_others_write_to_does_what_the_model_does() {
    compare(|| Store::new(Arc::new(MemoryEngine::shared()))).await;
}
