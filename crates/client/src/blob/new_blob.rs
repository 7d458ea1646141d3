//! Requests for a new blob: content, HTTP headers, metadata, index tags and the tier.

use std::marker::PhantomData;
use std::sync::Arc;

use http::HeaderName;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::conditions::{Conditional, Conditions};
use super::{BlobClient, BlobHttpHeaders};
use crate::pipeline::{Call, Pipeline};
use crate::request::{Exchange, Operation};
use crate::{Etag, Request, Result};

pub(super) const BLOB_TYPE: HeaderName = HeaderName::from_static("x-ms-blob-type");
const TAGS: HeaderName = HeaderName::from_static("x-ms-tags");
const ACCESS_TIER: HeaderName = HeaderName::from_static("x-ms-access-tier");
const SEQUENCE_NUMBER: HeaderName = HeaderName::from_static("x-ms-blob-sequence-number");

/// A request that creates a blob or replaces an existing one. `M` is the type of the blob.
#[derive(Debug, Clone)]
pub struct NewBlob<M> {
    pipeline: Arc<Pipeline>,
    call: Result<Call>,
    headers: BlobHttpHeaders,
    metadata: Vec<(String, String)>,
    tags: Vec<(String, String)>,
    access_tier: String,
    conditions: Conditions,
    blob_type: PhantomData<fn() -> M>,
}

/// The type of a block blob, in [`NewBlob`].
#[derive(Debug, Clone, Copy)]
pub enum BlockBlob {}

/// The type of an append blob, in [`NewBlob`].
#[derive(Debug, Clone, Copy)]
pub enum AppendBlob {}

/// The type of a page blob, in [`NewBlob`].
#[derive(Debug, Clone, Copy)]
pub enum PageBlob {}

impl<M> Request<Etag, NewBlob<M>> {
    pub(super) fn new_blob(blob: &BlobClient, call: Result<Call>) -> Self {
        Self::new(NewBlob {
            pipeline: Arc::clone(&blob.pipeline),
            call,
            headers: BlobHttpHeaders::default(),
            metadata: Vec::new(),
            tags: Vec::new(),
            access_tier: String::new(),
            conditions: Conditions::default(),
            blob_type: PhantomData,
        })
    }

    /// Sets the content type; `application/octet-stream` by default.
    pub fn content_type(mut self, content_type: impl Into<String>) -> Self {
        self.kind.headers.content_type = content_type.into();
        self
    }

    /// Sets the blob's HTTP headers.
    pub fn headers(mut self, headers: BlobHttpHeaders) -> Self {
        self.kind.headers = headers;
        self
    }

    /// Sets the blob's metadata.
    pub fn metadata(mut self, pairs: Vec<(String, String)>) -> Self {
        self.kind.metadata = pairs;
        self
    }

    /// Sets the blob's index tags.
    pub fn tags(mut self, pairs: Vec<(String, String)>) -> Self {
        self.kind.tags = pairs;
        self
    }
}

impl Request<Etag, NewBlob<BlockBlob>> {
    /// Sets the blob's access tier, such as `Cool`.
    pub fn access_tier(mut self, tier: impl Into<String>) -> Self {
        self.kind.access_tier = tier.into();
        self
    }
}

impl Request<Etag, NewBlob<PageBlob>> {
    /// Sets the blob's sequence number; 0 by default.
    pub fn sequence_number(mut self, number: u64) -> Self {
        self.kind.call = self.kind.call.and_then(|call| call.header(SEQUENCE_NUMBER, &number.to_string()));
        self
    }
}

impl<M> Conditional for NewBlob<M> {
    fn conditions_mut(&mut self) -> &mut Conditions {
        &mut self.conditions
    }
}

impl<M> Operation<Etag> for NewBlob<M> {
    async fn perform(self, exchange: &mut Exchange) -> Result<Etag> {
        let Self { pipeline, call, headers, metadata, tags, access_tier, conditions, .. } = self;
        let mut call = conditions.add_to(headers.add_to(call?)?.metadata(&metadata)?)?;
        if !tags.is_empty() {
            let encode = |text: &String| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
            let pairs = tags.iter().map(|(key, value)| format!("{}={}", encode(key), encode(value)));
            call = call.header(TAGS, &pairs.collect::<Vec<_>>().join("&"))?;
        }
        if !access_tier.is_empty() {
            call = call.header(ACCESS_TIER, &access_tier)?;
        }
        exchange.send(&pipeline, &call).await?.etag()
    }
}
