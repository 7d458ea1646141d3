//! One table: its address, creation and deletion.

use std::sync::Arc;

use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE};
use tablerock_protocol::json::append_create_table;

use super::encryption::TableEncryption;
use super::{DATA_SERVICE_VERSION, JSON, PREFER, TableServiceClient};
use crate::error::none_if;
use crate::pipeline::{Call, Pipeline, append_encoded, append_key_predicate, encode};
use crate::{Credential, Endpoint, Error, ErrorCode, Request, Result};

/// A client of one table. Clones are cheap and share connections.
///
/// Reads are [`get`](Self::get), [`get_if_exists`](Self::get_if_exists) and [`query`](Self::query); writes are
/// [`insert`](Self::insert), [`replace`](Self::replace), [`merge`](Self::merge),
/// [`insert_or_replace`](Self::insert_or_replace), [`insert_or_merge`](Self::insert_or_merge) and
/// [`delete`](Self::delete). [`transaction`](Self::transaction) and [`bulk`](Self::bulk) write several entities.
#[derive(Debug, Clone)]
pub struct TableClient {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(super) name: Arc<str>,
    pub(super) encryption: TableEncryption,
}

impl TableClient {
    pub(super) fn new(pipeline: Arc<Pipeline>, name: String) -> Self {
        Self { pipeline, name: name.into(), encryption: TableEncryption::default() }
    }

    /// Returns the table's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the endpoint of the service.
    pub fn endpoint(&self) -> &Endpoint {
        &self.pipeline.endpoint
    }

    /// Returns the client of the table's service.
    pub fn service(&self) -> TableServiceClient {
        TableServiceClient { pipeline: Arc::clone(&self.pipeline) }
    }

    /// Returns a client of the table with another credential, such as a shared access signature, over the same
    /// connections.
    pub fn with_credential(&self, credential: impl Into<Credential>) -> Result<Self> {
        let table = self.service().with_credential(credential)?.table(self.name());
        Ok(Self { encryption: self.encryption.clone(), ..table })
    }

    /// Creates the table. Fails with 409 if it exists.
    #[doc(alias = "create_table")]
    pub fn create(&self) -> Request<()> {
        let mut body = Vec::new();
        append_create_table(&mut body, &self.name);
        let call = self.call("CreateTable", Method::POST, "/Tables".to_owned()).body(body);
        let call = call.static_header(PREFER, "return-no-content");
        Request::single(&self.pipeline, Ok(call), |_| Ok(()))
    }

    /// Creates the table unless it exists. Returns whether this call created it; after a lost response, an earlier
    /// attempt may have.
    pub fn create_if_not_exists(&self) -> Request<bool> {
        self.create().map_result(|created| {
            Ok(none_if(created, |error| error.has_code(ErrorCode::TableAlreadyExists))?.is_some())
        })
    }

    /// Deletes the table with all its entities.
    pub fn delete_table(&self) -> Request<()> {
        let path = format!("/Tables('{}')", encode(&self.name));
        let call = self.call("DeleteTable", Method::DELETE, path);
        Request::single(&self.pipeline, Ok(call), |_| Ok(()))
    }

    /// Deletes the table if it exists. Returns whether it did; after a lost response, an earlier attempt may have
    /// deleted it.
    pub fn delete_table_if_exists(&self) -> Request<bool> {
        self.delete_table().map_result(|deleted| Ok(none_if(deleted, Error::is_not_found)?.is_some()))
    }

    /// Returns a call with the headers of all operations on tables and entities.
    pub(super) fn call(&self, operation: &'static str, method: Method, path: String) -> Call {
        let has_body = method != Method::GET && method != Method::DELETE;
        let call =
            Call::new(operation, method, path).static_header(ACCEPT, JSON).static_header(DATA_SERVICE_VERSION, "3.0");
        if has_body { call.static_header(CONTENT_TYPE, "application/json") } else { call }
    }

    /// Returns `/People`, the prefix of the paths of all entities.
    pub(super) fn path(&self) -> String {
        format!("/{}", encode(&self.name))
    }

    pub(super) fn entity_path(&self, partition_key: &str, row_key: &str) -> String {
        let mut path = String::with_capacity(40 + self.name.len() + partition_key.len() + row_key.len());
        path.push('/');
        append_encoded(&mut path, &self.name);
        path.push('(');
        append_key_predicate(&mut path, partition_key, row_key);
        path.push(')');
        path
    }
}
