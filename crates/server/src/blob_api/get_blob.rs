//! Get Blob, and what its properties and metadata say without it.

use tablerock_protocol::blob::{ByteRange, Crc64, Md5};
use tablerock_protocol::{DateTime, ErrorCode, ServiceError};
use tablerock_services::blob::{Blob, BlobReader};

use super::Call;
use super::encode::{blob_headers, changed, refused, tier_headers};
use super::names::{RANGE_CRC64, RANGE_MD5};
use crate::answer::{Answer, AnswerBody};
use crate::content::Stream;
use crate::headers::AnswerHeader;
use crate::observe::Seen;
use crate::respond::Voice;

/// Ranges whose checksum is computed for their reader.
const CHECKED_BYTES_MAX: u64 = 4 << 20;

/// Content up to this is read as a whole before it is answered.
const WHOLE_BYTES_MAX: u64 = 256 << 10;

/// What one piece of a stream takes up.
const PIECE_BYTES: usize = 256 << 10;

pub(super) async fn get_blob(call: Call<'_>, seen: &mut Seen<'_>) -> Result<Answer, ServiceError> {
    let (address, snapshot, terms) = (call.address()?, call.snapshot()?, call.read_terms()?);
    let asked = call.range();
    let mut blob_length = 0;
    let choose = |blob: &Blob| {
        blob_length = blob.length;
        asked.map_or(Ok(ByteRange::whole(blob.length)), |asked| asked.within(blob.length))
    };
    let opened = call.server.blobs.download(address, snapshot, &terms, choose).await.map_err(refused);
    let (blob, range, reader) = match opened {
        Err(error) if error.code == ErrorCode::InvalidRange => {
            return Ok(invalid_range(&call, &error, blob_length, seen));
        }
        opened => opened?,
    };
    let status = if asked.is_some() { 206 } else { 200 };
    let checks = Checks::of(&call, asked.is_some(), range)?;
    let (body, checksums) = body(reader, range, &checks).await?;
    let mut answer = Answer::carrying(status, body);
    if asked.is_some() {
        answer = answer.with(AnswerHeader::ContentRange, range.content_range(blob.length));
        answer = with_md5(answer, AnswerHeader::BlobContentMd5, blob.headers.md5);
        answer = with_md5(answer, AnswerHeader::ContentMd5, checksums.0);
        if let Some(crc64) = checksums.1 {
            answer = answer.with(AnswerHeader::ContentCrc64, crc64.to_base64());
        }
    } else {
        answer = with_md5(answer, AnswerHeader::ContentMd5, blob.headers.md5);
    }
    Ok(blob_headers(&call, answer, &blob, snapshot.is_some()))
}

/// Which checksums of a range a reader wants.
#[derive(Default)]
struct Checks {
    md5: bool,
    crc64: bool,
}

impl Checks {
    fn of(call: &Call<'_>, has_range: bool, range: ByteRange) -> Result<Self, ServiceError> {
        let wants = |name| call.header(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let checks = Self { md5: wants(RANGE_MD5), crc64: wants(RANGE_CRC64) };
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
async fn body(reader: BlobReader, range: ByteRange, checks: &Checks) -> Result<(AnswerBody, Checksums), ServiceError> {
    if range.length > WHOLE_BYTES_MAX && !checks.md5 && !checks.crc64 {
        let next = |mut reader: BlobReader| async move {
            let piece = reader.next().await.map_err(refused)?;
            Ok(piece.map(|piece| (piece, reader)))
        };
        return Ok((AnswerBody::Stream(Stream::new(range.length, PIECE_BYTES, reader, next)), (None, None)));
    }
    let bytes = reader.read_to_end().await.map_err(refused)?;
    let md5 = checks.md5.then(|| Md5::of(&bytes));
    let crc64 = checks.crc64.then(|| Crc64::of(&bytes));
    Ok((AnswerBody::Shared(bytes), (md5, crc64)))
}

/// The refusal of a range that is not there tells how long the blob is.
fn invalid_range(call: &Call<'_>, error: &ServiceError, blob_length: u64, seen: &mut Seen<'_>) -> Answer {
    seen.error = Some(error.code);
    let answer = call.envelope.error_answer(Voice::Blob, error);
    answer
        .with(AnswerHeader::ErrorCode, error.code.name())
        .with(AnswerHeader::ContentRange, format!("bytes */{blob_length}"))
}

pub(super) async fn blob_properties(call: Call<'_>) -> Result<Answer, ServiceError> {
    let (address, snapshot, terms) = (call.address()?, call.snapshot()?, call.read_terms()?);
    let blob = call.server.blobs.blob(address, snapshot, &terms).await.map_err(refused)?;
    let mut answer = Answer::empty(200).with(AnswerHeader::ContentLength, blob.length.to_string());
    answer = with_md5(answer, AnswerHeader::ContentMd5, blob.headers.md5);
    answer = blob_headers(&call, answer, &blob, snapshot.is_some());
    Ok(match snapshot {
        Some(taken) => answer.with(AnswerHeader::Snapshot, DateTime::to_seven_digits(taken)),
        None => tier_headers(answer, &blob),
    })
}

pub(super) async fn blob_metadata(call: Call<'_>) -> Result<Answer, ServiceError> {
    let (address, snapshot, terms) = (call.address()?, call.snapshot()?, call.read_terms()?);
    let blob = call.server.blobs.blob(address, snapshot, &terms).await.map_err(refused)?;
    let mut answer = changed(Answer::empty(200), blob.changed);
    answer.metadata = blob.metadata.pairs().to_vec();
    Ok(answer)
}

fn with_md5(answer: Answer, header: AnswerHeader, md5: Option<Md5>) -> Answer {
    match md5 {
        Some(md5) => answer.with(header, md5.to_base64()),
        None => answer,
    }
}
