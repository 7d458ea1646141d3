//! Logs as block blobs in `$logs`.
//!
//! A log grows by a block for every batch of lines, and becomes visible with it. When it is large, when the hour is over
//! and after a restart the next one begins. Each log has one server that writes to it: others on the same store begin
//! logs of their own. If a write fails, it is unknown how much of it was done; the lines are then
//! written once more, to another log, and may be there twice.

use tablerock_kv::Bytes;
use tablerock_protocol::analytics::{RequestKind, hour_of_log_blob, log_blob_name, log_blob_prefix};
use tablerock_protocol::blob::{BlockId, CONTENT_TYPE_DEFAULT, ContentHeaders, ContentType, Tags};
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

/// How often a new log's number may turn out to be another server's before the lines wait for the next round.
const ATTEMPTS_MAX: usize = 8;

/// The writer of one service's logs.
#[derive(Debug)]
pub(super) struct LogWriter {
    /// A number that no other server has. It is part of the names of blocks, so that two servers which begin the same
    /// log do not replace each other's.
    server: u64,
    open: Option<OpenLog>,
    /// Lines that are being written.
    batch: Option<LogBatch>,
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
    pub(super) fn new(server: u64) -> Self {
        Self { server, open: None, batch: None }
    }

    /// Writes what is due.
    pub(super) async fn write(&mut self, of: &Watched, buffer: &LogBuffer, round: &Round<'_>) -> Result<()> {
        loop {
            self.batch = self.batch.take().or_else(|| buffer.take(round.now, round.is_last));
            let Some(batch) = &self.batch else { return Ok(()) };
            write_batch(&mut self.open, self.server, of, round, batch).await?;
            buffer.written(batch);
            round.count_own(Service::Blob, batch.lines.len() as u64);
            self.batch = None;
        }
    }
}

/// Writes to the log that is open, or to a new one. After a failure none is open.
async fn write_batch(
    open: &mut Option<OpenLog>,
    server: u64,
    of: &Watched,
    round: &Round<'_>,
    batch: &LogBatch,
) -> Result<()> {
    if let Some(log) = open.take().filter(|open| open.takes(batch)) {
        match append(round.blobs, server, of, log, batch).await {
            Ok(log) => {
                *open = Some(log);
                return Ok(());
            }
            // The log was deleted, which its owner may do.
            Err(Error::Refused(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let mut number = match next_number(round.blobs, of, batch.hour).await {
        Err(Error::Refused(error)) if error.code == ErrorCode::ContainerNotFound => {
            create_container(round.blobs, of.account()).await?;
            0
        }
        number => number?,
    };
    let (hour, version) = (batch.hour, batch.version);
    let mut attempts = 1;
    loop {
        let log = OpenLog { hour, version, number, blocks: vec![], bytes: 0, about: None };
        match append(round.blobs, server, of, log, batch).await {
            Ok(log) => {
                *open = Some(log);
                return Ok(());
            }
            // Another server has just begun a log of this number.
            Err(Error::Refused(_)) if attempts < ATTEMPTS_MAX => {
                attempts += 1;
                number += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Adds a batch to a log.
async fn append(
    blobs: &BlobService,
    server: u64,
    of: &Watched,
    mut open: OpenLog,
    batch: &LogBatch,
) -> Result<OpenLog> {
    let name = log_blob_name(of.service(), open.hour, open.number);
    let at = BlobAddress { account: of.account(), container: ContainerName::LOGS, name: &name };
    let block = BlockId::from_bytes(format!("{:06}-{server:016x}", open.blocks.len()).as_bytes());
    let terms = WriteTerms { may_only_create: open.blocks.is_empty(), ..WriteTerms::default() };
    let received = blobs.receive_block(at, &mut Some(Bytes::from(batch.lines.clone())), false).await?;
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
        headers: ContentHeaders {
            content_type: ContentType::of_new(Some(CONTENT_TYPE_DEFAULT)),
            ..ContentHeaders::default()
        },
        metadata: metadata(&about, open.version)?,
        tags: Tags::default(),
        tier: None,
    };
    blobs.put_block_list(at, &terms, &new, &BlockListRequest { blocks }).await?;
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

/// Makes sure that there is a container for logs.
pub(super) async fn create_container(blobs: &BlobService, account: &str) -> Result<()> {
    let (metadata, access) = (Metadata::default(), PublicAccess::Private);
    match blobs.create_container(account, ContainerName::LOGS, &metadata, access).await {
        Err(Error::Refused(error)) if error.code == ErrorCode::ContainerAlreadyExists => Ok(()),
        created => created.map(|_| ()),
    }
}
