//! Changes to a blob that leave its content alone, snapshots, and Delete Blob.

use tablerock_protocol::blob::{ContentType, Digests};
use tablerock_protocol::xml::{BOM, parse_tags, render_tags};
use tablerock_protocol::{ErrorCode, ServiceError, limits};
use tablerock_services::blob::{DeleteSnapshots, ReadTerms, TierChange, WriteTerms};

use super::BlobCall;
use super::encode::{changed, encrypted, sequence_number};
use super::encryption::with_key;
use super::names::{
    ACCESS_TIER, APPEND_POSITION, BLOB_CACHE_CONTROL, BLOB_CONTENT_DISPOSITION, BLOB_CONTENT_ENCODING,
    BLOB_CONTENT_LANGUAGE, BLOB_CONTENT_MD5, BLOB_CONTENT_TYPE, DELETE_SNAPSHOTS, REHYDRATE_PRIORITY,
};
use super::request::BlobTarget;
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

pub(super) async fn set_blob_properties(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    call.check_scope()?;
    let (address, terms) = (call.address(at), call.keyed_write_terms()?);
    let mut headers = call.content_headers(false)?;
    if headers.content_type == ContentType::Default {
        headers.content_type = ContentType::Cleared;
    }
    let blobs = &call.server().blobs;
    let blob = match call.page_properties()? {
        Some(pages) => {
            let names = [
                BLOB_CACHE_CONTROL,
                BLOB_CONTENT_DISPOSITION,
                BLOB_CONTENT_ENCODING,
                BLOB_CONTENT_LANGUAGE,
                BLOB_CONTENT_MD5,
                BLOB_CONTENT_TYPE,
            ];
            // A change of the length or of the sequence number alone leaves the headers as they are.
            let headers = names.iter().any(|name| call.header_value(name).is_some()).then_some(&headers);
            blobs.set_page_properties(address, &terms, headers, pages).await?
        }
        None => blobs.set_blob_properties(address, &terms, Some(&headers)).await?,
    };
    Ok(sequence_number(changed(Reply::empty(200), blob.changed), &blob))
}

pub(super) async fn set_blob_metadata(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    call.check_scope()?;
    let (address, terms, metadata) = (call.address(at), call.keyed_write_terms()?, call.metadata()?);
    let blob = call.server().blobs.set_blob_metadata(address, &terms, &metadata).await?;
    Ok(with_key(encrypted(changed(Reply::empty(200), blob.changed)), terms.key_digest))
}

pub(super) async fn seal_blob(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let (address, terms) = (call.address(at), call.write_terms()?);
    let blob = call.server().blobs.seal_blob(address, &terms, call.number(&APPEND_POSITION)?).await?;
    Ok(changed(Reply::empty(200), blob.changed).with(ResponseHeader::BlobSealed, "true"))
}

pub(super) async fn set_blob_tier(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let snapshot = call.snapshot()?;
    let tier = call.access_tier()?.ok_or_else(|| ServiceError::missing_header(ACCESS_TIER.as_str()))?;
    let terms = ReadTerms { tags: call.if_tags()?, lease: call.lease_id()?, ..ReadTerms::default() };
    let priority = call.keyword(&REHYDRATE_PRIORITY)?;
    let set = call.server().blobs.set_blob_tier(call.address(at), snapshot, &terms, tier, priority).await?;
    Ok(Reply::empty(match set {
        TierChange::Done => 200,
        TierChange::Pending => 202,
    }))
}

pub(super) async fn blob_tags(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let (address, snapshot) = (call.address(at), call.snapshot()?);
    let terms = ReadTerms { conditions: call.blob_conditions()?, tags: call.if_tags()?, lease: call.lease_id()? };
    let blob = call.server().blobs.blob(address, snapshot, &terms).await?;
    Ok(Reply::xml(200, format!("{BOM}{}", render_tags(&blob.tags)).into_bytes()))
}

pub(super) async fn set_blob_tags(call: &mut BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let (address, conditions) = (call.address(at), call.blob_conditions()?);
    conditions.check_combination()?;
    let terms = WriteTerms { conditions, tags: call.if_tags()?, lease: call.lease_id()?, ..WriteTerms::default() };
    let (md5, crc64) = call.body_checksums()?;
    let body = call.whole_body(limits::XML_BODY_BYTES_MAX).await?;
    Digests::of(&body, md5.is_some()).check(md5, crc64)?;
    let tags = parse_tags(&body)?;
    call.server().blobs.set_blob_tags(address, &terms, &tags).await?;
    Ok(Reply::empty(204))
}

pub(super) async fn snapshot_blob(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    call.check_scope()?;
    let (address, terms, metadata) = (call.address(at), call.keyed_write_terms()?, call.metadata()?);
    let metadata = Some(&metadata).filter(|metadata| !metadata.is_empty());
    let (taken, time) = call.server().blobs.snapshot_blob(address, &terms, metadata).await?;
    let reply = encrypted(changed(Reply::empty(201), time)).with(ResponseHeader::Snapshot, taken.to_seven_digits());
    // Without metadata of its own a snapshot encrypts nothing, and the response does not name the key.
    Ok(with_key(reply, terms.key_digest.filter(|_| metadata.is_some())))
}

pub(super) async fn delete_blob(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let address = call.address(at);
    let snapshots = call.keyword(&DELETE_SNAPSHOTS)?;
    let terms = WriteTerms { tier: call.tier_condition()?, ..call.write_terms()? };
    match (call.snapshot()?, snapshots) {
        (Some(_), Some(_)) => return Err(ServiceError::invalid_header(DELETE_SNAPSHOTS.as_str(), "include")),
        (Some(taken), None) => call.server().blobs.delete_snapshot(address, &terms, taken).await,
        (None, snapshots) => {
            let snapshots = snapshots.unwrap_or(DeleteSnapshots::Refuse);
            call.server().blobs.delete_blob(address, &terms, snapshots).await
        }
    }?;
    Ok(Reply::empty(202).with(ResponseHeader::DeleteTypePermanent, "true"))
}

/// Copies are synchronous, so there is never one to abort. The blob has to exist all the same.
pub(super) async fn abort_copy(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let terms = ReadTerms::default();
    call.server().blobs.blob(call.address(at), None, &terms).await?;
    Err(ErrorCode::NoPendingCopyOperation.into())
}

/// There is no soft delete, so there is nothing to restore. For a blob that exists, that is a success.
pub(super) async fn undelete_blob(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let terms = ReadTerms::default();
    call.server().blobs.blob(call.address(at), None, &terms).await?;
    Ok(Reply::empty(200))
}
