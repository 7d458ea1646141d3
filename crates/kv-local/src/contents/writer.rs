//! A content on its way to its file, by a thread of its own while the next bytes arrive.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::{Buf as _, Bytes, BytesMut};
use tablerock_kv::{ContentName, ContentWriter, Error, Result};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinHandle;

use super::folders::Folders;
use super::frame::{FRAME_BYTES, checksum};
use crate::failure::translate_io;
use crate::format::sync_directory;

/// What may wait for the disk.
const PIECES_WAITING_MAX: usize = 4;

/// After so much the file is synced, so that the disk is at work while the rest arrives, and the end does not take long.
const SYNC_BYTES: usize = 8 << 20;

/// How often the folder of a group is made again that others removed because it was empty.
const FOLDER_ATTEMPTS_MAX: usize = 8;

enum Message {
    Bytes(Bytes),
    /// There is no more to come. Without this, whoever wrote has gone, and the file goes too.
    Finish,
}

pub(super) struct FileWriter {
    messages: Sender<Message>,
    /// There until it is known how it ended.
    writing: Option<JoinHandle<io::Result<()>>>,
    path: PathBuf,
}

impl FileWriter {
    pub(super) fn begin(folders: Arc<Folders>, path: PathBuf, name: ContentName) -> Self {
        let (messages, received) = mpsc::channel(PIECES_WAITING_MAX);
        let file = path.clone();
        let writing = tokio::task::spawn_blocking(move || {
            let written = write(&folders, &file, name, received);
            if !matches!(written, Ok(Outcome::Finished)) {
                // Nobody refers to it, and whoever tidies up may have looked before it was there.
                let _ = fs::remove_file(&file).and_then(|()| sync_directory(&folders.of(name.group)));
            }
            written.map(drop)
        });
        Self { messages, writing: Some(writing), path }
    }

    /// How the writing ended, which it has, or is about to.
    async fn outcome(&mut self) -> Result<()> {
        let attempt = format!("cannot write {}", self.path.display());
        let Some(writing) = self.writing.take() else { return Err(Error::unavailable(attempt)) };
        match writing.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(translate_io(&attempt, error)),
            Err(error) => Err(Error::internal(attempt).with_source(error)),
        }
    }
}

#[async_trait]
impl ContentWriter for FileWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        match self.messages.send(Message::Bytes(bytes)).await {
            Ok(()) => Ok(()),
            // Nobody takes bytes any more, so the writing has failed.
            Err(_) => self.outcome().await,
        }
    }

    async fn finish(mut self: Box<Self>) -> Result<()> {
        // If nobody takes this, the outcome tells why.
        let _ = self.messages.send(Message::Finish).await;
        self.outcome().await
    }
}

enum Outcome {
    Finished,
    Abandoned,
}

fn write(folders: &Folders, path: &Path, name: ContentName, mut messages: Receiver<Message>) -> io::Result<Outcome> {
    let file = create(folders, path, name.group)?;
    let mut frames = Frames { file, name, index: 0, rest: BytesMut::new(), unsynced: 0 };
    while let Some(message) = messages.blocking_recv() {
        match message {
            Message::Bytes(bytes) => frames.add(bytes)?,
            Message::Finish => {
                frames.finish()?;
                sync_directory(&folders.of(name.group))?;
                // The folder may be another than at the beginning, and its own name not durable yet.
                folders.ensure(name.group)?;
                return Ok(Outcome::Finished);
            }
        }
    }
    Ok(Outcome::Abandoned)
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

struct Frames {
    file: File,
    name: ContentName,
    index: u64,
    /// Content that does not fill a frame yet.
    rest: BytesMut,
    unsynced: usize,
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
        self.file.write_all(content)?;
        self.file.write_all(&checksum(self.name, self.index, content))?;
        self.index += 1;
        self.unsynced += content.len();
        if self.unsynced >= SYNC_BYTES {
            self.unsynced = 0;
            self.file.sync_data()?;
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.write_frame(&rest)?;
        }
        self.file.sync_all()
    }
}
