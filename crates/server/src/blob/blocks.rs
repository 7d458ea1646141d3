//! Put Block, Put Block List, Get Block List and Append Block.

use tablerock_protocol::blob::{CustomerKey, Digests, KeyDigest, RangeAsked};
use tablerock_protocol::xml::{BLOCK_LIST_BYTES_MAX, BOM, BlockListRequest, render_block_list};
use tablerock_protocol::{ErrorCode, ServiceError, ServiceVersion};
use tablerock_services::blob::{AppendTerms, Appended, BlobAddress, BlobKind, NewBlob, ReadTerms, WhichBlocks};

use super::BlobCall;
use super::copy::check_source;
use super::encode::{changed, checksum, encrypted};
use super::encryption::with_key;
use super::names::{APPEND_POSITION, MAX_SIZE, SOURCE_RANGE};
use super::request::BlobTarget;
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

const MIB: u64 = 1 << 20;

pub(super) async fn put_block(call: &mut BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    call.check_scope()?;
    let (address, id, lease) = (call.address(at), call.block_id()?, call.lease_id()?);
    call.check_may_stage(address).await?;
    let key = call.customer_key()?;
    let (md5, crc64) = call.body_checksums()?;
    let bytes = 1..=block_bytes_max(call.cx.version);
    let blobs = &call.server().blobs;
    let mut body = call.content(bytes)?;
    let received = blobs.receive_block_with(address, &mut body, md5.is_some(), key.as_ref()).await?;
    received.digests.check(md5, crc64)?;
    let digests = received.digests;
    call.server().blobs.put_block(address, lease, &id, received).await?;
    Ok(checksum(call, with_key(encrypted(Reply::empty(201)), digest_of(&key)), &digests, md5))
}

/// A block whose bytes are those of another blob.
pub(super) async fn put_block_from_url(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    call.check_scope()?;
    let (address, id, lease) = (call.address(at), call.block_id()?, call.lease_id()?);
    call.check_may_stage(address).await?;
    let key = call.customer_key()?;
    let (_, mut source) = call.source_content().await?;
    let with_md5 = call.source_checksums()?.0.is_some();
    let received = call.server().blobs.receive_block_with(address, &mut source, with_md5, key.as_ref()).await?;
    let digests = received.digests;
    check_source(call, &digests)?;
    call.server().blobs.put_block(address, lease, &id, received).await?;
    Ok(checksum(call, with_key(encrypted(Reply::empty(201)), digest_of(&key)), &digests, digests.md5))
}

pub(super) async fn append_block(call: &mut BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    call.check_scope()?;
    let (address, terms, key) = (call.address(at), call.append_terms()?, call.customer_key()?);
    let (md5, crc64) = call.body_checksums()?;
    let bytes = 1..=append_bytes_max(call.cx.version);
    let blobs = &call.server().blobs;
    let mut body = call.content(bytes)?;
    let received = blobs.receive_blob_with(address, &mut body, md5.is_some(), key.as_ref()).await?;
    received.digests.check(md5, crc64)?;
    let digests = received.digests;
    let appended = call.server().blobs.append_block(address, &terms, received).await?;
    Ok(checksum(call, with_key(append_answer(appended), digest_of(&key)), &digests, md5))
}

pub(super) async fn append_block_from_url(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    call.check_scope()?;
    let (address, terms, key) = (call.address(at), call.append_terms()?, call.customer_key()?);
    let (_, mut source) = call.source_content().await?;
    let with_md5 = call.source_checksums()?.0.is_some();
    let received = call.server().blobs.receive_blob_with(address, &mut source, with_md5, key.as_ref()).await?;
    let digests = received.digests;
    check_source(call, &digests)?;
    let appended = call.server().blobs.append_block(address, &terms, received).await?;
    Ok(checksum(call, with_key(append_answer(appended), digest_of(&key)), &digests, digests.md5))
}

fn digest_of(key: &Option<CustomerKey>) -> Option<KeyDigest> {
    key.as_ref().map(CustomerKey::digest)
}

fn append_answer(appended: Appended) -> Reply {
    encrypted(changed(Reply::empty(201), appended.changed))
        .with(ResponseHeader::AppendOffset, appended.offset.to_string())
        .with(ResponseHeader::CommittedBlockCount, appended.blocks.to_string())
}

pub(super) async fn put_block_list(call: &mut BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    call.check_scope()?;
    let (address, terms) = (call.address(at), call.keyed_write_terms()?);
    let (md5, crc64) = call.body_checksums()?;
    let new = NewBlob {
        kind: BlobKind::Block,
        headers: call.content_headers(false)?,
        metadata: call.metadata()?,
        tags: call.tags()?,
        tier: call.tier()?,
    };
    let body = call.whole_body(BLOCK_LIST_BYTES_MAX).await?;
    let digests = Digests::of(&body, md5.is_some());
    digests.check(md5, crc64)?;
    let list = BlockListRequest::parse(&body)?;
    let put = call.server().blobs.put_block_list(address, &terms, &new, &list).await?;
    Ok(checksum(call, with_key(encrypted(changed(Reply::empty(201), put)), terms.key_digest), &digests, md5))
}

pub(super) async fn block_list(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let which = call.keyword_parameter("blocklisttype")?.unwrap_or(WhichBlocks::Committed);
    let (address, snapshot, terms) = (call.address(at), call.snapshot()?, call.read_terms()?);
    let lists = call.server().blobs.block_list(address, snapshot, &terms, which).await?;
    let xml = render_block_list(lists.committed.as_deref(), lists.uncommitted.as_deref());
    let reply = Reply::xml(200, format!("{BOM}{xml}").into_bytes());
    Ok(match lists.blob {
        Some(blob) => changed(reply, blob.changed).with(ResponseHeader::BlobContentLength, blob.length.to_string()),
        None => reply.with(ResponseHeader::BlobContentLength, "0"),
    })
}

/// The size limit of a block, by service version.
fn block_bytes_max(version: ServiceVersion) -> u64 {
    match version {
        version if version >= ServiceVersion::LARGE_BLOCKS => 4000 * MIB,
        version if version >= ServiceVersion::EMPTY_HEADERS_SIGNED => 100 * MIB,
        _ => 4 * MIB,
    }
}

fn append_bytes_max(version: ServiceVersion) -> u64 {
    if version >= ServiceVersion::LARGE_APPENDS { 100 * MIB } else { 4 * MIB }
}

impl BlobCall<'_> {
    fn append_terms(&self) -> Result<AppendTerms, ServiceError> {
        let write = self.write_terms()?;
        // An append changes a blob that is there, so there is nothing to overwrite.
        let write = tablerock_services::blob::WriteTerms { may_only_create: false, ..write };
        Ok(AppendTerms { write, position: self.number(&APPEND_POSITION)?, length_max: self.number(&MAX_SIZE)? })
    }

    /// Rejects blocks for a blob that is there, from a caller that may only create blobs.
    async fn check_may_stage(&self, at: BlobAddress<'_>) -> Result<(), ServiceError> {
        if self.caller.can_overwrite() {
            return Ok(());
        }
        match self.server().blobs.blob(at, None, &ReadTerms::default()).await.map_err(ServiceError::from) {
            Ok(_) => Err(ErrorCode::UnauthorizedBlobOverwrite.into()),
            Err(error) if error.code == ErrorCode::BlobNotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The range of the copy source.
    pub(super) fn source_range(&self) -> Result<Option<RangeAsked>, ServiceError> {
        self.parsed(&SOURCE_RANGE, |text| {
            RangeAsked::parse(text).ok_or_else(|| ServiceError::new(ErrorCode::InvalidHeaderValue))
        })
    }
}
