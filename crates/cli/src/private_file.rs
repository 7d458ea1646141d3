//! Files for their owner alone: exports and logs of requests show names and data. A file that exists keeps its mode.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a file, or empties it.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    options().write(true).truncate(true).open(path)
}

/// Opens a file to append to it, and creates it and its folder if they do not exist.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    options().append(true).open(path)
}

fn options() -> OpenOptions {
    let mut options = File::options();
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
