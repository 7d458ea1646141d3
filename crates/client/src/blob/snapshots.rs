//! Snapshots of blobs.

use http::Method;

use super::BlobClient;
use crate::Result;
use crate::error::Error;

impl BlobClient {
    /// Takes a snapshot, and returns its id, which is the time of the snapshot.
    #[doc(alias = "snapshot_blob")]
    pub async fn create_snapshot(&self) -> Result<String> {
        let response = self.pipeline.send(&self.call("SnapshotBlob", Method::PUT).query("comp", "snapshot")).await?;
        let id = response.header("x-ms-snapshot");
        id.map(str::to_owned).ok_or_else(|| Error::invalid("the response has no x-ms-snapshot header".to_owned()))
    }

    /// Returns a client of a snapshot of the blob, which can be read and deleted.
    #[doc(alias = "with_snapshot")]
    pub fn at_snapshot(&self, id: impl Into<String>) -> Self {
        let mut client = self.clone();
        client.snapshot = Some(id.into().into());
        client
    }
}
