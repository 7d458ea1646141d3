//! The folders of groups: created with their first content, removed with their last.
//!
//! A writer holds its folder from before its file is created until that is durable, and a removal of files holds it until the
//! removal is durable. The last one to let go of an empty folder removes it, so no folder vanishes under the others.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use parking_lot::Mutex;

use crate::durable::sync_directory;

#[derive(Debug)]
pub(super) struct Folders {
    root: PathBuf,
    /// Folders that were used. They are created and removed only while this is locked.
    used: Mutex<HashMap<u64, FolderState>>,
}

#[derive(Debug, Default)]
struct FolderState {
    /// Whether the folder exists, and its name is durable.
    is_durable: bool,
    holds: usize,
    /// Whether files were removed since it was found not to be empty.
    may_be_empty: bool,
}

/// A folder that is in use.
#[derive(Debug)]
pub(super) struct Hold {
    folders: Arc<Folders>,
    group: u64,
    is_released: bool,
}

impl Folders {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, used: Mutex::default() }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn of(&self, group: u64) -> PathBuf {
        self.root.join(format!("{group:016x}"))
    }

    /// Holds the folder of a group, which need not exist.
    pub(super) fn hold(self: &Arc<Self>, group: u64) -> Hold {
        self.used.lock().entry(group).or_default().holds += 1;
        Hold { folders: Arc::clone(self), group, is_released: false }
    }

    /// Removes the folder of a group and all that is in it, also if it is held: no file in it is needed any more.
    pub(super) fn remove_all(&self, group: u64) -> io::Result<()> {
        let mut used = self.used.lock();
        if is_there(fs::remove_dir_all(self.of(group)))? {
            if let Some(state) = used.get_mut(&group) {
                state.is_durable = false;
            }
            sync_directory(&self.root)?;
        }
        used.retain(|other, state| *other != group || state.holds > 0);
        Ok(())
    }

    /// Counts one hold less, and removes an empty folder that nothing holds.
    fn let_go(&self, group: u64, removes_folder: bool) -> io::Result<()> {
        let mut used = self.used.lock();
        let Some(state) = used.get_mut(&group) else { return Ok(()) };
        state.holds = state.holds.saturating_sub(1);
        if state.holds > 0 {
            return Ok(());
        }
        if !(state.may_be_empty && removes_folder) {
            // What is not known to be durable is not worth remembering.
            used.retain(|other, state| *other != group || state.is_durable || state.may_be_empty);
            return Ok(());
        }
        match fs::remove_dir(self.of(group)) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                state.may_be_empty = false;
                Ok(())
            }
            removed => {
                let was_there = is_there(removed)?;
                used.remove(&group);
                if was_there { sync_directory(&self.root) } else { Ok(()) }
            }
        }
    }
}

impl Hold {
    pub(super) fn folder(&self) -> PathBuf {
        self.folders.of(self.group)
    }

    /// Creates the folder if needed and makes its name durable.
    pub(super) fn ensure(&self) -> io::Result<()> {
        let mut used = self.folders.used.lock();
        let state = used.entry(self.group).or_default();
        if state.is_durable {
            return Ok(());
        }
        // Not the root: if that is missing, its mount is gone, and what is written in its place would be hidden later.
        match fs::create_dir(self.folder()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => created?,
        }
        sync_directory(&self.folders.root)?;
        state.is_durable = true;
        Ok(())
    }

    /// Removes a file of the folder; returns whether it was there.
    pub(super) fn remove_file(&self, path: &Path) -> io::Result<bool> {
        let removed = is_there(fs::remove_file(path))?;
        if removed {
            self.folders.used.lock().entry(self.group).or_default().may_be_empty = true;
        }
        Ok(removed)
    }

    /// Lets go of the folder. The last one removes it if it is empty.
    pub(super) fn release(mut self) -> io::Result<()> {
        self.is_released = true;
        self.folders.let_go(self.group, true)
    }
}

/// A hold that was not released leaves an empty folder to the next one.
impl Drop for Hold {
    fn drop(&mut self) {
        if !self.is_released {
            let _ = self.folders.let_go(self.group, false);
        }
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
