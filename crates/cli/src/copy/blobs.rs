//! Copies one blob with its snapshots over HTTP: it reads ranges of one version and writes them as blocks, holding one block
//! in memory.

use std::sync::atomic::{AtomicU64, Ordering};

use tablerock_client::blob::{BlobHttpHeaders, BlobItem, BlockId};
use tablerock_client::{BlobClient, ErrorCode, Etag};

use super::copy_error::CopyError;
use super::families::Family;

/// The size of a block. A blob of up to this size is copied with one Put Blob.
const BLOCK_BYTES: u64 = 8 << 20;
/// The largest response body that the client accepts.
const BLOCK_BYTES_MAX: u64 = 60 << 20;
const BLOCKS_MAX: u64 = 50_000;
/// The largest blob that can be copied.
pub(super) const BLOB_BYTES_MAX: u64 = BLOCKS_MAX * BLOCK_BYTES_MAX;

/// The largest block that all endpoints append, and the blocks that an append blob may have.
const APPENDED_BYTES: u64 = 4 << 20;
/// The largest append blob that can be copied.
pub(super) const APPEND_BLOB_BYTES_MAX: u64 = BLOCKS_MAX * APPENDED_BYTES;

/// The most that one Put Page writes.
const WRITTEN_PAGES_BYTES: u64 = 4 << 20;

/// Copies a blob as it was listed, with its snapshots. Returns the copied bytes, or `None` if it has been deleted since. While
/// the blob is in progress, `arrived` includes its copied bytes.
pub(super) async fn copy_family(
    from: &BlobClient,
    to: &BlobClient,
    family: &Family,
    arrived: &AtomicU64,
) -> Result<Option<u64>, CopyError> {
    let mut arrived = Arrived { all: arrived, own: 0, in_pages: 0 };
    if !family.snapshots.is_empty() {
        // What an earlier run has taken would be there twice.
        let deleted = to.delete().include_snapshots().if_exists().await;
        deleted.map_err(|error| CopyError::of_call("cannot be replaced", &error))?;
    }
    for snapshot in &family.snapshots {
        let id = snapshot.snapshot.as_deref().unwrap_or_default();
        if into_result(copy_blob(&from.at_snapshot(id), to, snapshot, &mut arrived).await)? {
            let taken = to.create_snapshot().await;
            taken.map_err(|error| CopyError::of_call("a snapshot cannot be taken", &error))?;
        }
    }
    let is_there = into_result(copy_blob(from, to, &family.blob, &mut arrived).await)?;
    Ok(is_there.then_some(family.bytes() + arrived.in_pages))
}

async fn copy_blob(
    from: &BlobClient,
    to: &BlobClient,
    listed: &BlobItem,
    arrived: &mut Arrived<'_>,
) -> Result<(), BlobError> {
    match listed.blob_type.as_str() {
        "AppendBlob" => return copy_appended(from, to, listed, arrived).await,
        "PageBlob" => return copy_pages(from, to, listed, arrived).await,
        _ => {}
    }
    if listed.length <= BLOCK_BYTES {
        match copy_whole(from, to, listed).await {
            Err(BlobError::Md5) => {}
            other => return other,
        }
    }
    copy_blocks(from, to, listed, arrived).await
}

/// The copied bytes of a blob in progress. Dropping it subtracts them: a finished blob is counted elsewhere.
struct Arrived<'a> {
    all: &'a AtomicU64,
    own: u64,
    /// Those of pages, which the length of a page blob does not tell.
    in_pages: u64,
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

enum BlobError {
    Gone,
    /// The blob's Content-MD5 is not that of its content. Put Block List accepts such a value, Put Blob does not.
    Md5,
    Other(CopyError),
}

fn into_result(copied: Result<(), BlobError>) -> Result<bool, CopyError> {
    match copied {
        Ok(()) => Ok(true),
        Err(BlobError::Gone) => Ok(false),
        Err(BlobError::Md5) => Err("its Content-MD5 does not match its content".to_owned().into()),
        Err(BlobError::Other(failure)) => Err(failure),
    }
}

async fn copy_whole(from: &BlobClient, to: &BlobClient, listed: &BlobItem) -> Result<(), BlobError> {
    let content = read(from, listed, 0, listed.length).await?;
    let put = to.upload(content).headers(BlobHttpHeaders::from(listed)).metadata(listed.metadata.clone());
    let put = put.tags(listed.tags.clone()).access_tier(tier(listed)).await;
    put.map(drop).map_err(|error| match error.code() {
        Some(ErrorCode::Md5Mismatch) => BlobError::Md5,
        _ => write_error(&error),
    })
}

async fn copy_blocks(
    from: &BlobClient,
    to: &BlobClient,
    listed: &BlobItem,
    arrived: &mut Arrived<'_>,
) -> Result<(), BlobError> {
    let block_bytes = block_bytes(listed.length);
    let starts = (0..listed.length.div_ceil(block_bytes)).map(|number| number * block_bytes);
    let mut ids = Vec::new();
    for start in starts {
        let content = read(from, listed, start, listed.length.min(start + block_bytes)).await?;
        let (id, length) = (BlockId::from_bytes(&start.to_be_bytes()), content.len() as u64);
        to.stage_block(&id, content).await.map_err(|error| write_error(&error))?;
        arrived.add(length);
        ids.push(id);
    }
    let list = to.commit_block_list(ids).headers(BlobHttpHeaders::from(listed)).metadata(listed.metadata.clone());
    let list = list.tags(listed.tags.clone()).access_tier(tier(listed));
    list.await.map(drop).map_err(|error| write_error(&error))
}

/// Copies an append blob. Its blocks have other boundaries afterwards.
async fn copy_appended(
    from: &BlobClient,
    to: &BlobClient,
    listed: &BlobItem,
    arrived: &mut Arrived<'_>,
) -> Result<(), BlobError> {
    let create = |headers| {
        let create = to.create_append_blob().headers(headers).metadata(listed.metadata.clone());
        create.tags(listed.tags.clone())
    };
    let headers = BlobHttpHeaders::from(listed);
    let created = match create(headers.clone()).await {
        // An endpoint may compare the MD5 with the empty content of the new blob.
        Err(error) if error.code() == Some(ErrorCode::Md5Mismatch) => {
            create(BlobHttpHeaders { content_md5: String::new(), ..headers }).await
        }
        created => created,
    };
    created.map_err(|error| write_error(&error))?;
    let mut start = 0;
    while start < listed.length {
        let content = read(from, listed, start, listed.length.min(start + APPENDED_BYTES)).await?;
        let length = content.len() as u64;
        to.append_block(content, start).await.map_err(|error| write_error(&error))?;
        arrived.add(length);
        start += length;
    }
    if listed.is_sealed {
        to.seal().await.map_err(|error| write_error(&error))?;
    }
    Ok(())
}

/// Copies the pages of a page blob that are written. The others take no space.
async fn copy_pages(
    from: &BlobClient,
    to: &BlobClient,
    listed: &BlobItem,
    arrived: &mut Arrived<'_>,
) -> Result<(), BlobError> {
    let create = to.create_page_blob(listed.length).sequence_number(listed.sequence_number);
    let create = create.headers(BlobHttpHeaders::from(listed)).metadata(listed.metadata.clone());
    create.tags(listed.tags.clone()).await.map_err(|error| write_error(&error))?;
    let mut next = None;
    loop {
        let page = from.page_ranges(next.as_ref(), &version(listed)).await.map_err(|error| read_error(&error))?;
        for range in page.items {
            for start in range.clone().step_by(WRITTEN_PAGES_BYTES as usize) {
                let content = read(from, listed, start, range.end.min(start + WRITTEN_PAGES_BYTES)).await?;
                let length = content.len() as u64;
                to.put_pages(start, content).await.map_err(|error| write_error(&error))?;
                arrived.add(length);
                arrived.in_pages += length;
            }
        }
        next = page.continuation_token;
        if next.is_none() {
            return Ok(());
        }
    }
}

/// The tier of a blob, unless it is the one of its account.
fn tier(listed: &BlobItem) -> &str {
    if listed.is_tier_inferred { "" } else { &listed.access_tier }
}

async fn read(from: &BlobClient, listed: &BlobItem, start: u64, end: u64) -> Result<bytes::Bytes, BlobError> {
    let content = from.download_range(start..end, &version(listed)).await.map_err(|error| read_error(&error))?;
    if content.len() as u64 == end - start {
        Ok(content)
    } else {
        Err(BlobError::Other(
            format!("the endpoint returned {} bytes instead of {}", content.len(), end - start).into(),
        ))
    }
}

/// The ETag of a blob. A list has it without the quotation marks of the header.
fn version(listed: &BlobItem) -> Etag {
    Etag::from(format!("\"{}\"", listed.etag.trim_matches('"')))
}

fn read_error(error: &tablerock_client::Error) -> BlobError {
    if error.is_not_found() {
        return BlobError::Gone;
    }
    BlobError::Other(match error.is_precondition_failed() {
        // The next run lists it again.
        true => CopyError { message: "it changed after it was listed".to_owned(), is_transient: true },
        false => CopyError::of_call("cannot be read", error),
    })
}

fn write_error(error: &tablerock_client::Error) -> BlobError {
    BlobError::Other(CopyError::of_call("cannot be written", error))
}

/// Returns the smallest block size that keeps the number of blocks within its limit.
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
