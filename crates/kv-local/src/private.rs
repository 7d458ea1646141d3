//! Access of other users of the machine: the data directory is for its owner alone, so its files need no care.
//!
//! Windows has no modes: there, the access list of the location applies.

use std::io;
use std::path::Path;

/// Creates a directory that only its owner can enter, whatever the umask.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(false);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Warns if users other than the owner can enter a directory. The mode may be deliberate, so it is not changed.
#[cfg(unix)]
pub(crate) fn warn_if_accessible(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(metadata) = std::fs::metadata(path) else { return };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        let remedy = format!("chmod 700 {}", path.display());
        tracing::warn!(mode = format!("{mode:o}"), %remedy, "other users can access the data directory");
    }
}

#[cfg(not(unix))]
pub(crate) fn warn_if_accessible(_: &Path) {}
