//! Snapshots of blobs.

use http::Method;

use super::BlobClient;
use super::conditions::ConditionalCall;
use crate::{Error, Request};

impl BlobClient {
    /// Takes a snapshot, and returns its id, which is the time of the snapshot.
    #[doc(alias = "snapshot_blob")]
    pub fn create_snapshot(&self) -> Request<String, ConditionalCall<String>> {
        let call = self.call("SnapshotBlob", Method::PUT).query("comp", "snapshot");
        Request::conditional(&self.pipeline, Ok(call), |response| {
            let id = response.header("x-ms-snapshot").map(str::to_owned);
            response.confirm(id.ok_or_else(|| Error::InvalidResponse("it has no x-ms-snapshot".to_owned())))
        })
    }

    /// Returns a client of a snapshot of the blob, which can be read and deleted.
    #[doc(alias = "with_snapshot")]
    pub fn at_snapshot(&self, id: impl Into<String>) -> Self {
        let mut client = self.clone();
        client.snapshot = Some(id.into().into());
        client
    }
}
