//! Page blobs and a model of them: bytes in a vector, and for each page when it was last touched.

use std::collections::BTreeMap;

use tablerock_kv::Store;
use tablerock_protocol::blob::{ByteRange, CustomerKey, RangeAsked};
use tablerock_protocol::{DateTime, ErrorCode};
use tablerock_services::Result;
use tablerock_services::blob::{BlobService, DeleteSnapshots, PageRange, PageRangeQuery, ReadTerms, WriteTerms};

use crate::blob_copies::copy_blob;
use crate::blob_model::{at, code, manual_clock, records, service_with_container};
pub use crate::page_requests::*;

const PAGE: usize = 512;
const NAMES: [&str; 2] = ["disk", "disk/copy"];

/// Lengths around the bounds of segments, regions and of what a large clear is.
const LENGTHS: [usize; 5] = [0, 33 * 1024, 1 << 20, 9 << 20, 20 << 20];

/// A page of the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Page {
    is_written: bool,
    /// The step in which it was written or cleared, 0 for never.
    touched: u32,
}

#[derive(Debug, Clone, Default)]
struct Disk {
    bytes: Vec<u8>,
    pages: Vec<Page>,
    /// Pages behind the end keep that they were cleared there.
    behind: BTreeMap<usize, u32>,
    /// Without any layer a clear leaves no trace.
    has_layers: bool,
    generation: u32,
    key: Option<CustomerKey>,
}

impl Disk {
    fn new(length: usize, generation: u32, key: Option<CustomerKey>) -> Self {
        let (bytes, pages) = (vec![0; length], vec![Page::default(); length / PAGE]);
        Self { bytes, pages, generation, key, ..Self::default() }
    }

    fn write(&mut self, first: usize, bytes: &[u8], step: u32) {
        self.bytes[first * PAGE..first * PAGE + bytes.len()].copy_from_slice(bytes);
        self.pages[first..first + bytes.len() / PAGE].fill(Page { is_written: true, touched: step });
        self.has_layers = true;
    }

    fn clear(&mut self, first: usize, end: usize, step: u32) {
        self.bytes[first * PAGE..end * PAGE].fill(0);
        let touched = if self.has_layers { step } else { 0 };
        for page in &mut self.pages[first..end] {
            *page = Page { is_written: false, touched: if touched == 0 { page.touched } else { touched } };
        }
    }

    fn resize(&mut self, length: usize, step: u32) {
        let (old, new) = (self.pages.len(), length / PAGE);
        if new < old {
            self.clear(new, old, step);
            for page in new..old {
                self.behind.insert(page, self.pages[page].touched);
            }
        }
        self.bytes.resize(length, 0);
        self.pages.resize(new, Page::default());
        for page in old..new {
            let touched = self.behind.remove(&page).unwrap_or(0);
            self.pages[page] = Page { is_written: false, touched };
        }
    }

    /// The ranges of a list, since a step or of all pages.
    fn ranges(&self, since: Option<u32>) -> Vec<PageRange> {
        let mut ranges: Vec<PageRange> = Vec::new();
        for (at, page) in self.pages.iter().enumerate() {
            let is_listed = since.map_or(page.is_written, |since| page.touched > since);
            if !is_listed {
                continue;
            }
            let (first, is_cleared) = ((at * PAGE) as u64, !page.is_written);
            match ranges.last_mut() {
                Some(last) if last.last + 1 == first && last.is_cleared == is_cleared => last.last += PAGE as u64,
                _ => ranges.push(PageRange { first, last: first + PAGE as u64 - 1, is_cleared }),
            }
        }
        ranges
    }
}

#[derive(Debug, Default)]
struct Entry {
    disk: Option<Disk>,
    /// Each with the step in which it was taken.
    snapshots: Vec<(DateTime, u32, Disk)>,
}

/// A service and its model.
#[derive(Debug)]
pub struct PageComparison {
    store: Store,
    service: BlobService,
    model: BTreeMap<&'static str, Entry>,
    rng: fastrand::Rng,
    step: u32,
}

impl PageComparison {
    pub async fn new(store: Store, seed: u64) -> Self {
        let service = service_with_container(&store, manual_clock()).await;
        let model = NAMES.iter().map(|name| (*name, Entry::default())).collect();
        Self { store, service, model, rng: fastrand::Rng::with_seed(seed), step: 0 }
    }

    /// One random step, and a look at the blob that it was about.
    pub async fn step(&mut self) {
        self.step += 1;
        let name = NAMES[self.rng.usize(..NAMES.len())];
        if self.model[name].disk.is_none() {
            self.create(name).await;
        }
        match self.rng.u8(..16) {
            0..=5 => self.write(name).await,
            6 | 7 => self.clear(name).await,
            8 => self.resize(name).await,
            9 | 10 => self.snapshot(name).await,
            11 | 12 => self.delete_snapshot(name).await,
            13 => self.copy(name).await,
            14 => self.service.rest().await,
            _ if self.rng.u8(..4) == 0 => self.delete(name).await,
            _ => self.create(name).await,
        }
        self.check(name).await;
    }

    fn length(&mut self) -> usize {
        LENGTHS[self.rng.usize(..LENGTHS.len())] / PAGE * PAGE
    }

    async fn create(&mut self, name: &'static str) {
        if self.model[name].disk.is_some() && self.rng.u8(..3) != 0 {
            return;
        }
        let (length, key) = (self.length(), self.any_key());
        create_pages_with(&self.service, name, length as u64, key.as_ref()).await.unwrap();
        self.model.get_mut(name).unwrap().disk = Some(Disk::new(length, self.step, key));
    }

    /// A customer's key, or none.
    fn any_key(&mut self) -> Option<CustomerKey> {
        self.rng.bool().then(|| customer_key(self.rng.u8(..)))
    }

    /// The customer's key of a blob.
    fn key(&self, name: &str) -> Option<CustomerKey> {
        self.model[name].disk.as_ref().and_then(|disk| disk.key.clone())
    }

    /// A run of pages of a blob: mostly few, sometimes many.
    fn run(&mut self, pages: usize, count_max: usize) -> (usize, usize) {
        let first = self.rng.usize(..pages);
        // Near the beginning, so that writes meet.
        let first = if self.rng.bool() { first % 200.min(pages) } else { first };
        let count = if self.rng.u8(..4) == 0 { count_max } else { 1 + self.rng.usize(..100) };
        (first, (first + count).min(pages))
    }

    async fn write(&mut self, name: &'static str) {
        let pages = self.model[name].disk.as_ref().map_or(0, |disk| disk.pages.len());
        let key = self.key(name);
        if pages == 0 {
            let outcome = put_pages_with(&self.service, name, 0, &[1; PAGE], key.as_ref()).await;
            return assert_eq!(code(outcome), ErrorCode::InvalidPageRange);
        }
        let (first, end) = self.run(pages, 3_000);
        let mut bytes = vec![0; (end - first) * PAGE];
        self.rng.fill(&mut bytes);
        put_pages_with(&self.service, name, (first * PAGE) as u64, &bytes, key.as_ref()).await.unwrap();
        let step = self.step;
        self.model.get_mut(name).unwrap().disk.as_mut().unwrap().write(first, &bytes, step);
    }

    async fn clear(&mut self, name: &'static str) {
        let pages = self.model[name].disk.as_ref().map_or(0, |disk| disk.pages.len());
        if pages == 0 {
            return;
        }
        let (first, end) = match self.rng.u8(..8) {
            0 => (0, pages),
            _ => self.run(pages, 20_000),
        };
        let (offset, length) = ((first * PAGE) as u64, ((end - first) * PAGE) as u64);
        clear_pages_with(&self.service, name, offset, length, self.key(name).as_ref()).await.unwrap();
        let step = self.step;
        let entry = self.model.get_mut(name).unwrap();
        let disk = entry.disk.as_mut().unwrap();
        disk.clear(first, end, step);
        if end - first > 8_192 && end - first == pages && entry.snapshots.is_empty() {
            *disk = Disk::new(pages * PAGE, disk.generation, disk.key.take());
        }
    }

    async fn resize(&mut self, name: &'static str) {
        let length = self.length();
        resize(&self.service, name, length as u64).await.unwrap();
        let step = self.step;
        let entry = self.model.get_mut(name).unwrap();
        let has_snapshots = !entry.snapshots.is_empty();
        let disk = entry.disk.as_mut().unwrap();
        let before = disk.pages.len();
        disk.resize(length, step);
        if length == 0 && before > 8_192 && !has_snapshots {
            *disk = Disk::new(0, disk.generation, disk.key.take());
        }
    }

    async fn snapshot(&mut self, name: &'static str) {
        let terms = keyed_terms(self.key(name).as_ref());
        let taken = self.service.snapshot_blob(at(name), &terms, None).await.unwrap().0;
        let (entry, step) = (self.model.get_mut(name).unwrap(), self.step);
        entry.snapshots.push((taken, step, entry.disk.clone().unwrap()));
    }

    async fn delete_snapshot(&mut self, name: &'static str) {
        let entry = self.model.get_mut(name).unwrap();
        if entry.snapshots.is_empty() {
            return;
        }
        if self.rng.u8(..6) == 0 {
            let terms = WriteTerms::default();
            self.service.delete_blob(at(name), &terms, DeleteSnapshots::Only).await.unwrap();
            entry.snapshots.clear();
            return;
        }
        let (taken, ..) = entry.snapshots.remove(self.rng.usize(..entry.snapshots.len()));
        self.service.delete_snapshot(at(name), &WriteTerms::default(), taken).await.unwrap();
    }

    async fn delete(&mut self, name: &'static str) {
        let outcome = self.service.delete_blob(at(name), &WriteTerms::default(), DeleteSnapshots::Include).await;
        outcome.unwrap();
        *self.model.get_mut(name).unwrap() = Entry::default();
    }

    async fn copy(&mut self, name: &'static str) {
        let from = NAMES[self.rng.usize(..NAMES.len())];
        let entry = &self.model[from];
        let snapshot = entry.snapshots.first().filter(|_| self.rng.bool());
        let Some(disk) = snapshot.map(|(_, _, disk)| disk.clone()).or_else(|| entry.disk.clone()) else { return };
        let snapshot = snapshot.map(|(taken, ..)| *taken);
        let key = self.any_key();
        let source = (from, snapshot, disk.key.as_ref());
        copy_blob(&self.service, source, (name, key.as_ref())).await.unwrap();
        let is_written = |page: &Page| page.is_written;
        let pages = disk.pages.iter().map(|page| Page { is_written: is_written(page), touched: 0 }).collect();
        let has_layers = disk.pages.iter().any(is_written);
        let (bytes, generation) = (disk.bytes, self.step);
        let copied = Disk { bytes, pages, behind: BTreeMap::new(), has_layers, generation, key };
        self.model.get_mut(name).unwrap().disk = Some(copied);
    }

    /// Whether a blob is what the model says, with its snapshots, its ranges and their differences.
    async fn check(&mut self, name: &'static str) {
        let entry = &self.model[name];
        let Some(disk) = &entry.disk else { return };
        let length = disk.bytes.len();
        let (start, end) = (self.rng.usize(..=length), self.rng.usize(..=length));
        let (start, end) = (start.min(end), start.max(end));
        let range = ByteRange { offset: start as u64, length: (end - start) as u64 };
        let found = read_range_with(&self.service, name, None, range, disk.key.as_ref()).await.unwrap();
        assert!(found == disk.bytes[start..end], "{name} from {start} to {end}");
        assert_eq!(self.ranges(name, None, None, 7).await.unwrap(), disk.ranges(None), "ranges of {name}");
        for (taken, _, disk) in &entry.snapshots {
            assert_eq!(self.ranges(name, Some(*taken), None, 1_000).await.unwrap(), disk.ranges(None), "a snapshot");
        }
        if let Some((taken, _, disk)) = self.rng.choice(&entry.snapshots) {
            let whole = ByteRange::whole(disk.bytes.len() as u64);
            let found = read_range_with(&self.service, name, Some(*taken), whole, disk.key.as_ref()).await.unwrap();
            assert!(found == disk.bytes, "a snapshot of {name}");
        }
        if let Some((taken, step, previous)) = self.rng.choice(&entry.snapshots) {
            let found = self.ranges(name, None, Some(*taken), 1_000).await;
            if previous.generation == disk.generation {
                assert_eq!(found.unwrap(), disk.ranges(Some(*step)), "a difference of {name}");
            } else {
                assert_eq!(code(found), ErrorCode::BlobOverwritten);
            }
        }
    }

    /// All ranges, so many at a time.
    async fn ranges(
        &self,
        name: &str,
        snapshot: Option<DateTime>,
        previous: Option<DateTime>,
        ranges_max: usize,
    ) -> Result<Vec<PageRange>> {
        let mut query = PageRangeQuery { snapshot, previous, range: None::<RangeAsked>, from: None, ranges_max };
        let mut found: Vec<PageRange> = Vec::new();
        loop {
            let page = self.service.page_ranges(at(name), &ReadTerms::default(), &query).await?;
            assert!(page.ranges.len() <= ranges_max);
            found.extend(page.ranges);
            query.from = page.next;
            if query.from.is_none() {
                return Ok(found);
            }
        }
    }

    /// Deletes everything, and looks whether anything is left.
    pub async fn finish(self) {
        for name in NAMES {
            if self.model[name].disk.is_none() {
                create_pages(&self.service, name, 0).await.unwrap();
            }
            let outcome = self.service.delete_blob(at(name), &WriteTerms::default(), DeleteSnapshots::Include).await;
            outcome.unwrap();
        }
        self.service.rest().await;
        let left = records(&self.store, b"bon").await;
        assert!(left.is_empty(), "{} records are left: {:?}", left.len(), &left[..left.len().min(5)]);
    }
}
