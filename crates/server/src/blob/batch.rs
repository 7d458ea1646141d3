//! Blob Batch: deletions, or changes of tier, each with credentials of its own.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue};
use tablerock_protocol::batch::{BatchPart, append_blob_batch_response, parse_blob_batch};
use tablerock_protocol::{BlobResource, ContainerName, ErrorCode, QueryString, ServiceError, limits};

use super::request::{BlobRequest, BlobTarget};
use super::{BlobBody, BlobCall, blob_error, change_blob};
use crate::auth::{self, Claim, Credentials, Request, Target, requests};
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;
use crate::http::respond::{self, ErrorFormat};
use crate::http::verb::Verb;
use crate::operation::Operation;

pub(super) async fn blob_batch(
    call: &mut BlobCall<'_>,
    container: Option<&ContainerName>,
) -> Result<Reply, ServiceError> {
    let body = call.whole_body(limits::BODY_BYTES_MAX).await?;
    let content_type = call.header(&http::header::CONTENT_TYPE).unwrap_or_default();
    let parts = parse_blob_batch(content_type, &body)?;
    let mut replies = Vec::with_capacity(parts.len());
    let mut kind = None;
    for (content_id, part) in &parts {
        let outcome = match PartHead::read(part) {
            Ok(head) => run_part(call, container, &head, &mut kind).await?,
            Err(error) => Err(error),
        };
        let reply = outcome.unwrap_or_else(|error| failed(call, &blob_error(error)));
        let reply = reply.with(ResponseHeader::RequestId, call.cx.request_id.to_string());
        let reply = reply.with(ResponseHeader::Version, call.cx.version.to_string());
        replies.push((content_id.to_string(), reply.into_part()));
    }
    let id = uuid::Builder::from_random_bytes(call.server().rng.id()).into_uuid();
    let mut out = Vec::new();
    append_blob_batch_response(&mut out, id, &replies);
    let content_type = format!("multipart/mixed; boundary=batchresponse_{id}");
    Ok(Reply::new(202, out).with(ResponseHeader::ContentType, content_type))
}

/// The head of one request in a batch.
struct PartHead<'p> {
    method: &'p str,
    path: Cow<'p, str>,
    query: QueryString<'p>,
    headers: HeaderMap,
}

impl<'p> PartHead<'p> {
    fn read(part: &BatchPart<'p>) -> Result<Self, ServiceError> {
        let (path, query) = part.target.split_once('?').unwrap_or((part.target, ""));
        // The library for .NET leaves the slash out of a path-style address, and signs the path with it.
        let path = if path.starts_with('/') { Cow::Borrowed(path) } else { Cow::Owned(["/", path].concat()) };
        let mut headers = HeaderMap::new();
        for (name, value) in &part.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| ErrorCode::InvalidInput)?;
            headers.append(name, HeaderValue::from_str(value).map_err(|_| ErrorCode::InvalidInput)?);
        }
        Ok(Self { method: part.method, path, query: QueryString::parse(query)?, headers })
    }
}

requests! {
    /// A request that a batch may hold.
    PartRequest {
        DeleteBlob(BlobTarget<'a>)
        SetBlobTier(BlobTarget<'a>)
    }
}

impl<'a> PartRequest<'a> {
    fn parse(
        head: &PartHead<'_>,
        resource: &'a BlobResource,
        container: Option<&ContainerName>,
    ) -> Result<Self, ServiceError> {
        let verb = Verb::parse(head.method).ok_or(ErrorCode::InvalidHttpVerb)?;
        let request = match BlobRequest::parse(verb, resource, &head.query, &head.headers)? {
            BlobRequest::DeleteBlob(at) => Self::DeleteBlob(at),
            BlobRequest::SetBlobTier(at) => Self::SetBlobTier(at),
            _ => return Err(ErrorCode::InvalidInput.into()),
        };
        if container.is_some() && resource.container() != container {
            return Err(ErrorCode::InvalidInput.into());
        }
        Ok(request)
    }
}

/// Admits and runs one request of a batch. The outer error ends the batch: deletions and tiers do not mix, which is seen
/// before anything of a different kind is done.
async fn run_part(
    call: &mut BlobCall<'_>,
    container: Option<&ContainerName>,
    head: &PartHead<'_>,
    kind: &mut Option<Operation>,
) -> Result<Result<Reply, ServiceError>, ServiceError> {
    let parsed = BlobResource::parse(call.endpoint.below_root(&head.path), false);
    let resource = match parsed {
        Ok(resource) => resource,
        Err(error) => return Ok(Err(error)),
    };
    let request = match PartRequest::parse(head, &resource, container) {
        Ok(request) => request,
        Err(error) => return Ok(Err(error)),
    };
    if *kind.get_or_insert(request.operation()) != request.operation() {
        return Err(ErrorCode::InvalidInput.into());
    }
    Ok(admit_and_run(call, head, &resource, request).await)
}

async fn admit_and_run(
    call: &mut BlobCall<'_>,
    head: &PartHead<'_>,
    resource: &BlobResource,
    request: PartRequest<'_>,
) -> Result<Reply, ServiceError> {
    let claim = Claim::Own(Credentials {
        method: head.method,
        headers: &head.headers,
        path: &head.path,
        query: &head.query,
        is_https: call.cx.peer.is_https,
    });
    let admitted = auth::admit(call.cx, claim, call.endpoint, Target::of_blob(resource), Ok(request)).await?;
    let inner = BlobCall {
        operation: request.operation(),
        query: &head.query,
        headers: &head.headers,
        caller: &admitted.caller,
        body: BlobBody { upload: call.body.upload, progress: call.body.progress },
        ..*call
    };
    let running = async {
        match admitted.request {
            PartRequest::DeleteBlob(at) => change_blob::delete_blob(&inner, at).await,
            PartRequest::SetBlobTier(at) => change_blob::set_blob_tier(&inner, at).await,
        }
    };
    match admitted.witness {
        Some(witness) => witness.scope(running).await,
        None => running.await,
    }
}

fn failed(call: &BlobCall<'_>, error: &ServiceError) -> Reply {
    let reply = respond::error_reply(call.cx, call.accepted, ErrorFormat::Blob, error);
    let length = reply.body.length().to_string();
    reply.with(ResponseHeader::ErrorCode, error.code.name()).with(ResponseHeader::ContentLength, length)
}
