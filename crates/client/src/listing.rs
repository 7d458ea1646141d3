//! Pages of queues, containers and blobs, and streams over the pages of any listing.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tablerock_protocol::ServiceError;
use tablerock_protocol::xml::AnsweredPage;

use crate::pipeline::Call;
use crate::request::Operation;
use crate::table::{BoxStream, ContinuationToken, Page};
use crate::{Error, Request, Result};

/// Adds the parameters of one page to a call.
pub(crate) fn page_call(call: Call, prefix: &str, page_size: usize, from: Option<&ContinuationToken>) -> Call {
    let mut call = call.query("comp", "list").query("maxresults", &page_size.to_string());
    if !prefix.is_empty() {
        call = call.query("prefix", prefix);
    }
    from.into_iter().fold(call, |call, from| call.query("marker", &from.first))
}

/// Converts a parsed response to a page.
pub(crate) fn page<T>(read: Result<AnsweredPage<T>, ServiceError>) -> Result<Page<T>> {
    let AnsweredPage { items, next_marker } = read.map_err(|error| Error::invalid_response(&error))?;
    Ok(Page { items, continuation_token: next_marker.map(ContinuationToken::from_marker) })
}

/// A kind of request that reads one page of a list.
pub trait Listing<T>: Operation<Page<T>> + Clone + 'static {
    /// Continues from a token, or from the beginning.
    #[doc(hidden)]
    fn set_from(&mut self, from: Option<ContinuationToken>);
}

impl<T: Send + 'static, K: Listing<T>> Request<Page<T>, K> {
    /// Reads one page: the first, or that of a continuation token.
    #[doc(alias = "by_page")]
    pub fn page(&self, from: Option<&ContinuationToken>) -> Self {
        let mut page = self.clone();
        page.kind.set_from(from.cloned());
        page
    }

    /// Streams all items. Reads a page when the stream needs it. The options hold for each page.
    pub fn stream(self) -> BoxStream<T> {
        let pages = stream::try_unfold((self, Some(None)), move |(listing, from)| async move {
            let Some(from) = from else { return Ok(None) };
            let page = listing.page(Option::as_ref(&from)).await?;
            let next = page.continuation_token.clone().map(Some);
            Ok::<_, Error>(Some((page, (listing, next))))
        });
        pages.map_ok(|page| stream::iter(page.items).map(Ok)).try_flatten().boxed()
    }
}
