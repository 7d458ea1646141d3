//! One block blob over the wire: ranges of one version are read and put as blocks, so that memory is that of one block.

use std::sync::atomic::{AtomicU64, Ordering};

use tablerock_client::blob::{BlobHttpHeaders, BlobItem, BlockId};
use tablerock_client::{BlobClient, ErrorCode, Etag};

use super::failure::Failure;

/// What is read and put at once, and a whole blob of up to this size.
const BLOCK_BYTES: u64 = 8 << 20;
/// An answer has to fit into the client's bound for one.
const BLOCK_BYTES_MAX: u64 = 60 << 20;
const BLOCKS_MAX: u64 = 50_000;
/// The largest blob that can be copied.
pub(super) const BLOB_BYTES_MAX: u64 = BLOCKS_MAX * BLOCK_BYTES_MAX;

/// Copies a blob as it was listed. `false` if it has been deleted since. `arrived` counts what has
/// arrived of it while it is under way.
pub(super) async fn copy_blob(
    from: &BlobClient,
    to: &BlobClient,
    listed: &BlobItem,
    arrived: &AtomicU64,
) -> Result<bool, Failure> {
    if listed.length <= BLOCK_BYTES {
        match copy_whole(from, to, listed).await {
            Err(Trouble::Md5) => {}
            other => return settle(other),
        }
    }
    settle(copy_blocks(from, to, listed, arrived).await)
}

/// What has arrived of a blob, which no longer counts by itself when the blob is done.
struct Arrived<'a> {
    all: &'a AtomicU64,
    own: u64,
}

impl Arrived<'_> {
    fn add(&mut self, bytes: u64) {
        self.own += bytes;
        self.all.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Drop for Arrived<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Ordering::Relaxed);
    }
}

enum Trouble {
    Gone,
    /// The blob says of itself an MD5 that is not its content's, which only a list of blocks can repeat.
    Md5,
    Other(Failure),
}

fn settle(copied: Result<(), Trouble>) -> Result<bool, Failure> {
    match copied {
        Ok(()) => Ok(true),
        Err(Trouble::Gone) => Ok(false),
        Err(Trouble::Md5) => Err("its MD5 is not that of its content".to_owned().into()),
        Err(Trouble::Other(failure)) => Err(failure),
    }
}

async fn copy_whole(from: &BlobClient, to: &BlobClient, listed: &BlobItem) -> Result<(), Trouble> {
    let content = read(from, listed, 0, listed.length).await?;
    let put = to.upload(content).headers(BlobHttpHeaders::from(listed)).metadata(listed.metadata.clone()).await;
    put.map(drop).map_err(|error| match error.code() {
        Some(ErrorCode::Md5Mismatch) => Trouble::Md5,
        _ => unwritten(&error),
    })
}

async fn copy_blocks(
    from: &BlobClient,
    to: &BlobClient,
    listed: &BlobItem,
    arrived: &AtomicU64,
) -> Result<(), Trouble> {
    let block_bytes = block_bytes(listed.length);
    let starts = (0..listed.length.div_ceil(block_bytes)).map(|number| number * block_bytes);
    let (mut ids, mut arrived) = (Vec::new(), Arrived { all: arrived, own: 0 });
    for start in starts {
        let content = read(from, listed, start, listed.length.min(start + block_bytes)).await?;
        let (id, length) = (BlockId::from_bytes(&start.to_be_bytes()), content.len() as u64);
        to.stage_block(&id, content).await.map_err(|error| unwritten(&error))?;
        arrived.add(length);
        ids.push(id);
    }
    let list = to.commit_block_list(ids).headers(BlobHttpHeaders::from(listed)).metadata(listed.metadata.clone());
    list.await.map(drop).map_err(|error| unwritten(&error))
}

async fn read(from: &BlobClient, listed: &BlobItem, start: u64, end: u64) -> Result<bytes::Bytes, Trouble> {
    // Lists tell an ETag without the quotation marks that it has in a header.
    let version = Etag::from(format!("\"{}\"", listed.etag.trim_matches('"')));
    let content = from.download_range(start..end, &version).await.map_err(|error| {
        if error.is_not_found() {
            return Trouble::Gone;
        }
        Trouble::Other(match error.is_precondition_failed() {
            // The next run lists it anew.
            true => Failure { why: "it has changed since it was listed".to_owned(), may_pass: true },
            false => Failure::of_call("cannot be read", &error),
        })
    })?;
    if content.len() as u64 == end - start {
        Ok(content)
    } else {
        Err(Trouble::Other(format!("{} bytes came in the place of {}", content.len(), end - start).into()))
    }
}

fn unwritten(error: &tablerock_client::Error) -> Trouble {
    Trouble::Other(Failure::of_call("cannot be written", error))
}

/// As small as the number of blocks allows.
fn block_bytes(length: u64) -> u64 {
    length.div_ceil(BLOCKS_MAX).max(BLOCK_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_small_and_not_too_many() {
        assert_eq!(block_bytes(1), BLOCK_BYTES);
        assert_eq!(block_bytes(BLOCKS_MAX * BLOCK_BYTES), BLOCK_BYTES);
        for length in [BLOCKS_MAX * BLOCK_BYTES + 1, BLOB_BYTES_MAX - 1, BLOB_BYTES_MAX] {
            assert!(length.div_ceil(block_bytes(length)) <= BLOCKS_MAX && block_bytes(length) <= BLOCK_BYTES_MAX);
        }
    }
}
