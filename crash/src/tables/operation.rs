//! Writes to the Table service: the requests, their effects on entities, and their responses.

use std::fmt;

use serde_json::json;
use tablerock_conformance::Target;
use tablerock_conformance::batch::{BATCH_BOUNDARY, Part, changeset_answers, changeset_body};
use tablerock_conformance::http::Answer;
use tablerock_conformance::request::Request;
use tablerock_conformance::response;

use super::{Address, Content, Etag, TableModel, Version};
use crate::client::{Client, Reply};
use crate::model::{Outcome, Response};

/// The `If-Match` of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfMatch {
    /// None: the operation creates a missing entity.
    Upsert,
    /// `*`: the entity must exist.
    Any,
    /// The entity must be this version.
    Version(Etag),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntityChange {
    Insert(Content),
    Replace(Content, IfMatch),
    Merge(Content, IfMatch),
    Delete(IfMatch),
}

/// One operation on one entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityOperation {
    pub address: Address,
    pub change: EntityChange,
}

/// One request that writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableWrite {
    /// One operation is a single request, several are a group transaction.
    Entities(Vec<EntityOperation>),
    CreateTable(String),
    DropTable(String),
}

impl EntityOperation {
    /// The content of the entity afterwards, or the status of the rejection.
    pub fn apply(&self, current: Option<&Version>) -> Result<Option<Content>, u16> {
        match &self.change {
            EntityChange::Insert(_) if current.is_some() => Err(409),
            EntityChange::Insert(content) => Ok(Some(content.clone())),
            EntityChange::Replace(content, condition) => {
                condition.check(current)?;
                Ok(Some(content.clone()))
            }
            EntityChange::Merge(content, condition) => {
                condition.check(current)?;
                Ok(Some(current.map_or_else(|| content.clone(), |current| current.content.merged(content))))
            }
            EntityChange::Delete(condition) => {
                condition.check(current)?;
                Ok(None)
            }
        }
    }

    fn verb(&self) -> &'static str {
        match &self.change {
            EntityChange::Insert(_) => "POST",
            EntityChange::Replace(..) => "PUT",
            EntityChange::Merge(..) => "PATCH",
            EntityChange::Delete(_) => "DELETE",
        }
    }

    fn path(&self) -> String {
        match &self.change {
            EntityChange::Insert(_) => format!("/{}", self.address.table),
            _ => self.address.path(),
        }
    }

    fn body(&self) -> Option<String> {
        match &self.change {
            EntityChange::Insert(content) | EntityChange::Replace(content, _) | EntityChange::Merge(content, _) => {
                Some(content.body(&self.address).to_string())
            }
            EntityChange::Delete(_) => None,
        }
    }

    fn if_match(&self) -> Option<&str> {
        match &self.change {
            EntityChange::Insert(_) => None,
            EntityChange::Replace(_, condition)
            | EntityChange::Merge(_, condition)
            | EntityChange::Delete(condition) => condition.header(),
        }
    }

    fn request<'t>(&self, target: &'t Target) -> Request<'t> {
        let mut request = Request::new(target, self.verb(), self.path()).prefer("return-no-content");
        if let Some(body) = self.body() {
            request = request.json(body);
        }
        if let Some(etag) = self.if_match() {
            request = request.if_match(etag);
        }
        request
    }

    fn part(&self, base: &str) -> Part {
        let url = format!("{base}{}", self.path());
        let part = Part::new(self.verb(), url, self.body().unwrap_or_default()).header("Prefer", "return-no-content");
        match self.if_match() {
            Some(etag) => part.header("If-Match", etag),
            None => part,
        }
    }
}

impl IfMatch {
    fn check(&self, current: Option<&Version>) -> Result<(), u16> {
        match (self, current) {
            (IfMatch::Upsert, _) | (IfMatch::Any, Some(_)) => Ok(()),
            (_, None) => Err(404),
            (IfMatch::Version(etag), Some(current)) if *etag == current.etag => Ok(()),
            (IfMatch::Version(_), Some(_)) => Err(412),
        }
    }

    fn header(&self) -> Option<&str> {
        match self {
            IfMatch::Upsert => None,
            IfMatch::Any => Some("*"),
            IfMatch::Version(etag) => Some(etag.as_str()),
        }
    }
}

impl TableWrite {
    pub fn request<'t>(&self, target: &'t Target) -> Request<'t> {
        match self {
            TableWrite::Entities(operations) => match operations.as_slice() {
                [operation] => operation.request(target),
                _ => {
                    let base = target.primary.base();
                    let parts: Vec<Part> = operations.iter().map(|operation| operation.part(&base)).collect();
                    let content_type = format!("multipart/mixed; boundary={BATCH_BOUNDARY}");
                    let request = Request::new(target, "POST", "/$batch").header("Content-Type", &content_type);
                    request.body(changeset_body(&parts))
                }
            },
            TableWrite::CreateTable(name) => {
                Request::new(target, "POST", "/Tables").prefer("return-no-content").json(json!({ "TableName": name }))
            }
            TableWrite::DropTable(name) => Request::new(target, "DELETE", format!("/Tables('{name}')")),
        }
    }

    fn is_group(&self) -> bool {
        matches!(self, TableWrite::Entities(operations) if operations.len() > 1)
    }
}

/// Interprets the response to a write. For a group, the responses inside the batch count.
pub(super) fn interpret(
    client: &Client,
    write: &TableWrite,
    answer: Answer,
) -> Result<Reply<Response<TableModel>>, String> {
    let response = response::Response::new(write.to_string(), answer);
    if !write.is_group() {
        return interpret_one(&response);
    }
    let mut etags = Vec::new();
    for part in changeset_answers(&response).map_err(|failure| failure.message)? {
        match interpret_one(&part)? {
            Reply::Response(Outcome::Done(mut one)) => etags.append(&mut one),
            // A rejected or failed group has one part, which stands for the whole group.
            other => {
                if let Reply::ServerError(status, text) = &other {
                    client.report_failed_part(*status, text);
                }
                return Ok(other);
            }
        }
    }
    Ok(Reply::Response(Outcome::Done(etags)))
}

fn interpret_one(response: &response::Response) -> Result<Reply<Response<TableModel>>, String> {
    match response.status() {
        200..=299 => {
            let etag = response.header("ETag").map(Etag::parse).transpose()?;
            Ok(Reply::Response(Outcome::Done(vec![etag])))
        }
        status @ (404 | 409 | 412) => Ok(Reply::Response(Outcome::Rejected(status))),
        status @ 500.. => Ok(Reply::ServerError(status, response.text())),
        status => Err(format!("unexpected response {status}: {}", response.text())),
    }
}

impl fmt::Display for EntityOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = &self.address;
        match &self.change {
            EntityChange::Insert(content) => write!(f, "insert {content} at {address}"),
            EntityChange::Replace(content, condition) => {
                write!(f, "replace with {content} at {address} ({condition:?})")
            }
            EntityChange::Merge(content, condition) => write!(f, "merge {content} at {address} ({condition:?})"),
            EntityChange::Delete(condition) => write!(f, "delete {address} ({condition:?})"),
        }
    }
}

impl fmt::Display for TableWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableWrite::Entities(operations) => {
                let each: Vec<String> = operations.iter().map(EntityOperation::to_string).collect();
                write!(f, "{}", each.join(", "))
            }
            TableWrite::CreateTable(name) => write!(f, "create table {name}"),
            TableWrite::DropTable(name) => write!(f, "drop table {name}"),
        }
    }
}
