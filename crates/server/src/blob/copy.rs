//! Copies: Copy Blob, Copy Blob From URL, and the source of everything that comes from a URL. The source is a blob of this server.

use std::time::Duration;

use http::{HeaderMap, Uri, header};
use tablerock_protocol::blob::{ByteRange, Checksums, CopySourceUrl, Crc64, Digests, LeaseId, Md5, TagCondition, Tags};
use tablerock_protocol::{BlobResource, DateTime, ErrorCode, Keyword, QueryString, ServiceError, mask_signatures};
use tablerock_services::blob::{Blob, BlobAddress, BlobReader, CopySource, CopyTarget, ReadTerms};

use super::BlobCall;
use super::decode::parse_snapshot;
use super::encode::changed;
use super::names::{
    COPY_SOURCE_TAGS, REHYDRATE_PRIORITY, SEAL_BLOB, SOURCE_AUTHORIZATION, SOURCE_CONTENT_CRC64, SOURCE_CONTENT_MD5,
    SOURCE_IF_TAGS, SOURCE_LEASE_ID, TAGS,
};
use super::request::{BlobRequest, BlobTarget};
use crate::auth::{self, Caller, Claim, Credentials, Target};
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

/// `x-ms-copy-source-tag-option`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopiedTags {
    Copy,
    Replace,
}

impl Keyword for CopiedTags {
    const WORDS: &'static [(&'static str, Self)] = &[("COPY", Self::Copy), ("REPLACE", Self::Replace)];
}

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
    let is_sync = call.operation == Operation::CopyBlobFromURL;
    if is_sync {
        call.check_scope()?;
    }
    let tags = if is_sync { call.copied_tags()? } else { Some(call.tags()?) };
    let (seals, priority) =
        if is_sync { (None, None) } else { (call.keyword(&SEAL_BLOB)?, call.keyword(&REHYDRATE_PRIORITY)?) };
    let tier = call.tier()?;
    // Only Put Blob From URL has keys.
    let target = CopyTarget { at: call.address(at), terms, metadata, tags, tier, priority, seals, key: None };
    if is_sync {
        call.check_sync_source(&source).await?;
    }
    let from = CopySource {
        at: source.address(),
        snapshot: source.snapshot,
        conditions: call.source_conditions()?,
        tags: call.source_if_tags()?,
        lease: call.parsed(&SOURCE_LEASE_ID, LeaseId::parse)?,
        key: None,
        url: source.url.clone(),
    };
    let (time, id) = with_progress(call.body.progress, call.server().blobs.copy_blob(&from, &target)).await?;
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
        tags: call.source_if_tags()?,
        lease: call.parsed(&SOURCE_LEASE_ID, LeaseId::parse)?,
        key: None,
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
pub(super) async fn with_progress<F: Future>(progress: &Progress, copy: F) -> F::Output {
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

    /// Finds the source and opens its bytes.
    pub(super) async fn source_content(&self) -> Result<(Blob, BlobReader), ServiceError> {
        let source = self.source().await?;
        let (asked, tags) = match self.operation {
            Operation::PutBlobFromURL => (None, self.source_if_tags()?),
            _ => (self.source_range()?, None),
        };
        let terms = ReadTerms { conditions: self.source_conditions()?, tags, lease: None };
        let choose = |blob: &Blob| match asked {
            Some(asked) => asked.within(blob.length),
            None => Ok(ByteRange::whole(blob.length)),
        };
        let key = self.source_key()?;
        let blobs = &self.server().blobs;
        let opened = blobs.download_with(source.address(), source.snapshot, &terms, key.as_ref(), choose).await;
        let (blob, _, reader) = opened.map_err(ServiceError::from).map_err(|error| match error.code {
            ErrorCode::InvalidRange => error,
            // Of the source of a whole blob, the ETag alone has the code that it has in a copy.
            ErrorCode::ConditionNotMet
                if self.operation == Operation::PutBlobFromURL
                    && error.status == 412
                    && terms.conditions.if_match.is_some()
                    && terms.tags.is_none() =>
            {
                ErrorCode::SourceConditionNotMet.into()
            }
            _ if error.status >= 500 => error,
            _ => ServiceError::copy_source(error),
        })?;
        Ok((blob, reader))
    }

    /// Whether a source without credentials is read on the caller's authority. What is read at once needs credentials of its
    /// own, or a caller with a token, whose identity reads the source too. Copy Blob may be done later, by the service itself.
    fn reads_for_caller(&self) -> bool {
        self.copies_later() || matches!(self.caller, Caller::Token)
    }

    /// Whether a service may copy after it has responded. This one copies at once.
    fn copies_later(&self) -> bool {
        matches!(self.operation, Operation::CopyBlob | Operation::IncrementalCopyBlob)
    }

    /// The token that reads the source, as the header of a request for it. Copy Blob itself takes none.
    fn source_token(&self) -> Result<HeaderMap, ServiceError> {
        let mut headers = HeaderMap::new();
        if self.copies_later() {
            return Ok(headers);
        }
        if let Some(token) = self.header_value(&SOURCE_AUTHORIZATION) {
            let is_token = token.as_bytes().get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"bearer "));
            if !is_token {
                return Err(ServiceError::invalid_header(SOURCE_AUTHORIZATION.as_str(), ""));
            }
            headers.insert(header::AUTHORIZATION, token.clone());
        }
        Ok(headers)
    }

    /// The tags of the copy; `None` for those of its source.
    pub(super) fn copied_tags(&self) -> Result<Option<Tags>, ServiceError> {
        match (self.keyword::<CopiedTags>(&COPY_SOURCE_TAGS)?, self.header_value(&TAGS)) {
            (Some(CopiedTags::Copy), None) => Ok(None),
            (Some(CopiedTags::Copy), Some(_)) => Err(ErrorCode::BothUserTagsAndSourceTagsCopyPresentException.into()),
            (Some(CopiedTags::Replace) | None, _) => Ok(Some(self.tags()?)),
        }
    }

    fn source_if_tags(&self) -> Result<Option<TagCondition>, ServiceError> {
        self.parsed(&SOURCE_IF_TAGS, TagCondition::parse)
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
        let (accounts, host_style) = (self.cx.accounts, self.server().host_style);
        let endpoint = Endpoint::identify(accounts, host_style, scheme, Some(authority.as_str()), uri.path());
        let endpoint = endpoint.map_err(|_| ServiceError::new(ErrorCode::CannotVerifyCopySource))?;
        let resource = BlobResource::parse(endpoint.below_root(uri.path()), false).map_err(|_| invalid())?;
        let BlobResource::Blob { container, blob } = &resource else { return Err(invalid()) };
        let query = QueryString::parse(uri.query().unwrap_or_default())?;
        let headers = self.source_token()?;
        let claim = Claim::Source {
            copier: self.reads_for_caller().then_some((self.caller, self.endpoint.account)),
            url: Credentials {
                method: "GET",
                headers: &headers,
                path: uri.path(),
                query: &query,
                // The token came over this connection, whatever the URL says about itself.
                is_https: self.cx.peer.is_https && scheme == "https",
            },
        };
        let read = BlobRequest::GetBlob(BlobTarget { container, blob });
        let takes_tags = matches!(self.operation, Operation::CopyBlobFromURL | Operation::PutBlobFromURL)
            && self.copied_tags()?.is_none();
        let tags = takes_tags.then_some(BlobRequest::GetBlobTags(BlobTarget { container, blob }));
        for request in [Some(read), tags].into_iter().flatten() {
            let admitted = auth::admit(self.cx, claim, &endpoint, Target::of_blob(&resource), Ok(request)).await;
            admitted.map_err(|rejection| match rejection.error {
                error if error.status >= 500 => error,
                error => ServiceError::copy_source(error),
            })?;
        }
        Ok(Source {
            account: endpoint.account.name.as_str().to_owned(),
            container: container.as_str().to_owned(),
            blob: blob.as_str().to_owned(),
            snapshot: parse_snapshot(&query)?,
            url: CopySourceUrl::without_credentials(url),
        })
    }
}
