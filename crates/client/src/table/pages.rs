//! Results of a query: one page, a stream of pages or a stream of entities.

use std::pin::Pin;

use futures_util::stream::{self, Stream, StreamExt as _, TryStreamExt as _};
use http::Method;

use super::resolver::Resolver;
use super::{ContinuationToken, Query, responses};
use crate::Result;
use crate::pipeline::ServiceResponse;

/// A boxed stream, as queries and listings return it.
pub type BoxStream<T> = Pin<Box<dyn Stream<Item = Result<T>> + Send>>;

/// One page of a result.
#[doc(alias = "segment")]
#[doc(alias = "TableQuerySegment")]
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The items of the page, possibly none even if more pages follow.
    pub items: Vec<T>,
    /// The token of the next page; `None` at the end.
    pub continuation_token: Option<ContinuationToken>,
}

impl<T> Page<Result<T>> {
    /// Returns the page if all its items could be converted.
    fn complete(self) -> Result<Page<T>> {
        Ok(Page { items: self.items.into_iter().collect::<Result<_>>()?, continuation_token: self.continuation_token })
    }
}

impl<R> Query<R>
where
    R: Resolver + Send + Sync + 'static,
    R::Output: Send + 'static,
{
    /// Reads one page: the first, or that of a continuation token. If an entity cannot be converted, the page fails;
    /// with [`results`](Self::results) each entity has a result of its own.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::{ContinuationToken, Entity};
    /// # let stored: Option<String> = None;
    /// let token: Option<ContinuationToken> = stored.map(|text| text.parse()).transpose()?;
    /// let page = people.query::<Entity>().partition("Sales").page_size(1).page(token.as_ref()).await?;
    /// let to_be_stored = page.continuation_token.map(|token| token.to_string());
    /// # assert!(page.items.len() == 1 && to_be_stored.is_some());
    /// # Ok(()) });
    /// ```
    pub async fn page(&self, from: Option<&ContinuationToken>) -> Result<Page<R::Output>> {
        self.read_page(from, self.page_size.min(self.limit)).await?.complete()
    }

    /// Streams all pages. Reads a page when the stream needs it. A page with an entity that cannot be converted is an
    /// error; the stream continues with the next page. See [`results`](Self::results).
    #[doc(alias = "by_page")]
    pub fn pages(self) -> BoxStream<Page<R::Output>> {
        self.pages_of_results().map(|page| page?.complete()).boxed()
    }

    /// Streams all entities. Reads a page when the stream needs it.
    ///
    /// An entity that cannot be converted is an error with its keys; the stream continues with the next entity. To skip
    /// it, read with `next` instead of `try_next`. A page that cannot be read is an error and ends the stream.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::{Entity, TableEntity};
    /// use tablerock_client::{Error, StreamExt};
    ///
    /// #[derive(TableEntity)]
    /// struct Aged {
    ///     #[entity(rename = "Age")]
    ///     age: i32,
    /// }
    ///
    /// # people.insert(&Entity::new("Sales", "00000")).await?;
    /// # let mut seen = 0;
    /// let mut all = people.query::<Aged>().stream();
    /// while let Some(read) = all.next().await {
    ///     match read {
    ///         Ok(aged) => println!("{}", aged.age),
    ///         Err(Error::Entity(error)) => println!("{:?} cannot be converted: {error}", error.keys()),
    ///         Err(error) => return Err(error),
    ///     }
    /// #     seen += 1;
    /// }
    /// # assert_eq!(seen, 3);
    /// # Ok(()) });
    /// ```
    pub fn stream(self) -> BoxStream<R::Output> {
        self.pages_of_results().map_ok(|page| stream::iter(page.items)).try_flatten().boxed()
    }

    /// Returns the first entity, if there is one.
    pub async fn first(self) -> Result<Option<R::Output>> {
        self.limit(1).stream().try_next().await
    }

    /// Returns all entities in memory, for small results.
    #[doc(alias = "collect")]
    pub async fn all(self) -> Result<Vec<R::Output>> {
        self.stream().try_collect().await
    }

    fn pages_of_results(self) -> BoxStream<Page<Result<R::Output>>> {
        let limit = self.limit;
        Box::pin(stream::try_unfold((self, Some(None), limit), |(query, from, left)| async move {
            let Some(from) = from.filter(|_| left > 0) else { return Ok(None) };
            let page = query.read_page(Option::as_ref(&from), query.page_size.min(left)).await?;
            let left = left.saturating_sub(page.items.len());
            let next = page.continuation_token.clone().map(Some);
            Ok(Some((page, (query, next, left))))
        }))
    }

    async fn read_page(&self, from: Option<&ContinuationToken>, top: usize) -> Result<Page<Result<R::Output>>> {
        let path = format!("{}()", self.table.path());
        let mut call = self.table.call("QueryEntities", Method::GET, path);
        if let Some(filter) = &self.filter {
            call = call.query("$filter", &filter.to_text()?);
        }
        if let Some(select) = self.projection.select() {
            call = call.query("$select", &self.table.encryption.selection(select));
        }
        call = call.query("$top", &top.to_string());
        if let Some(ContinuationToken { first, second }) = from {
            call = call.query("NextPartitionKey", first);
            call = second.iter().fold(call, |call, row| call.query("NextRowKey", row));
        }
        let response = self.table.pipeline.send(&call).await?;
        let entities = self.table.encryption.decrypt_all(responses::entities(&response)?).await;
        let items = entities.into_iter().map(|entity| self.resolver.resolve_read(entity)).collect();
        let continuation_token = continuation_token(&response, "NextPartitionKey", Some("NextRowKey"));
        Ok(Page { items, continuation_token })
    }
}

/// Returns the continuation token of a response, whose headers have the names of the parameters.
pub(super) fn continuation_token(
    response: &ServiceResponse,
    first: &str,
    second: Option<&str>,
) -> Option<ContinuationToken> {
    let part = |name: &str| response.header(&format!("x-ms-continuation-{name}")).map(str::to_owned);
    Some(ContinuationToken { first: part(first)?, second: second.and_then(part) })
}
