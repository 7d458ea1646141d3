//! Uploads and deletes of blobs. Each is a builder that sends its request when it is awaited.

use bytes::Bytes;
use http::Method;
use http::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};

use super::settings::{BlobSettings, access_tier_setter, new_blob_setters};
use super::{BlobClient, BlobHttpHeaders};
use crate::error::none_if;
use crate::transport::send_when_awaited;
use crate::{ErrorCode, Etag, Result};

const BLOB_TYPE: HeaderName = HeaderName::from_static("x-ms-blob-type");
const DELETE_SNAPSHOTS: HeaderName = HeaderName::from_static("x-ms-delete-snapshots");
const CONTENT_TYPE_DEFAULT: &str = "application/octet-stream";

/// An upload of a whole blob, which is sent when it is awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct UploadBlob {
    blob: BlobClient,
    content: Bytes,
    headers: BlobHttpHeaders,
    settings: BlobSettings,
    condition: Condition,
}

/// A delete of a blob, which is sent when it is awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct DeleteBlob {
    blob: BlobClient,
    condition: Condition,
    with_snapshots: bool,
}

/// A delete that succeeds if the blob does not exist.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct DeleteBlobIfExists(DeleteBlob);

#[derive(Debug)]
enum Condition {
    Any,
    Version(Etag),
    Absent,
}

send_when_awaited! {
    UploadBlob => Result<Etag>;
    DeleteBlob => Result<()>;
    DeleteBlobIfExists => Result<bool>;
}

impl UploadBlob {
    pub(super) fn new(blob: BlobClient, content: Bytes) -> Self {
        let headers = BlobHttpHeaders { content_type: CONTENT_TYPE_DEFAULT.to_owned(), ..BlobHttpHeaders::default() };
        Self { blob, content, headers, settings: BlobSettings::default(), condition: Condition::Any }
    }

    /// Sets the content type; `application/octet-stream` by default.
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.headers.content_type = content_type.into();
        self
    }

    new_blob_setters!();
    access_tier_setter!();

    /// Requires this version. Fails with 412 if the blob has another one or does not exist.
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.condition = Condition::Version(etag.into());
        self
    }

    /// Requires that the blob does not exist. Fails with 409 otherwise.
    #[doc(alias = "if_none_match")]
    #[doc(alias = "overwrite")]
    pub fn if_not_exists(mut self) -> Self {
        self.condition = Condition::Absent;
        self
    }

    async fn send(self) -> Result<Etag> {
        let call = self.blob.call("PutBlob", Method::PUT).static_header(BLOB_TYPE, "BlockBlob");
        let call = self.settings.add_to(self.headers.add_to(call)?)?.body(self.content);
        let call = match self.condition {
            Condition::Any => call,
            Condition::Version(etag) => call.header(IF_MATCH, etag.as_str())?,
            Condition::Absent => call.static_header(IF_NONE_MATCH, "*"),
        };
        self.blob.pipeline.send(&call).await?.etag()
    }
}

impl DeleteBlob {
    pub(super) fn new(blob: BlobClient) -> Self {
        Self { blob, condition: Condition::Any, with_snapshots: false }
    }

    /// Requires this version. Fails with 412 if the blob has another one.
    pub fn if_match(mut self, etag: impl Into<Etag>) -> Self {
        self.condition = Condition::Version(etag.into());
        self
    }

    /// Deletes the blob's snapshots too. Without this, a blob that has some is not deleted.
    pub fn include_snapshots(mut self) -> Self {
        self.with_snapshots = true;
        self
    }

    /// Returns whether the blob existed instead of failing with 404. After a lost response, an earlier attempt may have
    /// deleted it.
    pub fn if_exists(self) -> DeleteBlobIfExists {
        DeleteBlobIfExists(self)
    }

    async fn send(self) -> Result<()> {
        let mut call = self.blob.call("DeleteBlob", Method::DELETE);
        if let Condition::Version(etag) = self.condition {
            call = call.header(IF_MATCH, etag.as_str())?;
        }
        if self.with_snapshots {
            call = call.static_header(DELETE_SNAPSHOTS, "include");
        }
        self.blob.pipeline.send(&call).await.map(drop)
    }
}

impl DeleteBlobIfExists {
    async fn send(self) -> Result<bool> {
        Ok(none_if(self.0.send().await, |error| error.has_code(ErrorCode::BlobNotFound))?.is_some())
    }
}
