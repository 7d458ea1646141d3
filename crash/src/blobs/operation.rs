//! Writes to the Blob service: the requests and their responses.

use std::fmt;
use std::sync::Arc;

use tablerock_conformance::Target;
use tablerock_conformance::http::Answer;
use tablerock_conformance::request::Request;

use super::CONTAINER;
use super::version::BlobKind;
use crate::client::Reply;
use crate::model::Outcome;

/// A service version that accepts large bodies.
const VERSION: &str = "2021-12-02";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlobCondition {
    None,
    Absent,
    /// The blob must be the version with this ETag.
    Version(String),
}

#[derive(Clone, PartialEq, Eq)]
pub enum BlobOperation {
    /// Writes a block blob in one request.
    Put {
        bytes: Arc<Vec<u8>>,
        mark: String,
        condition: BlobCondition,
    },
    PutBlock {
        id: String,
        bytes: Arc<Vec<u8>>,
    },
    /// Commits these blocks, uncommitted ones or those of the current version.
    PutBlockList {
        ids: Vec<String>,
        mark: String,
    },
    CreateAppend {
        mark: String,
    },
    /// Appends if the blob has this length.
    Append {
        bytes: Arc<Vec<u8>>,
        position: usize,
    },
    CreatePages {
        length: usize,
        mark: String,
    },
    /// Writes pages in place, from an offset on.
    PutPages {
        offset: usize,
        bytes: Arc<Vec<u8>>,
    },
    ClearPages {
        offset: usize,
        length: usize,
    },
    /// Cuts pages off, or adds zeros.
    Resize {
        length: usize,
    },
    SetMetadata {
        mark: String,
    },
    Snapshot,
    Delete {
        with_snapshots: bool,
    },
}

/// One request that writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobWrite {
    pub name: String,
    pub operation: BlobOperation,
}

/// The headers of an acknowledgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobAck {
    pub etag: Option<String>,
    pub snapshot: Option<String>,
}

/// A request to the container, or to a blob in it.
pub(super) fn request<'t>(target: &'t Target, verb: &str, name: Option<&str>) -> Request<'t> {
    let blobs = target.blob.as_ref().expect("the program's target names all services");
    let path = name.map_or(format!("/{CONTAINER}"), |name| format!("/{CONTAINER}/{name}"));
    Request::signing_headers(target, blobs, verb, path).version(VERSION)
}

impl BlobWrite {
    pub fn request<'t>(&self, target: &'t Target) -> Request<'t> {
        let verb = if matches!(self.operation, BlobOperation::Delete { .. }) { "DELETE" } else { "PUT" };
        let request = request(target, verb, Some(&self.name));
        match &self.operation {
            BlobOperation::Put { bytes, mark, condition } => {
                let request = condition.put_on(typed(request, BlobKind::Block)).body(bytes.to_vec());
                marked(request, mark)
            }
            BlobOperation::PutBlock { id, bytes } => {
                request.raw_query("comp=block").query("blockid", id).body(bytes.to_vec())
            }
            BlobOperation::PutBlockList { ids, mark } => {
                let ids: String = ids.iter().map(|id| format!("<Latest>{id}</Latest>")).collect();
                marked(request.raw_query("comp=blocklist").xml(format!("<BlockList>{ids}</BlockList>")), mark)
            }
            BlobOperation::CreateAppend { mark } => marked(typed(request, BlobKind::Append), mark),
            BlobOperation::Append { bytes, position } => {
                let request = request.header("x-ms-blob-condition-appendpos", &position.to_string());
                request.raw_query("comp=appendblock").body(bytes.to_vec())
            }
            BlobOperation::CreatePages { length, mark } => {
                let request = typed(request, BlobKind::Page).header("x-ms-blob-content-length", &length.to_string());
                marked(request, mark)
            }
            BlobOperation::PutPages { offset, bytes } => {
                paged(request, "update", *offset, bytes.len()).body(bytes.to_vec())
            }
            BlobOperation::ClearPages { offset, length } => paged(request, "clear", *offset, *length),
            BlobOperation::Resize { length } => {
                request.raw_query("comp=properties").header("x-ms-blob-content-length", &length.to_string())
            }
            BlobOperation::SetMetadata { mark } => marked(request.raw_query("comp=metadata"), mark),
            BlobOperation::Snapshot => request.raw_query("comp=snapshot"),
            BlobOperation::Delete { with_snapshots: true } => request.header("x-ms-delete-snapshots", "include"),
            BlobOperation::Delete { with_snapshots: false } => request,
        }
    }

    /// Interprets the response. An error is a response that no server may give.
    pub(super) fn interpret(&self, answer: &Answer) -> Result<Reply<Outcome<BlobAck>>, String> {
        let header = |name: &str| answer.header(name).map(str::to_owned);
        match answer.status {
            200..=299 => {
                let ack = BlobAck { etag: header("ETag"), snapshot: header("x-ms-snapshot") };
                Ok(Reply::Response(Outcome::Done(ack)))
            }
            status @ (400 | 404 | 409 | 412) => Ok(Reply::Response(Outcome::Rejected(status))),
            status => Err(format!("{self}: {status} {}", String::from_utf8_lossy(&answer.body))),
        }
    }
}

fn typed(request: Request<'_>, kind: BlobKind) -> Request<'_> {
    request.header("x-ms-blob-type", kind.header())
}

fn paged<'t>(request: Request<'t>, write: &str, offset: usize, length: usize) -> Request<'t> {
    let range = format!("bytes={offset}-{}", offset + length - 1);
    request.raw_query("comp=page").header("x-ms-page-write", write).header("x-ms-range", &range)
}

fn marked<'t>(request: Request<'t>, mark: &str) -> Request<'t> {
    request.header("x-ms-meta-mark", mark)
}

impl BlobCondition {
    fn put_on<'t>(&self, request: Request<'t>) -> Request<'t> {
        match self {
            BlobCondition::None => request,
            BlobCondition::Absent => request.header("If-None-Match", "*"),
            BlobCondition::Version(etag) => request.if_match(etag),
        }
    }
}

impl fmt::Debug for BlobOperation {
    /// Without the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlobOperation::Put { bytes, mark, condition } => {
                write!(f, "put {mark} of {} bytes ({condition:?})", bytes.len())
            }
            BlobOperation::PutBlock { id, bytes } => write!(f, "put block {id} of {} bytes", bytes.len()),
            BlobOperation::PutBlockList { ids, mark } => write!(f, "commit {mark} of blocks {ids:?}"),
            BlobOperation::CreateAppend { mark } => write!(f, "create append blob {mark}"),
            BlobOperation::Append { bytes, position } => write!(f, "append {} bytes at {position}", bytes.len()),
            BlobOperation::CreatePages { length, mark } => write!(f, "create page blob {mark} of {length} bytes"),
            BlobOperation::PutPages { offset, bytes } => write!(f, "put {} bytes of pages at {offset}", bytes.len()),
            BlobOperation::ClearPages { offset, length } => write!(f, "clear {length} bytes of pages at {offset}"),
            BlobOperation::Resize { length } => write!(f, "resize to {length} bytes"),
            BlobOperation::SetMetadata { mark } => write!(f, "set metadata {mark}"),
            BlobOperation::Snapshot => write!(f, "take a snapshot"),
            BlobOperation::Delete { with_snapshots } => write!(f, "delete (snapshots: {with_snapshots})"),
        }
    }
}

impl fmt::Display for BlobWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.name, self.operation)
    }
}
