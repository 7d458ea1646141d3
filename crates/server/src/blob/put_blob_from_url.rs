//! Put Blob From URL: a Put Blob whose content is that of another blob.

use tablerock_protocol::blob::ContentHeaders;
use tablerock_protocol::{ErrorCode, ServiceError};
use tablerock_services::blob::{Blob, BlobKind, NewBlob};

use super::BlobCall;
use super::copy::{check_source, with_progress};
use super::encode::{changed, encrypted, with_md5};
use super::encryption::with_key;
use super::names::COPY_SOURCE_PROPERTIES;
use super::put_blob::put_blob_bytes_max;
use super::request::BlobTarget;
use crate::http::headers::{BLOB_TYPE, ResponseHeader};
use crate::http::reply::Reply;

/// Creates a block blob of the source's bytes. Nothing of it remembers the source.
pub(super) async fn put_blob_from_url(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    if call.keyword(&BLOB_TYPE)? != Some(BlobKind::Block) {
        let given = call.header(&BLOB_TYPE).unwrap_or_default();
        return Err(ServiceError::invalid_header(BLOB_TYPE.as_str(), given));
    }
    call.check_scope()?;
    let (address, terms, key) = (call.address(at), call.write_terms()?, call.customer_key()?);
    let given = call.content_headers(false)?;
    let (metadata, tags, tier) = (call.metadata()?, call.copied_tags()?, call.tier()?);
    let (source, mut content) = call.source_content().await?;
    if source.length > put_blob_bytes_max(call.cx.version) {
        return Err(ServiceError::body_too_large(put_blob_bytes_max(call.cx.version)));
    }
    let receive = call.server().blobs.receive_blob_with(address, &mut content, true, key.as_ref());
    let received = with_progress(call.body.progress, receive).await?;
    let (digests, key_digest) = (received.digests, received.key_digest);
    check_source(call, &digests)?;
    digests.check_stated(given.md5.as_ref())?;
    let metadata = if metadata.is_empty() { source.metadata.clone() } else { metadata };
    let with_properties = call.keyword(&COPY_SOURCE_PROPERTIES)?.unwrap_or(true);
    let mut headers = if with_properties { headers_of_copy(given, &source) } else { given };
    let tags = tags.unwrap_or_else(|| source.tags.clone());
    headers.md5 = digests.md5.map(Into::into);
    let new = NewBlob { kind: BlobKind::Block, headers, metadata, tags, tier };
    let put = call.server().blobs.put_blob(address, &terms, &new, received).await;
    let put = put.map_err(ServiceError::from).map_err(|error| match error.code {
        // The ETag alone has the code that it has in a copy; the other conditions have that of a Put Blob.
        ErrorCode::ConditionNotMet if terms.conditions.if_match.is_some() && terms.tags.is_none() => {
            ErrorCode::TargetConditionNotMet.into()
        }
        _ => error,
    })?;
    let reply = with_key(encrypted(changed(Reply::empty(201), put)), key_digest);
    let md5 = call.source_checksums()?.0;
    let reply = with_md5(reply, ResponseHeader::ContentMd5, md5.map(Into::into).as_ref());
    Ok(reply.with(ResponseHeader::ContentCrc64, digests.crc64.to_base64()))
}

/// The headers that the request gives, and those of the source for the rest.
fn headers_of_copy(given: ContentHeaders, source: &Blob) -> ContentHeaders {
    let or = |given: String, of_source: &String| if given.is_empty() { of_source.clone() } else { given };
    let of_source = &source.headers;
    ContentHeaders {
        content_type: if given.content_type == Default::default() {
            of_source.content_type.clone()
        } else {
            given.content_type
        },
        encoding: or(given.encoding, &of_source.encoding),
        language: or(given.language, &of_source.language),
        disposition: or(given.disposition, &of_source.disposition),
        cache_control: or(given.cache_control, &of_source.cache_control),
        md5: None,
    }
}
