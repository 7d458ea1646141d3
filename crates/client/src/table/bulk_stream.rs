//! Bulk writes from a stream: bounded memory, and a result for each operation as soon as it is there.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use futures_util::stream::{self, Stream, StreamExt as _};
use tablerock_protocol::{Property, Value, limits};

use super::bulk::{CONCURRENCY_DEFAULT, write};
use super::{TableClient, TableOperation};
use crate::{Etag, Result};

/// The groups that are read from the stream for each concurrent request: with more, fewer requests wait for the last of
/// a window.
const GROUPS_PER_REQUEST: usize = 4;

/// The bytes of entities that are read from the stream at once.
const WINDOW_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A bulk write of a stream of operations; see [`TableClient::bulk_stream`].
#[must_use = "nothing is sent before the results are read"]
pub struct BulkStream {
    pub(super) table: TableClient,
    operations: Pin<Box<dyn Stream<Item = TableOperation> + Send>>,
    concurrency: usize,
}

/// The result of one operation of a bulk write.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BulkResult {
    /// The index of the operation in the stream.
    pub index: u64,
    /// The operation, which can be sent again.
    pub operation: TableOperation,
    /// Its new ETag, which a delete does not have, or its error.
    pub result: Result<Option<Etag>>,
}

impl TableClient {
    /// Writes the operations of a stream in any partitions, with a bounded number of them in memory.
    ///
    /// The client reads operations while they are ready, at most 400 for each concurrent request and 32 MiB, and writes
    /// them as concurrent group transactions, as [`bulk`](Self::bulk) does. It keeps the order of operations on the
    /// same entity. While it writes, it does not read the stream.
    ///
    /// ```
    /// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
    /// # example::with_people(async |people| {
    /// # use tablerock_client::{Entity, TableOperation};
    /// use futures_util::stream;
    /// use tablerock_client::StreamExt;
    ///
    /// # let mut failed = Vec::new();
    /// let rows = stream::iter(["00002", "00003"]);
    /// let inserts = rows.map(|row| TableOperation::insert(&Entity::new("Sales", row)));
    /// let mut results = people.bulk_stream(inserts).results();
    /// while let Some(written) = results.next().await {
    ///     if let Err(error) = written.result {
    ///         println!("operation {} failed: {error}", written.index);
    /// #       failed.push(written.index);
    ///     }
    /// }
    /// # assert_eq!(failed, [0]);
    /// # Ok(()) });
    /// ```
    #[doc(alias = "import")]
    pub fn bulk_stream(&self, operations: impl Stream<Item = TableOperation> + Send + 'static) -> BulkStream {
        BulkStream { table: self.clone(), operations: Box::pin(operations.fuse()), concurrency: CONCURRENCY_DEFAULT }
    }
}

impl BulkStream {
    /// Sets the number of concurrent group transactions; 8 by default.
    #[doc(alias = "parallel")]
    #[doc(alias = "parallelism")]
    pub fn concurrency(mut self, groups: usize) -> Self {
        self.concurrency = groups.max(1);
        self
    }

    /// Writes while the results are read, and returns them in the order of the operations.
    pub fn results(self) -> Pin<Box<dyn Stream<Item = BulkResult> + Send>> {
        let windows = stream::unfold((self, 0), |(mut bulk, first)| async move {
            let operations = bulk.window().await;
            if operations.is_empty() {
                return None;
            }
            let results = write(&bulk.table, &operations, bulk.concurrency, None).await;
            let next = first + operations.len() as u64;
            let items = operations.into_iter().zip(results).zip(first..);
            let items = items.map(|((operation, result), index)| BulkResult { index, operation, result });
            Some((stream::iter(items.collect::<Vec<_>>()), (bulk, next)))
        });
        windows.flatten().boxed()
    }

    /// Reads operations that are ready, and waits only for the first. An empty window is the end of the stream.
    async fn window(&mut self) -> Vec<TableOperation> {
        let operations_max = self.concurrency.saturating_mul(GROUPS_PER_REQUEST * limits::GROUP_OPERATIONS_MAX);
        let (mut window, mut bytes) = (Vec::new(), 0);
        poll_fn(|context| {
            while window.len() < operations_max && bytes < WINDOW_BYTES_MAX {
                match self.operations.as_mut().poll_next(context) {
                    Poll::Ready(Some(operation)) => {
                        bytes += approximate_bytes(&operation);
                        window.push(operation);
                    }
                    Poll::Pending if window.is_empty() => return Poll::Pending,
                    Poll::Ready(None) | Poll::Pending => break,
                }
            }
            Poll::Ready(())
        })
        .await;
        window
    }
}

fn approximate_bytes(operation: &TableOperation) -> usize {
    let properties = operation.entity().map(|entity| entity.properties()).unwrap_or_default();
    let size = |Property { name, value }: &Property<'_>| {
        name.len()
            + match value {
                Value::String(text) => text.len(),
                Value::Binary(bytes) => bytes.len(),
                _ => size_of::<Property<'_>>(),
            }
    };
    size_of::<TableOperation>() + properties.iter().map(size).sum::<usize>()
}

impl fmt::Debug for BulkStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("BulkStream");
        shown.field("table", &self.table.name()).field("concurrency", &self.concurrency).finish_non_exhaustive()
    }
}
