//! The files of a folder, for packages that contain them as they are.

use std::fs;
use std::path::Path;

use crate::Result;

/// Reads all files below a folder, with their paths from it, sorted. Files that tools made are left out.
pub(super) fn read(folder: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    read_into(folder, "", &mut files)?;
    files.sort();
    Ok(files)
}

fn read_into(folder: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if ["__pycache__", "node_modules", ".pytest_cache"].contains(&name.as_str()) {
            continue;
        }
        let path = format!("{prefix}{name}");
        if entry.file_type().map_err(failed)?.is_dir() {
            read_into(&entry.path(), &format!("{path}/"), files)?;
        } else {
            files.push((path, fs::read(entry.path()).map_err(failed)?));
        }
    }
    Ok(())
}
