//! Put Blob.

use std::ops::RangeInclusive;

use bytes::Bytes;
use tablerock_protocol::blob::{ContentMd5, CustomerKey};
use tablerock_protocol::{ServiceError, ServiceVersion};
use tablerock_services::blob::{BlobKind, ContentSource, NewBlob, WriteTerms};

use super::BlobCall;
use super::encode::{changed, checksum, encrypted, with_md5};
use super::encryption::with_key;
use super::pages;
use super::request::BlobTarget;
use crate::http::headers::{BLOB_TYPE, ResponseHeader};
use crate::http::reply::Reply;
use crate::http::upload::Upload;
use crate::memory_budget::ClientBudget;

const MIB: u64 = 1 << 20;

pub(super) async fn put_blob(call: &mut BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let (address, terms) = (call.address(at), call.write_terms()?);
    call.check_scope()?;
    let (new, key) = (call.new_blob()?, call.customer_key()?);
    let (md5, crc64) = call.body_checksums()?;
    let bytes = match new.kind {
        BlobKind::Block => 0..=put_blob_bytes_max(call.cx.version),
        BlobKind::Append => 0..=0,
        BlobKind::Page => {
            let terms = WriteTerms { key_digest: key.as_ref().map(CustomerKey::digest), ..terms };
            return pages::put_page_blob(call, at, &terms, &new).await;
        }
    };
    let blobs = &call.server().blobs;
    let mut body = call.content(bytes)?;
    let received = blobs.receive_blob_with(address, &mut body, new.kind == BlobKind::Block, key.as_ref()).await?;
    received.digests.check(md5, crc64)?;
    let (digests, key_digest) = (received.digests, received.key_digest);
    let mut new = new;
    if new.kind == BlobKind::Block {
        digests.check_stated(new.headers.md5.as_ref())?;
    }
    new.headers.md5 = new.headers.md5.or(digests.md5.map(Into::into));
    let put = call.server().blobs.put_blob(address, &terms, &new, received).await?;
    let reply = with_key(encrypted(changed(Reply::empty(201), put)), key_digest);
    if new.kind == BlobKind::Append {
        return Ok(reply);
    }
    // The MD5 of a whole blob is always there, and the CRC64 unless the client sent an MD5.
    let reply = checksum(call, reply, &digests, md5);
    let computed = digests.md5.filter(|_| md5.is_none()).map(ContentMd5::from);
    Ok(with_md5(reply, ResponseHeader::ContentMd5, computed.as_ref()))
}

/// The size limit of Put Blob, by service version.
pub(super) fn put_blob_bytes_max(version: ServiceVersion) -> u64 {
    match version {
        version if version >= ServiceVersion::LARGE_BLOCKS => 5000 * MIB,
        version if version >= ServiceVersion::EMPTY_HEADERS_SIGNED => 256 * MIB,
        _ => 64 * MIB,
    }
}

impl<'a> BlobCall<'a> {
    /// The new blob that the headers describe.
    fn new_blob(&self) -> Result<NewBlob, ServiceError> {
        let kind = self.keyword(&BLOB_TYPE)?.ok_or_else(|| ServiceError::missing_header(BLOB_TYPE.as_str()))?;
        Ok(NewBlob {
            kind,
            headers: self.content_headers(true)?,
            metadata: self.metadata()?,
            tags: self.tags()?,
            tier: if kind == BlobKind::Page { self.page_tier()? } else { self.tier()? },
        })
    }

    /// The whole body, up to a length.
    pub(super) async fn whole_body(&mut self, bytes_max: usize) -> Result<Bytes, ServiceError> {
        self.body.upload.whole(bytes_max, &self.cx.memory()).await
    }

    /// The body as content of a blob, if its length is allowed.
    pub(super) fn content(&mut self, bytes: RangeInclusive<u64>) -> Result<RequestContent<'_>, ServiceError> {
        if let Some(announced) = self.body.upload.announced_bytes() {
            if announced > *bytes.end() && *bytes.end() > 0 {
                return Err(ServiceError::body_too_large(*bytes.end()));
            }
            if !bytes.contains(&announced) {
                return Err(ServiceError::invalid_header("Content-Length", &announced.to_string()));
            }
        }
        Ok(RequestContent {
            upload: self.body.upload,
            memory: self.cx.memory(),
            bytes_left: *bytes.end(),
            bytes_max: *bytes.end(),
        })
    }
}

/// The body of a request, as content of a blob or block.
pub(super) struct RequestContent<'a> {
    upload: &'a mut Upload,
    memory: ClientBudget<'a>,
    bytes_left: u64,
    bytes_max: u64,
}

impl ContentSource for RequestContent<'_> {
    async fn next(&mut self) -> Result<Option<Bytes>, ServiceError> {
        let Some(piece) = self.upload.content(&self.memory).await? else { return Ok(None) };
        let left = self.bytes_left.checked_sub(piece.len() as u64);
        self.bytes_left = left.ok_or_else(|| ServiceError::body_too_large(self.bytes_max))?;
        Ok(Some(piece))
    }

    fn bytes_left(&self) -> Option<u64> {
        self.upload.announced_bytes()
    }
}
