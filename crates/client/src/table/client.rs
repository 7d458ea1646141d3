//! One table: where it is, and its creation and end.

use std::sync::Arc;

use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE};
use tablerock_protocol::json::append_create_table;

use super::sealing::Sealing;
use super::{DATA_SERVICE_VERSION, JSON, PREFER, TableServiceClient};
use crate::pipeline::{Call, Pipeline, encode, key_predicate};
use crate::{Credential, Endpoint, ErrorCode, Result};

/// A table. Clones are cheap and share connections.
///
/// Reads are [`get`](Self::get), [`get_if_exists`](Self::get_if_exists) and [`query`](Self::query); writes are
/// [`insert`](Self::insert), [`replace`](Self::replace), [`merge`](Self::merge),
/// [`insert_or_replace`](Self::insert_or_replace), [`insert_or_merge`](Self::insert_or_merge) and
/// [`delete`](Self::delete); several at once go through [`transaction`](Self::transaction) or [`bulk`](Self::bulk).
#[derive(Debug, Clone)]
pub struct TableClient {
    pub(crate) pipeline: Arc<Pipeline>,
    name: Arc<str>,
    pub(super) sealing: Sealing,
}

impl TableClient {
    pub(super) fn new(pipeline: Arc<Pipeline>, name: String) -> Self {
        Self { pipeline, name: name.into(), sealing: Sealing::default() }
    }

    /// The table's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where the service is.
    pub fn endpoint(&self) -> &Endpoint {
        &self.pipeline.endpoint
    }

    /// The service that the table is part of.
    pub fn service(&self) -> TableServiceClient {
        TableServiceClient { pipeline: Arc::clone(&self.pipeline) }
    }

    /// The same table with another credential, over the same connections: a shared access signature, for example.
    pub fn with_credential(&self, credential: impl Into<Credential>) -> Result<Self> {
        let table = self.service().with_credential(credential)?.table(self.name());
        Ok(table.with_sealing(self.sealing.clone()))
    }

    pub(super) fn with_sealing(&self, sealing: Sealing) -> Self {
        Self { sealing, ..self.clone() }
    }

    /// Creates the table.
    pub async fn create(&self) -> Result<()> {
        let mut body = Vec::new();
        append_create_table(&mut body, &self.name);
        let call = self.call("CreateTable", Method::POST, "/Tables".to_owned()).body(body);
        self.pipeline.send(&call.own_header(PREFER, "return-no-content")).await.map(drop)
    }

    /// Creates the table unless it exists. Returns whether it was this call that created it; after a lost answer, an
    /// earlier try may have.
    pub async fn create_if_not_exists(&self) -> Result<bool> {
        match self.create().await {
            Ok(()) => Ok(true),
            Err(error) if error.code() == Some(ErrorCode::TableAlreadyExists) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Drops the table with everything in it.
    pub async fn drop_table(&self) -> Result<()> {
        let path = format!("/Tables('{}')", encode(&self.name));
        self.pipeline.send(&self.call("DeleteTable", Method::DELETE, path)).await.map(drop)
    }

    /// Drops the table if it exists. Returns whether it did; after a lost answer, an earlier try may have dropped it.
    pub async fn drop_table_if_exists(&self) -> Result<bool> {
        match self.drop_table().await {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A call with the headers that all operations on tables and entities have.
    pub(super) fn call(&self, operation: &'static str, method: Method, path: String) -> Call {
        let has_body = method != Method::GET && method != Method::DELETE;
        let call = Call::new(operation, method, path).own_header(ACCEPT, JSON).own_header(DATA_SERVICE_VERSION, "3.0");
        if has_body { call.own_header(CONTENT_TYPE, "application/json") } else { call }
    }

    /// `/People`, with which the addresses of all entities begin.
    pub(super) fn path(&self) -> String {
        format!("/{}", encode(&self.name))
    }

    pub(super) fn entity_path(&self, partition_key: &str, row_key: &str) -> String {
        format!("{}({})", self.path(), key_predicate(partition_key, row_key))
    }
}
