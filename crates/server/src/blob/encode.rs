//! Results of the service as headers and list elements.

use tablerock_protocol::blob::{ContentHeaders, ContentMd5, Digests, Md5, strong_etag};
use tablerock_protocol::signing::ResponseHeaders;
use tablerock_protocol::{DateTime, ServiceVersion};
use tablerock_services::blob::{Blob, BlobKind, Lease, LeaseOutcome, LeaseState, PageBody, state_of};

use super::BlobCall;
use super::encryption::with_key;
use super::tier::listed_tier;
use crate::auth::Caller;
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

/// Adds the two headers that name the last change.
pub(super) fn changed(reply: Reply, changed: DateTime) -> Reply {
    reply.with(ResponseHeader::Etag, strong_etag(changed)).with(ResponseHeader::LastModified, changed.to_http_date())
}

/// Adds the header that clients expect for encryption at rest.
pub(super) fn encrypted(reply: Reply) -> Reply {
    reply.with(ResponseHeader::RequestServerEncrypted, "true")
}

/// Adds the checksum of a write: the kind that the client sent, otherwise CRC64. Newer versions always have the latter.
pub(super) fn checksum(call: &BlobCall<'_>, reply: Reply, digests: &Digests, md5: Option<Md5>) -> Reply {
    let has_both = call.cx.version >= ServiceVersion::BOTH_CHECKSUMS;
    let reply = match md5 {
        Some(md5) => reply.with(ResponseHeader::ContentMd5, md5.to_base64()),
        None => reply,
    };
    if md5.is_some() && !has_both {
        return reply;
    }
    reply.with(ResponseHeader::ContentCrc64, digests.crc64.to_base64())
}

/// Adds an MD5, if there is one.
pub(super) fn with_md5(reply: Reply, header: ResponseHeader, md5: Option<&ContentMd5>) -> Reply {
    match md5 {
        Some(md5) => reply.with(header, md5.to_base64()),
        None => reply,
    }
}

pub(super) fn lease_headers(reply: Reply, lease: Option<&Lease>, state: LeaseState) -> Reply {
    let status = if state.is_locked() { "locked" } else { "unlocked" };
    let reply = reply.with(ResponseHeader::LeaseStatus, status).with(ResponseHeader::LeaseState, state.name());
    match lease {
        Some(lease) if state == LeaseState::Leased => reply.with(ResponseHeader::LeaseDuration, lease_duration(lease)),
        _ => reply,
    }
}

pub(super) fn lease_duration(lease: &Lease) -> &'static str {
    match lease.duration {
        tablerock_protocol::blob::LeaseDuration::Infinite => "infinite",
        tablerock_protocol::blob::LeaseDuration::Seconds(_) => "fixed",
    }
}

pub(super) fn lease_outcome(time: DateTime, outcome: LeaseOutcome) -> Reply {
    let status = match outcome {
        LeaseOutcome::Acquired(_) => 201,
        LeaseOutcome::Broken(_) => 202,
        LeaseOutcome::Renewed(_) | LeaseOutcome::Changed(_) | LeaseOutcome::Released => 200,
    };
    let reply = changed(Reply::empty(status), time);
    match outcome {
        LeaseOutcome::Acquired(id) | LeaseOutcome::Renewed(id) | LeaseOutcome::Changed(id) => {
            reply.with(ResponseHeader::LeaseId, id.to_string())
        }
        LeaseOutcome::Broken(seconds) => reply.with(ResponseHeader::LeaseTime, seconds.to_string()),
        LeaseOutcome::Released => reply,
    }
}

/// Adds the properties of a blob.
pub(super) fn blob_headers(call: &BlobCall<'_>, mut reply: Reply, blob: &Blob, is_snapshot: bool) -> Reply {
    reply = changed(reply, blob.changed)
        .with(ResponseHeader::AcceptRanges, "bytes")
        .with(ResponseHeader::BlobType, blob.kind.name())
        .with(ResponseHeader::CreationTime, blob.created.to_http_date())
        .with(ResponseHeader::ServerEncrypted, "true");
    reply = with_key(reply, blob.key_digest);
    reply = content_headers(reply, &blob.headers, overrides(call.caller));
    if !is_snapshot {
        let state = state_of(blob.lease.as_ref(), call.cx.now.ticks());
        reply = lease_headers(reply, blob.lease.as_ref(), state);
    }
    if blob.kind == BlobKind::Append {
        reply = reply.with(ResponseHeader::CommittedBlockCount, blob.blocks.to_string());
    }
    reply = sequence_number(reply, blob);
    if blob.is_sealed {
        reply = reply.with(ResponseHeader::BlobSealed, "true");
    }
    if !blob.tags.is_empty() {
        reply = reply.with(ResponseHeader::TagCount, blob.tags.pairs().len().to_string());
    }
    if let Some(copy) = &blob.copy {
        reply = reply
            .with(ResponseHeader::CopyId, copy.id.clone())
            .with(ResponseHeader::CopySource, copy.source.to_string())
            .with(ResponseHeader::CopyStatus, "success")
            .with(ResponseHeader::CopyProgress, format!("{0}/{0}", blob.length))
            .with(ResponseHeader::CopyCompletionTime, copy.completed.to_http_date());
    }
    if let Some(taken) = blob.pages().ok().and_then(PageBody::copy_destination_snapshot) {
        reply = reply
            .with(ResponseHeader::IncrementalCopy, "true")
            .with(ResponseHeader::CopyDestinationSnapshot, taken.to_seven_digits());
    }
    reply.metadata = blob.metadata.pairs().to_vec();
    reply
}

/// Adds the sequence number, which only page blobs have.
pub(super) fn sequence_number(reply: Reply, blob: &Blob) -> Reply {
    match blob.pages() {
        Ok(pages) => reply.with(ResponseHeader::BlobSequenceNumber, pages.sequence_number().to_string()),
        Err(_) => reply,
    }
}

/// The response headers that a SAS sets instead of the blob's own.
fn overrides(caller: &Caller) -> Option<&ResponseHeaders> {
    match caller {
        Caller::Blob(grant) => Some(&grant.response_headers),
        _ => None,
    }
}

fn content_headers(mut reply: Reply, headers: &ContentHeaders, overrides: Option<&ResponseHeaders>) -> Reply {
    let mut add = |header, own: &str, by_sas: Option<&String>| {
        let value = by_sas.map_or(own, String::as_str);
        if !value.is_empty() {
            reply.headers.push((header, value.to_owned().into()));
        }
    };
    let by_sas = |pick: fn(&ResponseHeaders) -> &Option<String>| overrides.and_then(|headers| pick(headers).as_ref());
    add(
        ResponseHeader::ContentType,
        headers.content_type.shown().unwrap_or_default(),
        by_sas(|headers| &headers.content_type),
    );
    add(ResponseHeader::ContentEncoding, &headers.encoding, by_sas(|headers| &headers.content_encoding));
    add(ResponseHeader::ContentLanguage, &headers.language, by_sas(|headers| &headers.content_language));
    add(ResponseHeader::ContentDisposition, &headers.disposition, by_sas(|headers| &headers.content_disposition));
    add(ResponseHeader::CacheControl, &headers.cache_control, by_sas(|headers| &headers.cache_control));
    reply
}

/// The elements of a blob in a list.
pub(super) fn listed_properties(
    blob: &Blob,
    is_snapshot: bool,
    with_copy: bool,
    now: DateTime,
) -> Vec<(&'static str, String)> {
    let headers = &blob.headers;
    let mut properties = vec![
        ("Creation-Time", blob.created.to_http_date()),
        ("Last-Modified", blob.changed.to_http_date()),
        ("Etag", tablerock_protocol::blob::unquoted_etag(blob.changed)),
        ("Content-Length", blob.length.to_string()),
        ("Content-Type", headers.content_type.shown().unwrap_or_default().to_owned()),
        ("Content-Encoding", headers.encoding.clone()),
        ("Content-Language", headers.language.clone()),
        ("Content-MD5", headers.md5.as_ref().map(ContentMd5::to_base64).unwrap_or_default()),
        ("Cache-Control", headers.cache_control.clone()),
        ("Content-Disposition", headers.disposition.clone()),
    ];
    if let Ok(pages) = blob.pages() {
        properties.push(("x-ms-blob-sequence-number", pages.sequence_number().to_string()));
    }
    properties.push(("BlobType", blob.kind.name().to_owned()));
    if blob.is_sealed {
        properties.push(("Sealed", "true".to_owned()));
    }
    properties.extend(listed_tier(blob, now));
    if !is_snapshot {
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
        properties.push(("CopySource", copy.source.to_string()));
        properties.push(("CopyProgress", format!("{0}/{0}", blob.length)));
        properties.push(("CopyCompletionTime", copy.completed.to_http_date()));
    }
    if let Some(taken) = blob.pages().ok().and_then(PageBody::copy_destination_snapshot) {
        properties.push(("IncrementalCopy", "true".to_owned()));
        if with_copy {
            properties.push(("CopyDestinationSnapshot", taken.to_seven_digits()));
        }
    }
    properties.push(("ServerEncrypted", "true".to_owned()));
    if let Some(digest) = blob.key_digest {
        properties.push(("CustomerProvidedKeySha256", digest.to_base64()));
    }
    if !blob.tags.is_empty() {
        properties.push(("TagCount", blob.tags.pairs().len().to_string()));
    }
    properties
}
