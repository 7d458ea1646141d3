//! A content's file, open for reading. It stays readable after it is removed.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use tablerock_kv::{ContentName, ContentReader, Error, Result};

use super::frame::{self, FRAME_BYTES, FrameSeeds, frame_length, frame_start};
use super::kept_path;
use crate::failure::translate_io;

#[derive(Debug)]
pub(super) struct FileReader {
    file: Arc<File>,
    file_bytes: u64,
    name: ContentName,
    seeds: FrameSeeds,
    path: PathBuf,
}

impl FileReader {
    /// `None` if there is no such file.
    pub(super) fn open(path: PathBuf, name: ContentName, seeds: FrameSeeds) -> Result<Option<Self>> {
        let file = File::open(&path).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => File::open(kept_path(&path)),
            _ => Err(error),
        });
        let opened = file.and_then(|file| Ok((file.metadata()?.len(), file)));
        match opened {
            Ok((file_bytes, file)) => Ok(Some(Self { file: Arc::new(file), file_bytes, name, seeds, path })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(translate_io(&format!("cannot read {}", path.display()), error)),
        }
    }
}

#[async_trait]
impl ContentReader for FileReader {
    async fn read(&self, offset: u64, length: usize) -> Result<Bytes> {
        let (index, start) = (offset / FRAME_BYTES as u64, (offset % FRAME_BYTES as u64) as usize);
        let Some(frame_bytes) = frame_length(index, self.file_bytes) else { return Ok(Bytes::new()) };
        let (file, name, seeds) = (Arc::clone(&self.file), self.name, self.seeds);
        let read = tokio::task::spawn_blocking(move || -> io::Result<Bytes> {
            let mut frame = vec![0; frame_bytes];
            read_exact_at(&file, &mut frame, frame_start(index))?;
            frame::open(seeds, name, index, &mut frame)?;
            Ok(Bytes::from(frame))
        });
        let attempt = || format!("cannot read {}", self.path.display());
        let mut content = match read.await {
            Ok(Ok(content)) => content,
            Ok(Err(error)) => return Err(translate_io(&attempt(), error)),
            Err(error) => return Err(Error::internal(attempt()).with_source(error)),
        };
        let end = content.len().min(start.saturating_add(length));
        content.truncate(end);
        Ok(content.slice(start.min(end)..))
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                bytes = &mut bytes[count..];
                offset += count as u64;
            }
        }
    }
    Ok(())
}
