//! A content on its way to its file: one chunk is written while the next arrives.
//!
//! Blocking threads are few and a client may be slow, so a writer uses one only while it has bytes to write.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::{Buf as _, Bytes, BytesMut};
use tablerock_kv::{ContentName, ContentWriter, Error, Result};
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};

use super::folders::{Folders, Hold};
use super::frame::{FRAME_BYTES, FrameSeeds};
use super::kept_path;
use crate::durable::sync_directory;
use crate::failure::translate_io;

/// The bytes after which the file is synced: the disk works while the rest arrives, and the last sync is short.
const SYNC_BYTES: usize = 8 << 20;

/// The attempts to create a file whose folder is removed at the same time with all of its group.
const FOLDER_ATTEMPTS_MAX: usize = 8;

pub(super) struct FileWriter {
    folders: Arc<Folders>,
    name: ContentName,
    path: PathBuf,
    state: WriterState,
    /// The bytes written since the last sync began.
    unsynced_bytes: usize,
    /// A sync in parallel with the writes.
    syncing: Option<JoinHandle<io::Result<()>>>,
    /// Whether the file is this writer's own. One that was in the way is not.
    is_created: Arc<AtomicBool>,
    is_finished: bool,
}

enum WriterState {
    Idle(Frames),
    Busy(JoinHandle<io::Result<Frames>>),
    Failed,
}

impl FileWriter {
    pub(super) fn begin(folders: Arc<Folders>, path: PathBuf, name: ContentName, seeds: FrameSeeds) -> Self {
        let (made_in, file) = (Arc::clone(&folders), path.clone());
        let is_created = Arc::new(AtomicBool::new(false));
        let created = Arc::clone(&is_created);
        let creating = spawn_blocking(move || {
            let held = made_in.hold(name.group);
            let file = Arc::new(create(&held, &file)?);
            created.store(true, Ordering::SeqCst);
            Ok(Frames { file, held: Some(held), name, seeds, index: 0, rest: BytesMut::new() })
        });
        let state = WriterState::Busy(creating);
        Self { folders, name, path, state, unsynced_bytes: 0, syncing: None, is_created, is_finished: false }
    }

    /// Waits for the write in progress, which stays in `state` meanwhile for `drop`.
    async fn rest(&mut self) -> Result<Frames> {
        if let WriterState::Busy(writing) = &mut self.state {
            let outcome = writing.await;
            self.state = WriterState::Failed;
            self.state = WriterState::Idle(self.judge(outcome)?);
        }
        match std::mem::replace(&mut self.state, WriterState::Failed) {
            WriterState::Idle(frames) => Ok(frames),
            WriterState::Busy(_) | WriterState::Failed => Err(Error::unavailable(self.attempt())),
        }
    }

    /// Waits for a sync that is in progress.
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
            // The previous sync is the backpressure: the disk is not faster.
            self.end_sync().await?;
            let file = Arc::clone(&frames.file);
            self.syncing = Some(spawn_blocking(move || file.sync_data()));
        }
        self.state = WriterState::Busy(spawn_blocking(move || frames.add(bytes).map(|()| frames)));
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<()> {
        let mut frames = self.rest().await?;
        self.end_sync().await?;
        self.state = WriterState::Busy(spawn_blocking(move || {
            frames.finish()?;
            if let Some(held) = frames.held.take() {
                sync_directory(&held.folder())?;
                // The folder may have been created again since, and its name not be durable yet.
                held.ensure()?;
                held.release()?;
            }
            Ok(frames)
        }));
        self.rest().await?;
        self.is_finished = true;
        Ok(())
    }
}

/// Removes an unfinished content: no record refers to it, and a cleanup may have listed the folder before the file
/// existed.
impl Drop for FileWriter {
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        // Without a runtime the process is ending, and the next start removes the file.
        let Ok(runtime) = Handle::try_current() else { return };
        let state = std::mem::replace(&mut self.state, WriterState::Failed);
        let (folders, path, group) = (Arc::clone(&self.folders), self.path.clone(), self.name.group);
        let is_created = Arc::clone(&self.is_created);
        runtime.spawn(async move {
            let frames = match state {
                // Its outcome does not matter; the file must not be written any more.
                WriterState::Busy(writing) => writing.await.ok().and_then(Result::ok),
                WriterState::Idle(frames) => Some(frames),
                WriterState::Failed => None,
            };
            let remove = move || {
                let held = folders.hold(group);
                drop(frames);
                if is_created.load(Ordering::SeqCst) && held.remove_file(&path)? {
                    sync_directory(&held.folder())?;
                }
                held.release()
            };
            if let Ok(Err(error)) = spawn_blocking(remove).await
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(%error, "removing an unfinished content failed");
            }
        });
    }
}

/// Creates the file, and its folder if needed. A number is given once, so a file in the way means that `store/` is older
/// than `contents/`; see [`keep`].
fn create(held: &Hold, path: &Path) -> io::Result<File> {
    let mut attempts = 0;
    loop {
        held.ensure()?;
        if kept_path(path).exists() {
            return Err(in_the_way());
        }
        attempts += 1;
        match File::create_new(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < FOLDER_ATTEMPTS_MAX => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                keep(path)?;
                return Err(in_the_way());
            }
            created => return created,
        }
    }
}

/// Moves a file in the way aside. It may be all that is left of a content, and the layers above remove the file of a write
/// that failed. Should the newer store come back, its content is read there.
fn keep(path: &Path) -> io::Result<()> {
    tracing::error!(path = %path.display(), "a number of contents was given out twice");
    fs::rename(path, kept_path(path))?;
    path.parent().map_or(Ok(()), sync_directory)
}

fn in_the_way() -> io::Error {
    let message = "it exists already, so store is older than contents; restore both from one backup";
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// The frames written so far.
struct Frames {
    file: Arc<File>,
    /// The folder, until the file is durable.
    held: Option<Hold>,
    name: ContentName,
    seeds: FrameSeeds,
    index: u64,
    /// Bytes that do not fill a frame yet.
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
        file.write_all(&self.seeds.checksum(self.name, self.index, content))?;
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
