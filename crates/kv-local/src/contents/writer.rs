//! A content on its way to its file: one piece is written while the next arrives.
//!
//! Threads that may wait for the disk are few, and a client may be slow, so a writer has one only while it has bytes to write.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::{Buf as _, Bytes, BytesMut};
use tablerock_kv::{ContentName, ContentWriter, Error, Result};
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};

use super::folders::Folders;
use super::frame::{FRAME_BYTES, checksum};
use crate::failure::translate_io;
use crate::format::sync_directory;

/// After so much the file is synced, so that the disk is at work while the rest arrives, and the end does not take long.
const SYNC_BYTES: usize = 8 << 20;

/// How often the folder of a group is made again that others removed because it was empty.
const FOLDER_ATTEMPTS_MAX: usize = 8;

pub(super) struct FileWriter {
    folders: Arc<Folders>,
    name: ContentName,
    path: PathBuf,
    state: State,
    /// What was written since the last sync began.
    unsynced_bytes: usize,
    /// A sync beside the writing.
    syncing: Option<JoinHandle<io::Result<()>>>,
    is_finished: bool,
}

enum State {
    Idle(Frames),
    Busy(JoinHandle<io::Result<Frames>>),
    Failed,
}

impl FileWriter {
    pub(super) fn begin(folders: Arc<Folders>, path: PathBuf, name: ContentName) -> Self {
        let (made_in, file) = (Arc::clone(&folders), path.clone());
        let creating = spawn_blocking(move || {
            let file = Arc::new(create(&made_in, &file, name.group)?);
            Ok(Frames { file, name, index: 0, rest: BytesMut::new() })
        });
        let state = State::Busy(creating);
        Self { folders, name, path, state, unsynced_bytes: 0, syncing: None, is_finished: false }
    }

    /// Waits until nothing is being written. What is under way stays in `state` meanwhile, for whoever drops this.
    async fn rest(&mut self) -> Result<Frames> {
        if let State::Busy(writing) = &mut self.state {
            let outcome = writing.await;
            self.state = State::Failed;
            self.state = State::Idle(self.judge(outcome)?);
        }
        match std::mem::replace(&mut self.state, State::Failed) {
            State::Idle(frames) => Ok(frames),
            State::Busy(_) | State::Failed => Err(Error::unavailable(self.attempt())),
        }
    }

    /// Waits for a sync that is under way.
    async fn end_sync(&mut self) -> Result<()> {
        let Some(syncing) = &mut self.syncing else { return Ok(()) };
        let outcome = syncing.await;
        self.syncing = None;
        self.judge(outcome)
    }

    fn judge<T>(&self, outcome: Result<io::Result<T>, tokio::task::JoinError>) -> Result<T> {
        match outcome {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(translate_io(&self.attempt(), error)),
            Err(error) => Err(Error::internal(self.attempt()).with_source(error)),
        }
    }

    fn attempt(&self) -> String {
        format!("cannot write {}", self.path.display())
    }
}

#[async_trait]
impl ContentWriter for FileWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        let mut frames = self.rest().await?;
        self.unsynced_bytes += bytes.len();
        if self.unsynced_bytes >= SYNC_BYTES {
            self.unsynced_bytes = 0;
            // What the one before has not done by now, the disk cannot do faster.
            self.end_sync().await?;
            let file = Arc::clone(&frames.file);
            self.syncing = Some(spawn_blocking(move || file.sync_data()));
        }
        self.state = State::Busy(spawn_blocking(move || frames.add(bytes).map(|()| frames)));
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<()> {
        let mut frames = self.rest().await?;
        self.end_sync().await?;
        let (folders, group) = (Arc::clone(&self.folders), self.name.group);
        self.state = State::Busy(spawn_blocking(move || {
            frames.finish()?;
            sync_directory(&folders.of(group))?;
            // The folder may be another than at the beginning, and its own name not durable yet.
            folders.ensure(group)?;
            Ok(frames)
        }));
        self.rest().await?;
        self.is_finished = true;
        Ok(())
    }
}

/// A content that is not finished leaves nothing: nobody refers to it, and whoever tidies up may have looked before the file
/// was there.
impl Drop for FileWriter {
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        // Without a runtime the process is ending, and the next one tidies up.
        let Ok(runtime) = Handle::try_current() else { return };
        let state = std::mem::replace(&mut self.state, State::Failed);
        let (folders, path, group) = (Arc::clone(&self.folders), self.path.clone(), self.name.group);
        runtime.spawn(async move {
            if let State::Busy(writing) = state {
                // How it ends does not matter any more, only that it has.
                let _ = writing.await;
            }
            let remove = move || fs::remove_file(&path).and_then(|()| sync_directory(&folders.of(group)));
            if let Ok(Err(error)) = spawn_blocking(remove).await
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(%error, "an unfinished content could not be removed");
            }
        });
    }
}

/// Makes the file, and its folder if that is not there.
fn create(folders: &Folders, path: &Path, group: u64) -> io::Result<File> {
    let mut attempts = 0;
    loop {
        folders.ensure(group)?;
        attempts += 1;
        match File::create(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < FOLDER_ATTEMPTS_MAX => {}
            created => return created,
        }
    }
}

/// The frames of a file, up to where it is written.
struct Frames {
    file: Arc<File>,
    name: ContentName,
    index: u64,
    /// Content that does not fill a frame yet.
    rest: BytesMut,
}

impl Frames {
    fn add(&mut self, mut bytes: Bytes) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.rest.is_empty() && bytes.len() >= FRAME_BYTES {
                let frame = bytes.split_to(FRAME_BYTES);
                self.write_frame(&frame)?;
                continue;
            }
            let taken = bytes.len().min(FRAME_BYTES - self.rest.len());
            self.rest.extend_from_slice(&bytes[..taken]);
            bytes.advance(taken);
            if self.rest.len() == FRAME_BYTES {
                let frame = self.rest.split();
                self.write_frame(&frame)?;
            }
        }
        Ok(())
    }

    fn write_frame(&mut self, content: &[u8]) -> io::Result<()> {
        let mut file = &*self.file;
        file.write_all(content)?;
        file.write_all(&checksum(self.name, self.index, content))?;
        self.index += 1;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.write_frame(&rest)?;
        }
        self.file.sync_all()
    }
}
