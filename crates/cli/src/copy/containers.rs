//! Copies containers over HTTP: block blobs page by page, several concurrently, then metadata and public access.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tablerock_client::blob::{BlobItem, ContainerItem};
use tablerock_client::{BlobServiceClient, ContainerClient};

use super::blobs::{BLOB_BYTES_MAX, copy_blob};
use super::copy_error::CopyError;
use super::counts::{Counts, Skipped};
use super::resume_file::{CopyItem, Status};
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
        let (from, to) = (from.container(&listed.name), to.container(&listed.name));
        let read = |error| CopyError::of_call("cannot be read", &error);
        let written = |error| CopyError::of_call("cannot be written", &error);
        to.create_if_not_exists().await.map_err(written)?;
        loop {
            let page = from.list_blobs().include_snapshots().page(status.next.as_ref()).await.map_err(read)?;
            self.copy_page(&from, &to, &item, &mut status, page.items).await?;
            let Some(next) = page.continuation_token else { break };
            self.resume_file.page(&item, next.clone(), status.counts)?;
            status = Status { next: Some(next), counts: status.counts, ..Status::default() };
        }
        to.set_metadata(&listed.metadata).await.map_err(written)?;
        if self.with_policies {
            to.set_access_policies(&from.get_access_policies().await.map_err(read)?).await.map_err(written)?;
        }
        self.resume_file.done(&item, status.counts)?;
        self.print_progress();
        Ok(())
    }

    /// Copies a page. If a blob fails, the others are still copied, and then the page fails.
    async fn copy_page(
        &mut self,
        from: &ContainerClient,
        to: &ContainerClient,
        item: &CopyItem,
        status: &mut Status,
        page: Vec<BlobItem>,
    ) -> Result<(), CopyError> {
        let mut wanted = Vec::new();
        for blob in page {
            if let Some(reason) = skip_reason(&blob, &mut status.counts.skipped) {
                print_status(&format!("{}/{} is not copied: {reason}", from.name(), blob.name));
            } else if status.blobs.get(&blob.name) == Some(&version(&blob)) {
                count(&mut status.counts, &blob);
            } else {
                wanted.push(blob);
            }
        }
        // Bytes of blobs that are in progress.
        let arrived = AtomicU64::new(0);
        let copies = wanted.into_iter().map(|blob| async {
            let copied = copy_blob(&from.blob(&blob.name), &to.blob(&blob.name), &blob, &arrived).await;
            (blob, copied)
        });
        let mut copies = stream::iter(copies).buffer_unordered(CONCURRENCY);
        let mut failed = Ok(());
        loop {
            let in_progress = arrived.load(Ordering::Relaxed);
            self.print_progress_with(&Counts { bytes: status.counts.bytes + in_progress, ..status.counts });
            // A large blob takes long: print progress while it is copied.
            let Ok(next) = tokio::time::timeout(PROGRESS_INTERVAL, copies.next()).await else { continue };
            let Some((blob, copied)) = next else { return failed };
            match copied {
                Ok(true) => {
                    count(&mut status.counts, &blob);
                    self.resume_file.blob(item, blob.name.clone(), version(&blob))?;
                }
                // It was deleted after it was listed.
                Ok(false) => {}
                Err(error) => {
                    let error = error.map_message(|message| format!("{}: {message}", blob.name));
                    failed = Err(first_error(failed, error));
                }
            }
        }
    }
}

/// Returns the first of several errors. It is transient if any of them is.
fn first_error(before: Result<(), CopyError>, error: CopyError) -> CopyError {
    match before {
        Ok(()) => error,
        Err(first) => CopyError { is_transient: first.is_transient || error.is_transient, ..first },
    }
}

fn count(counts: &mut Counts, blob: &BlobItem) {
    counts.blobs += 1;
    counts.bytes += blob.length;
}

/// Returns a text that identifies a version of a blob.
fn version(blob: &BlobItem) -> String {
    format!("{} {} {}", blob.etag, blob.length, blob.content_md5)
}

/// Returns the reason why a blob cannot be copied, and counts it.
fn skip_reason(blob: &BlobItem, skipped: &mut Skipped) -> Option<&'static str> {
    let (count, reason) = if blob.snapshot.is_some() {
        (&mut skipped.snapshots, "it is a snapshot")
    } else if blob.blob_type == "AppendBlob" {
        (&mut skipped.append_blobs, "it is an append blob")
    } else if blob.blob_type == "PageBlob" {
        (&mut skipped.page_blobs, "it is a page blob")
    } else if blob.access_tier == "Archive" {
        (&mut skipped.archived_blobs, "it is archived; rehydrate it to copy it")
    } else if blob.length > BLOB_BYTES_MAX {
        (&mut skipped.huge_blobs, "it is larger than the limit of 2.9 TiB")
    } else {
        return None;
    };
    *count += 1;
    Some(reason)
}
