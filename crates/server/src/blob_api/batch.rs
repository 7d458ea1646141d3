//! Blob Batch: deletions, or changes of tier, each signed for itself.

use http::{HeaderMap, HeaderName, HeaderValue};
use tablerock_protocol::batch::{BatchPart, append_blob_batch_response, parse_blob_batch};
use tablerock_protocol::{BlobResource, ErrorCode, QueryString, Service, ServiceError, limits};

use super::{Call, change_blob};
use crate::answer::Answer;
use crate::auth::Credentials;
use crate::headers::AnswerHeader;
use crate::operation::Operation;
use crate::pipeline::uuid_from;
use crate::resolve::{Verb, resolve_blob};
use crate::respond::Voice;

pub(super) async fn blob_batch(mut call: Call<'_>) -> Result<Answer, ServiceError> {
    let body = call.body.whole(limits::BODY_BYTES_MAX).await?;
    let content_type = call.header(http::header::CONTENT_TYPE).unwrap_or_default();
    let parts = parse_blob_batch(content_type, &body)?;
    let mut answers = Vec::with_capacity(parts.len());
    let mut kinds = None;
    for (content_id, part) in &parts {
        let request = Request::read(&call, part);
        if let Ok(request) = &request {
            // Deletions and tiers do not mix, which is seen before anything of a different kind is done.
            if *kinds.get_or_insert(request.operation) != request.operation {
                return Err(ErrorCode::InvalidInput.into());
            }
        }
        let outcome = match request {
            Ok(request) => perform(&mut call, &request, part).await,
            Err(error) => Err(error),
        };
        let answer = outcome.unwrap_or_else(|error| failed(&call, &error));
        let answer = answer.with(AnswerHeader::RequestId, call.envelope.request_id.to_string());
        let answer = answer.with(AnswerHeader::Version, call.envelope.version.to_string());
        answers.push((content_id.to_string(), answer.into_part()));
    }
    let id = uuid_from(call.server.rng.id());
    let mut out = Vec::new();
    append_blob_batch_response(&mut out, id, &answers);
    let content_type = format!("multipart/mixed; boundary=batchresponse_{id}");
    Ok(Answer::new(202, out).with(AnswerHeader::ContentType, content_type))
}

/// One request of a batch.
struct Request {
    headers: HeaderMap,
    path: String,
    query: String,
    resource: BlobResource,
    operation: Operation,
}

impl Request {
    fn read(call: &Call<'_>, part: &BatchPart<'_>) -> Result<Self, ServiceError> {
        let (path, query) = part.target.split_once('?').unwrap_or((part.target, ""));
        let mut headers = HeaderMap::new();
        for (name, value) in &part.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| ErrorCode::InvalidInput)?;
            headers.append(name, HeaderValue::from_str(value).map_err(|_| ErrorCode::InvalidInput)?);
        }
        let verb = Verb::parse(part.method).ok_or(ErrorCode::InvalidHttpVerb)?;
        let parameters = QueryString::parse(query)?;
        let resource = BlobResource::parse(call.endpoint.below_root(path), false)?;
        let operation = resolve_blob(verb, &resource, &parameters, &headers)?;
        if !matches!(operation, Operation::DeleteBlob | Operation::SetBlobTier) {
            return Err(ErrorCode::InvalidInput.into());
        }
        if let BlobResource::Container { container } = call.resource
            && resource.container() != Some(container)
        {
            return Err(ErrorCode::InvalidInput.into());
        }
        Ok(Self { headers, path: path.to_owned(), query: query.to_owned(), resource, operation })
    }
}

/// Authenticates, authorises and runs one request of a batch.
async fn perform(call: &mut Call<'_>, request: &Request, part: &BatchPart<'_>) -> Result<Answer, ServiceError> {
    let query = QueryString::parse(&request.query)?;
    let credentials = Credentials {
        service: Service::Blob,
        account: call.endpoint.account,
        method: part.method,
        headers: &request.headers,
        path: &request.path,
        query: &query,
        version: call.envelope.version,
        now: call.envelope.now,
        source: call.peer.address,
        is_https: call.peer.is_https,
        accept_tokens: call.server.accept_tokens,
    };
    let caller = credentials.verify_for_blob(call.server, &request.resource).await?;
    caller.check(request.operation, None)?;
    request.operation.check_on_blob(&request.resource)?;
    let inner = Call {
        server: call.server,
        endpoint: call.endpoint,
        operation: request.operation,
        resource: &request.resource,
        query: &query,
        headers: &request.headers,
        spelled: None,
        caller: &caller,
        envelope: call.envelope,
        peer: call.peer,
        body: call.body,
        progress: call.progress,
    };
    match request.operation {
        Operation::DeleteBlob => change_blob::delete_blob(&inner).await,
        _ => change_blob::set_blob_tier(inner).await,
    }
}

fn failed(call: &Call<'_>, error: &ServiceError) -> Answer {
    let answer = call.envelope.error_answer(Voice::Blob, error);
    let length = answer.body.bytes_held().to_string();
    answer.with(AnswerHeader::ErrorCode, error.code.name()).with(AnswerHeader::ContentLength, length)
}
