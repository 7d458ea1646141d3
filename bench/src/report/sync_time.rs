//! How long the disk takes to make one small write durable. It bounds every durable write, and starts on an empty
//! directory too, so no number about either says much without it.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use crate::Result;
use crate::data::entity::ENTITY_BYTES;
use crate::load::histogram::Histogram;

const SYNCS: usize = 500;

/// Appends an entity's worth of bytes to a file and syncs its data, again and again.
pub fn measure(work: &Path) -> Result<Histogram> {
    let path = work.join("sync-time");
    let measured = append_and_sync(&path).map_err(|error| format!("{}: {error}", path.display()));
    // A file that stays behind does no harm.
    let _ = fs::remove_file(&path);
    measured
}

fn append_and_sync(path: &Path) -> std::io::Result<Histogram> {
    let mut file = File::create(path)?;
    let mut times = Histogram::default();
    for _ in 0..SYNCS {
        file.write_all(&[b'x'; ENTITY_BYTES])?;
        let begin = Instant::now();
        file.sync_data()?;
        times.record(begin.elapsed());
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sync_is_counted_and_nothing_is_left_behind() {
        let work = tempfile::tempdir().unwrap();
        assert_eq!(measure(work.path()).unwrap().count(), SYNCS as u64);
        assert_eq!(fs::read_dir(work.path()).unwrap().count(), 0);
    }
}
