//! Entity Group Transaction: `$batch`.

use bytes::Bytes;
use http::{Method, header};
use tablerock_protocol::batch::{
    BatchPart, BatchRequest, append_changeset_response, append_query_response, parse_batch,
};
use tablerock_protocol::{Accepted, ErrorCode, MetadataLevel, QueryString, ServiceError, TableResource, Uuid, limits};
use tablerock_services::table::{EntityGroup, EntityOperation};

use super::entity_write::WriteParts;
use super::request::{EntityRead, TableRequest, TableRequestLine};
use super::{DATA_SERVICE_VERSION, TableCall, point, query};
use crate::auth::{self, Claim, Request, Target};
use crate::http::headers::{METHOD_TUNNELLED, ResponseHeader};
use crate::http::prefer::preference;
use crate::http::reply::Reply;
use crate::http::respond::{self, ErrorFormat};
use crate::http::verb::Verb;

pub(super) async fn entity_group_transaction(call: &TableCall<'_>) -> Result<Reply, ServiceError> {
    let batch = parse_batch(call.header(&header::CONTENT_TYPE).unwrap_or_default(), &call.body)?;
    let batch_id = random_id(call);
    let mut body = Vec::with_capacity(4096);
    let mut failed = None;
    match batch {
        BatchRequest::Query(part) => {
            let reply = run_query(call, &part).await;
            let reply = reply.unwrap_or_else(|error| failure(call, &part, &error));
            append_query_response(&mut body, batch_id, &reply.into_part());
        }
        BatchRequest::Changeset(parts) => {
            auth::check_writable(call.endpoint)?;
            call.cx.counts.add_group_operations(parts.len() as u64);
            let replies = run_changeset(call, &parts).await.unwrap_or_else(|error| {
                failed = Some(error.code);
                // The first operation stands for a failure of the group as a whole.
                let error = error.at_index(0);
                let part = error.index.and_then(|index| parts.get(index)).unwrap_or(&parts[0]);
                vec![failure(call, part, &error)]
            });
            let parts: Vec<_> = replies.into_iter().map(Reply::into_part).collect();
            append_changeset_response(&mut body, batch_id, random_id(call), &parts);
        }
    }
    let content_type = format!("multipart/mixed; boundary=batchresponse_{batch_id}");
    let reply = Reply::new(202, body).with(ResponseHeader::ContentType, content_type);
    Ok(Reply { error: failed, ..reply })
}

fn random_id(call: &TableCall<'_>) -> Uuid {
    uuid::Builder::from_random_bytes(call.server().rng.id()).into_uuid()
}

/// Decodes every operation, applies all of them or none, and encodes what each did.
async fn run_changeset(call: &TableCall<'_>, parts: &[BatchPart<'_>]) -> Result<Vec<Reply>, ServiceError> {
    if parts.len() > limits::GROUP_OPERATIONS_MAX {
        return Err(EntityGroup::too_many());
    }
    let mut writes = Vec::with_capacity(parts.len());
    let mut operations = Vec::with_capacity(parts.len());
    for (index, part) in parts.iter().enumerate() {
        let (write, operation) = decode_part(call, part).await.map_err(|error| error.at_index(index))?;
        writes.push(write);
        operations.push(operation);
    }
    let group = EntityGroup::new(operations)?;
    let outcomes = call.server().tables.apply(call.account(), &group).await?;
    let steps = parts.iter().zip(&writes).zip(group.operations().iter().zip(&outcomes));
    steps
        .map(|((part, write), (operation, outcome))| {
            let reply = write.encode(call.location(&operation.table), operation, outcome)?;
            Ok(part_headers(reply, part, false))
        })
        .collect()
}

/// Admits and decodes a part as the request that it is.
async fn decode_part<'p>(
    call: &TableCall<'_>,
    part: &BatchPart<'p>,
) -> Result<(WriteParts<'p>, EntityOperation), ServiceError> {
    let (path, query) = split_target(part.target);
    let query = QueryString::parse(query)?;
    let resource = TableResource::parse(call.endpoint.below_root(path))?;
    let if_match = part.header("If-Match");
    let line = request_line(call, verb(part)?, &query, if_match.is_some());
    let TableRequest::Write(write) = TableRequest::parse(&line, &resource)? else {
        return Err(ErrorCode::InvalidInput.into());
    };
    let (claim, target) = (Claim::Batch(call.caller), Target::of_table(&resource));
    let admitted = auth::admit(call.cx, claim, call.endpoint, target, Ok(write)).await?;
    let level = accepted(call, part, &query).level.unwrap_or(MetadataLevel::Minimal);
    let parts = WriteParts {
        if_match,
        has_if_none_match: part.header("If-None-Match").is_some(),
        content_type: part.header("Content-Type"),
        prefer: part.header("Prefer").and_then(preference),
        // The response to a batch is JSON, whatever its parts can read.
        accepted: Accepted { level: Ok(level) },
        body: part.body,
    };
    match parts.decode(admitted.request, &admitted.caller) {
        Ok(operation) => Ok((parts, operation)),
        Err(flaw) => Err(flaw.judge(call, write.table()).await),
    }
}

fn request_line<'a>(
    call: &TableCall<'a>,
    verb: Verb,
    query: &'a QueryString<'a>,
    has_if_match: bool,
) -> TableRequestLine<'a> {
    TableRequestLine { verb, query, has_if_match, version: call.cx.version }
}

async fn run_query(call: &TableCall<'_>, part: &BatchPart<'_>) -> Result<Reply, ServiceError> {
    let (path, query) = split_target(part.target);
    let query = QueryString::parse(query)?;
    let resource = TableResource::parse(call.endpoint.below_root(path))?;
    let line = request_line(call, Verb::Get, &query, false);
    let TableRequest::Read(read) = TableRequest::parse(&line, &resource)? else {
        return Err(ErrorCode::InvalidInput.into());
    };
    let (claim, target) = (Claim::Batch(call.caller), Target::of_table(&resource));
    let admitted = auth::admit(call.cx, claim, call.endpoint, target, Ok(read)).await?;
    let inner = TableCall {
        operation: read.operation(),
        query: &query,
        accepted: accepted(call, part, &query),
        body: Bytes::new(),
        ..*call
    };
    let reply = match admitted.request {
        EntityRead::QueryEntity(at) => point::query_entity(&inner, at).await?,
        EntityRead::QueryEntities(table) => query::query_entities(&inner, table).await?,
    };
    Ok(part_headers(reply, part, false))
}

/// The one part of the response to a failed group.
fn failure(call: &TableCall<'_>, part: &BatchPart<'_>, error: &ServiceError) -> Reply {
    let query = QueryString::parse(split_target(part.target).1).unwrap_or_default();
    let level = accepted(call, part, &query).level.unwrap_or(MetadataLevel::Minimal);
    let accepted = Accepted { level: Ok(level) };
    let reply = respond::error_reply(call.cx, accepted, ErrorFormat::OData, error);
    let mut reply = reply.with_first(ResponseHeader::DataServiceVersion, DATA_SERVICE_VERSION);
    if let Some(applied) = part.header("Prefer").and_then(preference) {
        reply = reply.with_first(ResponseHeader::PreferenceApplied, applied);
    }
    part_headers(reply, part, error.code == ErrorCode::TableNotFound)
}

/// The headers that every part begins with. A Content-ID among the request's own headers comes back first.
fn part_headers(mut reply: Reply, part: &BatchPart<'_>, early: bool) -> Reply {
    if !early {
        reply = reply.with_first(ResponseHeader::CacheControl, "no-cache");
    }
    reply = reply.with_first(ResponseHeader::ContentTypeOptions, "nosniff");
    match part.header("Content-ID") {
        Some(id) => reply.with_first(ResponseHeader::ContentId, id.to_owned()),
        None => reply,
    }
}

fn verb(part: &BatchPart<'_>) -> Result<Verb, ServiceError> {
    let method = Method::from_bytes(part.method.as_bytes()).map_err(|_| ErrorCode::InvalidHttpVerb)?;
    let mut headers = http::HeaderMap::new();
    // The legacy library for Java names the method of a part twice.
    let tunnelled = part
        .headers
        .iter()
        .filter(|(name, value)| name.eq_ignore_ascii_case("x-http-method") && !value.eq_ignore_ascii_case(part.method));
    for (_, value) in tunnelled {
        let value = http::HeaderValue::from_str(value).map_err(|_| ErrorCode::XMethodIncorrectValue)?;
        headers.append(METHOD_TUNNELLED, value);
    }
    Verb::of(&method, &headers)
}

fn accepted(call: &TableCall<'_>, part: &BatchPart<'_>, query: &QueryString<'_>) -> Accepted {
    Accepted::negotiate(query.value("$format"), part.header("Accept"), call.cx.version)
}

fn split_target(target: &str) -> (&str, &str) {
    target.split_once('?').unwrap_or((target, ""))
}
