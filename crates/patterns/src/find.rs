//! The entities that an index finds.

use std::fmt;

use futures_util::stream;
use tablerock_client::table::BoxStream;
use tablerock_client::{Error, Result, StreamExt as _, TryStreamExt as _};

/// A search by an index, which is sent when it is read: the [`first`](Self::first) entity, [`all`](Self::all) of them,
/// or a [`stream`](Self::stream).
#[must_use = "nothing is sent before it is read"]
pub struct Find<T> {
    stream: BoxStream<T>,
}

impl<T: Send + 'static> Find<T> {
    pub(crate) fn new(stream: BoxStream<T>) -> Self {
        Self { stream }
    }

    pub(crate) fn failed(error: Error) -> Self {
        Self { stream: stream::once(async { Err(error) }).boxed() }
    }

    /// Returns the first entity; `None` if there is none.
    pub async fn first(mut self) -> Result<Option<T>> {
        self.stream.try_next().await
    }

    /// Returns all entities. Prefer [`stream`](Self::stream) for a value that many entities have.
    pub async fn all(self) -> Result<Vec<T>> {
        self.stream.try_collect().await
    }

    /// Streams the entities in the order of their keys.
    pub fn stream(self) -> BoxStream<T> {
        self.stream
    }
}

impl<T> fmt::Debug for Find<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Find").finish_non_exhaustive()
    }
}
