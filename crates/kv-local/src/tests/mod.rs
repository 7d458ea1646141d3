//! Tests inside the engine: they delay the disk, or make it fail.

mod fjall_version;
mod garbage;
mod grouping;
mod poison;
mod queue_bound;
mod resurrection;
mod space;
mod unsynced;
mod write_buffer;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};
use tablerock_kv::{Bytes, Commit, Engine};

use crate::{LocalEngine, LocalOptions};

/// A disk that can be stopped and broken.
#[derive(Default)]
struct Disk {
    state: Mutex<DiskState>,
    changed: Condvar,
    arrivals: AtomicUsize,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum DiskState {
    #[default]
    Working,
    Stopped,
    Broken,
}

impl Disk {
    fn set(&self, state: DiskState) {
        *self.state.lock() = state;
        self.changed.notify_all();
    }

    fn sync(&self) -> io::Result<()> {
        self.arrivals.fetch_add(1, Ordering::SeqCst);
        let mut state = self.state.lock();
        self.changed.wait_while(&mut state, |state| *state == DiskState::Stopped);
        if *state == DiskState::Broken { Err(io::Error::other("the cable is out")) } else { Ok(()) }
    }

    /// Waits until so many groups have come.
    async fn wait_for_arrivals(&self, count: usize) {
        while self.arrivals.load(Ordering::SeqCst) < count {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }
}

struct Setup {
    disk: Arc<Disk>,
    engine: Arc<LocalEngine>,
    // After the engine, which still writes to it when it is dropped.
    directory: tempfile::TempDir,
}

impl Drop for Setup {
    fn drop(&mut self) {
        // The engine finishes what waits when it is dropped, which a stopped disk would never let it.
        let state = *self.disk.state.lock();
        if state == DiskState::Stopped {
            self.disk.set(DiskState::Working);
        }
    }
}

fn setup() -> Setup {
    setup_with(&LocalOptions::default())
}

fn setup_with(options: &LocalOptions) -> Setup {
    let directory = tempfile::tempdir().unwrap();
    let disk = Arc::new(Disk::default());
    let before_sync = {
        let disk = Arc::clone(&disk);
        Box::new(move || disk.sync())
    };
    let engine = Arc::new(LocalEngine::open_with_hook(directory.path(), options, before_sync).unwrap());
    Setup { disk, engine, directory }
}

fn put(key: &str, value: &str) -> Commit {
    let writes = vec![(Bytes::copy_from_slice(key.as_bytes()), Some(Bytes::copy_from_slice(value.as_bytes())))];
    Commit { partition: "p".into(), expected: vec![], writes }
}

/// Starts a commit without waiting for it.
fn start(engine: &Arc<LocalEngine>, commit: Commit) -> tokio::task::JoinHandle<tablerock_kv::Result<()>> {
    let engine = Arc::clone(engine);
    tokio::spawn(async move { engine.commit(commit).await })
}

async fn get(engine: &LocalEngine, key: &str) -> Option<Bytes> {
    engine.get(b"p", key.as_bytes()).await.unwrap()
}

async fn newest(engine: &LocalEngine, key: &str) -> Option<Bytes> {
    engine.read_newest(b"p", &[Bytes::copy_from_slice(key.as_bytes())]).await.unwrap().remove(0)
}
