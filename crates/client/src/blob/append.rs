//! Append blobs: blobs that grow by blocks at their end.

use bytes::Bytes;
use http::{HeaderName, Method};

use super::settings::{BlobSettings, new_blob_setters};
use super::{BlobClient, BlobHttpHeaders};
use crate::transport::send_when_awaited;
use crate::{Etag, Result};

const BLOB_TYPE: HeaderName = HeaderName::from_static("x-ms-blob-type");
const APPEND_POSITION: HeaderName = HeaderName::from_static("x-ms-blob-condition-appendpos");

/// The creation of an append blob, which is sent when it is awaited.
#[derive(Debug)]
#[must_use = "nothing is sent before it is awaited"]
pub struct CreateAppendBlob {
    blob: BlobClient,
    headers: BlobHttpHeaders,
    settings: BlobSettings,
}

send_when_awaited! {
    CreateAppendBlob => Result<Etag>;
}

impl BlobClient {
    /// Creates an empty append blob, replaces any existing blob, and returns the new ETag.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::run(async |connection| {
    /// # let photos = tablerock_client::BlobServiceClient::from_connection_string(connection)?.container("photos");
    /// # photos.create().await?;
    /// let log = photos.blob("log");
    /// log.create_append_blob().await?;
    /// log.append_block("one\n", 0).await?;
    /// log.append_block("two\n", 4).await?;
    /// log.seal().await?;
    /// # assert_eq!(log.download().await?.content, "one\ntwo\n");
    /// # assert!(log.append_block("three\n", 8).await.is_err());
    /// # Ok(()) });
    /// ```
    #[doc(alias = "AppendBlobClient")]
    pub fn create_append_blob(&self) -> CreateAppendBlob {
        CreateAppendBlob { blob: self.clone(), headers: BlobHttpHeaders::default(), settings: BlobSettings::default() }
    }

    /// Appends a block that has to begin at an offset. Fails with 412 if the blob ends elsewhere.
    pub async fn append_block(&self, content: impl Into<Bytes>, offset: u64) -> Result<()> {
        let call = self.call("AppendBlock", Method::PUT).query("comp", "appendblock");
        let call = call.header(APPEND_POSITION, &offset.to_string())?;
        self.pipeline.send(&call.body(content)).await.map(drop)
    }

    /// Seals an append blob: no block can be appended any more.
    pub async fn seal(&self) -> Result<()> {
        self.pipeline.send(&self.call("SealBlob", Method::PUT).query("comp", "seal")).await.map(drop)
    }
}

impl CreateAppendBlob {
    new_blob_setters!();

    async fn send(self) -> Result<Etag> {
        let call = self.blob.call("PutBlob", Method::PUT).static_header(BLOB_TYPE, "AppendBlob");
        let call = self.settings.add_to(self.headers.add_to(call)?)?;
        self.blob.pipeline.send(&call.body(Bytes::new())).await?.etag()
    }
}
