//! Entity Group Transaction: `$batch`.

use std::borrow::Cow;

use bytes::Bytes;
use http::{Method, header};
use tablerock_protocol::batch::{
    BatchPart, BatchRequest, append_changeset_response, append_query_response, parse_batch,
};
use tablerock_protocol::{Accepted, ErrorCode, MetadataLevel, QueryString, ServiceError, TableResource, limits};
use tablerock_services::table::{EntityGroup, EntityOperation};

use super::entity_write::WriteRequest;
use super::{Call, DATA_SERVICE_VERSION, point, preference, query};
use crate::answer::Answer;
use crate::headers::{AnswerHeader, METHOD_TUNNELLED};
use crate::observe::Seen;
use crate::operation::Operation;
use crate::pipeline::uuid_from;
use crate::resolve::{Verb, resolve};
use crate::respond::{Envelope, Voice};

pub(super) async fn entity_group_transaction(call: &Call<'_>, seen: &mut Seen<'_>) -> Result<Answer, ServiceError> {
    let batch = parse_batch(call.header(header::CONTENT_TYPE).unwrap_or_default(), &call.body)?;
    let batch_id = uuid_from(call.server.rng.id());
    let mut body = Vec::with_capacity(4096);
    match batch {
        BatchRequest::Query(part) => {
            let answer = run_query(call, &part, seen).await;
            let answer = answer.unwrap_or_else(|error| failure(call, &part, &error));
            append_query_response(&mut body, batch_id, &answer.into_part());
        }
        BatchRequest::Changeset(parts) => {
            seen.group_operations = parts.len() as u64;
            let answers = run_changeset(call, &parts).await.unwrap_or_else(|error| {
                seen.error = Some(error.code);
                // The first operation stands for a failure of the group as a whole.
                let error = error.at_index(0);
                let part = error.index.and_then(|index| parts.get(index)).unwrap_or(&parts[0]);
                vec![failure(call, part, &error)]
            });
            let parts: Vec<_> = answers.into_iter().map(Answer::into_part).collect();
            append_changeset_response(&mut body, batch_id, uuid_from(call.server.rng.id()), &parts);
        }
    }
    let content_type = format!("multipart/mixed; boundary=batchresponse_{batch_id}");
    Ok(Answer::new(202, body).with(AnswerHeader::ContentType, content_type))
}

/// Decodes every operation, applies all of them or none, and encodes what each did.
async fn run_changeset(call: &Call<'_>, parts: &[BatchPart<'_>]) -> Result<Vec<Answer>, ServiceError> {
    if parts.len() > limits::GROUP_OPERATIONS_MAX {
        return Err(EntityGroup::too_many());
    }
    let mut requests = Vec::with_capacity(parts.len());
    let mut operations = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let (request, operation) = decode_part(call, part).map_err(|error| error.at_index(index))?;
        requests.push(request);
        operations.push(operation);
    }
    let group = EntityGroup::new(operations)?;
    let applied = call.server.tables.apply(call.account(), &group).await;
    let outcomes = applied.map_err(|error| error.into_service_error())?;
    let steps = parts.iter().zip(&requests).zip(group.operations().iter().zip(&outcomes));
    steps
        .map(|((part, request), (operation, outcome))| {
            let answer = request.encode(call.location(&operation.table), operation, outcome)?;
            Ok(part_headers(answer, part, false))
        })
        .collect()
}

fn decode_part<'p>(call: &Call<'_>, part: &BatchPart<'p>) -> Result<(WriteRequest<'p>, EntityOperation), ServiceError> {
    let request = read_part(call, part)?;
    let table = match request.resource.as_ref() {
        TableResource::Entities { table } | TableResource::Entity { table, .. } => table,
        _ => return Err(ErrorCode::InvalidInput.into()),
    };
    call.caller.check(request.operation, Some(table))?;
    request.operation.check_on_table(table)?;
    let operation = request.decode(call.caller)?;
    Ok((request, operation))
}

/// Looks at a part as the request that it is.
fn read_part<'p>(call: &Call<'_>, part: &BatchPart<'p>) -> Result<WriteRequest<'p>, ServiceError> {
    let (path, query) = split_target(part.target);
    let query = QueryString::parse(query)?;
    let resource = TableResource::parse(call.endpoint.below_root(path))?;
    let if_match = part.header("If-Match");
    let operation = resolve(verb(part)?, &resource, &query, if_match.is_some(), call.envelope.version, call.account())?;
    let level = accepted(call, part, &query).level.unwrap_or(MetadataLevel::Minimal);
    Ok(WriteRequest {
        operation,
        resource: Cow::Owned(resource),
        if_match,
        has_if_none_match: part.header("If-None-Match").is_some(),
        content_type: part.header("Content-Type"),
        prefer: part.header("Prefer").and_then(preference),
        // A batch is answered in JSON whatever its parts can read.
        accepted: Accepted { level: Ok(level) },
        body: part.body,
    })
}

async fn run_query(call: &Call<'_>, part: &BatchPart<'_>, seen: &mut Seen<'_>) -> Result<Answer, ServiceError> {
    let (path, query) = split_target(part.target);
    let query = QueryString::parse(query)?;
    let resource = TableResource::parse(call.endpoint.below_root(path))?;
    let operation = resolve(Verb::Get, &resource, &query, false, call.envelope.version, call.account())?;
    let inner = Call {
        operation,
        resource: &resource,
        query: &query,
        accepted: accepted(call, part, &query),
        body: Bytes::new(),
        ..*call
    };
    let answer = match (operation, &resource) {
        (Operation::QueryEntity, TableResource::Entity { table, partition_key, row_key }) => {
            call.caller.check(operation, Some(table))?;
            point::query_entity(&inner, table, partition_key, row_key, seen).await?
        }
        (Operation::QueryEntities, TableResource::Entities { table }) => {
            call.caller.check(operation, Some(table))?;
            query::query_entities(&inner, table, seen).await?
        }
        _ => return Err(ErrorCode::InvalidInput.into()),
    };
    Ok(part_headers(answer, part, false))
}

/// The one part that a failed group answers with.
fn failure(call: &Call<'_>, part: &BatchPart<'_>, error: &ServiceError) -> Answer {
    let query = QueryString::parse(split_target(part.target).1).unwrap_or_default();
    let level = accepted(call, part, &query).level.unwrap_or(MetadataLevel::Minimal);
    let envelope = Envelope { accepted: Accepted { level: Ok(level) }, client_request_id: None, ..*call.envelope };
    let mut answer =
        envelope.error_answer(Voice::OData, error).with_first(AnswerHeader::DataServiceVersion, DATA_SERVICE_VERSION);
    if let Some(applied) = part.header("Prefer").and_then(preference) {
        answer = answer.with_first(AnswerHeader::PreferenceApplied, applied);
    }
    part_headers(answer, part, error.code == ErrorCode::TableNotFound)
}

/// The headers that every part begins with. A Content-ID among the request's own headers comes back first.
fn part_headers(mut answer: Answer, part: &BatchPart<'_>, early: bool) -> Answer {
    if !early {
        answer = answer.with_first(AnswerHeader::CacheControl, "no-cache");
    }
    answer = answer.with_first(AnswerHeader::ContentTypeOptions, "nosniff");
    match part.header("Content-ID") {
        Some(id) => answer.with_first(AnswerHeader::ContentId, id.to_owned()),
        None => answer,
    }
}

fn verb(part: &BatchPart<'_>) -> Result<Verb, ServiceError> {
    let method = Method::from_bytes(part.method.as_bytes()).map_err(|_| ErrorCode::InvalidHttpVerb)?;
    let mut headers = http::HeaderMap::new();
    for (_, value) in part.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("x-http-method")) {
        let value = http::HeaderValue::from_str(value).map_err(|_| ErrorCode::XMethodIncorrectValue)?;
        headers.append(METHOD_TUNNELLED, value);
    }
    Verb::of(&method, &headers)
}

fn accepted(call: &Call<'_>, part: &BatchPart<'_>, query: &QueryString<'_>) -> Accepted {
    Accepted::negotiate(query.value("$format"), part.header("Accept"), call.envelope.version)
}

fn split_target(target: &str) -> (&str, &str) {
    target.split_once('?').unwrap_or((target, ""))
}
