//! Copies containers over HTTP: blobs page by page, several concurrently, then metadata and public access.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tablerock_client::blob::{BlobItem, ContainerItem};
use tablerock_client::{BlobServiceClient, ContainerClient};

use super::blob_errors::BlobErrors;
use super::blobs::{APPEND_BLOB_BYTES_MAX, BLOB_BYTES_MAX, copy_family};
use super::copy_error::CopyError;
use super::counts::{Counts, Skipped};
use super::families::{self, Family};
use super::resume_file::{CopiedBlob, CopyItem, Status};
use super::wire::Transfer;
use super::{PROGRESS_INTERVAL, print_status};

/// Blobs copied concurrently. Each holds one block in memory.
const CONCURRENCY: usize = 4;

impl Transfer<'_> {
    pub(super) async fn copy_containers(&mut self) {
        let (from, to) = match (&self.from.blobs, &self.to.blobs) {
            (Ok(from), Ok(to)) => (from.clone(), to.clone()),
            (Err(message), _) | (_, Err(message)) => return self.report.note(format!("blobs: {message}")),
        };
        let mut containers = from.list_containers().stream();
        loop {
            match containers.try_next().await {
                Ok(Some(container)) => {
                    let copied = self.copy_container(&from, &to, &container).await;
                    self.report.outcome(&format!("container {}", container.name), copied);
                }
                Ok(None) => return,
                Err(error) => {
                    return self.report.fail("containers", &CopyError::of_call("cannot be listed", &error));
                }
            }
        }
    }

    async fn copy_container(
        &mut self,
        from: &BlobServiceClient,
        to: &BlobServiceClient,
        listed: &ContainerItem,
    ) -> Result<(), CopyError> {
        let item = CopyItem::Container(listed.name.clone());
        let mut status = self.resume_file.status(&item);
        if status.is_done {
            return Ok(());
        }
        let copied = self.copy_pages_of(from, to, listed, &item, &mut status).await;
        if copied.is_err() {
            self.resume_file.failed(&item, status.counts);
        }
        copied
    }

    /// Copies what is left of a container, page by page. In an error `status` has the counts of everything that was copied.
    async fn copy_pages_of(
        &mut self,
        from: &BlobServiceClient,
        to: &BlobServiceClient,
        listed: &ContainerItem,
        item: &CopyItem,
        status: &mut Status,
    ) -> Result<(), CopyError> {
        let (from, to) = (from.container(&listed.name), to.container(&listed.name));
        let read = |error| CopyError::of_call("cannot be read", &error);
        let written = |error| CopyError::of_call("cannot be written", &error);
        to.create_if_not_exists().await.map_err(written)?;
        let listing = families::listing(&from, self.with_policies);
        // The last blob of the previous page, if that page ended between its snapshots.
        let mut copied_before = None;
        loop {
            let page = listing.page(status.next.as_ref()).await.map_err(read)?;
            let is_first = status.next.is_none();
            let (families, last) = self.families(&from, page.items, is_first, copied_before).await.map_err(read)?;
            copied_before = last;
            self.copy_page(&from, &to, item, status, families).await?;
            let Some(next) = page.continuation_token else { break };
            self.resume_file.page(item, next.clone(), status.counts)?;
            *status = Status { next: Some(next), counts: status.counts, ..Status::default() };
        }
        to.set_metadata(&listed.metadata).await.map_err(written)?;
        if self.with_policies {
            to.set_access_policies(&from.get_access_policies().await.map_err(read)?).await.map_err(written)?;
        }
        self.resume_file.done(item, status.counts)?;
        self.print_progress();
        Ok(())
    }

    /// Returns the blobs of a page with all of their snapshots, and the name of the last one if the rest of it is on the
    /// next page.
    async fn families(
        &self,
        from: &ContainerClient,
        page: Vec<BlobItem>,
        is_first: bool,
        copied_before: Option<String>,
    ) -> tablerock_client::Result<(Vec<Family>, Option<String>)> {
        let mut groups = families::by_name(page);
        if groups.first().is_some_and(|group| Some(&group[0].name) == copied_before.as_ref()) {
            groups.remove(0);
        }
        let (mut complete, mut last) = (Vec::new(), None);
        let count = groups.len();
        for (index, mut group) in groups.into_iter().enumerate() {
            let has_end = group.last().is_some_and(|item| item.snapshot.is_none());
            let may_lack_start = index == 0 && !is_first && group[0].snapshot.is_some();
            if (index + 1 == count && !has_end) || may_lack_start {
                let name = group[0].name.clone();
                group = families::items_of(from, &name, self.with_policies).await?;
                last = Some(name).filter(|_| !has_end);
            }
            complete.extend(families::family(group));
        }
        Ok((complete, last))
    }

    /// Copies a page. If a blob fails, the others are still copied, and then the page fails.
    async fn copy_page(
        &mut self,
        from: &ContainerClient,
        to: &ContainerClient,
        item: &CopyItem,
        status: &mut Status,
        page: Vec<Family>,
    ) -> Result<(), CopyError> {
        let mut wanted = Vec::new();
        for mut family in page {
            let skipped = &mut status.counts.skipped;
            let name = family.blob.name.clone();
            if let Some(reason) = skip_reason(&family.blob, skipped) {
                skipped.snapshots += family.snapshots.len() as u64;
                print_status(&format!("{}/{name} is not copied: {reason}", from.name()));
                continue;
            }
            family.snapshots.retain(|snapshot| match skip_reason(snapshot, &mut Skipped::default()) {
                Some(reason) => {
                    skipped.snapshots += 1;
                    print_status(&format!("a snapshot of {}/{name} is not copied: {reason}", from.name()));
                    false
                }
                None => true,
            });
            match status.blobs.get(&name) {
                Some(copied) if copied.version == family.version() => count(&mut status.counts, copied.bytes),
                _ => wanted.push(family),
            }
        }
        // Bytes of blobs that are in progress.
        let arrived = AtomicU64::new(0);
        let copies = wanted.into_iter().map(|family| async {
            let name = &family.blob.name;
            let copied = copy_family(&from.blob(name), &to.blob(name), &family, &arrived).await;
            (family, copied)
        });
        let mut copies = stream::iter(copies).buffer_unordered(CONCURRENCY);
        let mut failed = BlobErrors::default();
        loop {
            let in_progress = arrived.load(Ordering::Relaxed);
            self.print_progress_with(&Counts { bytes: status.counts.bytes + in_progress, ..status.counts });
            // A large blob takes long: print progress while it is copied.
            let Ok(next) = tokio::time::timeout(PROGRESS_INTERVAL, copies.next()).await else { continue };
            let Some((family, copied)) = next else { return failed.into_result() };
            match copied {
                Ok(Some(bytes)) => {
                    count(&mut status.counts, bytes);
                    let copied = CopiedBlob { version: family.version(), bytes };
                    self.resume_file.blob(item, family.blob.name.clone(), copied)?;
                }
                // It was deleted after it was listed.
                Ok(None) => {}
                Err(error) => failed.add(&family.blob.name, &error),
            }
        }
    }
}

fn count(counts: &mut Counts, bytes: u64) {
    counts.blobs += 1;
    counts.bytes += bytes;
}

/// Returns the reason why a blob cannot be copied, and counts it.
fn skip_reason(blob: &BlobItem, skipped: &mut Skipped) -> Option<&'static str> {
    let is_append_blob = blob.blob_type == "AppendBlob";
    let (count, reason) = if blob.is_incremental_copy {
        (&mut skipped.incremental_copies, "it is the target of incremental copies; copy its snapshots to other blobs")
    } else if !blob.key_sha256.is_empty() {
        (&mut skipped.encrypted_blobs, "it is encrypted with a customer-provided key")
    } else if blob.access_tier == "Archive" {
        (&mut skipped.archived_blobs, "it is archived; rehydrate it to copy it")
    } else if is_append_blob && blob.length > APPEND_BLOB_BYTES_MAX {
        (&mut skipped.huge_blobs, "it is an append blob larger than the limit of 195 GiB")
    } else if blob.length > BLOB_BYTES_MAX && blob.blob_type != "PageBlob" {
        (&mut skipped.huge_blobs, "it is larger than the limit of 2.9 TiB")
    } else {
        return None;
    };
    *count += 1;
    Some(reason)
}
