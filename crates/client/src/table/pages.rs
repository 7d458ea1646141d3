//! Results of a query: one page, a stream of pages or a stream of entities.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt as _, TryStreamExt as _};
use http::Method;

use super::resolver::Resolver;
use super::{ContinuationToken, Query, TableClient, responses};
use crate::entity::KnownNames;
use crate::pipeline::{Call, ServiceResponse};
use crate::request::{Exchange, Operation};
use crate::{Request, Result};

/// A boxed stream, as queries and listings return it.
pub type BoxStream<T> = Pin<Box<dyn Stream<Item = Result<T>> + Send>>;

/// One page of a result.
#[doc(alias = "segment")]
#[doc(alias = "TableQuerySegment")]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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

/// The read of one page of a query.
pub struct QueryPage<R> {
    table: TableClient,
    /// An invalid filter is returned when the request is sent.
    call: Result<Call>,
    names: KnownNames,
    resolver: Arc<R>,
}

/// The read of the first entity of a query.
#[derive(Debug, Clone)]
pub struct QueryFirst<R>(Query<R>);

/// The read of all entities of a query.
#[derive(Debug, Clone)]
pub struct QueryAll<R>(Query<R>);

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
    pub fn page(&self, from: Option<&ContinuationToken>) -> Request<Page<R::Output>, QueryPage<R>> {
        Request::new(self.query_page(from, self.page_size.min(self.limit)))
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

    /// Returns the first entity, if there is one. The options hold for each page that it takes.
    #[doc(alias = "FirstOrDefault")]
    pub fn first(self) -> Request<Option<R::Output>, QueryFirst<R>> {
        Request::new(QueryFirst(self.limit(1)))
    }

    /// Returns all entities in memory, for small results. The options hold for each page.
    #[doc(alias = "collect")]
    #[doc(alias = "ToList")]
    pub fn all(self) -> Request<Vec<R::Output>, QueryAll<R>> {
        Request::new(QueryAll(self))
    }

    fn pages_of_results(self) -> BoxStream<Page<Result<R::Output>>> {
        let position = Position::start(&self);
        Box::pin(stream::try_unfold((self, position), |(query, mut position)| async move {
            let page = query.next_page(&mut position, &mut Exchange::default()).await?;
            Ok(page.map(|page| (page, (query, position))))
        }))
    }

    /// Reads the page at a position and moves it; `None` at the end.
    pub(super) async fn next_page(
        &self,
        position: &mut Position,
        exchange: &mut Exchange,
    ) -> Result<Option<Page<Result<R::Output>>>> {
        let Some(from) = position.next.take().filter(|_| position.left > 0) else { return Ok(None) };
        let page = self.query_page(from.as_ref(), self.page_size.min(position.left)).read(exchange).await?;
        position.left = position.left.saturating_sub(page.items.len());
        position.next = page.continuation_token.clone().map(Some);
        Ok(Some(page))
    }

    fn query_page(&self, from: Option<&ContinuationToken>, top: usize) -> QueryPage<R> {
        let call = self.page_call(from, top);
        let names = self.projection.known_names();
        QueryPage { table: self.table.clone(), call, names, resolver: Arc::clone(&self.resolver) }
    }

    fn page_call(&self, from: Option<&ContinuationToken>, top: usize) -> Result<Call> {
        let path = format!("{}()", self.table.path());
        let mut call = self.table.call("QueryEntities", Method::GET, path);
        if let Some(filter) = &self.filter {
            call = call.query("$filter", &filter.to_text()?);
        }
        call = self.projection.select(call, self.table.encryption.selection());
        call = call.query("$top", &top.to_string());
        if let Some(ContinuationToken { first, second }) = from {
            call = call.query("NextPartitionKey", first);
            call = second.iter().fold(call, |call, row| call.query("NextRowKey", row));
        }
        Ok(call)
    }
}

/// The position in the pages of a query.
#[derive(Debug)]
pub(super) struct Position {
    /// The token of the next page, which the first page does not have; `None` at the end.
    next: Option<Option<ContinuationToken>>,
    /// The entities that the query may still return.
    left: usize,
}

impl Position {
    pub(super) fn start<R>(query: &Query<R>) -> Self {
        Self { next: Some(None), left: query.limit }
    }
}

impl<R: Resolver> QueryPage<R> {
    async fn read(self, exchange: &mut Exchange) -> Result<Page<Result<R::Output>>> {
        let response = exchange.send(&self.table.pipeline, &self.call?).await?;
        let entities = self.table.encryption.decrypt_all(responses::entities(&response, self.names)?).await;
        let items = entities.into_iter().map(|entity| self.resolver.resolve_read(entity)).collect();
        let continuation_token = continuation_token(&response, "NextPartitionKey", Some("NextRowKey"));
        Ok(Page { items, continuation_token })
    }
}

impl<R> Operation<Page<R::Output>> for QueryPage<R>
where
    R: Resolver + Send + Sync + 'static,
    R::Output: Send + 'static,
{
    async fn perform(self, exchange: &mut Exchange) -> Result<Page<R::Output>> {
        self.read(exchange).await?.complete()
    }
}

impl<R> Operation<Option<R::Output>> for QueryFirst<R>
where
    R: Resolver + Send + Sync + 'static,
    R::Output: Send + 'static,
{
    async fn perform(self, exchange: &mut Exchange) -> Result<Option<R::Output>> {
        let mut position = Position::start(&self.0);
        while let Some(page) = self.0.next_page(&mut position, exchange).await? {
            if let Some(first) = page.items.into_iter().next() {
                return first.map(Some);
            }
        }
        Ok(None)
    }
}

impl<R> Operation<Vec<R::Output>> for QueryAll<R>
where
    R: Resolver + Send + Sync + 'static,
    R::Output: Send + 'static,
{
    async fn perform(self, exchange: &mut Exchange) -> Result<Vec<R::Output>> {
        let mut position = Position::start(&self.0);
        let mut all = Vec::new();
        while let Some(page) = self.0.next_page(&mut position, exchange).await? {
            all.append(&mut page.complete()?.items);
        }
        Ok(all)
    }
}

impl<R> Clone for QueryPage<R> {
    fn clone(&self) -> Self {
        let Self { table, call, names, resolver } = self;
        Self { table: table.clone(), call: call.clone(), names: *names, resolver: Arc::clone(resolver) }
    }
}

impl<R> fmt::Debug for QueryPage<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryPage").field("table", &self.table.name()).finish_non_exhaustive()
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
