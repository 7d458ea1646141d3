//! The files of an archive by path. Folders above a file are there without being named.

use std::collections::BTreeMap;

use tar::{Builder, EntryType, Header};

use crate::Result;

const FOLDER_MODE: u32 = 0o755;

/// A folder, file or link.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    Folder { mode: u32 },
    File { mode: u32, bytes: Vec<u8> },
    Link { target: String },
}

/// Entries by their path from the root, without a leading slash.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileTree {
    entries: BTreeMap<String, Entry>,
}

impl FileTree {
    /// Adds a folder with this mode.
    pub(crate) fn folder(&mut self, path: &str, mode: u32) {
        self.insert(path, Entry::Folder { mode });
    }

    /// Adds a file that all can read.
    pub(crate) fn file(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.insert(path, Entry::File { mode: 0o644, bytes: bytes.into() });
    }

    /// Adds a file that only its owner can read.
    pub(crate) fn private_file(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.insert(path, Entry::File { mode: 0o600, bytes: bytes.into() });
    }

    /// Adds a program.
    pub(crate) fn program(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.insert(path, Entry::File { mode: 0o755, bytes: bytes.into() });
    }

    /// Adds a symbolic link.
    pub(crate) fn link(&mut self, path: &str, target: &str) {
        self.insert(path, Entry::Link { target: target.to_owned() });
    }

    fn insert(&mut self, path: &str, entry: Entry) {
        for (at, _) in path.match_indices('/') {
            self.entries.entry(path[..at].to_owned()).or_insert(Entry::Folder { mode: FOLDER_MODE });
        }
        self.entries.insert(path.to_owned(), entry);
    }

    /// The files with their bytes, in the order of their paths.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.entries.iter().filter_map(|(path, entry)| match entry {
            Entry::File { bytes, .. } => Some((path.as_str(), bytes.as_slice())),
            _ => None,
        })
    }

    /// The bytes of all files together.
    pub(crate) fn size(&self) -> usize {
        self.files().map(|(_, bytes)| bytes.len()).sum()
    }

    /// The tar archive. `root` precedes each path: nothing, or `./` in Debian packages.
    pub(crate) fn to_tar(&self, root: &str, time: u64) -> Result<Vec<u8>> {
        let failed = |error: std::io::Error| format!("tar: {error}");
        let mut builder = Builder::new(Vec::new());
        if !root.is_empty() {
            builder.append_data(&mut header(EntryType::Directory, FOLDER_MODE, time), root, &[][..]).map_err(failed)?;
        }
        for (path, entry) in &self.entries {
            let path = format!("{root}{path}");
            let appended = match entry {
                Entry::Folder { mode } => {
                    let mut header = header(EntryType::Directory, *mode, time);
                    builder.append_data(&mut header, format!("{path}/"), &[][..])
                }
                Entry::File { mode, bytes } => {
                    let mut header = header(EntryType::Regular, *mode, time);
                    header.set_size(bytes.len() as u64);
                    builder.append_data(&mut header, path, bytes.as_slice())
                }
                Entry::Link { target } => {
                    builder.append_link(&mut header(EntryType::Symlink, 0o777, time), path, target)
                }
            };
            appended.map_err(failed)?;
        }
        builder.into_inner().map_err(failed)
    }
}

fn header(kind: EntryType, mode: u32, time: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(time);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_their_files_and_the_order_of_additions_does_not_matter() {
        let mut one = FileTree::default();
        one.program("bin/busybox", *b"program");
        one.link("bin/sh", "busybox");
        one.folder("tmp", 0o1777);
        let mut other = FileTree::default();
        other.folder("tmp", 0o1777);
        other.link("bin/sh", "busybox");
        other.program("bin/busybox", *b"program");
        let tar = one.to_tar("", 7).unwrap();
        assert_eq!(tar, other.to_tar("", 7).unwrap());
        let mut archive = tar::Archive::new(&tar[..]);
        let seen: Vec<(String, u32, u64)> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let path = entry.path().unwrap().display().to_string();
                (path, entry.header().mode().unwrap(), entry.header().mtime().unwrap())
            })
            .collect();
        let expected = [("bin/", 0o755), ("bin/busybox", 0o755), ("bin/sh", 0o777), ("tmp/", 0o1777)];
        assert_eq!(seen, expected.map(|(path, mode)| (path.to_owned(), mode, 7)));
    }
}
