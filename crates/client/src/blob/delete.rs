//! Deletes of blobs.

use http::{HeaderName, Method};

use super::BlobClient;
use super::conditions::{Conditional, Conditions};
use crate::error::none_if;
use crate::request::{Exchange, Operation};
use crate::{ErrorCode, Request, Result};

const DELETE_SNAPSHOTS: HeaderName = HeaderName::from_static("x-ms-delete-snapshots");

/// A delete of a blob.
#[derive(Debug, Clone)]
pub struct DeleteBlob {
    blob: BlobClient,
    conditions: Conditions,
    snapshots: Option<&'static str>,
}

/// A delete that succeeds if the blob does not exist.
#[derive(Debug, Clone)]
pub struct DeleteBlobIfExists(DeleteBlob);

impl BlobClient {
    /// Deletes the blob, in any version by default.
    #[doc(alias = "delete_blob")]
    pub fn delete(&self) -> Request<(), DeleteBlob> {
        Request::new(DeleteBlob { blob: self.clone(), conditions: Conditions::default(), snapshots: None })
    }
}

impl Request<(), DeleteBlob> {
    /// Deletes the blob's snapshots too. Without this, a blob that has some is not deleted.
    pub fn include_snapshots(mut self) -> Self {
        self.kind.snapshots = Some("include");
        self
    }

    /// Deletes the blob's snapshots and keeps the blob.
    pub fn only_snapshots(mut self) -> Self {
        self.kind.snapshots = Some("only");
        self
    }

    /// Returns whether the blob existed instead of failing with 404. After a lost response, an earlier attempt may have
    /// deleted it.
    pub fn if_exists(self) -> Request<bool, DeleteBlobIfExists> {
        self.map_kind(DeleteBlobIfExists)
    }
}

impl Conditional for DeleteBlob {
    fn conditions_mut(&mut self) -> &mut Conditions {
        &mut self.conditions
    }
}

impl Operation<()> for DeleteBlob {
    async fn perform(self, exchange: &mut Exchange) -> Result<()> {
        let mut call = self.conditions.add_to(self.blob.call("DeleteBlob", Method::DELETE))?;
        if let Some(snapshots) = self.snapshots {
            call = call.static_header(DELETE_SNAPSHOTS, snapshots);
        }
        exchange.send(&self.blob.pipeline, &call).await.map(drop)
    }
}

impl Operation<bool> for DeleteBlobIfExists {
    async fn perform(self, exchange: &mut Exchange) -> Result<bool> {
        Ok(none_if(self.0.perform(exchange).await, |error| error.has_code(ErrorCode::BlobNotFound))?.is_some())
    }
}
