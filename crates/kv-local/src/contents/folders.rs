//! The folders of groups: created with their first content, removed with their last.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use parking_lot::Mutex;

use crate::durable::sync_directory;

#[derive(Debug)]
pub(super) struct Folders {
    root: PathBuf,
    /// Groups whose folders exist durably. Folders are created and removed only while this is locked.
    durable: Mutex<HashSet<u64>>,
}

impl Folders {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, durable: Mutex::default() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn of(&self, group: u64) -> PathBuf {
        self.root.join(format!("{group:016x}"))
    }

    /// Creates the folder if needed and makes its name durable.
    pub(super) fn ensure(&self, group: u64) -> io::Result<()> {
        let mut durable = self.durable.lock();
        if durable.contains(&group) {
            return Ok(());
        }
        // Not the root: if that is missing, its mount is gone, and what is written in its place would be hidden later.
        match fs::create_dir(self.of(group)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => created?,
        }
        sync_directory(&self.root)?;
        durable.insert(group);
        Ok(())
    }

    /// Removes the folder of a group that has no contents; any other stays.
    pub(super) fn remove_empty(&self, group: u64) -> io::Result<()> {
        self.remove(group, |folder| match fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
            removed => is_there(removed),
        })
    }

    /// Removes the folder of a group and all that is in it.
    pub(super) fn remove_all(&self, group: u64) -> io::Result<()> {
        self.remove(group, |folder| is_there(fs::remove_dir_all(folder)))
    }

    fn remove(&self, group: u64, remove: impl FnOnce(PathBuf) -> io::Result<bool>) -> io::Result<()> {
        let mut durable = self.durable.lock();
        if remove(self.of(group))? {
            durable.remove(&group);
            sync_directory(&self.root)?;
        }
        Ok(())
    }
}

/// Returns whether the removed file or folder existed.
pub(super) fn is_there(removed: io::Result<()>) -> io::Result<bool> {
    match removed {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
