//! Large contents, each in a file of its own next to the records. See decision 17.
//!
//! No record refers to a file before the file is durable, or after it is removed, so after a crash no record refers to half
//! a content. The layers above remove files that a crash leaves behind: they record an intent before they write.

mod folders;
mod frame;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use tablerock_kv::{ContentName, ContentReader, ContentWriter, Contents, Error, Result};

use self::folders::Folders;
pub(crate) use self::frame::FrameSeeds;
use self::reader::FileReader;
use self::writer::FileWriter;
use crate::durable::sync_directory;
use crate::failure::translate_io;

/// The files of all contents.
#[derive(Debug)]
pub(crate) struct ContentFiles {
    folders: Arc<Folders>,
    seeds: FrameSeeds,
}

impl ContentFiles {
    pub(crate) fn new(root: PathBuf, seeds: FrameSeeds) -> Self {
        Self { folders: Arc::new(Folders::new(root)), seeds }
    }

    fn path(&self, name: ContentName) -> PathBuf {
        file_in(&self.folders.of(name.group), name.number)
    }

    /// Runs a removal on a blocking thread.
    async fn removing<T: Send + 'static>(
        &self,
        remove: impl FnOnce(&Arc<Folders>) -> io::Result<T> + Send + 'static,
    ) -> Result<T> {
        let folders = Arc::clone(&self.folders);
        let attempt = || format!("cannot remove contents from {}", self.folders.root().display());
        match tokio::task::spawn_blocking(move || remove(&folders)).await {
            Ok(outcome) => outcome.map_err(|error| translate_io(&attempt(), error)),
            Err(error) => Err(Error::internal(attempt()).with_source(error)),
        }
    }
}

/// The place of a file that was in the way of another with its number.
fn kept_path(path: &Path) -> PathBuf {
    path.with_extension("kept")
}

fn file_in(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:016x}"))
}

#[async_trait]
impl Contents for ContentFiles {
    fn create(&self, name: ContentName) -> Box<dyn ContentWriter> {
        Box::new(FileWriter::begin(Arc::clone(&self.folders), self.path(name), name, self.seeds))
    }

    async fn open(&self, name: ContentName) -> Result<Option<Arc<dyn ContentReader>>> {
        let (path, seeds) = (self.path(name), self.seeds);
        let opened = tokio::task::spawn_blocking(move || FileReader::open(path, name, seeds)).await;
        let opened = opened.map_err(|error| Error::internal("cannot open a content").with_source(error))?;
        Ok(opened?.map(|reader| Arc::new(reader) as Arc<dyn ContentReader>))
    }

    async fn remove(&self, group: u64, numbers: RangeInclusive<u64>) -> Result<u64> {
        self.removing(move |folders| {
            let held = folders.hold(group);
            let folder = held.folder();
            let mut removed = 0;
            for number in numbers {
                removed += u64::from(held.remove_file(&file_in(&folder, number))?);
            }
            if removed > 0 {
                match sync_directory(&folder) {
                    // The whole group was removed meanwhile.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    synced => synced?,
                }
            }
            held.release()?;
            Ok(removed)
        })
        .await
    }

    async fn remove_group(&self, group: u64) -> Result<()> {
        self.removing(move |folders| folders.remove_all(group)).await
    }
}
