//! Reading the result of a query: page by page, or as a stream that follows the pages by itself.

use std::pin::Pin;

use futures_util::stream::{self, Stream, StreamExt as _, TryStreamExt as _};
use http::Method;

use super::resolver::{Resolver, resolve};
use super::{Continuation, Query, answers};
use crate::Result;
use crate::pipeline::Answer;

/// A stream on the heap, as queries and listings return it.
pub type BoxStream<T> = Pin<Box<dyn Stream<Item = Result<T>> + Send>>;

/// One page of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// What the page holds; it may be nothing although more pages follow.
    pub items: Vec<T>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<Continuation>,
}

impl<T> Page<Result<T>> {
    /// The page if all of it could be read.
    fn complete(self) -> Result<Page<T>> {
        Ok(Page { items: self.items.into_iter().collect::<Result<_>>()?, next: self.next })
    }
}

impl<R> Query<R>
where
    R: Resolver + Send + Sync + 'static,
    R::Output: Send + 'static,
{
    /// Reads one page: the first, or the one that a token names.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::{Continuation, Entity};
    /// # let stored: Option<String> = None;
    /// let token: Option<Continuation> = stored.map(|text| text.parse()).transpose()?;
    /// let page = people.query::<Entity>().partition("Sales").page_size(1).segment(token.as_ref()).await?;
    /// let to_be_stored = page.next.map(|token| token.to_string());
    /// # assert!(page.items.len() == 1 && to_be_stored.is_some());
    /// # Ok(()) });
    /// ```
    pub async fn segment(&self, from: Option<&Continuation>) -> Result<Page<R::Output>> {
        self.read_page(from, self.page_size.min(self.limit)).await?.complete()
    }

    /// All pages, each when it is asked for. One that holds an entity which does not fit is an error, and the next page
    /// follows all the same.
    pub fn pages(self) -> BoxStream<Page<R::Output>> {
        self.pages_of_results().map(|page| page?.complete()).boxed()
    }

    /// All entities. Pages are read as they are needed.
    ///
    /// An entity that does not fit is an error that names it, and the others follow all the same: whoever wants to go on
    /// reads with `next` in the place of `try_next`. A page that cannot be read is an error and the end.
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
    ///         Err(Error::Entity(error)) => println!("{:?} does not fit: {error}", error.keys()),
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

    /// The first entity, if there is one.
    pub async fn first(self) -> Result<Option<R::Output>> {
        self.limit(1).stream().try_next().await
    }

    /// All entities at once, for results that are known to be small.
    pub async fn all(self) -> Result<Vec<R::Output>> {
        self.stream().try_collect().await
    }

    fn pages_of_results(self) -> BoxStream<Page<Result<R::Output>>> {
        let limit = self.limit;
        Box::pin(stream::try_unfold((self, Some(None), limit), |(query, from, left)| async move {
            let Some(from) = from.filter(|_| left > 0) else { return Ok(None) };
            let page = query.read_page(Option::as_ref(&from), query.page_size.min(left)).await?;
            let left = left.saturating_sub(page.items.len());
            let next = page.next.clone().map(Some);
            Ok(Some((page, (query, next, left))))
        }))
    }

    async fn read_page(&self, from: Option<&Continuation>, top: usize) -> Result<Page<Result<R::Output>>> {
        let path = format!("{}()", self.table.path());
        let mut call = self.table.call("QueryEntities", Method::GET, path);
        if let Some(filter) = &self.filter {
            call = call.query("$filter", &filter.to_text()?);
        }
        if let Some(select) = &self.select {
            call = call.query("$select", &self.table.sealing.selection(select));
        }
        call = call.query("$top", &top.to_string());
        if let Some(Continuation { first, second }) = from {
            call = call.query("NextPartitionKey", first);
            call = second.iter().fold(call, |call, row| call.query("NextRowKey", row));
        }
        let answer = self.table.pipeline.send(&call).await?;
        let entities = self.table.sealing.open_all(answers::entities(&answer)?).await;
        let items = entities.into_iter().map(|entity| resolve(&self.resolver, entity?)).collect();
        Ok(Page { items, next: next(&answer, "NextPartitionKey", Some("NextRowKey")) })
    }
}

/// The token of an answer, whose parts stand in headers named like the parameters.
pub(super) fn next(answer: &Answer, first: &str, second: Option<&str>) -> Option<Continuation> {
    let part = |name: &str| answer.header(&format!("x-ms-continuation-{name}")).map(str::to_owned);
    Some(Continuation { first: part(first)?, second: second.and_then(part) })
}
