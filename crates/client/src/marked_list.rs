//! What lists of queues, containers and blobs share: the parameters of a page, the page, and all pages as a stream.

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tablerock_protocol::ServiceError;
use tablerock_protocol::xml::AnsweredPage;

use crate::pipeline::Call;
use crate::table::{BoxStream, Continuation, Page};
use crate::{Error, Result};

/// The call for one page of a list.
pub(crate) fn page_call(call: Call, prefix: &str, page_size: usize, from: Option<&Continuation>) -> Call {
    let mut call = call.query("comp", "list").query("maxresults", &page_size.to_string());
    if !prefix.is_empty() {
        call = call.query("prefix", prefix);
    }
    from.into_iter().fold(call, |call, from| call.query("marker", &from.first))
}

/// The page of an answer.
pub(crate) fn page<T>(read: Result<AnsweredPage<T>, ServiceError>) -> Result<Page<T>> {
    let AnsweredPage { items, next_marker } = read.map_err(|error| Error::unreadable(&error))?;
    Ok(Page { items, next: next_marker.map(Continuation::from_marker) })
}

/// All that there is. Pages are read as they are needed.
pub(crate) fn follow<T, F>(segment: impl Fn(Option<Continuation>) -> F + Send + 'static) -> BoxStream<T>
where
    T: Send + 'static,
    F: Future<Output = Result<Page<T>>> + Send + 'static,
{
    let pages = stream::try_unfold((segment, Some(None)), |(segment, from)| async move {
        let Some(from) = from else { return Ok(None) };
        let page = segment(from).await?;
        let next = page.next.clone().map(Some);
        Ok::<_, Error>(Some((page, (segment, next))))
    });
    pages.map_ok(|page| stream::iter(page.items).map(Ok)).try_flatten().boxed()
}
