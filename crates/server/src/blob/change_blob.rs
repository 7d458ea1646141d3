//! Changes to a blob that leave its content alone, snapshots, and Delete Blob.

use tablerock_protocol::xml::{BOM, parse_tags, render_tags};
use tablerock_protocol::{ErrorCode, ServiceError, limits};
use tablerock_services::blob::DeleteSnapshots;

use super::BlobCall;
use super::encode::{changed, encrypted, sequence_number};
use super::names::{
    ACCESS_TIER, APPEND_POSITION, BLOB_CACHE_CONTROL, BLOB_CONTENT_DISPOSITION, BLOB_CONTENT_ENCODING,
    BLOB_CONTENT_LANGUAGE, BLOB_CONTENT_MD5, BLOB_CONTENT_TYPE, DELETE_SNAPSHOTS,
};
use super::request::BlobTarget;
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

pub(super) async fn set_blob_properties(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let (address, terms) = (call.address(at), call.write_terms()?);
    let names = [
        BLOB_CACHE_CONTROL,
        BLOB_CONTENT_DISPOSITION,
        BLOB_CONTENT_ENCODING,
        BLOB_CONTENT_LANGUAGE,
        BLOB_CONTENT_MD5,
        BLOB_CONTENT_TYPE,
    ];
    let headers = call.content_headers(false)?;
    let headers = names.iter().any(|name| call.header_value(name).is_some()).then_some(&headers);
    let blobs = &call.server().blobs;
    let blob = match call.page_properties()? {
        Some(pages) => blobs.set_page_properties(address, &terms, headers, pages).await?,
        None => blobs.set_blob_properties(address, &terms, headers).await?,
    };
    Ok(sequence_number(changed(Reply::empty(200), blob.changed), &blob))
}

pub(super) async fn set_blob_metadata(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let (address, terms, metadata) = (call.address(at), call.write_terms()?, call.metadata()?);
    let blob = call.server().blobs.set_blob_metadata(address, &terms, &metadata).await?;
    Ok(encrypted(changed(Reply::empty(200), blob.changed)))
}

pub(super) async fn seal_blob(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let (address, terms) = (call.address(at), call.write_terms()?);
    let blob = call.server().blobs.seal_blob(address, &terms, call.number(&APPEND_POSITION)?).await?;
    Ok(changed(Reply::empty(200), blob.changed).with(ResponseHeader::BlobSealed, "true"))
}

pub(super) async fn set_blob_tier(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let tier = call.tier()?.ok_or_else(|| ServiceError::missing_header(ACCESS_TIER.as_str()))?;
    call.server().blobs.set_blob_tier(call.address(at), call.lease_id()?, &tier).await?;
    Ok(Reply::empty(200))
}

pub(super) async fn blob_tags(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let (address, snapshot, terms) = (call.address(at), call.snapshot()?, call.read_terms()?);
    let blob = call.server().blobs.blob(address, snapshot, &terms).await?;
    Ok(Reply::xml(200, format!("{BOM}{}", render_tags(&blob.tags)).into_bytes()))
}

pub(super) async fn set_blob_tags(call: &mut BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let (address, terms) = (call.address(at), call.write_terms()?);
    let tags = parse_tags(&call.whole_body(limits::XML_BODY_BYTES_MAX).await?)?;
    call.server().blobs.set_blob_tags(address, &terms, &tags).await?;
    Ok(Reply::empty(204))
}

pub(super) async fn snapshot_blob(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let (address, terms, metadata) = (call.address(at), call.write_terms()?, call.metadata()?);
    let metadata = Some(&metadata).filter(|metadata| !metadata.is_empty());
    let (taken, time) = call.server().blobs.snapshot_blob(address, &terms, metadata).await?;
    Ok(encrypted(changed(Reply::empty(201), time)).with(ResponseHeader::Snapshot, taken.to_seven_digits()))
}

pub(super) async fn delete_blob(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let address = call.address(at);
    let snapshots = call.parsed(&DELETE_SNAPSHOTS, |text| match text {
        "include" => Ok(DeleteSnapshots::Include),
        "only" => Ok(DeleteSnapshots::Only),
        _ => Err(ErrorCode::InvalidHeaderValue.into()),
    })?;
    match (call.snapshot()?, snapshots) {
        (Some(_), Some(_)) => return Err(ServiceError::invalid_header(DELETE_SNAPSHOTS.as_str(), "include")),
        (Some(taken), None) => call.server().blobs.delete_snapshot(address, &call.read_terms()?, taken).await,
        (None, snapshots) => {
            let snapshots = snapshots.unwrap_or(DeleteSnapshots::Refuse);
            call.server().blobs.delete_blob(address, &call.write_terms()?, snapshots).await
        }
    }?;
    Ok(Reply::empty(202).with(ResponseHeader::DeleteTypePermanent, "true"))
}

/// Copies are synchronous, so there is never one to abort. The blob has to exist all the same.
pub(super) async fn abort_copy(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let terms = tablerock_services::blob::ReadTerms::default();
    call.server().blobs.blob(call.address(at), None, &terms).await?;
    Err(ErrorCode::NoPendingCopyOperation.into())
}

/// There is no soft delete, so there is nothing to restore. For a blob that exists, that is a success.
pub(super) async fn undelete_blob(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    let terms = tablerock_services::blob::ReadTerms::default();
    call.server().blobs.blob(call.address(at), None, &terms).await?;
    Ok(Reply::empty(200))
}
