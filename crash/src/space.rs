//! Space that comes back: after all blobs are deleted, so is what they took up on the disk, within a bounded time.

use std::fs::{self, DirEntry};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::blobs::BlobCrew;
use crate::client::ClockOffset;
use crate::run::{Place, Run};
use crate::server::Server;

/// What may be left of it.
const LEFT_PART: u64 = 4;
/// Less than this is not worth a look: the engine keeps small leftovers until it merges tables.
const BYTES_MIN: u64 = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);

/// Deletes all blobs, restarts the server, and waits until tables and contents on the disk have become smaller by most of
/// them. The buffers must be small: what is still in one is in no table.
pub async fn check_returned(run: &Run, place: &Place, blobs: &mut BlobCrew) -> Result<(), String> {
    let clock = ClockOffset::default();
    let server = Server::start(&run.program, &place.location, None).await?;
    let held = blobs.bytes() as u64;
    let before = data_bytes(&place.location)?;
    blobs.delete_all(&mut server.client(&clock)).await?;
    server.stop().await?;

    let mut server = Server::start(&run.program, &place.location, None).await?;
    place.judge("after all blobs were deleted", blobs.check(&mut server.client(&clock), None).await)?;
    let wanted = before.saturating_sub(held - held / LEFT_PART);
    let started = Instant::now();
    while held >= BYTES_MIN && data_bytes(&place.location)? > wanted {
        if started.elapsed() > PATIENCE || !server.is_running() {
            let left = data_bytes(&place.location)?;
            let told = format!("{held} bytes of blobs were deleted, and the data went from {before} bytes to {left}");
            return place.judge("space", vec![told]);
        }
        tokio::time::sleep(POLL).await;
    }
    let left = data_bytes(&place.location)?;
    run.tell(&format!("{held} bytes of blobs deleted: data from {before} to {left} bytes in {:?}", started.elapsed()));
    server.stop().await
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
