//! The kinds of damage to a file, and the kinds of files.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fastrand::Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// One bit is flipped.
    Flip,
    /// The file ends early.
    Truncate,
    /// The file is empty.
    Empty,
    /// The file is removed.
    Remove,
}

impl Damage {
    pub(super) const ALL: [Damage; 4] = [Damage::Flip, Damage::Truncate, Damage::Empty, Damage::Remove];

    /// Damages a file and returns the offset.
    pub(super) fn inflict(self, path: &Path, rng: &mut Rng) -> io::Result<usize> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        // A journal is preallocated, so its end is unused.
        let written = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let at = rng.usize(0..written.max(1));
        match self {
            Damage::Flip => {
                let byte = bytes.get(at).copied().unwrap_or_default();
                file.seek(SeekFrom::Start(at as u64))?;
                file.write_all(&[byte ^ (1 << rng.u8(0..8))])?;
            }
            Damage::Truncate => file.set_len(at as u64)?,
            Damage::Empty => file.set_len(0)?,
            Damage::Remove => fs::remove_file(path)?,
        }
        Ok(at)
    }
}

/// All files below a location, grouped by names that differ only in numbers. Lock files are empty and left out.
pub(super) fn kinds(location: &Path) -> io::Result<Vec<Vec<PathBuf>>> {
    let mut kinds: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(location.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if !path.to_string_lossy().ends_with("lock") {
                let name = entry.file_name().to_string_lossy().replace(|c: char| c.is_ascii_digit(), "");
                kinds.entry(folder.join(name)).or_default().push(path);
            }
        }
    }
    Ok(kinds.into_values().collect())
}

/// The journal with the highest number.
pub(super) fn newest_journal(kinds: &[Vec<PathBuf>]) -> Option<&PathBuf> {
    let number = |path: &Path| path.file_name()?.to_str()?.strip_suffix(".jnl")?.parse::<u64>().ok();
    kinds.iter().flatten().filter(|path| number(path).is_some()).max_by_key(|path| number(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_whose_names_differ_in_numbers_only_are_of_one_kind() {
        let place = tempfile::tempdir().unwrap();
        for path in ["store/0.jnl", "store/11.jnl", "store/2.jnl", "store/tables/7", "store/version", "store/lock"] {
            fs::create_dir_all(place.path().join(path).parent().unwrap()).unwrap();
            fs::write(place.path().join(path), "x").unwrap();
        }
        let kinds = kinds(place.path()).unwrap();
        let sizes: Vec<usize> = kinds.iter().map(Vec::len).collect();
        assert_eq!(sizes, [3, 1, 1]);
        assert_eq!(newest_journal(&kinds), Some(&PathBuf::from("store/11.jnl")));
    }

    #[test]
    fn each_damage_changes_the_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        for damage in Damage::ALL {
            fs::write(&path, b"some bytes\0\0\0").unwrap();
            damage.inflict(&path, &mut Rng::with_seed(5)).unwrap();
            assert_ne!(fs::read(&path).unwrap_or_default(), b"some bytes\0\0\0", "{damage:?}");
        }
    }
}
