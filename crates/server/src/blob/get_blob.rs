//! Get Blob, Get Blob Properties and Get Blob Metadata.

use tablerock_protocol::blob::{ByteRange, ContentMd5, Crc64, Md5, RangeAsked, check_customer_key};
use tablerock_protocol::{DateTime, ErrorCode, ServiceError, ServiceVersion};
use tablerock_services::blob::{Blob, BlobReader, RangeChoice};

use super::encode::{blob_headers, changed, with_md5};
use super::names::{RANGE_CRC64, RANGE_MD5};
use super::request::BlobTarget;
use super::tier::tier_headers;
use super::{BlobCall, CONTENT_BYTES};
use crate::http::headers::ResponseHeader;
use crate::http::reply::{Reply, ReplyBody};
use crate::http::respond::{self, ErrorFormat};
use crate::http::response_body::BodyStream;
use crate::memory_budget::{ClientBudget, MemoryPermit};

/// The largest range whose checksum is computed on demand.
const CHECKED_BYTES_MAX: u64 = 4 << 20;

/// Pages of up to this size are read at once.
const PAGES_AT_ONCE_BYTES_MAX: usize = 4 << 20;

/// Content up to this size is read before the response begins.
const WHOLE_BYTES_MAX: u64 = 256 << 10;

pub(super) async fn get_blob(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let (address, snapshot, terms) = (call.address(at), call.snapshot()?, call.read_terms()?);
    let (asked, key) = (call.range(), call.customer_key()?);
    let mut chosen = Chosen { asked, memory: call.cx.memory(), blob_length: 0, permit: MemoryPermit::default() };
    let opened = call.server().blobs.download_with(address, snapshot, &terms, key.as_ref(), &mut chosen).await;
    let opened = opened.map_err(ServiceError::from);
    let (blob, range, reader) = match opened {
        Err(error) if error.code == ErrorCode::InvalidRange => {
            return Ok(invalid_range(call, &error, chosen.blob_length));
        }
        opened => opened?,
    };
    let status = if asked.is_some() { 206 } else { 200 };
    let checks = Checks::of(call, asked.is_some(), range)?;
    let (body, checksums) = body(reader, range, &checks).await?;
    let mut reply = Reply { permit: chosen.permit, ..Reply::carrying(status, body) };
    if asked.is_some() {
        reply = reply.with(ResponseHeader::ContentRange, range.content_range(blob.length));
        reply = with_md5(reply, ResponseHeader::BlobContentMd5, blob.headers.md5.as_ref());
        reply = with_md5(reply, ResponseHeader::ContentMd5, checksums.0.map(ContentMd5::from).as_ref());
        if let Some(crc64) = checksums.1 {
            reply = reply.with(ResponseHeader::ContentCrc64, crc64.to_base64());
        }
    } else {
        reply = with_md5(reply, ResponseHeader::ContentMd5, blob.headers.md5.as_ref());
    }
    let reply = blob_headers(call, reply, &blob, snapshot.is_some());
    let has_tier = call.cx.version >= ServiceVersion::BOTH_CHECKSUMS;
    Ok(if has_tier { tier_headers(reply, &blob, call.cx.now) } else { reply })
}

/// The range that is read, and its memory, which comes before the content.
struct Chosen<'a> {
    asked: Option<RangeAsked>,
    memory: ClientBudget<'a>,
    blob_length: u64,
    permit: MemoryPermit,
}

impl RangeChoice for &mut Chosen<'_> {
    async fn choose(&mut self, blob: &Blob) -> Result<ByteRange, ServiceError> {
        self.blob_length = blob.length;
        let range = self.asked.map_or(Ok(ByteRange::whole(blob.length)), |asked| asked.within(blob.length))?;
        let length = usize::try_from(range.length).unwrap_or(usize::MAX);
        let needed = match blob.pages() {
            // Pages of one moment are read as a whole, next to what older layers have of them.
            Ok(_) if length <= PAGES_AT_ONCE_BYTES_MAX => 2 * length,
            _ => length.min(CONTENT_BYTES),
        };
        self.permit = self.memory.for_content(needed).await?;
        Ok(range)
    }
}

/// The checksums of a range that the client asks for.
#[derive(Default)]
struct Checks {
    md5: bool,
    crc64: bool,
}

impl Checks {
    fn of(call: &BlobCall<'_>, has_range: bool, range: ByteRange) -> Result<Self, ServiceError> {
        let wants = |name| Ok::<_, ServiceError>(call.keyword(&name)?.unwrap_or(false));
        let checks = Self { md5: wants(RANGE_MD5)?, crc64: wants(RANGE_CRC64)? };
        if !checks.md5 && !checks.crc64 {
            return Ok(checks);
        }
        if checks.md5 && checks.crc64 {
            return Err(ErrorCode::BothCrc64AndMd5HeaderPresent.into());
        }
        let name = if checks.md5 { RANGE_MD5 } else { RANGE_CRC64 };
        if !has_range {
            return Err(ServiceError::invalid_header(name.as_str(), "true"));
        }
        if range.length > CHECKED_BYTES_MAX { Err(ErrorCode::OutOfRangeInput.into()) } else { Ok(checks) }
    }
}

type Checksums = (Option<Md5>, Option<Crc64>);

/// Small content as a whole, large content as a stream.
async fn body(reader: BlobReader, range: ByteRange, checks: &Checks) -> Result<(ReplyBody, Checksums), ServiceError> {
    if range.length > WHOLE_BYTES_MAX && !checks.md5 && !checks.crc64 {
        let next = |mut reader: BlobReader| async move {
            let piece = reader.next().await?;
            Ok(piece.map(|piece| (piece, reader)))
        };
        return Ok((ReplyBody::Stream(BodyStream::new(range.length, CONTENT_BYTES, reader, next)), (None, None)));
    }
    let bytes = reader.read_to_end().await?;
    let md5 = checks.md5.then(|| Md5::of(&bytes));
    let crc64 = checks.crc64.then(|| Crc64::of(&bytes));
    Ok((ReplyBody::Shared(bytes), (md5, crc64)))
}

/// The error for a range that is not there, which names the length of the blob.
fn invalid_range(call: &BlobCall<'_>, error: &ServiceError, blob_length: u64) -> Reply {
    let reply = respond::error_reply(call.cx, call.accepted, ErrorFormat::Blob, error);
    let reply = reply
        .with(ResponseHeader::ErrorCode, error.code.name())
        .with(ResponseHeader::ContentRange, format!("bytes */{blob_length}"));
    Reply { error: Some(error.code), ..reply }
}

pub(super) async fn blob_properties(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let (address, snapshot, terms) = (call.address(at), call.snapshot()?, call.read_terms()?);
    let key = call.key_digest()?;
    let blob = call.server().blobs.blob(address, snapshot, &terms).await?;
    check_customer_key(blob.key_digest, key)?;
    let mut reply = Reply::empty(200).with(ResponseHeader::ContentLength, blob.length.to_string());
    reply = with_md5(reply, ResponseHeader::ContentMd5, blob.headers.md5.as_ref());
    reply = blob_headers(call, reply, &blob, snapshot.is_some());
    reply = tier_headers(reply, &blob, call.cx.now);
    Ok(match snapshot {
        Some(taken) => reply.with(ResponseHeader::Snapshot, DateTime::to_seven_digits(taken)),
        None => reply,
    })
}

pub(super) async fn blob_metadata(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let (address, snapshot, terms) = (call.address(at), call.snapshot()?, call.read_terms()?);
    let key = call.key_digest()?;
    let blob = call.server().blobs.blob(address, snapshot, &terms).await?;
    check_customer_key(blob.key_digest, key)?;
    let mut reply = changed(Reply::empty(200), blob.changed);
    reply.metadata = blob.metadata.pairs().to_vec();
    Ok(reply)
}
