//! Group transactions: up to a hundred operations in one partition, all or none.

use futures_util::future::join_all;
use http::Method;
use http::header::{CONTENT_TYPE, IF_MATCH};
use tablerock_protocol::batch::{BATCH_FRAME_BYTES, PartRequest, append_changeset, batch_content_type};
use tablerock_protocol::limits;

use super::encryption::ENCRYPTION_CONCURRENCY;
use super::operation::EncodedOperation;
use super::{TableClient, TableOperation};
use crate::request::{Exchange, Operation};
use crate::{Error, Etag, Request, Result, TableEntity};

/// A group transaction: up to a hundred operations on different entities of one partition, all applied or none.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
/// # example::with_people(async |people| {
/// # use tablerock_client::{Entity, TableOperation};
/// # let (ann, bob) = (Entity::new("Sales", "00003"), Entity::new("Sales", "00001"));
/// let replace = TableOperation::replace(&bob).any_version();
/// let outcome = people.transaction().insert(&ann).operation(replace).commit().await;
/// # assert!(outcome.is_ok());
/// match outcome {
///     Ok(etags) => println!("new ETags: {etags:?}"),
///     Err(error) => println!("nothing was written; operation {:?} failed: {error}", error.failed_index()),
/// }
/// # Ok(()) });
/// ```
#[doc(alias = "TableTransactionAction")]
#[doc(alias = "TableBatchOperation")]
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before commit"]
pub struct Transaction {
    pub(super) table: TableClient,
    operations: Vec<TableOperation>,
}

impl TableClient {
    /// Begins a group transaction.
    #[doc(alias = "submit_transaction")]
    #[doc(alias = "batch")]
    pub fn transaction(&self) -> Transaction {
        Transaction { table: self.clone(), operations: Vec::new() }
    }
}

impl Transaction {
    /// Adds an operation of any kind.
    pub fn operation(mut self, operation: TableOperation) -> Self {
        self.operations.push(operation);
        self
    }

    /// Adds several operations.
    pub fn operations(mut self, operations: impl IntoIterator<Item = TableOperation>) -> Self {
        self.operations.extend(operations);
        self
    }

    /// Adds an insert.
    pub fn insert(self, entity: &impl TableEntity) -> Self {
        self.operation(TableOperation::insert(entity))
    }

    /// Adds a replace of the version that was read.
    pub fn replace(self, entity: &impl TableEntity) -> Self {
        self.operation(TableOperation::replace(entity))
    }

    /// Adds a merge into the version that was read.
    pub fn merge(self, entity: &impl TableEntity) -> Self {
        self.operation(TableOperation::merge(entity))
    }

    /// Adds an insert that replaces any existing version.
    #[doc(alias = "upsert")]
    pub fn insert_or_replace(self, entity: &impl TableEntity) -> Self {
        self.operation(TableOperation::insert_or_replace(entity))
    }

    /// Adds an insert that merges into any existing version.
    #[doc(alias = "upsert")]
    pub fn insert_or_merge(self, entity: &impl TableEntity) -> Self {
        self.operation(TableOperation::insert_or_merge(entity))
    }

    /// Adds a delete of the version that was read.
    pub fn delete(self, entity: &impl TableEntity) -> Self {
        self.operation(TableOperation::delete(entity))
    }

    /// Applies all operations, or none. Returns the new ETags in the order of the operations; a delete has none. If the
    /// service or the client rejects an operation, [`Error::failed_index`] returns its index.
    #[doc(alias = "SubmitTransaction")]
    pub fn commit(self) -> Request<Vec<Option<Etag>>, Commit> {
        Request::new(Commit(self))
    }

    /// Checks that all operations are in one partition: some servers do not.
    fn check_partition(&self) -> Result<()> {
        let mut partition = None;
        for (index, operation) in self.operations.iter().enumerate() {
            let entity = operation.entity().map_err(|error| Error::Entity(error.clone()).of_operation(index))?;
            let key = &entity.partition_key;
            let first = *partition.get_or_insert(key);
            if first != key {
                let why = format!(
                    "its partition is {key:?}, that of the first is {first:?}: a transaction has one partition"
                );
                return Err(Error::invalid(why).of_operation(index));
            }
        }
        Ok(())
    }
}

/// The commit of a [`Transaction`].
#[derive(Debug, Clone)]
pub struct Commit(Transaction);

impl Operation<Vec<Option<Etag>>> for Commit {
    async fn perform(self, exchange: &mut Exchange) -> Result<Vec<Option<Etag>>> {
        let Self(transaction) = self;
        transaction.check_partition()?;
        let Transaction { table, operations } = &transaction;
        let mut parts: Vec<BatchPart> = Vec::with_capacity(operations.len());
        for operations in operations.chunks(ENCRYPTION_CONCURRENCY) {
            let encoded = join_all(operations.iter().map(|operation| operation.encode(table))).await;
            for encoded in encoded {
                let encoded = encoded.map_err(|error| error.of_operation(parts.len()))?;
                parts.push(BatchPart::new(encoded, table));
            }
        }
        table.commit_parts(&parts, exchange).await
    }
}

/// One operation as a part of a batch.
#[derive(Debug)]
pub(super) struct BatchPart {
    method: Method,
    url: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    has_etag: bool,
}

impl BatchPart {
    pub(super) fn new(operation: EncodedOperation, table: &TableClient) -> Self {
        let EncodedOperation { method, path, if_match, body, is_insert, .. } = operation;
        let mut headers = vec![("Accept", super::JSON.to_owned()), ("DataServiceVersion", "3.0".to_owned())];
        if !body.is_empty() {
            headers.push(("Content-Type", "application/json".to_owned()));
        }
        if is_insert {
            headers.push(("Prefer", "return-no-content".to_owned()));
        }
        if let Some(if_match) = if_match {
            headers.push((IF_MATCH.as_str(), if_match));
        }
        let has_etag = method != Method::DELETE;
        Self { method, url: format!("{}{path}", table.endpoint()), headers, body, has_etag }
    }

    /// The bytes that the part adds to a batch, at most.
    pub(super) fn bytes(&self) -> usize {
        self.request().bytes_in_batch()
    }

    fn request(&self) -> PartRequest<'_> {
        PartRequest { method: self.method.as_str(), url: &self.url, headers: &self.headers, body: &self.body }
    }
}

/// Returns the index of the operation with which a batch exceeds a number of bytes.
fn first_beyond(parts: &[BatchPart], bytes_max: usize) -> usize {
    let mut bytes = BATCH_FRAME_BYTES;
    let beyond = parts.iter().position(|part| {
        bytes += part.bytes();
        bytes > bytes_max
    });
    beyond.unwrap_or(parts.len() - 1)
}

impl TableClient {
    /// Sends operations as one batch, unless there are none, and returns their ETags.
    pub(super) async fn commit_parts(&self, parts: &[BatchPart], exchange: &mut Exchange) -> Result<Vec<Option<Etag>>> {
        if parts.len() > limits::GROUP_OPERATIONS_MAX {
            let why = format!(
                "the transaction has {} operations, more than {}: use bulk, which accepts any number",
                parts.len(),
                limits::GROUP_OPERATIONS_MAX
            );
            return Err(Error::invalid(why).of_operation(limits::GROUP_OPERATIONS_MAX));
        }
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let (batch, changeset) = (self.pipeline.id(), self.pipeline.id());
        let requests: Vec<PartRequest<'_>> = parts.iter().map(BatchPart::request).collect();
        let mut body = Vec::with_capacity(BATCH_FRAME_BYTES + parts.iter().map(BatchPart::bytes).sum::<usize>());
        append_changeset(&mut body, batch, changeset, &requests);
        if body.len() > limits::BODY_BYTES_MAX {
            let why = format!(
                "the transaction has {} bytes, more than {}: use bulk, which accepts any number",
                body.len(),
                limits::BODY_BYTES_MAX
            );
            return Err(Error::invalid(why).of_operation(first_beyond(parts, limits::BODY_BYTES_MAX)));
        }
        let call =
            self.call("EntityGroupTransaction", Method::POST, "/$batch".to_owned()).group(self.name()).body(body);
        let call = call.header(CONTENT_TYPE, &batch_content_type(batch))?;
        let mut response = exchange.send(&self.pipeline, &call).await?;
        let etags = match response.part_etags.take() {
            None => Err(Error::InvalidResponse("it is not a batch response".to_owned())),
            Some(etags) if etags.len() != parts.len() => {
                Err(Error::InvalidResponse(format!("it has {} parts for {} operations", etags.len(), parts.len())))
            }
            Some(etags) => {
                Ok(etags.into_iter().zip(parts).map(|(etag, part)| etag.filter(|_| part.has_etag)).collect())
            }
        };
        response.confirm(etags)
    }
}
