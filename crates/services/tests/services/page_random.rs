//! Random steps on page blobs, compared with a model of them.

use std::sync::Arc;

use tablerock_kv::{MemoryEngine, Store};
use tablerock_testkit::page_model::PageComparison;

const SEEDS: u64 = 4;
const STEPS: usize = 120;

async fn compare(store: fn() -> Store) {
    for seed in 0..SEEDS {
        // A failing test shows its output, and so the seed.
        println!("seed {seed}");
        let mut comparison = PageComparison::new(store(), seed).await;
        for _ in 0..STEPS {
            comparison.step().await;
        }
        comparison.finish().await;
    }
}

#[tokio::test]
async fn pages_are_what_the_model_has_and_leave_nothing_behind() {
    compare(Store::in_memory).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_what_the_model_has_while_layers_are_merged_on_other_threads() {
    compare(Store::in_memory).await;
}

#[tokio::test]
async fn pages_in_a_store_that_others_write_to_are_what_the_model_has() {
    compare(|| Store::new(Arc::new(MemoryEngine::shared()))).await;
}
