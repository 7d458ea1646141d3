//! A process that dies at a commit, and the one that is started after it.

use std::sync::Arc;

use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Error, FaultEngine, MemoryEngine, Store};
use tablerock_services::Result;
use tablerock_services::blob::BlobService;
use tablerock_testkit::blob_model::*;

/// The name of a blob that the requests are not about.
pub(crate) const OTHER: &str = "other";

/// The process that was started.
pub(crate) struct Restarted {
    pub(crate) store: Store,
    pub(crate) service: BlobService,
    /// The last step that the first process acknowledged.
    pub(crate) done: Option<usize>,
}

/// Takes steps until the n-th commit, which is the last that happens, in one of two ways. Then a new process is started.
pub(crate) async fn die_at(
    commit: usize,
    fault: fn(Error) -> Fault,
    steps: usize,
    step: impl AsyncFn(&BlobService, usize) -> Result<()>,
) -> Restarted {
    let memory = Arc::new(MemoryEngine::new());
    let engine = Arc::new(FaultEngine::new(memory.clone()));
    let service = service_with_container(&Store::new(engine.clone()), manual_clock()).await;
    put(&service, OTHER, &[9; 600_000]).await.expect("no fault yet");
    service.rest().await;

    let died = || Error::unavailable("the process died here");
    engine.script(Call::Commit, (0..commit).map(|_| Fault::Pass).chain([fault(died())]));
    engine.always(Call::Commit, Fault::Fail(died()));
    engine.always(Call::DropRange, Fault::Fail(died()));
    // The script counts down before the rest is refused.
    let mut done = None;
    for number in 0..steps {
        if step(&service, number).await.is_err() {
            break;
        }
        done = Some(number);
    }
    service.rest().await;
    drop(service);

    let store = Store::new(memory);
    let service = service_on(&store, manual_clock()).await;
    Restarted { store, service, done }
}
