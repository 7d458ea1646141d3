//! What a client asks of the Blob service, as requests on the wire, and what their answers say.

use std::fmt;
use std::sync::Arc;

use tablerock_conformance::Target;
use tablerock_conformance::http::Answer;
use tablerock_conformance::request::Request;

use super::CONTAINER;
use super::version::Kind;
use crate::client::Reply;

/// The service's version that takes large bodies.
const VERSION: &str = "2021-12-02";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    None,
    Absent,
    /// The blob must be the version with this ETag.
    Version(String),
}

#[derive(Clone, PartialEq, Eq)]
pub enum Act {
    /// Writes a block blob in one request.
    Put {
        bytes: Arc<Vec<u8>>,
        mark: String,
        condition: Condition,
    },
    PutBlock {
        id: String,
        bytes: Arc<Vec<u8>>,
    },
    /// Makes the blob of these blocks, new ones or those that it has.
    PutBlockList {
        ids: Vec<String>,
        mark: String,
    },
    CreateAppend {
        mark: String,
    },
    /// Appends if the blob is this long.
    Append {
        bytes: Arc<Vec<u8>>,
        position: usize,
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
#[derive(Clone, PartialEq, Eq)]
pub struct BlobAttempt {
    pub name: String,
    pub act: Act,
}

/// The answer to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlobVerdict {
    Done { etag: Option<String>, snapshot: Option<String> },
    Refused(u16),
}

/// A request to the container, or to a blob in it.
pub(super) fn request<'t>(target: &'t Target, verb: &str, name: Option<&str>) -> Request<'t> {
    let blobs = target.blob.as_ref().expect("the program's target names all services");
    let path = name.map_or(format!("/{CONTAINER}"), |name| format!("/{CONTAINER}/{name}"));
    Request::signing_headers(target, blobs, verb, path).version(VERSION)
}

impl BlobAttempt {
    pub fn request<'t>(&self, target: &'t Target) -> Request<'t> {
        let verb = if matches!(self.act, Act::Delete { .. }) { "DELETE" } else { "PUT" };
        let request = request(target, verb, Some(&self.name));
        match &self.act {
            Act::Put { bytes, mark, condition } => {
                let request = condition.put_on(typed(request, Kind::Block)).body(bytes.to_vec());
                marked(request, mark)
            }
            Act::PutBlock { id, bytes } => request.raw_query("comp=block").query("blockid", id).body(bytes.to_vec()),
            Act::PutBlockList { ids, mark } => {
                let ids: String = ids.iter().map(|id| format!("<Latest>{id}</Latest>")).collect();
                marked(request.raw_query("comp=blocklist").xml(format!("<BlockList>{ids}</BlockList>")), mark)
            }
            Act::CreateAppend { mark } => marked(typed(request, Kind::Append), mark),
            Act::Append { bytes, position } => {
                let request = request.header("x-ms-blob-condition-appendpos", &position.to_string());
                request.raw_query("comp=appendblock").body(bytes.to_vec())
            }
            Act::SetMetadata { mark } => marked(request.raw_query("comp=metadata"), mark),
            Act::Snapshot => request.raw_query("comp=snapshot"),
            Act::Delete { with_snapshots: true } => request.header("x-ms-delete-snapshots", "include"),
            Act::Delete { with_snapshots: false } => request,
        }
    }

    /// What came of it. An error is an answer that no server should give.
    pub fn verdict(&self, reply: Reply<Answer>) -> Result<Reply<BlobVerdict>, String> {
        let answer = match reply {
            Reply::Answered(answer) => answer,
            Reply::Failed(status, text) => return Ok(Reply::Failed(status, text)),
            Reply::Lost => return Ok(Reply::Lost),
            Reply::NotSent => return Ok(Reply::NotSent),
        };
        let header = |name: &str| answer.header(name).map(str::to_owned);
        match answer.status {
            200..=299 => {
                Ok(Reply::Answered(BlobVerdict::Done { etag: header("ETag"), snapshot: header("x-ms-snapshot") }))
            }
            status @ (400 | 404 | 409 | 412) => Ok(Reply::Answered(BlobVerdict::Refused(status))),
            status => Err(format!("{self:?}: {status} {}", String::from_utf8_lossy(&answer.body))),
        }
    }
}

fn typed(request: Request<'_>, kind: Kind) -> Request<'_> {
    request.header("x-ms-blob-type", kind.header())
}

fn marked<'t>(request: Request<'t>, mark: &str) -> Request<'t> {
    request.header("x-ms-meta-mark", mark)
}

impl Condition {
    fn put_on<'t>(&self, request: Request<'t>) -> Request<'t> {
        match self {
            Condition::None => request,
            Condition::Absent => request.header("If-None-Match", "*"),
            Condition::Version(etag) => request.if_match(etag),
        }
    }
}

impl fmt::Debug for BlobAttempt {
    /// Without the content.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.act {
            Act::Put { bytes, mark, condition } => {
                write!(f, "put {mark} of {} bytes at {name} ({condition:?})", bytes.len())
            }
            Act::PutBlock { id, bytes } => write!(f, "put block {id} of {} bytes at {name}", bytes.len()),
            Act::PutBlockList { ids, mark } => write!(f, "commit {mark} of blocks {ids:?} at {name}"),
            Act::CreateAppend { mark } => write!(f, "create append blob {mark} at {name}"),
            Act::Append { bytes, position } => write!(f, "append {} bytes at {position} of {name}", bytes.len()),
            Act::SetMetadata { mark } => write!(f, "set metadata {mark} of {name}"),
            Act::Snapshot => write!(f, "snapshot of {name}"),
            Act::Delete { with_snapshots } => write!(f, "delete {name} (snapshots: {with_snapshots})"),
        }
    }
}
