//! The Table service over HTTP: parse, admit, decode, call the service, encode.

mod acl;
mod entity_write;
mod group;
mod nested;
mod point;
mod query;
mod request;
mod tables;

use bytes::Bytes;
use http::header;
use tablerock_protocol::json::Location;
use tablerock_protocol::{ServiceError, TableName, TableResource, limits};

use self::request::{EntityRead, TableRequest, TableRequestLine};
use crate::auth::{Request, Target};
use crate::call::Call;
use crate::http::body::WholeBody;
use crate::http::headers::Given;
use crate::http::reply::Reply;
use crate::http::request_body::RequestBody;
use crate::http::verb::Verb;
use crate::operation::Operation;
use crate::pipeline::{self, check_body_length, check_url_length};
use crate::request_context::RequestContext;
use crate::service_properties;

type TableCall<'a> = Call<'a, Bytes>;

/// The version of OData that JSON responses name.
const DATA_SERVICE_VERSION: &str = "3.0;";

/// Serves a request.
pub(crate) async fn serve(cx: &mut RequestContext<'_>, body: RequestBody) -> Result<Reply, ServiceError> {
    pipeline::with_whole_body(body, async |body| admit_and_run(cx, body).await).await
}

async fn admit_and_run(cx: &mut RequestContext<'_>, body: &mut WholeBody) -> Result<Reply, ServiceError> {
    let head = cx.head;
    check_url_length(&head.uri)?;
    let verb = Verb::of(&head.method, &head.headers)?;
    let address = cx.read_address()?;

    let below = address.endpoint.below_root(address.path);
    let is_root =
        address.query.keyword("restype").as_deref() == Some("service") && address.endpoint.is_repeated_root(below);
    let resource = if is_root { Ok(TableResource::Service) } else { TableResource::parse(below) };
    let line = TableRequestLine {
        verb,
        query: &address.query,
        has_if_match: head.headers.given(&header::IF_MATCH).is_some(),
        version: cx.version,
    };
    let request = resource.as_ref().map_err(Clone::clone).and_then(|resource| TableRequest::parse(&line, resource));
    let target = resource.as_ref().map_or(Target::Service, Target::of_table);
    let admitted = pipeline::admit(cx, verb, &address, target, request).await?;

    let operation = admitted.request.operation();
    check_body_length(operation, head, body.incoming())?;
    let bytes_max = if operation.is_xml() { limits::XML_BODY_BYTES_MAX } else { limits::BODY_BYTES_MAX };
    let body = body.read(bytes_max, &cx.memory()).await?;
    let reserved = pipeline::reserve_response(cx, operation, body.len()).await?;
    let call = TableCall::new(cx, &address, operation, &admitted.caller, body);
    let slot = if operation == Operation::QueryEntities { Some(cx.server.memory.query_slot().await) } else { None };
    let reply = match (cx.time_limit, admitted.witness) {
        (None, None) => run(&call, admitted.request).await,
        (limit, witness) => {
            Box::pin(pipeline::within(cx, limit, witness, Box::pin(run(&call, admitted.request)))).await
        }
    };
    if pipeline::shows_by_policy(&address, operation, &reply, cx) {
        Box::pin(pipeline::confirm_policy(cx, &address, target, admitted.request)).await?;
    }
    let reply = reply?;
    let reply = pipeline::cover_reply(cx, reserved, reply).await;
    drop(slot);
    reply
}

/// Runs a request. The match is the list of all there are.
///
/// The future of a request is as large as its largest branch, and it is moved as a whole. Those of queries and groups
/// are large and do enough to be worth an allocation.
async fn run(call: &TableCall<'_>, request: TableRequest<'_>) -> Result<Reply, ServiceError> {
    match request {
        TableRequest::QueryTables => tables::query_tables(call).await,
        TableRequest::CreateTable => tables::create_table(call).await,
        TableRequest::QueryTable(name) => tables::query_table(call, name).await,
        TableRequest::DeleteTable(name) => tables::delete_table(call, name).await,
        TableRequest::GetTableAcl(table) => acl::table_acl(call, table).await,
        TableRequest::SetTableAcl(table) => acl::set_table_acl(call, table).await,
        TableRequest::Read(EntityRead::QueryEntities(table)) => Box::pin(query::query_entities(call, table)).await,
        TableRequest::Read(EntityRead::QueryEntity(at)) => point::query_entity(call, at).await,
        TableRequest::Write(write) => entity_write::write_entity(call, write).await,
        TableRequest::Nested(request) => Err(Box::pin(nested::reject(call, request)).await),
        TableRequest::EntityGroupTransaction => Box::pin(group::entity_group_transaction(call)).await,
        TableRequest::GetTableServiceProperties => service_properties::get(call).await,
        TableRequest::SetTableServiceProperties => service_properties::set(call, &call.body).await,
        TableRequest::GetTableServiceStats => service_properties::stats(call),
        TableRequest::TablePreflightRequest => service_properties::preflight(call).await,
    }
}

impl<'a> TableCall<'a> {
    fn location(&self, table: &'a str) -> Location<'a> {
        Location { base: &self.endpoint.base, account: self.account(), table }
    }
}

/// Rejects a name that no table can have. Names with `$` are the service's own tables, which are looked up like any other.
fn check_table_name(table: &str) -> Result<(), ServiceError> {
    if table.starts_with('$') { Ok(()) } else { TableName::check(table) }
}
