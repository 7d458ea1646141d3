//! Find Blobs by Tags: the entries of one tag lead to blobs, whose records decide.
//!
//! A blob whose tags change while a search runs may have old and new entries, or only those that the search did not see.
//! So any entry leads to the blob, and the tags in its record decide; a page has each blob once.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tablerock_kv::{Bytes, Position, Range, ScanLimits, Wanted, prefix_end};
use tablerock_protocol::blob::{TagQuery, TagRange, Tags};
use tablerock_protocol::{ErrorCode, limits};

use crate::Result;
use crate::blob::stored_blob::Blob;
use crate::blob::{BlobService, keys};
use crate::namespace::id_of_row;

/// Entries that are read at a time, and records of blobs. Small contents lie in the records.
const ENTRIES_AT_A_TIME: usize = 128;

/// The most bytes of records that one request reads before it returns a page with a marker.
const FIND_BYTES_MAX: usize = 64 << 20;

/// Containers whose rows are read at a time.
const CONTAINERS_AT_A_TIME: usize = 100;

/// The parameters of Find Blobs by Tags.
#[derive(Debug, Clone)]
pub struct TagSearch {
    /// The only container that is searched, if the request is about one.
    pub container: Option<String>,
    pub query: TagQuery,
    /// Where the last page ended, as it said.
    pub marker: Option<String>,
    pub items_max: usize,
}

/// A blob whose tags meet the expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundBlob {
    pub container: String,
    pub name: String,
    pub tags: Tags,
}

/// A page of blobs, and where the next one begins.
#[derive(Debug, Clone, Default)]
pub struct FoundPage {
    pub blobs: Vec<FoundBlob>,
    pub next: Option<String>,
}

/// A place in the search: a container, and the key of an entry there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Place {
    container: String,
    key: Bytes,
}

/// A search while its page grows.
struct Finding<'a> {
    search: &'a TagSearch,
    page: FoundPage,
    /// The names that the page has of the current container.
    names: HashSet<String>,
    bytes: usize,
    now: Instant,
    deadline: Instant,
}

impl BlobService {
    /// Finds blobs by their tags. A page may be empty and still have a successor.
    pub async fn find_blobs_by_tags(&self, account: &str, search: &TagSearch) -> Result<FoundPage> {
        let from = search.marker.as_deref().map(Place::decode).transpose()?.unwrap_or_default();
        let only = match (&search.container, search.query.container()) {
            (Some(container), named) => {
                let id = self.container_id(account, container).await?;
                if named.is_some_and(|named| named != container) {
                    return Ok(FoundPage::default());
                }
                Some((container.clone(), id))
            }
            (None, Some(named)) => match self.directory.id(account, named).await? {
                Some(id) => Some((named.to_owned(), id)),
                None => return Ok(FoundPage::default()),
            },
            (None, None) => None,
        };
        let deadline = self.clock.instant() + Duration::from_secs(limits::QUERY_SECONDS_MAX);
        if !self.is_index_complete(deadline).await? {
            return Ok(FoundPage { blobs: vec![], next: Some(from.encode()) });
        }
        let mut finding = Finding {
            search,
            page: FoundPage::default(),
            names: HashSet::new(),
            bytes: 0,
            now: self.clock.instant(),
            deadline,
        };
        match only {
            Some((container, id)) => {
                self.find_in(&mut finding, &container, id, &from).await?;
                if !self.directory.confirm(account, &container, id).await? {
                    return Err(ErrorCode::ContainerNotFound.into());
                }
            }
            None => self.find_in_all(&mut finding, account, from).await?,
        }
        self.load.read_across(
            account,
            search.container.as_deref().unwrap_or_default(),
            finding.page.blobs.len().max(1) as u64,
        );
        Ok(finding.page)
    }

    async fn find_in_all(&self, finding: &mut Finding<'_>, account: &str, mut from: Place) -> Result<()> {
        let limits =
            ScanLimits { records_max: CONTAINERS_AT_A_TIME, bytes_max: limits::PAGE_BYTES_MAX, deadline: None };
        let first = from.container.clone();
        let mut rows = self.directory.rows(account, "", &first, limits);
        while let Some(row) = rows.next().await? {
            let container = String::from_utf8_lossy(&row.key).into_owned();
            if container != from.container {
                from = Place { container: container.clone(), key: Bytes::new() };
            }
            if finding.is_over() {
                finding.page.next = Some(from.encode());
                return Ok(());
            }
            if !self.find_in(finding, &container, id_of_row(&row.value)?, &from).await? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Adds the blobs of a container to the page; `false` if the page ends there.
    async fn find_in(&self, finding: &mut Finding<'_>, container: &str, id: u64, from: &Place) -> Result<bool> {
        finding.names.clear();
        let partition = keys::tags_partition(id);
        let mut range = entries_of(&partition, narrowest(&finding.search.query));
        range.start = range.start.max(Position::new(partition.clone(), from.key.clone()));
        loop {
            if range.is_empty() {
                return Ok(true);
            }
            let scan = ScanLimits { records_max: ENTRIES_AT_A_TIME, ..ScanLimits::PAGE };
            let found = self.store.scan(&range, scan).await?;
            finding.now = self.clock.instant();
            if found.records.is_empty() && found.next.is_none() {
                return Ok(true);
            }
            let keys = found.records.into_iter().map(|record| record.key).collect::<Vec<_>>();
            if let Some(next) = self.examine(finding, container, id, &keys).await? {
                finding.page.next = Some(Place { container: container.to_owned(), key: next }.encode());
                return Ok(false);
            }
            let Some(next) = found.next else { return Ok(true) };
            if finding.is_over() {
                finding.page.next = Some(Place { container: container.to_owned(), key: next.key }.encode());
                return Ok(false);
            }
            range.start = next;
        }
    }

    /// Adds the blobs that some entries lead to. Returns the first entry that the page has no room for.
    async fn examine(
        &self,
        finding: &mut Finding<'_>,
        container: &str,
        id: u64,
        keys: &[Bytes],
    ) -> Result<Option<Bytes>> {
        let names = keys.iter().map(|key| keys::blob_of_tag(key)).collect::<Result<Vec<_>, _>>()?;
        let base = Bytes::from_static(keys::BASE_KEY);
        let wanted = |name: &String| Wanted { partition: keys::blob_partition(id, name), keys: vec![base.clone()] };
        let records = self.store.get_many(&names.iter().map(wanted).collect::<Vec<_>>()).await?;
        for ((name, record), key) in names.into_iter().zip(records).zip(keys) {
            let Some(record) = record.into_iter().next().flatten() else { continue };
            finding.bytes += record.len();
            let tags = Blob::decode(&record)?.tags;
            if !finding.search.query.admits(&tags) || finding.names.contains(&name) {
                continue;
            }
            if finding.page.blobs.len() == finding.search.items_max {
                return Ok(Some(key.clone()));
            }
            finding.names.insert(name.clone());
            finding.page.blobs.push(FoundBlob { container: container.to_owned(), name, tags });
        }
        Ok(None)
    }
}

impl Finding<'_> {
    /// Whether the request has done as much as it may.
    fn is_over(&self) -> bool {
        self.bytes >= FIND_BYTES_MAX || self.now >= self.deadline
    }
}

impl Place {
    fn encode(&self) -> String {
        format!("1!{}!{}", URL_SAFE_NO_PAD.encode(&self.container), URL_SAFE_NO_PAD.encode(&self.key))
    }

    fn decode(marker: &str) -> Result<Self> {
        let read = || {
            let (container, key) = marker.strip_prefix("1!")?.split_once('!')?;
            let container = String::from_utf8(URL_SAFE_NO_PAD.decode(container).ok()?).ok()?;
            Some(Self { container, key: URL_SAFE_NO_PAD.decode(key).ok()?.into() })
        };
        Ok(read().ok_or(ErrorCode::InvalidMarker)?)
    }
}

/// The tag whose entries are read: one with a single value if there is one.
fn narrowest(query: &TagQuery) -> &TagRange {
    let ranges = query.ranges();
    ranges.iter().find(|range| range.equal().is_some()).unwrap_or(&ranges[0])
}

/// The entries of a tag from its lowest value to its highest.
fn entries_of(partition: &Bytes, range: &TagRange) -> Range {
    let start = keys::tag_prefix(range.key(), Some(range.lowest()));
    let last = keys::tag_prefix(range.key(), range.highest());
    let end =
        prefix_end(&last).map_or_else(|| Position::end_of(partition), |end| Position::new(partition.clone(), end));
    Range::between(Position::new(partition.clone(), start), end)
}
