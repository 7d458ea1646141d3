//! Append blobs: blobs that grow by blocks at their end.

use bytes::Bytes;
use http::{HeaderName, Method};

use super::BlobClient;
use super::conditions::ConditionalCall;
use super::new_blob::{AppendBlob, BLOB_TYPE, NewBlob};
use crate::{Error, Etag, Request};

const APPEND_POSITION: HeaderName = HeaderName::from_static("x-ms-blob-condition-appendpos");

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
    pub fn create_append_blob(&self) -> Request<Etag, NewBlob<AppendBlob>> {
        let call = self.call("PutBlob", Method::PUT).static_header(BLOB_TYPE, "AppendBlob").body(Bytes::new());
        Request::new_blob(self, Ok(call))
    }

    /// Appends a block that has to begin at an offset. Fails with 412 if the blob ends elsewhere.
    ///
    /// The offset makes the call safe to repeat after a lost response.
    pub fn append_block(&self, content: impl Into<Bytes>, offset: u64) -> Request<(), ConditionalCall<()>> {
        self.append(content.into())
            .with_header(APPEND_POSITION, &offset.to_string())
            .convert(|appended| appended.map(drop))
    }

    /// Appends a block at the end of the blob, and returns the offset at which it begins.
    ///
    /// After a lost response the client sends the block again, so the blob may have it twice.
    pub fn append_block_at_end(&self, content: impl Into<Bytes>) -> Request<u64, ConditionalCall<u64>> {
        self.append(content.into())
    }

    /// Seals an append blob: no block can be appended any more.
    pub fn seal(&self) -> Request<(), ConditionalCall<()>> {
        let call = self.call("SealBlob", Method::PUT).query("comp", "seal");
        Request::conditional(&self.pipeline, Ok(call), |_| Ok(()))
    }

    fn append(&self, content: Bytes) -> Request<u64, ConditionalCall<u64>> {
        let call = self.call("AppendBlock", Method::PUT).query("comp", "appendblock").body(content);
        Request::conditional(&self.pipeline, Ok(call), |response| {
            let offset = response.header("x-ms-blob-append-offset").and_then(|offset| offset.parse().ok());
            let absent = || Error::InvalidResponse("it has no x-ms-blob-append-offset".to_owned());
            response.confirm(offset.ok_or_else(absent))
        })
    }
}
