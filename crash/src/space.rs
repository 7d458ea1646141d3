//! Space that comes back: after all blobs are deleted, so is what they took up on the disk, within a bounded time.

use std::fs::{self, DirEntry};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::blobs::{Act, BlobAttempt, BlobCrew, BlobHabits, BlobWorker, Condition};
use crate::client::{Client, ClockOffset};
use crate::run::{Place, Run};
use crate::server::Server;

/// What is put there to be deleted: contents that are files of their own, and contents that are records. What the
/// others left is no measure: snapshots share their contents, and some of it is space that was about to come back.
const BALLAST: [(usize, usize); 2] = [(4, 2 << 20), (32, 256 << 10)];
/// What may be left of all data by then. Entities are few, and the engine merges garbage away from 4 MiB on.
const LEFT_BYTES_MAX: u64 = 8 << 20;
/// The engine waits until nothing has been deleted for a while.
const PATIENCE: Duration = Duration::from_secs(90);
const POLL: Duration = Duration::from_millis(50);

/// Puts blobs of a known size, deletes all that there are, restarts the server, and waits until tables and contents on
/// the disk have become small. The buffers must be small: what is still in one is in no table.
pub async fn check_returned(run: &Run, place: &Place, blobs: &mut BlobCrew) -> Result<(), String> {
    let clock = ClockOffset::default();
    let server = Server::start(&run.program, &place.location, None).await?;
    let before = data_bytes(&place.location)?;
    let put = put_ballast(&mut server.client(&clock), blobs, &mut run.rng("space")).await?;
    let full = data_bytes(&place.location)?;
    blobs.delete_all(&mut server.client(&clock)).await?;
    server.stop().await?;

    let mut server = Server::start(&run.program, &place.location, None).await?;
    place.judge("after all blobs were deleted", blobs.check(&mut server.client(&clock), None).await)?;
    let started = Instant::now();
    while data_bytes(&place.location)? > LEFT_BYTES_MAX {
        if started.elapsed() > PATIENCE || !server.is_running() {
            let left = data_bytes(&place.location)?;
            let told = format!("{put} bytes put and deleted: data from {before} to {full} and back to {left} bytes");
            return place.judge("space", vec![told]);
        }
        tokio::time::sleep(POLL).await;
    }
    let (left, took) = (data_bytes(&place.location)?, started.elapsed());
    run.tell(&format!(
        "{put} bytes put and deleted: data from {before} to {full} and back to {left} bytes in {took:?}"
    ));
    server.stop().await
}

/// Tells how many bytes it put.
async fn put_ballast(client: &mut Client, blobs: &mut BlobCrew, rng: &mut Rng) -> Result<u64, String> {
    let mut worker = BlobWorker::new("space", rng.u64(..), &BlobHabits::default());
    let sizes = BALLAST.iter().flat_map(|(count, size)| std::iter::repeat_n(*size, *count));
    let mut put = 0;
    for (number, size) in sizes.enumerate() {
        let mut bytes = vec![0; size];
        rng.fill(&mut bytes);
        let act = Act::Put { bytes: Arc::new(bytes), mark: "ballast".to_owned(), condition: Condition::None };
        if !worker.perform(client, BlobAttempt { name: format!("space{number}"), act }, None).await {
            return Err(format!("a blob could not be put: {:?} {:?}", worker.failure, worker.violations));
        }
        put += size as u64;
    }
    blobs.workers.push(worker);
    Ok(put)
}

/// The size of all tables and of all large contents. Journals are left out, which are kept at a size of their own.
fn data_bytes(location: &Path) -> Result<u64, String> {
    let data = location.join("tablerock-data");
    let tables = files_in(&data.join("store/keyspaces/1/tables"))?;
    // It is there only while there are contents.
    let groups = fs::read_dir(data.join("contents")).into_iter().flatten().flatten();
    let contents = groups.flat_map(|group| files_in(&group.path()).unwrap_or_default());
    // A file that is gone again meanwhile takes up nothing.
    Ok(tables.into_iter().chain(contents).map(|file| file.metadata().map_or(0, |data| data.len())).sum())
}

fn files_in(folder: &Path) -> Result<Vec<DirEntry>, String> {
    let files = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(files.flatten().collect())
}
