//! Copies: Copy Blob, Copy Blob From URL, Put Blob From URL, and blocks from a URL. The source is a blob of this server.

use std::time::Duration;

use http::{HeaderMap, Uri};
use tablerock_protocol::blob::{ByteRange, Checksums, CopySourceUrl, Crc64, Digests, LeaseId, Md5};
use tablerock_protocol::{BlobResource, DateTime, ErrorCode, QueryString, ServiceError, mask_signatures};
use tablerock_services::blob::{Blob, BlobAddress, BlobReader, CopySource, CopyTarget, ReadTerms};

use super::BlobCall;
use super::decode::parse_snapshot;
use super::encode::{changed, encrypted};
use super::names::{SOURCE_CONTENT_CRC64, SOURCE_CONTENT_MD5, SOURCE_LEASE_ID};
use super::request::{BlobRequest, BlobTarget};
use crate::auth::{self, Claim, Credentials, Target};
use crate::http::endpoint::Endpoint;
use crate::http::headers::{COPY_SOURCE, ResponseHeader};
use crate::http::progress::Progress;
use crate::http::reply::Reply;
use crate::operation::Operation;

/// The size limit of a synchronous copy.
const SYNC_BYTES_MAX: u64 = 256 << 20;

/// How often a copy notes progress, and how long it may take.
const PROGRESS_TIME: Duration = Duration::from_secs(5);
const COPY_TIME_MAX: Duration = Duration::from_secs(60 * 60);

/// The source of a copy.
struct Source {
    account: String,
    container: String,
    blob: String,
    snapshot: Option<DateTime>,
    url: CopySourceUrl,
}

impl Source {
    fn address(&self) -> BlobAddress<'_> {
        BlobAddress { account: &self.account, container: &self.container, name: &self.blob }
    }
}

pub(super) async fn copy_blob(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let source = call.source().await?;
    let metadata = Some(call.metadata()?).filter(|metadata| !metadata.is_empty());
    let terms = call.write_terms()?;
    let target = CopyTarget { at: call.address(at), terms, metadata, tags: call.tags()?, tier: call.tier()? };
    let is_sync = call.operation != Operation::CopyBlob;
    if is_sync {
        call.check_sync_source(&source).await?;
    }
    let from = CopySource {
        at: source.address(),
        snapshot: source.snapshot,
        conditions: call.source_conditions()?,
        lease: call.parsed(&SOURCE_LEASE_ID, LeaseId::parse)?,
        url: source.url.clone(),
    };
    let (time, id) = with_progress(call.body.progress, call.server().blobs.copy_blob(&from, &target)).await?;
    if call.operation == Operation::PutBlobFromURL {
        return Ok(encrypted(changed(Reply::empty(201), time)));
    }
    Ok(changed(Reply::empty(202), time).with(ResponseHeader::CopyId, id).with(ResponseHeader::CopyStatus, "success"))
}

/// Copies a snapshot of a page blob, or what changed since the last one.
pub(super) async fn incremental_copy(call: &BlobCall<'_>, at: BlobTarget<'_>) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let source = call.source().await?;
    let from = CopySource {
        at: source.address(),
        snapshot: source.snapshot,
        conditions: call.source_conditions()?,
        lease: call.parsed(&SOURCE_LEASE_ID, LeaseId::parse)?,
        url: source.url.clone(),
    };
    let (address, terms) = (call.address(at), call.write_terms()?);
    if source.snapshot.is_some() {
        let found = call.server().blobs.blob(from.at, source.snapshot, &ReadTerms::default()).await;
        found.map_err(ServiceError::from).map_err(|error| match error.code {
            ErrorCode::BlobNotFound | ErrorCode::ContainerNotFound => {
                ServiceError::with_message(ErrorCode::CannotVerifyCopySource, error.message)
            }
            _ => error,
        })?;
    }
    let copy = call.server().blobs.incremental_copy(&from, address, &terms);
    let copied = with_progress(call.body.progress, copy).await?;
    let reply = changed(Reply::empty(202), copied.changed);
    // It is complete, and the blob shows that. The service says so only there, and its tests expect that.
    Ok(reply.with(ResponseHeader::CopyId, copied.id).with(ResponseHeader::CopyStatus, "pending"))
}

/// Notes progress while a copy runs, which reads nothing from the client, up to the time that a copy may take.
async fn with_progress<F: Future>(progress: &Progress, copy: F) -> F::Output {
    let mut copy = std::pin::pin!(copy);
    for _ in 0..COPY_TIME_MAX.as_secs() / PROGRESS_TIME.as_secs() {
        if let Ok(output) = tokio::time::timeout(PROGRESS_TIME, &mut copy).await {
            return output;
        }
        progress.note();
    }
    copy.await
}

/// Compares the copied bytes with the checksums that the client gave for the source.
pub(super) fn check_source(call: &BlobCall<'_>, digests: &Digests) -> Result<(), ServiceError> {
    let (md5, crc64) = call.source_checksums()?;
    digests.check(md5, crc64)
}

impl BlobCall<'_> {
    pub(super) fn source_checksums(&self) -> Result<(Option<Md5>, Option<Crc64>), ServiceError> {
        Ok((self.parsed(&SOURCE_CONTENT_MD5, Md5::parse)?, self.parsed(&SOURCE_CONTENT_CRC64, Crc64::parse)?))
    }

    /// Opens the bytes of the source, for a block.
    pub(super) async fn source_content(&self) -> Result<BlobReader, ServiceError> {
        let source = self.source().await?;
        let asked = self.source_range()?;
        let terms = ReadTerms { conditions: self.source_conditions()?, ..ReadTerms::default() };
        let choose = |blob: &Blob| match asked {
            Some(asked) => asked.within(blob.length),
            None => Ok(ByteRange::whole(blob.length)),
        };
        let opened = self.server().blobs.download(source.address(), source.snapshot, &terms, choose).await;
        let (_, _, reader) = opened.map_err(ServiceError::from).map_err(|error| match error.code {
            ErrorCode::ConditionNotMet => ErrorCode::SourceConditionNotMet.into(),
            _ => error,
        })?;
        Ok(reader)
    }

    /// Checks the size and the checksums of the source before a synchronous copy begins.
    async fn check_sync_source(&self, source: &Source) -> Result<(), ServiceError> {
        let blob = self.server().blobs.blob(source.address(), source.snapshot, &ReadTerms::default()).await?;
        if self.operation == Operation::CopyBlobFromURL && blob.length > SYNC_BYTES_MAX {
            return Err(ServiceError::body_too_large(SYNC_BYTES_MAX));
        }
        let (md5, crc64) = self.source_checksums()?;
        if md5.is_none() && crc64.is_none() {
            return Ok(());
        }
        let whole = |blob: &Blob| Ok(ByteRange::whole(blob.length));
        let (_, _, mut reader) =
            self.server().blobs.download(source.address(), source.snapshot, &ReadTerms::default(), whole).await?;
        let mut checksums = Checksums::new(md5.is_some());
        while let Some(piece) = reader.next().await? {
            checksums.update(&piece);
            self.body.progress.note();
        }
        checksums.finish().check(md5, crc64)
    }

    /// Finds the blob that `x-ms-copy-source` names, and admits the read of it.
    async fn source(&self) -> Result<Source, ServiceError> {
        let url = self.header(&COPY_SOURCE).ok_or_else(|| ServiceError::missing_header(COPY_SOURCE.as_str()))?;
        let invalid = || ServiceError::invalid_header(COPY_SOURCE.as_str(), &mask_signatures(url));
        let uri: Uri = url.parse().map_err(|_| invalid())?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return Err(invalid()) };
        let (accounts, host_style) = (&self.server().accounts, self.server().host_style);
        let endpoint = Endpoint::identify(accounts, host_style, scheme, Some(authority.as_str()), uri.path());
        let endpoint = endpoint.map_err(|_| ServiceError::new(ErrorCode::CannotVerifyCopySource))?;
        let resource = BlobResource::parse(endpoint.below_root(uri.path()), false).map_err(|_| invalid())?;
        let BlobResource::Blob { container, blob } = &resource else { return Err(invalid()) };
        let query = QueryString::parse(uri.query().unwrap_or_default())?;
        let claim = Claim::Source {
            copier: self.caller,
            copier_account: self.endpoint.account,
            url: Credentials {
                method: "GET",
                headers: &HeaderMap::new(),
                path: uri.path(),
                query: &query,
                // The token came over this connection, whatever the URL says about itself.
                is_https: self.cx.peer.is_https && scheme == "https",
            },
        };
        let read = BlobRequest::GetBlob(BlobTarget { container, blob });
        let admitted = auth::admit(self.cx, claim, &endpoint, Target::of_blob(&resource), Ok(read)).await;
        admitted.map_err(|rejection| match rejection.error {
            error if error.status >= 500 => error,
            error => ServiceError::new(ErrorCode::CannotVerifyCopySource)
                .status(403)
                .because(error.reason.unwrap_or_else(|| error.message.into())),
        })?;
        Ok(Source {
            account: endpoint.account.name.as_str().to_owned(),
            container: container.as_str().to_owned(),
            blob: blob.as_str().to_owned(),
            snapshot: parse_snapshot(&query)?,
            url: CopySourceUrl::without_credentials(url),
        })
    }
}
