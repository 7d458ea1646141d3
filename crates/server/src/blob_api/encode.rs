//! What the service says, as headers.

use tablerock_protocol::blob::{CONTENT_TYPE_DEFAULT, ContentHeaders, Digests, Md5, strong_etag};
use tablerock_protocol::signing::ResponseHeaders;
use tablerock_protocol::{DateTime, ErrorCode, ServiceError};
use tablerock_services::Error;
use tablerock_services::blob::{Blob, BlobKind, Lease, LeaseOutcome, LeaseState, state_of};

use super::Call;
use crate::answer::Answer;
use crate::auth::Caller;
use crate::headers::AnswerHeader;

/// The tier of a blob that nobody gave one.
const TIER_DEFAULT: &str = "Hot";

/// What the client hears of a failure.
pub(super) fn refused(error: Error) -> ServiceError {
    match error.into_service_error() {
        // What is too long for the store is the blob's name, which is no key to this service.
        error if error.code == ErrorCode::KeyValueTooLarge => ErrorCode::OutOfRangeInput.into(),
        error => error,
    }
}

/// The two headers that say when something was changed.
pub(super) fn changed(answer: Answer, changed: DateTime) -> Answer {
    answer.with(AnswerHeader::Etag, strong_etag(changed)).with(AnswerHeader::LastModified, changed.to_http_date())
}

/// Everything that we store might be encrypted, and clients want to hear it.
pub(super) fn encrypted(answer: Answer) -> Answer {
    answer.with(AnswerHeader::RequestServerEncrypted, "true")
}

/// The checksum that a writer gets back: the kind that it gave, or else the newer one.
pub(super) fn checksum(answer: Answer, digests: &Digests, md5: Option<Md5>) -> Answer {
    match md5 {
        Some(md5) => answer.with(AnswerHeader::ContentMd5, md5.to_base64()),
        None => answer.with(AnswerHeader::ContentCrc64, digests.crc64.to_base64()),
    }
}

pub(super) fn lease_headers(answer: Answer, lease: Option<&Lease>, state: LeaseState) -> Answer {
    let status = if state.is_locked() { "locked" } else { "unlocked" };
    let answer = answer.with(AnswerHeader::LeaseStatus, status).with(AnswerHeader::LeaseState, state.name());
    match lease {
        Some(lease) if state == LeaseState::Leased => answer.with(AnswerHeader::LeaseDuration, lease_duration(lease)),
        _ => answer,
    }
}

pub(super) fn lease_duration(lease: &Lease) -> &'static str {
    match lease.duration {
        tablerock_protocol::blob::LeaseDuration::Infinite => "infinite",
        tablerock_protocol::blob::LeaseDuration::Seconds(_) => "fixed",
    }
}

pub(super) fn lease_outcome(time: DateTime, outcome: LeaseOutcome) -> Answer {
    let status = match outcome {
        LeaseOutcome::Acquired(_) => 201,
        LeaseOutcome::Broken(_) => 202,
        LeaseOutcome::Renewed(_) | LeaseOutcome::Changed(_) | LeaseOutcome::Released => 200,
    };
    let answer = changed(Answer::empty(status), time);
    match outcome {
        LeaseOutcome::Acquired(id) | LeaseOutcome::Renewed(id) | LeaseOutcome::Changed(id) => {
            answer.with(AnswerHeader::LeaseId, id.to_string())
        }
        LeaseOutcome::Broken(seconds) => answer.with(AnswerHeader::LeaseTime, seconds.to_string()),
        LeaseOutcome::Released => answer,
    }
}

/// What a reader is told about a blob, content or not.
pub(super) fn blob_headers(call: &Call<'_>, mut answer: Answer, blob: &Blob, is_snapshot: bool) -> Answer {
    answer = changed(answer, blob.changed)
        .with(AnswerHeader::AcceptRanges, "bytes")
        .with(AnswerHeader::BlobType, blob.kind.name())
        .with(AnswerHeader::CreationTime, blob.created.to_http_date())
        .with(AnswerHeader::ServerEncrypted, "true");
    answer = content_headers(answer, &blob.headers, overrides(call.caller));
    if !is_snapshot {
        let state = state_of(blob.lease.as_ref(), call.envelope.now.ticks());
        answer = lease_headers(answer, blob.lease.as_ref(), state);
    }
    if blob.kind == BlobKind::Append {
        answer = answer.with(AnswerHeader::CommittedBlockCount, blob.blocks.to_string());
    }
    if blob.is_sealed {
        answer = answer.with(AnswerHeader::BlobSealed, "true");
    }
    if !blob.tags.is_empty() {
        answer = answer.with(AnswerHeader::TagCount, blob.tags.pairs().len().to_string());
    }
    if let Some(copy) = &blob.copy {
        answer = answer
            .with(AnswerHeader::CopyId, copy.id.clone())
            .with(AnswerHeader::CopySource, copy.source.clone())
            .with(AnswerHeader::CopyStatus, "success")
            .with(AnswerHeader::CopyProgress, format!("{0}/{0}", blob.length))
            .with(AnswerHeader::CopyCompletionTime, copy.completed.to_http_date());
    }
    answer.metadata = blob.metadata.pairs().to_vec();
    answer
}

/// The tier, which only the properties of a block blob have.
pub(super) fn tier_headers(answer: Answer, blob: &Blob) -> Answer {
    match &blob.tier {
        _ if blob.kind != BlobKind::Block => answer,
        Some(tier) => answer
            .with(AnswerHeader::AccessTier, tier.name.clone())
            .with(AnswerHeader::AccessTierChangeTime, tier.changed.to_http_date()),
        None => answer.with(AnswerHeader::AccessTier, TIER_DEFAULT).with(AnswerHeader::AccessTierInferred, "true"),
    }
}

/// What the SAS of a reader puts in the place of the blob's own headers.
fn overrides(caller: &Caller) -> Option<&ResponseHeaders> {
    match caller {
        Caller::Blob(grant) => Some(&grant.response_headers),
        _ => None,
    }
}

fn content_headers(mut answer: Answer, headers: &ContentHeaders, overrides: Option<&ResponseHeaders>) -> Answer {
    let content_type = if headers.content_type.is_empty() { CONTENT_TYPE_DEFAULT } else { &headers.content_type };
    let mut add = |header, own: &str, by_sas: Option<&String>| {
        let value = by_sas.map_or(own, String::as_str);
        if !value.is_empty() {
            answer.headers.push((header, value.to_owned().into()));
        }
    };
    let by_sas = |pick: fn(&ResponseHeaders) -> &Option<String>| overrides.and_then(|headers| pick(headers).as_ref());
    add(AnswerHeader::ContentType, content_type, by_sas(|headers| &headers.content_type));
    add(AnswerHeader::ContentEncoding, &headers.encoding, by_sas(|headers| &headers.content_encoding));
    add(AnswerHeader::ContentLanguage, &headers.language, by_sas(|headers| &headers.content_language));
    add(AnswerHeader::ContentDisposition, &headers.disposition, by_sas(|headers| &headers.content_disposition));
    add(AnswerHeader::CacheControl, &headers.cache_control, by_sas(|headers| &headers.cache_control));
    answer
}

/// The elements of a blob in a list.
pub(super) fn listed_properties(
    blob: &Blob,
    is_snapshot: bool,
    with_copy: bool,
    now: DateTime,
) -> Vec<(&'static str, String)> {
    let headers = &blob.headers;
    let content_type = if headers.content_type.is_empty() { CONTENT_TYPE_DEFAULT } else { &headers.content_type };
    let mut properties = vec![
        ("Creation-Time", blob.created.to_http_date()),
        ("Last-Modified", blob.changed.to_http_date()),
        ("Etag", tablerock_protocol::blob::unquoted_etag(blob.changed)),
        ("Content-Length", blob.length.to_string()),
        ("Content-Type", content_type.to_owned()),
        ("Content-Encoding", headers.encoding.clone()),
        ("Content-Language", headers.language.clone()),
        ("Content-MD5", headers.md5.map(Md5::to_base64).unwrap_or_default()),
        ("Cache-Control", headers.cache_control.clone()),
        ("Content-Disposition", headers.disposition.clone()),
        ("BlobType", blob.kind.name().to_owned()),
    ];
    if blob.is_sealed {
        properties.push(("Sealed", "true".to_owned()));
    }
    if !is_snapshot {
        properties.extend(listed_tier(blob));
        let state = state_of(blob.lease.as_ref(), now.ticks());
        properties.push(("LeaseStatus", if state.is_locked() { "locked" } else { "unlocked" }.to_owned()));
        properties.push(("LeaseState", state.name().to_owned()));
        if let Some(lease) = blob.lease.as_ref().filter(|_| state == LeaseState::Leased) {
            properties.push(("LeaseDuration", lease_duration(lease).to_owned()));
        }
    }
    if let Some(copy) = blob.copy.as_ref().filter(|_| with_copy) {
        properties.push(("CopyId", copy.id.clone()));
        properties.push(("CopyStatus", "success".to_owned()));
        properties.push(("CopySource", copy.source.clone()));
        properties.push(("CopyProgress", format!("{0}/{0}", blob.length)));
        properties.push(("CopyCompletionTime", copy.completed.to_http_date()));
    }
    properties.push(("ServerEncrypted", "true".to_owned()));
    if !blob.tags.is_empty() {
        properties.push(("TagCount", blob.tags.pairs().len().to_string()));
    }
    properties
}

fn listed_tier(blob: &Blob) -> Vec<(&'static str, String)> {
    match &blob.tier {
        _ if blob.kind != BlobKind::Block => vec![],
        Some(tier) => {
            vec![("AccessTier", tier.name.clone()), ("AccessTierChangeTime", tier.changed.to_http_date())]
        }
        None => vec![("AccessTier", TIER_DEFAULT.to_owned()), ("AccessTierInferred", "true".to_owned())],
    }
}
