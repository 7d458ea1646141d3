//! Scans. The first records are read inline; a longer scan moves to a blocking thread, so that it does not delay other
//! requests.

use bytes::Bytes;
use tablerock_kv::key::physical::{self, Decoder};
use tablerock_kv::{Error, Page, PageBuilder, Range, Record, Result, ScanLimits};

use crate::failure::translate;
use crate::view::View;

/// The records and bytes that a scan reads before it moves.
const INLINE_RECORDS: usize = 256;
const INLINE_BYTES: usize = 256 << 10;

/// Reads the first records of a range.
pub(crate) fn start(view: &View, range: &Range, limits: ScanLimits) -> Result<Progress> {
    if range.is_empty() {
        return Ok(Progress::Done(Page::default()));
    }
    let (start, end) = physical::encode_range(range);
    let walk = Walk { records: view.range(start, end), decoder: Decoder::default(), page: PageBuilder::new(limits) };
    walk.advance(|page| page.len() >= INLINE_RECORDS || page.bytes() >= INLINE_BYTES)
}

/// Reads the rest, if a limit was not reached yet.
pub(crate) async fn finish(progress: Progress) -> Result<Page> {
    let walk = match progress {
        Progress::Done(page) => return Ok(page),
        Progress::Paused(walk) => walk,
    };
    let rest = tokio::task::spawn_blocking(move || walk.advance(|_| false));
    match rest.await.map_err(|error| Error::internal("a scan was interrupted").with_source(error))?? {
        Progress::Done(page) => Ok(page),
        Progress::Paused(_) => unreachable!("a walk that never pauses runs to its end"),
    }
}

/// A scan that is done, or that has paused.
pub(crate) enum Progress {
    Done(Page),
    Paused(Walk),
}

/// A scan in progress.
pub(crate) struct Walk {
    records: fjall::Iter,
    decoder: Decoder,
    page: PageBuilder,
}

impl Walk {
    fn advance(mut self, pause: impl Fn(&PageBuilder) -> bool) -> Result<Progress> {
        while !pause(&self.page) {
            let Some(record) = self.records.next() else { return Ok(Progress::Done(self.page.finish(None))) };
            let (key, value) = record.into_inner().map_err(|error| translate("cannot read a record", error))?;
            let position = self.decoder.decode(&Bytes::from(key))?;
            if self.page.is_full() {
                return Ok(Progress::Done(self.page.finish(Some(position))));
            }
            let (partition, key) = (position.partition, position.key);
            self.page.push(Record { partition, key, value: value.into() });
        }
        Ok(Progress::Paused(self))
    }
}
