//! Containers over the wire: their block blobs page by page, several side by side, then metadata and who can read them.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tablerock_client::blob::{BlobItem, ContainerItem};
use tablerock_client::{BlobServiceClient, ContainerClient};

use super::blobs::{BLOB_BYTES_MAX, copy_blob};
use super::failure::Failure;
use super::ledger::{Holding, Status};
use super::tally::{Left, Tally};
use super::wire::Transfer;
use super::{TELL_TIME, say};

/// Each has one block in memory.
const SIDE_BY_SIDE: usize = 4;

impl Transfer<'_> {
    pub(super) async fn copy_containers(&mut self) {
        let (from, to) = match (&self.from.blobs, &self.to.blobs) {
            (Ok(from), Ok(to)) => (from.clone(), to.clone()),
            (Err(why), _) | (_, Err(why)) => return self.report.note(format!("blobs: {why}")),
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
                    return self.report.fail("containers", &Failure::of_call("cannot be listed", &error));
                }
            }
        }
    }

    async fn copy_container(
        &mut self,
        from: &BlobServiceClient,
        to: &BlobServiceClient,
        listed: &ContainerItem,
    ) -> Result<(), Failure> {
        let holding = Holding::Container(listed.name.clone());
        let mut status = self.ledger.status(&holding);
        if status.is_done {
            return Ok(());
        }
        let (from, to) = (from.container(&listed.name), to.container(&listed.name));
        let read = |error| Failure::of_call("cannot be read", &error);
        let written = |error| Failure::of_call("cannot be written", &error);
        to.create_if_not_exists().await.map_err(written)?;
        loop {
            let page = from.list_blobs().include_snapshots().page(status.next.as_ref()).await.map_err(read)?;
            self.copy_page(&from, &to, &holding, &mut status, page.items).await?;
            let Some(next) = page.continuation_token else { break };
            self.ledger.page(&holding, next.clone(), status.tally)?;
            status = Status { next: Some(next), tally: status.tally, ..Status::default() };
        }
        to.set_metadata(&listed.metadata).await.map_err(written)?;
        if self.with_policies {
            to.set_access_policies(&from.get_access_policies().await.map_err(read)?).await.map_err(written)?;
        }
        self.ledger.done(&holding, status.tally)?;
        self.tell();
        Ok(())
    }

    /// Copies what can be of a page. One blob's failure is the page's, after all others have had their turn.
    async fn copy_page(
        &mut self,
        from: &ContainerClient,
        to: &ContainerClient,
        holding: &Holding,
        status: &mut Status,
        page: Vec<BlobItem>,
    ) -> Result<(), Failure> {
        let mut wanted = Vec::new();
        for blob in page {
            if let Some(why) = leave(&blob, &mut status.tally.left) {
                say(&format!("{}/{} is not copied: {why}", from.name(), blob.name));
            } else if status.blobs.get(&blob.name) == Some(&mark(&blob)) {
                count(&mut status.tally, &blob);
            } else {
                wanted.push(blob);
            }
        }
        // Of blobs that are under way.
        let arrived = AtomicU64::new(0);
        let copies = wanted.into_iter().map(|blob| async {
            let copied = copy_blob(&from.blob(&blob.name), &to.blob(&blob.name), &blob, &arrived).await;
            (blob, copied)
        });
        let mut copies = stream::iter(copies).buffer_unordered(SIDE_BY_SIDE);
        let mut failed = Ok(());
        loop {
            let under_way = arrived.load(Ordering::Relaxed);
            self.tell_beside(&Tally { bytes: status.tally.bytes + under_way, ..status.tally });
            // Large blobs take their time; what is under way goes on while it is told.
            let Ok(next) = tokio::time::timeout(TELL_TIME, copies.next()).await else { continue };
            let Some((blob, copied)) = next else { return failed };
            match copied {
                Ok(true) => {
                    count(&mut status.tally, &blob);
                    self.ledger.blob(holding, blob.name.clone(), mark(&blob))?;
                }
                // It was deleted since it was listed.
                Ok(false) => {}
                Err(failure) => {
                    let failure = failure.said(|why| format!("{}: {why}", blob.name));
                    failed = Err(first_or_passing(failed, failure));
                }
            }
        }
    }
}

/// Of several failures the first is told, and all is tried again if that may help with any.
fn first_or_passing(before: Result<(), Failure>, failure: Failure) -> Failure {
    match before {
        Ok(()) => failure,
        Err(first) => Failure { may_pass: first.may_pass || failure.may_pass, ..first },
    }
}

fn count(tally: &mut Tally, blob: &BlobItem) {
    tally.blobs += 1;
    tally.bytes += blob.length;
}

/// What tells a blob's version from every other.
fn mark(blob: &BlobItem) -> String {
    format!("{} {} {}", blob.etag, blob.length, blob.content_md5)
}

/// Why a blob is left where it is, if it is.
fn leave(blob: &BlobItem, left: &mut Left) -> Option<&'static str> {
    let (count, why) = if blob.snapshot.is_some() {
        (&mut left.snapshots, "it is a snapshot")
    } else if blob.blob_type == "AppendBlob" {
        (&mut left.append_blobs, "it is an append blob")
    } else if blob.blob_type == "PageBlob" {
        (&mut left.page_blobs, "it is a page blob")
    } else if blob.access_tier == "Archive" {
        (&mut left.archived_blobs, "it is archived, and has to be brought back before it can be read")
    } else if blob.length > BLOB_BYTES_MAX {
        (&mut left.huge_blobs, "it is larger than a copy can be")
    } else {
        return None;
    };
    *count += 1;
    Some(why)
}
