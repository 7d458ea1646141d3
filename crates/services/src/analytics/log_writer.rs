//! Logs as block blobs in `$logs`.
//!
//! A log grows by a block for every batch of lines, and becomes visible with it. When it is large, when the hour is over
//! and after a restart the next one begins. If a write fails, nobody knows how much of it was done; the lines are then
//! written once more, to another log, and may be there twice.

use tablerock_protocol::analytics::{RequestKind, hour_of_log_blob, log_blob_name, log_blob_prefix};
use tablerock_protocol::blob::{BlockId, CONTENT_TYPE_DEFAULT, ContentHeaders, Tags};
use tablerock_protocol::xml::{AnalyticsVersion, BlockListRequest, BlockSource};
use tablerock_protocol::{ContainerName, DateTime, ErrorCode, Metadata, Service};

use super::log_buffer::{LogBatch, LogBuffer, LogSpan};
use super::watched::{Round, Watched};
use crate::blob::{BlobAddress, BlobKind, BlobQuery, ListedBlob, NewBlob, PublicAccess, WriteTerms};
use crate::{BlobService, Error, Result};

/// A log with so much is followed by the next one.
const LOG_BLOCKS_MAX: usize = 250;
const LOG_BYTES_MAX: usize = 64 << 20;

/// Logs of one hour that are looked at in one page, to find the number of the next.
const LIST_ITEMS: usize = 1000;

/// The writer of one service's logs.
#[derive(Debug, Default)]
pub(super) struct LogWriter {
    open: Option<OpenLog>,
    /// Lines that are being written.
    batch: Option<LogBatch>,
    has_container: bool,
}

/// The log that is written to.
#[derive(Debug, Clone)]
struct OpenLog {
    hour: DateTime,
    version: AnalyticsVersion,
    number: u32,
    blocks: Vec<BlockId>,
    bytes: usize,
    about: Option<LogSpan>,
}

impl OpenLog {
    fn takes(&self, batch: &LogBatch) -> bool {
        let has_room = self.blocks.len() < LOG_BLOCKS_MAX && self.bytes < LOG_BYTES_MAX;
        has_room && self.hour == batch.hour && self.version == batch.version
    }
}

impl LogWriter {
    /// Writes what is due. The container is there as soon as something is to be logged.
    pub(super) async fn write(
        &mut self,
        of: &Watched,
        buffer: &LogBuffer,
        is_logged: bool,
        round: &Round<'_>,
    ) -> Result<()> {
        if is_logged && !self.has_container {
            create_container(round.blobs, of.account()).await?;
            self.has_container = true;
        }
        loop {
            self.batch = self.batch.take().or_else(|| buffer.take(round.now, round.is_last));
            let Some(batch) = &self.batch else { return Ok(()) };
            write_batch(&mut self.open, of, round, batch).await?;
            buffer.written(batch);
            round.count_own(Service::Blob, batch.lines.len() as u64);
            self.batch = None;
        }
    }
}

/// Writes to the log that is open, or to a new one. After a failure none is open.
async fn write_batch(open: &mut Option<OpenLog>, of: &Watched, round: &Round<'_>, batch: &LogBatch) -> Result<()> {
    if let Some(log) = open.take().filter(|open| open.takes(batch)) {
        match append(round.blobs, of, log, batch).await {
            Ok(log) => {
                *open = Some(log);
                return Ok(());
            }
            // Somebody deleted it, which the owner may.
            Err(Error::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let number = match next_number(round.blobs, of, batch.hour).await {
        Err(Error::Refused(error)) if error.code == ErrorCode::ContainerNotFound => {
            create_container(round.blobs, of.account()).await?;
            0
        }
        number => number?,
    };
    let (hour, version) = (batch.hour, batch.version);
    let log = OpenLog { hour, version, number, blocks: vec![], bytes: 0, about: None };
    *open = Some(append(round.blobs, of, log, batch).await?);
    Ok(())
}

/// Adds a batch to a log.
async fn append(blobs: &BlobService, of: &Watched, mut open: OpenLog, batch: &LogBatch) -> Result<OpenLog> {
    let name = log_blob_name(of.service(), open.hour, open.number);
    let at = BlobAddress { account: of.account(), container: ContainerName::LOGS, name: &name };
    let block = BlockId::from_bytes(format!("{:06}", open.blocks.len()).as_bytes());
    let received = blobs.receive_block(at, &mut Some(batch.lines.clone().into()), false).await?;
    blobs.put_block(at, None, &block, received).await?;
    let committed = open.blocks.iter().map(|id| (BlockSource::Committed, id.clone()));
    let blocks = committed.chain([(BlockSource::Uncommitted, block.clone())]).collect();
    let about = match open.about {
        None => batch.about,
        Some(mut about) => {
            about.add(&batch.about);
            about
        }
    };
    let new = NewBlob {
        kind: BlobKind::Block,
        headers: ContentHeaders { content_type: CONTENT_TYPE_DEFAULT.to_owned(), ..ContentHeaders::default() },
        metadata: metadata(&about, open.version)?,
        tags: Tags::default(),
        tier: None,
    };
    blobs.put_block_list(at, &WriteTerms::default(), &new, &BlockListRequest { blocks }).await?;
    open.blocks.push(block);
    open.bytes += batch.lines.len();
    open.about = Some(about);
    Ok(open)
}

fn metadata(about: &LogSpan, version: AnalyticsVersion) -> Result<Metadata> {
    let kinds = RequestKind::ALL.iter().zip(about.kinds).filter(|(_, is_there)| *is_there);
    let kinds: Vec<_> = kinds.map(|(kind, _)| kind.name()).collect();
    let to_the_second = |time: DateTime| format!("{}Z", &time.to_seven_digits()[..19]);
    let pairs = [
        ("LogType", kinds.join(",")),
        ("StartTime", to_the_second(about.first)),
        ("EndTime", to_the_second(about.last)),
        ("LogVersion", version.as_str().to_owned()),
    ];
    Ok(Metadata::new(pairs.map(|(name, value)| (name.to_owned(), value)).to_vec())?)
}

/// The number after the last that the hour has, blobs of which only blocks were written included.
async fn next_number(blobs: &BlobService, of: &Watched, hour: DateTime) -> Result<u32> {
    let mut query = BlobQuery {
        prefix: log_blob_prefix(of.service(), hour),
        items_max: LIST_ITEMS,
        with_uncommitted: true,
        ..BlobQuery::default()
    };
    let mut next = 0;
    loop {
        let page = blobs.list_blobs(of.account(), ContainerName::LOGS, &query).await?;
        for entry in &page.entries {
            if let ListedBlob::Blob { name, .. } | ListedBlob::Uncommitted { name } = entry
                && let Some((_, number)) = hour_of_log_blob(name)
            {
                next = next.max(number + 1);
            }
        }
        query.marker = page.next;
        if query.marker.is_none() {
            return Ok(next);
        }
    }
}

async fn create_container(blobs: &BlobService, account: &str) -> Result<()> {
    let (metadata, access) = (Metadata::default(), PublicAccess::Private);
    match blobs.create_container(account, ContainerName::LOGS, &metadata, access).await {
        Err(Error::Refused(error)) if error.code == ErrorCode::ContainerAlreadyExists => Ok(()),
        created => created.map(|_| ()),
    }
}
