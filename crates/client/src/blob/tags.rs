//! Index tags of blobs, and the search by them.

use http::Method;
use http::header::CONTENT_TYPE;
use tablerock_protocol::blob::Tags;
use tablerock_protocol::xml::{ANSWERED_LIST_ITEMS_MAX, parse_found_blobs, parse_tags, render_tags};

use super::conditions::ConditionalCall;
use super::{BlobClient, BlobServiceClient, ContainerClient};
use crate::listing::{Listing, page};
use crate::pipeline::Call;
use crate::request::{Exchange, Operation};
use crate::table::{ContinuationToken, Page};
use crate::{Error, Request, Result};

pub use tablerock_protocol::xml::AnsweredFoundBlob as FoundBlob;

/// Pairs of a key and a value.
pub type Pairs = Vec<(String, String)>;

/// A search by index tags, read as a [`stream`](Request::stream) or one [`page`](Request::page) at a time.
#[derive(Debug, Clone)]
pub struct FindBlobs {
    service: BlobServiceClient,
    call: Call,
    page_size: usize,
    from: Option<ContinuationToken>,
}

impl BlobClient {
    /// Returns the blob's index tags.
    #[doc(alias = "get_blob_tags")]
    pub fn get_tags(&self) -> Request<Pairs, ConditionalCall<Pairs>> {
        let call = self.call("GetBlobTags", Method::GET).query("comp", "tags");
        Request::conditional(&self.pipeline, Ok(call), |response| {
            let tags = parse_tags(&response.body).map_err(|error| Error::invalid_response(&error))?;
            Ok(tags.pairs().to_vec())
        })
    }

    /// Replaces the blob's index tags, at most ten. This does not change its ETag.
    #[doc(alias = "set_blob_tags")]
    pub fn set_tags(&self, pairs: Pairs) -> Request<(), ConditionalCall<()>> {
        let call = self.call("SetBlobTags", Method::PUT).query("comp", "tags");
        let body = Tags::new(pairs).map(|tags| render_tags(&tags)).map_err(Error::from);
        let call = body.map(|body| call.static_header(CONTENT_TYPE, "application/xml").body(body));
        Request::conditional(&self.pipeline, call, |_| Ok(()))
    }
}

impl BlobServiceClient {
    /// Finds blobs of the account by index tags, with an expression such as `"Status" = 'done' AND "Year" >= '2020'`.
    pub fn find_blobs_by_tags(&self, expression: &str) -> Request<Page<FoundBlob>, FindBlobs> {
        let call = Call::new("FindBlobsByTags", Method::GET, "/").query("comp", "blobs").query("where", expression);
        FindBlobs::request(self.clone(), call)
    }
}

impl ContainerClient {
    /// Finds blobs of the container by index tags; see [`BlobServiceClient::find_blobs_by_tags`].
    pub fn find_blobs_by_tags(&self, expression: &str) -> Request<Page<FoundBlob>, FindBlobs> {
        let call = self.call("FindBlobsByTags", Method::GET).query("comp", "blobs").query("where", expression);
        FindBlobs::request(self.service(), call)
    }
}

impl FindBlobs {
    fn request(service: BlobServiceClient, call: Call) -> Request<Page<FoundBlob>, Self> {
        Request::new(Self { service, call, page_size: ANSWERED_LIST_ITEMS_MAX, from: None })
    }
}

impl Request<Page<FoundBlob>, FindBlobs> {
    /// Sets the largest number of blobs in a page; 500 by default and at most.
    pub fn page_size(mut self, blobs: usize) -> Self {
        self.kind.page_size = blobs.clamp(1, ANSWERED_LIST_ITEMS_MAX);
        self
    }
}

impl Operation<Page<FoundBlob>> for FindBlobs {
    async fn perform(self, exchange: &mut Exchange) -> Result<Page<FoundBlob>> {
        let call = self.call.query("maxresults", &self.page_size.to_string());
        let call = self.from.iter().fold(call, |call, from| call.query("marker", &from.first));
        page(parse_found_blobs(&exchange.send(&self.service.pipeline, &call).await?.body))
    }
}

impl Listing<FoundBlob> for FindBlobs {
    fn set_from(&mut self, from: Option<ContinuationToken>) {
        self.from = from;
    }
}
