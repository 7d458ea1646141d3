//! Random steps on blobs, compared with a model of them.

use std::sync::Arc;

use tablerock_kv::{MemoryEngine, Store};
use tablerock_testkit::blob_model::Comparison;

const SEEDS: u64 = 12;
const STEPS: usize = 150;

async fn compare(store: fn() -> Store) {
    for seed in 0..SEEDS {
        // A failing test shows its output, and so the seed.
        println!("seed {seed}");
        let mut comparison = Comparison::new(store(), seed).await;
        for _ in 0..STEPS {
            comparison.step().await;
        }
        comparison.finish().await;
    }
}

#[tokio::test]
async fn blobs_do_what_the_model_does_and_leave_nothing_behind() {
    compare(Store::in_memory).await;
}

#[tokio::test]
async fn blobs_in_a_store_that_others_write_to_do_what_the_model_does() {
    compare(|| Store::new(Arc::new(MemoryEngine::shared()))).await;
}
