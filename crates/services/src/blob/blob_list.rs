//! List Blobs: a scan over the partitions of a container that passes over what no list shows.
//!
//! A scan reads records in pages. Where a page ends among the uncommitted blocks or the pieces of a blob, the next one
//! begins behind the blob; where it ends below a prefix that is one entry of the list, behind all blobs of that prefix.
//! So what is not listed costs at most a page for each entry.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tablerock_kv::{Bytes, Position, Record, ScanLimits, prefix_end};
use tablerock_protocol::{DateTime, ErrorCode, limits};

use super::BlobService;
use super::blocks::BlocksHeader;
use super::keys::{self, BlobKey};
use super::stored_blob::Blob;
use crate::Result;
use crate::namespace::{LOOKS_MAX, again_and_again};

/// Records and bytes of one page of the scan. Small contents lie in the records.
const SCAN_RECORDS: usize = 1_000;
const SCAN_BYTES: usize = 4 << 20;

/// The bytes of a page of the scan behind a page blob, whose pages are in the same range: a list of many reads little of each.
const SCAN_BYTES_AMONG_PAGES: usize = 64 << 10;

/// The most bytes that one request reads before it returns a page with a marker.
const LIST_BYTES_MAX: usize = 64 << 20;

/// The parameters of List Blobs.
#[derive(Debug, Clone, Default)]
pub struct BlobQuery {
    pub prefix: String,
    pub delimiter: Option<String>,
    /// Where the last page ended, as it said.
    pub marker: Option<String>,
    /// The name of the first blob to return.
    pub from: Option<String>,
    /// The name that the list ends before.
    pub before: Option<String>,
    pub items_max: usize,
    pub with_snapshots: bool,
    pub with_uncommitted: bool,
}

/// An entry of the list.
#[derive(Debug, Clone)]
pub enum ListedBlob {
    /// All blobs whose names begin so.
    Prefix(String),
    Blob {
        name: String,
        snapshot: Option<DateTime>,
        blob: Box<Blob>,
    },
    /// A blob that has blocks and was never committed.
    Uncommitted {
        name: String,
    },
}

/// A page of the list, and where the next one begins.
#[derive(Debug, Clone, Default)]
pub struct BlobPage {
    pub entries: Vec<ListedBlob>,
    pub next: Option<String>,
}

impl BlobService {
    pub async fn list_blobs(&self, account: &str, container: &str, query: &BlobQuery) -> Result<BlobPage> {
        for _ in 0..LOOKS_MAX {
            let id = self.directory.first_id(account, container).await?.ok_or(ErrorCode::ContainerNotFound)?;
            let page = self.page_of(id, query).await?;
            if self.directory.confirm(account, container, id).await? {
                self.load.read_across(account, container, page.entries.len().max(1) as u64);
                return Ok(page);
            }
        }
        Err(again_and_again())
    }

    async fn page_of(&self, container_id: u64, query: &BlobQuery) -> Result<BlobPage> {
        let mut range = keys::blobs_with_prefix(container_id, &query.prefix);
        if let Some(from) = &query.from {
            range.start = range.start.max(Position::start_of(keys::blob_partition(container_id, from)));
        }
        if let Some(before) = &query.before {
            let end = Position::start_of(keys::blob_partition(container_id, before));
            range.end = Some(range.end.map_or(end.clone(), |of_prefix| of_prefix.min(end)));
        }
        if let Some(marker) = &query.marker {
            range.start = range.start.max(decode_marker(container_id, marker)?);
        }
        if range.is_empty() {
            return Ok(BlobPage::default());
        }
        let deadline = self.clock.instant() + Duration::from_secs(limits::QUERY_SECONDS_MAX);
        let mut scan = ScanLimits { records_max: SCAN_RECORDS, bytes_max: SCAN_BYTES, deadline: Some(deadline) };
        let mut listing = Listing { container_id, query, page: BlobPage::default(), state: ScanState::default() };
        let mut bytes = 0;
        loop {
            let found = self.store.scan(&range, scan).await?;
            for record in &found.records {
                bytes += record.value.len();
                if listing.add(record)? {
                    return Ok(listing.page);
                }
            }
            let Some(next) = found.next else { return Ok(listing.page) };
            let is_among_pages = found.records.last().is_some_and(|record| keys::is_of_layer(&record.key));
            scan.bytes_max = if is_among_pages { SCAN_BYTES_AMONG_PAGES } else { SCAN_BYTES };
            range.start = listing.skip_to(next);
            if range.is_empty() {
                return Ok(listing.page);
            }
            if bytes >= LIST_BYTES_MAX || self.clock.instant() >= deadline {
                listing.page.next = Some(encode_marker(container_id, &range.start));
                return Ok(listing.page);
            }
        }
    }
}

/// A list while it grows.
struct Listing<'a> {
    container_id: u64,
    query: &'a BlobQuery,
    page: BlobPage,
    state: ScanState,
}

/// Where the scan is.
#[derive(Default)]
struct ScanState {
    /// The blob that the last record belongs to, and whether it was committed.
    partition: Bytes,
    is_committed: bool,
    /// Whether the rest of this blob is of no interest.
    is_done: bool,
    /// All blobs that begin so are one entry, which the list has.
    prefix: Option<Bytes>,
}

impl Listing<'_> {
    /// Takes the next record; `true` when the page is full and says where the next one begins.
    fn add(&mut self, record: &Record) -> Result<bool> {
        if self.state.prefix.as_ref().is_some_and(|prefix| record.partition.starts_with(prefix)) {
            return Ok(false);
        }
        if self.state.partition != record.partition {
            self.state = ScanState { partition: record.partition.clone(), ..ScanState::default() };
        }
        let kind = keys::blob_key_of(&record.key)?;
        self.state.is_done = !matches!(kind, BlobKey::Snapshot(_));
        self.state.is_committed |= kind == BlobKey::Base;
        let is_listed = match kind {
            BlobKey::Snapshot(_) => self.query.with_snapshots,
            BlobKey::Base => true,
            BlobKey::Blocks => {
                self.query.with_uncommitted
                    && !self.state.is_committed
                    && BlocksHeader::decode(&record.value)?.count > 0
            }
            BlobKey::Block | BlobKey::Pieces | BlobKey::Layer | BlobKey::PageMap | BlobKey::Pages => false,
        };
        if !is_listed {
            return Ok(false);
        }
        if self.page.entries.len() == self.query.items_max {
            let position = Position::new(record.partition.clone(), record.key.clone());
            self.page.next = Some(encode_marker(self.container_id, &position));
            return Ok(true);
        }
        let entry = self.entry(record, kind)?;
        self.page.entries.push(entry);
        Ok(false)
    }

    fn entry(&mut self, record: &Record, kind: BlobKey) -> Result<ListedBlob> {
        let name = keys::blob_name_of(&record.partition)?;
        if let Some(prefix) = self.common_prefix(&name) {
            self.state.prefix = Some(keys::blob_partition(self.container_id, &prefix));
            return Ok(ListedBlob::Prefix(prefix));
        }
        let snapshot = match kind {
            BlobKey::Blocks => return Ok(ListedBlob::Uncommitted { name }),
            BlobKey::Snapshot(taken) => Some(DateTime::from_ticks(taken)),
            _ => None,
        };
        Ok(ListedBlob::Blob { name, snapshot, blob: Box::new(Blob::decode(&record.value)?) })
    }

    /// The name up to and with the first delimiter behind the prefix that was asked for.
    fn common_prefix(&self, name: &str) -> Option<String> {
        let delimiter = self.query.delimiter.as_deref().filter(|delimiter| !delimiter.is_empty())?;
        let behind = name.get(self.query.prefix.len()..)?;
        let end = self.query.prefix.len() + behind.find(delimiter)? + delimiter.len();
        Some(name[..end].to_owned())
    }

    /// Where to go on: at the next record, or behind what is of no interest.
    fn skip_to(&self, next: Position) -> Position {
        if let Some(prefix) = &self.state.prefix
            && next.partition.starts_with(prefix)
        {
            return prefix_end(prefix).map_or(next, Position::start_of);
        }
        let is_rest_of_blob = self.state.is_done && next.partition == self.state.partition;
        if is_rest_of_blob { Position::end_of(&self.state.partition) } else { next }
    }
}

/// Encodes the part of a position after the container's id, which is the same for the whole list.
fn encode_marker(container_id: u64, position: &Position) -> String {
    let own = keys::blob_partition(container_id, "").len();
    let name = URL_SAFE_NO_PAD.encode(position.partition.get(own..).unwrap_or_default());
    format!("1!{name}!{}", URL_SAFE_NO_PAD.encode(&position.key))
}

fn decode_marker(container_id: u64, marker: &str) -> Result<Position> {
    let read = || {
        let (name, key) = marker.strip_prefix("1!")?.split_once('!')?;
        Some((URL_SAFE_NO_PAD.decode(name).ok()?, URL_SAFE_NO_PAD.decode(key).ok()?))
    };
    let (name, key) = read().ok_or(ErrorCode::InvalidMarker)?;
    let partition = [&keys::blob_partition(container_id, "")[..], &name].concat();
    Ok(Position::new(partition, key))
}
