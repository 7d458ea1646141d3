//! Pages of queues, containers and blobs, and streams over the pages of any listing.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tablerock_protocol::ServiceError;
use tablerock_protocol::xml::AnsweredPage;

use crate::pipeline::Call;
use crate::table::{BoxStream, ContinuationToken, Page};
use crate::{Error, Result};

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

/// Streams the items of all pages. Reads a page when the stream needs it.
pub(crate) fn stream_pages<L, T, F>(listing: L, read_page: fn(L, Option<ContinuationToken>) -> F) -> BoxStream<T>
where
    L: Clone + Send + 'static,
    T: Send + 'static,
    F: Future<Output = Result<Page<T>>> + Send + 'static,
{
    let pages = stream::try_unfold((listing, Some(None)), move |(listing, from)| async move {
        let Some(from) = from else { return Ok(None) };
        let page = read_page(listing.clone(), from).await?;
        let next = page.continuation_token.clone().map(Some);
        Ok::<_, Error>(Some((page, (listing, next))))
    });
    pages.map_ok(|page| stream::iter(page.items).map(Ok)).try_flatten().boxed()
}
