//! What a worker asks of the server, as requests on the wire and as effects on entities.

use std::fmt;

use serde_json::json;
use tablerock_conformance::Target;
use tablerock_conformance::batch::{BATCH_BOUNDARY, Part, changeset_body};
use tablerock_conformance::request::Request;

use crate::content::{Address, Content, Etag, Version};

/// The `If-Match` of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// None: the operation creates the entity if it is missing.
    Upsert,
    /// `*`: the entity must be there.
    Any,
    /// The entity must be this version.
    Version(Etag),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Insert(Content),
    Replace(Content, Match),
    Merge(Content, Match),
    Delete(Match),
}

/// One operation on one entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    pub address: Address,
    pub change: Change,
}

/// One request that writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt {
    /// One operation is a plain request, several are a group transaction.
    Entities(Vec<Operation>),
    CreateTable(String),
    DropTable(String),
}

impl Operation {
    /// What the entity is afterwards, or the status of the refusal.
    pub fn outcome(&self, current: Option<&Version>) -> Result<Option<Content>, u16> {
        match &self.change {
            Change::Insert(_) if current.is_some() => Err(409),
            Change::Insert(content) => Ok(Some(content.clone())),
            Change::Replace(content, condition) => {
                condition.check(current)?;
                Ok(Some(content.clone()))
            }
            Change::Merge(content, condition) => {
                condition.check(current)?;
                Ok(Some(current.map_or_else(|| content.clone(), |current| current.content.merged(content))))
            }
            Change::Delete(condition) => {
                condition.check(current)?;
                Ok(None)
            }
        }
    }

    fn verb(&self) -> &'static str {
        match &self.change {
            Change::Insert(_) => "POST",
            Change::Replace(..) => "PUT",
            Change::Merge(..) => "PATCH",
            Change::Delete(_) => "DELETE",
        }
    }

    fn path(&self) -> String {
        match &self.change {
            Change::Insert(_) => format!("/{}", self.address.table),
            _ => self.address.path(),
        }
    }

    fn body(&self) -> Option<String> {
        match &self.change {
            Change::Insert(content) | Change::Replace(content, _) | Change::Merge(content, _) => {
                Some(content.body(&self.address).to_string())
            }
            Change::Delete(_) => None,
        }
    }

    fn if_match(&self) -> Option<&str> {
        match &self.change {
            Change::Insert(_) => None,
            Change::Replace(_, condition) | Change::Merge(_, condition) | Change::Delete(condition) => {
                condition.header()
            }
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

impl Match {
    fn check(&self, current: Option<&Version>) -> Result<(), u16> {
        match (self, current) {
            (Match::Upsert, _) | (Match::Any, Some(_)) => Ok(()),
            (_, None) => Err(404),
            (Match::Version(etag), Some(current)) if *etag == current.etag => Ok(()),
            (Match::Version(_), Some(_)) => Err(412),
        }
    }

    fn header(&self) -> Option<&str> {
        match self {
            Match::Upsert => None,
            Match::Any => Some("*"),
            Match::Version(etag) => Some(etag.as_str()),
        }
    }
}

impl Attempt {
    pub fn request<'t>(&self, target: &'t Target) -> Request<'t> {
        match self {
            Attempt::Entities(operations) => match operations.as_slice() {
                [operation] => operation.request(target),
                _ => {
                    let base = target.primary.base();
                    let parts: Vec<Part> = operations.iter().map(|operation| operation.part(&base)).collect();
                    let content_type = format!("multipart/mixed; boundary={BATCH_BOUNDARY}");
                    let request = Request::new(target, "POST", "/$batch").header("Content-Type", &content_type);
                    request.body(changeset_body(&parts))
                }
            },
            Attempt::CreateTable(name) => {
                Request::new(target, "POST", "/Tables").prefer("return-no-content").json(json!({ "TableName": name }))
            }
            Attempt::DropTable(name) => Request::new(target, "DELETE", format!("/Tables('{name}')")),
        }
    }

    pub fn is_group(&self) -> bool {
        matches!(self, Attempt::Entities(operations) if operations.len() > 1)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = &self.address;
        match &self.change {
            Change::Insert(content) => write!(f, "insert {content} at {address}"),
            Change::Replace(content, condition) => write!(f, "replace by {content} at {address} ({condition:?})"),
            Change::Merge(content, condition) => write!(f, "merge {content} at {address} ({condition:?})"),
            Change::Delete(condition) => write!(f, "delete {address} ({condition:?})"),
        }
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attempt::Entities(operations) => {
                let each: Vec<String> = operations.iter().map(Operation::to_string).collect();
                write!(f, "{}", each.join(", "))
            }
            Attempt::CreateTable(name) => write!(f, "create table {name}"),
            Attempt::DropTable(name) => write!(f, "drop table {name}"),
        }
    }
}
