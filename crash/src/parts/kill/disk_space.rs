//! Disk space: after all blobs are deleted, the server frees their space within a bounded time.

use std::fs::{self, DirEntry};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::blobs::{BlobCondition, BlobOperation, BlobOptions, BlobWorker, BlobWorkers, BlobWrite};
use crate::client::Client;
use crate::run::{DataDirectory, Run};

/// The count and size of blobs that are put and deleted: contents in their own files, and contents in records. The blobs of
/// the workload are not a measure: snapshots share contents, and some of their space is about to be reclaimed.
const BALLAST: [(usize, usize); 2] = [(4, 2 << 20), (32, 256 << 10)];
/// The most data that may be left. There are few entities, and the engine compacts garbage from 4 MiB on.
const LEFT_BYTES_MAX: u64 = 8 << 20;
/// The engine waits until nothing has been deleted for a while.
const RECLAIM_TIME_MAX: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(50);

/// Puts blobs of a known size, deletes all blobs, restarts the server, and waits until the data on disk is small. The write
/// buffers must be small, because buffered data is not in a table yet.
pub(super) async fn check_reclaimed(
    run: &Run,
    directory: &DataDirectory,
    blobs: &mut BlobWorkers,
) -> Result<(), String> {
    let server = directory.start().await?;
    let before = data_bytes(&directory.location)?;
    let put = put_ballast(&mut server.client(), blobs, &mut run.rng("space")).await?;
    let full = data_bytes(&directory.location)?;
    blobs.delete_all(&mut server.client()).await?;
    server.stop().await?;

    let mut server = directory.start().await?;
    directory.verify("after all blobs were deleted", blobs.check(&mut server.client()).await)?;
    let started = Instant::now();
    loop {
        let left = data_bytes(&directory.location)?;
        let elapsed = started.elapsed();
        let report =
            format!("{put} bytes put and deleted: data from {before} to {full} to {left} bytes in {elapsed:?}");
        if left <= LEFT_BYTES_MAX {
            run.print_step(&report);
            return server.stop().await;
        }
        if elapsed > RECLAIM_TIME_MAX || !server.is_running() {
            return directory.verify("disk space", vec![report]);
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Returns the number of bytes put.
async fn put_ballast(client: &mut Client, blobs: &mut BlobWorkers, rng: &mut Rng) -> Result<u64, String> {
    let mut worker = BlobWorker::new("space", rng.u64(..), &BlobOptions::default());
    let sizes = BALLAST.iter().flat_map(|(count, size)| std::iter::repeat_n(*size, *count));
    let mut put = 0;
    for (number, size) in sizes.enumerate() {
        let mut bytes = vec![0; size];
        rng.fill(&mut bytes);
        let (bytes, mark, condition) = (Arc::new(bytes), "ballast".to_owned(), BlobCondition::None);
        let operation = BlobOperation::Put { bytes, mark, condition };
        if !worker.send(client, BlobWrite { name: format!("space{number}"), operation }).await {
            return Err(format!("cannot put a blob: {:?}", worker.findings));
        }
        put += size as u64;
    }
    blobs.workers.push(worker);
    Ok(put)
}

/// The size of all tables and of all large contents, without journals, which have a fixed size.
fn data_bytes(location: &Path) -> Result<u64, String> {
    let data = location.join("tablerock-data");
    let tables = files_in(&data.join("store/keyspaces/1/tables"))?;
    // The folder exists only while there are contents.
    let groups = fs::read_dir(data.join("contents")).into_iter().flatten().flatten();
    let contents = groups.flat_map(|group| files_in(&group.path()).unwrap_or_default());
    // A file that was removed in the meantime takes no space.
    Ok(tables.into_iter().chain(contents).map(|file| file.metadata().map_or(0, |data| data.len())).sum())
}

fn files_in(folder: &Path) -> Result<Vec<DirEntry>, String> {
    let files = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(files.flatten().collect())
}
