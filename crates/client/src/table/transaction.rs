//! Group transactions: up to a hundred writes in one partition, all or none.

use futures_util::future::try_join_all;
use http::Method;
use http::header::{CONTENT_TYPE, IF_MATCH};
use tablerock_protocol::batch::{
    BATCH_FRAME_BYTES, PartRequest, append_changeset, batch_content_type, parse_changeset_answer,
};
use tablerock_protocol::limits;

use super::sealing::SEALED_TOGETHER;
use super::write::EncodedWrite;
use super::{TableClient, Write};
use crate::pipeline::Answer;
use crate::{Error, Etag, Result, TableEntity};

/// Writes that happen together or not at all. All are in one partition, none of them twice on the same entity, at most
/// a hundred.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
/// # example::with_people(async |people| {
/// # use tablerock_client::{Entity, Write};
/// # let (ann, bob) = (Entity::new("Sales", "00003"), Entity::new("Sales", "00001"));
/// let outcome = people.transaction().insert(&ann).write(Write::replace(&bob).any_version()).commit().await;
/// # assert!(outcome.is_ok());
/// match outcome {
///     Ok(etags) => println!("written as {etags:?}"),
///     Err(error) => println!("nothing was written; operation {:?} is why: {error}", error.failed_index()),
/// }
/// # Ok(()) });
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before commit"]
pub struct Transaction {
    table: TableClient,
    writes: Vec<Write>,
}

impl TableClient {
    /// A group transaction, to be filled and committed.
    pub fn transaction(&self) -> Transaction {
        Transaction { table: self.clone(), writes: Vec::new() }
    }
}

impl Transaction {
    /// Adds a write of any kind.
    pub fn write(mut self, write: Write) -> Self {
        self.writes.push(write);
        self
    }

    /// Adds several writes.
    pub fn writes(mut self, writes: impl IntoIterator<Item = Write>) -> Self {
        self.writes.extend(writes);
        self
    }

    /// Adds an insert.
    pub fn insert(self, entity: &impl TableEntity) -> Self {
        self.write(Write::insert(entity))
    }

    /// Adds a replace of the version that was read.
    pub fn replace(self, entity: &impl TableEntity) -> Self {
        self.write(Write::replace(entity))
    }

    /// Adds a merge into the version that was read.
    pub fn merge(self, entity: &impl TableEntity) -> Self {
        self.write(Write::merge(entity))
    }

    /// Adds an insert that replaces what is there.
    pub fn insert_or_replace(self, entity: &impl TableEntity) -> Self {
        self.write(Write::insert_or_replace(entity))
    }

    /// Adds an insert that merges into what is there.
    pub fn insert_or_merge(self, entity: &impl TableEntity) -> Self {
        self.write(Write::insert_or_merge(entity))
    }

    /// Adds a delete of the version that was read.
    pub fn delete(self, entity: &impl TableEntity) -> Self {
        self.write(Write::delete(entity))
    }

    /// Carries out all writes, or none. Returns the new ETags in the order of the writes; a delete has none. If the
    /// service refuses one of them, [`Error::failed_index`] tells which.
    pub async fn commit(self) -> Result<Vec<Option<Etag>>> {
        self.check_partition()?;
        let mut encoded: Vec<EncodedWrite> = Vec::with_capacity(self.writes.len());
        for writes in self.writes.chunks(SEALED_TOGETHER) {
            encoded.extend(try_join_all(writes.iter().map(|write| write.encode(&self.table))).await?);
        }
        let has_etag: Vec<bool> = self.writes.iter().map(Write::has_etag).collect();
        self.table.commit_encoded(&encoded, &has_etag).await
    }

    /// Some servers do not look.
    fn check_partition(&self) -> Result<()> {
        let mut partition = None;
        for (index, write) in self.writes.iter().enumerate() {
            let key = &write.entity().map_err(|error| Error::Entity(error.clone()))?.partition_key;
            if *partition.get_or_insert(key) != key {
                return Err(Error::invalid(format!("operation {index} of the transaction is in another partition")));
            }
        }
        Ok(())
    }
}

impl TableClient {
    /// Sends writes as one batch. No writes are no request.
    pub(super) async fn commit_encoded(&self, writes: &[EncodedWrite], has_etag: &[bool]) -> Result<Vec<Option<Etag>>> {
        if writes.len() > limits::GROUP_OPERATIONS_MAX {
            return Err(Error::invalid(format!(
                "a transaction has at most {} operations, not {}; a bulk takes any number",
                limits::GROUP_OPERATIONS_MAX,
                writes.len()
            )));
        }
        if writes.is_empty() {
            return Ok(Vec::new());
        }
        let (batch, changeset) = (self.pipeline.id(), self.pipeline.id());
        let urls: Vec<String> = writes.iter().map(|write| format!("{}{}", self.endpoint(), write.path)).collect();
        let headers: Vec<_> = writes.iter().map(part_headers).collect();
        let parts = writes.iter().zip(&urls).zip(&headers);
        let parts: Vec<PartRequest<'_>> = parts
            .map(|((write, url), headers)| PartRequest {
                method: write.method.as_str(),
                url,
                headers,
                body: &write.body,
            })
            .collect();
        let mut body =
            Vec::with_capacity(BATCH_FRAME_BYTES + parts.iter().map(PartRequest::bytes_in_batch).sum::<usize>());
        append_changeset(&mut body, batch, changeset, &parts);
        let call =
            self.call("EntityGroupTransaction", Method::POST, "/$batch".to_owned()).group(self.name()).body(body);
        let answer = self.pipeline.send(&call.header(CONTENT_TYPE, &batch_content_type(batch))?).await?;
        answer.reading(etags(&answer, has_etag))
    }
}

/// The ETags of a group that has succeeded.
fn etags(answer: &Answer, has_etag: &[bool]) -> Result<Vec<Option<Etag>>> {
    let answers = parse_changeset_answer(answer.header("content-type").unwrap_or_default(), &answer.body)
        .ok_or_else(|| Error::Answer("it is no answer to a batch".to_owned()))?;
    if answers.len() != has_etag.len() {
        return Err(Error::Answer(format!("it has {} parts for {} operations", answers.len(), has_etag.len())));
    }
    let parts = answers.iter().zip(has_etag);
    Ok(parts.map(|(part, has_etag)| part.header("etag").filter(|_| *has_etag).map(Etag::from)).collect())
}

fn part_headers(write: &EncodedWrite) -> Vec<(&'static str, String)> {
    let mut headers = vec![("Accept", super::JSON.to_owned()), ("DataServiceVersion", "3.0".to_owned())];
    if !write.body.is_empty() {
        headers.push(("Content-Type", "application/json".to_owned()));
    }
    if write.is_insert {
        headers.push(("Prefer", "return-no-content".to_owned()));
    }
    if let Some(if_match) = &write.if_match {
        headers.push((IF_MATCH.as_str(), if_match.clone()));
    }
    headers
}

impl EncodedWrite {
    /// About what the write takes in a batch to an endpoint whose address has so many bytes.
    pub(super) fn bytes_in_batch(&self, endpoint_bytes: usize) -> usize {
        let headers = part_headers(self);
        let part = PartRequest { method: self.method.as_str(), url: &self.path, headers: &headers, body: &self.body };
        part.bytes_in_batch() + endpoint_bytes
    }
}
