//! Page blobs: Put Blob, Put Page, Clear, Put Page From URL, Get Page Ranges and what Set Blob Properties has for them.

use bytes::Bytes;
use tablerock_protocol::blob::{
    ByteRange, Digests, PageRangeMarker, SequenceAction, SequenceConditions, parse_page_length, parse_page_range,
    parse_sequence_number,
};
use tablerock_protocol::xml::{ListedPages, render_page_list};
use tablerock_protocol::{DateTime, ErrorCode, ServiceError, ServiceVersion};
use tablerock_services::blob::{
    ContentSource, NewBlob, NewPages, PageProperties, PageRangeQuery, PageTerms, PageWrite, PagesWritten, WriteTerms,
};

use super::BlobCall;
use super::copy::check_source;
use super::encode::{changed, checksum, encrypted};
use super::encryption::with_key;
use super::names::{
    ACCESS_TIER, BLOB_CONTENT_LENGTH, BLOB_SEQUENCE_NUMBER, IF_SEQUENCE_NUMBER_EQ, IF_SEQUENCE_NUMBER_LE,
    IF_SEQUENCE_NUMBER_LT, PREVIOUS_SNAPSHOT_URL, RANGE, SEQUENCE_NUMBER_ACTION, SOURCE_RANGE,
};
use super::request::BlobTarget;
use crate::http::headers::{PAGE_WRITE, ResponseHeader};
use crate::http::reply::Reply;

/// The most bytes that one request writes.
const PUT_PAGE_BYTES_MAX: u64 = 4 << 20;

/// The most ranges of one response, in versions with and without markers.
const PAGED_RANGES_MAX: usize = 10_000;
const RANGES_MAX: usize = 50_000;

/// Checksums of more than this are computed on another thread.
const INLINE_DIGEST_BYTES_MAX: usize = 256 << 10;

pub(super) async fn put_page_blob(
    call: &mut BlobCall<'_>,
    at: BlobTarget<'_>,
    terms: &WriteTerms,
    new: &NewBlob,
) -> Result<Reply, ServiceError> {
    let length = call.parsed(&BLOB_CONTENT_LENGTH, parse_page_length)?;
    let length = length.ok_or_else(|| ServiceError::missing_header(BLOB_CONTENT_LENGTH.as_str()))?;
    let sequence_number = call.parsed(&BLOB_SEQUENCE_NUMBER, parse_sequence_number)?.unwrap_or(0);
    call.content(0..=0)?;
    let pages = NewPages { length, sequence_number };
    let put = call.server().blobs.put_page_blob(call.address(at), terms, new, pages).await?;
    Ok(with_key(encrypted(changed(Reply::empty(201), put)), terms.key_digest))
}

pub(super) async fn put_page(call: &mut BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let (address, range, terms) = (call.address(at), call.written_range()?, call.page_terms()?);
    let (md5, crc64) = call.body_checksums()?;
    call.check_written_length(range)?;
    let blobs = &call.server().blobs;
    blobs.check_page_blob(address).await?;
    let body = call.whole_body(PUT_PAGE_BYTES_MAX as usize).await?;
    if body.len() as u64 != range.length {
        return Err(ServiceError::invalid_header("Content-Length", &body.len().to_string()));
    }
    let digests = digests_of(&body, md5.is_some()).await?;
    digests.check(md5, crc64)?;
    let written = blobs.put_pages(address, &terms, range, PageWrite::Update(body)).await?;
    Ok(checksum(call, with_key(encrypted(answer(written)), terms.key_digest()), &digests, md5))
}

pub(super) async fn clear_page(call: &mut BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let (address, range, terms) = (call.address(at), call.written_range()?, call.page_terms()?);
    call.content(0..=0)?;
    let written = call.server().blobs.put_pages(address, &terms, range, PageWrite::Clear).await?;
    Ok(answer(written))
}

/// Pages whose bytes are those of another blob.
pub(super) async fn put_page_from_url(call: &mut BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let (address, range, terms) = (call.address(at), call.written_range()?, call.page_terms()?);
    let asked = call.source_range()?.ok_or_else(|| ServiceError::missing_header(SOURCE_RANGE.as_str()))?;
    let asked_bytes = asked.last.map(|last| last - asked.first + 1);
    call.check_written_length_of(range)?;
    if asked_bytes != Some(range.length) {
        let text = call.header(&SOURCE_RANGE).unwrap_or_default();
        return Err(ServiceError::invalid_header(SOURCE_RANGE.as_str(), text));
    }
    call.content(0..=0)?;
    let blobs = &call.server().blobs;
    blobs.check_page_blob(address).await?;
    let (_, source) = call.source_content().await?;
    if source.bytes_left() != Some(range.length) {
        return Err(ErrorCode::InvalidRange.into());
    }
    let permit = call.cx.memory().for_content(range.length as usize).await?;
    let body = source.read_to_end().await?;
    let digests = digests_of(&body, call.source_checksums()?.0.is_some()).await?;
    check_source(call, &digests)?;
    let written = blobs.put_pages(address, &terms, range, PageWrite::Update(body)).await?;
    drop(permit);
    let reply = with_key(encrypted(answer(written)), terms.key_digest());
    Ok(checksum(call, reply, &digests, digests.md5))
}

pub(super) async fn page_ranges(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let (address, snapshot, terms) = (call.address(at), call.snapshot()?, call.read_terms()?);
    // The address of a previous snapshot is for the snapshots of managed disks, which are not here.
    if call.header_value(&PREVIOUS_SNAPSHOT_URL).is_some() {
        return Err(ErrorCode::PreviousSnapshotOperationNotSupported.into());
    }
    let is_paged = call.cx.version >= ServiceVersion::PAGED_PAGE_RANGES;
    let query = PageRangeQuery {
        snapshot,
        previous: call.previous_snapshot()?,
        range: call.range(),
        from: if is_paged { call.page_range_marker()? } else { None },
        ranges_max: if is_paged { call.page_ranges_max()? } else { RANGES_MAX },
    };
    let found = call.server().blobs.page_ranges(address, &terms, &query).await?;
    if !is_paged && found.next.is_some() {
        let message = "The blob has more page ranges than one response holds. Ask for a range of it.";
        return Err(ServiceError::with_message(ErrorCode::OperationTimedOut, message));
    }
    let next = found.next.map(|offset| PageRangeMarker(offset).encode());
    let ranges = found.ranges.iter();
    let ranges = ranges.map(|range| ListedPages { first: range.first, last: range.last, is_cleared: range.is_cleared });
    let xml = render_page_list(ranges, next.as_deref());
    let reply = changed(Reply::xml(200, xml.into_bytes()), found.blob.changed);
    Ok(reply.with(ResponseHeader::BlobContentLength, found.blob.length.to_string()))
}

fn answer(written: PagesWritten) -> Reply {
    let reply = changed(Reply::empty(201), written.changed);
    reply.with(ResponseHeader::BlobSequenceNumber, written.sequence_number.to_string())
}

async fn digests_of(body: &Bytes, with_md5: bool) -> Result<Digests, ServiceError> {
    if body.len() <= INLINE_DIGEST_BYTES_MAX {
        return Ok(Digests::of(body, with_md5));
    }
    let body = body.clone();
    let computed = tokio::task::spawn_blocking(move || Digests::of(&body, with_md5)).await;
    computed.map_err(|_| ErrorCode::InternalError.into())
}

impl BlobCall<'_> {
    fn page_terms(&self) -> Result<PageTerms, ServiceError> {
        self.check_no_snapshot()?;
        let number = |name| self.parsed(&name, parse_sequence_number);
        let sequence = SequenceConditions {
            at_most: number(IF_SEQUENCE_NUMBER_LE)?,
            less: number(IF_SEQUENCE_NUMBER_LT)?,
            equal: number(IF_SEQUENCE_NUMBER_EQ)?,
        };
        self.check_scope()?;
        Ok(PageTerms { write: self.write_terms()?, sequence, key: self.customer_key()? })
    }

    /// The range of a write, whose kind must be given as well.
    fn written_range(&self) -> Result<ByteRange, ServiceError> {
        let write = self.header(&PAGE_WRITE).ok_or_else(|| ServiceError::missing_header(PAGE_WRITE.as_str()))?;
        if !["update", "clear"].iter().any(|known| known.eq_ignore_ascii_case(write)) {
            return Err(ServiceError::invalid_header(PAGE_WRITE.as_str(), write));
        }
        let range = match self.parsed(&RANGE, parse_page_range)? {
            Some(range) => Some(range),
            None => self.parsed(&http::header::RANGE, parse_page_range)?,
        };
        range.ok_or_else(|| ServiceError::missing_header(RANGE.as_str()))
    }

    /// Rejects a body that is too large or is not as long as the range.
    fn check_written_length(&self, range: ByteRange) -> Result<(), ServiceError> {
        let announced = self.body.upload.announced_bytes();
        if announced.is_some_and(|announced| announced > PUT_PAGE_BYTES_MAX) {
            return Err(ServiceError::body_too_large(PUT_PAGE_BYTES_MAX));
        }
        self.check_written_length_of(range)?;
        match announced.filter(|announced| *announced != range.length) {
            Some(announced) => Err(ServiceError::invalid_header("Content-Length", &announced.to_string())),
            None => Ok(()),
        }
    }

    fn check_written_length_of(&self, range: ByteRange) -> Result<(), ServiceError> {
        if range.length > PUT_PAGE_BYTES_MAX { Err(ErrorCode::InvalidPageRange.into()) } else { Ok(()) }
    }

    /// Page blobs have tiers on premium accounts only.
    pub(super) fn page_tier(&self) -> Result<Option<String>, ServiceError> {
        match self.header_value(&ACCESS_TIER) {
            Some(_) => Err(ErrorCode::AccessTierNotSupportedForBlobType.into()),
            None => Ok(None),
        }
    }

    /// The properties that only a page blob has, if any are given.
    pub(super) fn page_properties(&self) -> Result<Option<PageProperties>, ServiceError> {
        let length = self.parsed(&BLOB_CONTENT_LENGTH, parse_page_length)?;
        let sequence = self.sequence_action()?;
        let is_given = length.is_some() || sequence.is_some();
        Ok(is_given.then_some(PageProperties { length, sequence }))
    }

    fn sequence_action(&self) -> Result<Option<SequenceAction>, ServiceError> {
        let number = self.parsed(&BLOB_SEQUENCE_NUMBER, parse_sequence_number)?;
        let Some(action) = self.header(&SEQUENCE_NUMBER_ACTION) else {
            return match number {
                Some(_) => Err(ServiceError::missing_header(SEQUENCE_NUMBER_ACTION.as_str())),
                None => Ok(None),
            };
        };
        let missing = || ServiceError::missing_header(BLOB_SEQUENCE_NUMBER.as_str());
        Ok(Some(match action.to_ascii_lowercase().as_str() {
            "max" => SequenceAction::Max(number.ok_or_else(missing)?),
            "update" => SequenceAction::Update(number.ok_or_else(missing)?),
            "increment" => match number {
                None => SequenceAction::Increment,
                Some(number) => {
                    return Err(ServiceError::invalid_header(BLOB_SEQUENCE_NUMBER.as_str(), &number.to_string()));
                }
            },
            _ => return Err(ServiceError::invalid_header(SEQUENCE_NUMBER_ACTION.as_str(), action)),
        }))
    }

    fn previous_snapshot(&self) -> Result<Option<DateTime>, ServiceError> {
        let Some(text) = self.parameter("prevsnapshot").filter(|text| !text.is_empty()) else { return Ok(None) };
        let invalid = |_| ServiceError::invalid_parameter("prevsnapshot", text, "Not a time.");
        DateTime::parse(text).map(Some).map_err(invalid)
    }

    fn page_range_marker(&self) -> Result<Option<u64>, ServiceError> {
        let Some(marker) = self.parameter("marker").filter(|marker| !marker.is_empty()) else { return Ok(None) };
        let invalid = || ServiceError::invalid_parameter("marker", marker, "Not a marker of this list.");
        Ok(Some(PageRangeMarker::parse(marker).ok_or_else(invalid)?.0))
    }

    fn page_ranges_max(&self) -> Result<usize, ServiceError> {
        let Some(text) = self.parameter("maxresults").filter(|text| !text.is_empty()) else {
            return Ok(PAGED_RANGES_MAX);
        };
        match text.parse::<i64>() {
            Ok(count) if count > 0 => Ok(usize::try_from(count).unwrap_or(usize::MAX).min(PAGED_RANGES_MAX)),
            Ok(_) => Err(ServiceError::parameter_outside("maxresults", text, &(1..=PAGED_RANGES_MAX))),
            Err(_) => Err(ServiceError::invalid_parameter("maxresults", text, "Not a number.")),
        }
    }
}
