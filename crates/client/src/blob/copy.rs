//! Copies of blobs by the service.

use http::{HeaderName, Method};

use super::BlobClient;
use super::conditions::ConditionalCall;
use crate::pipeline::ServiceResponse;
use crate::{Error, Etag, Request, Result};

const COPY_SOURCE: HeaderName = HeaderName::from_static("x-ms-copy-source");
const REQUIRES_SYNC: HeaderName = HeaderName::from_static("x-ms-requires-sync");
const COPY_ACTION: HeaderName = HeaderName::from_static("x-ms-copy-action");

/// A copy that the service has begun or finished.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobCopy {
    /// The id of the copy, to abort it.
    pub id: String,
    /// `success` or `pending`. [`BlobProperties`](super::BlobProperties) have the progress of a pending copy.
    pub status: String,
    /// The ETag of the destination.
    pub etag: Etag,
}

impl BlobClient {
    /// Begins a copy of a blob or snapshot to this one. The URL of the source has a signature, unless the source is
    /// public or in the same account.
    #[doc(alias = "start_copy")]
    #[doc(alias = "begin_copy_from_url")]
    pub fn start_copy_from_url(&self, source: &str) -> Request<BlobCopy, ConditionalCall<BlobCopy>> {
        let call = self.call("CopyBlob", Method::PUT).header(COPY_SOURCE, source);
        Request::conditional(&self.pipeline, call, |response| read_copy(&response))
    }

    /// Copies a blob of at most 256 MiB to this one, and returns when the copy is complete.
    #[doc(alias = "sync_copy_from_url")]
    pub fn copy_from_url(&self, source: &str) -> Request<BlobCopy, ConditionalCall<BlobCopy>> {
        self.start_copy_from_url(source).with_header(REQUIRES_SYNC, "true")
    }

    /// Aborts a pending copy, which leaves an empty blob. Fails with 409 if no copy is pending.
    pub fn abort_copy(&self, id: &str) -> Request<(), ConditionalCall<()>> {
        let call = self.call("AbortCopyBlob", Method::PUT).query("comp", "copy").query("copyid", id);
        Request::conditional(&self.pipeline, Ok(call.static_header(COPY_ACTION, "abort")), |_| Ok(()))
    }

    /// Returns the URL of the blob, for the source of a copy in the same account.
    pub fn url(&self) -> String {
        let url = format!("{}{}", self.pipeline.endpoint, self.path());
        match &self.snapshot {
            Some(id) => format!("{url}?snapshot={}", crate::pipeline::encode(id)),
            None => url,
        }
    }
}

fn read_copy(response: &ServiceResponse) -> Result<BlobCopy> {
    let text = |name: &str| {
        let value = response.header(name).map(str::to_owned);
        response.confirm(value.ok_or_else(|| Error::InvalidResponse(format!("it has no {name}"))))
    };
    Ok(BlobCopy { id: text("x-ms-copy-id")?, status: text("x-ms-copy-status")?, etag: response.etag()? })
}
