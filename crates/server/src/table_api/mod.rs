//! The Table service's operations over HTTP: decode, call the service, encode.

mod acl;
mod entity_write;
mod group;
mod point;
mod query;
mod tables;

use bytes::Bytes;
use http::{HeaderMap, HeaderName};
use tablerock_protocol::json::Location;
use tablerock_protocol::{Accepted, QueryString, Service, ServiceError, TableResource};

use crate::answer::Answer;
use crate::auth::Caller;
use crate::endpoint::Endpoint;
use crate::headers::PREFER;
use crate::observe::Seen;
use crate::operation::Operation;
use crate::pipeline::Server;
use crate::respond::Envelope;
use crate::service_api::ServiceCall;

/// A request that has been admitted, with its body.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Server,
    pub(crate) endpoint: &'a Endpoint<'a>,
    pub(crate) operation: Operation,
    pub(crate) resource: &'a TableResource,
    pub(crate) query: &'a QueryString<'a>,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) caller: &'a Caller,
    pub(crate) accepted: Accepted,
    pub(crate) envelope: &'a Envelope,
    pub(crate) body: Bytes,
}

impl<'a> Call<'a> {
    fn account(&self) -> &'a str {
        self.endpoint.account.name.as_str()
    }

    fn header(&self, name: HeaderName) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    fn about_service(&self) -> ServiceCall<'a> {
        let Self { server, endpoint, envelope, headers, .. } = *self;
        ServiceCall { service: Service::Table, server, endpoint, envelope, headers }
    }

    fn location(&self, table: &'a str) -> Location<'a> {
        Location { base: &self.endpoint.base, account: self.account(), table }
    }
}

/// Runs an operation. The match is the list of all there are.
///
/// The future of a request is as large as its largest branch, and it is moved as a whole. Those of queries and groups
/// are large and do enough to be worth an allocation.
pub(crate) async fn dispatch(call: Call<'_>, seen: &mut Seen<'_>) -> Result<Answer, ServiceError> {
    match (call.operation, call.resource) {
        (Operation::QueryTables, _) => tables::query_tables(&call).await,
        (Operation::CreateTable, _) => tables::create_table(&call).await,
        (Operation::QueryTable, TableResource::Table { name }) => tables::query_table(&call, name).await,
        (Operation::DeleteTable, TableResource::Table { name }) => tables::delete_table(&call, name).await,
        (Operation::GetTableAcl, TableResource::Entities { table }) => acl::table_acl(&call, table).await,
        (Operation::SetTableAcl, TableResource::Entities { table }) => acl::set_table_acl(&call, table).await,
        (Operation::QueryEntities, TableResource::Entities { table }) => {
            Box::pin(query::query_entities(&call, table, seen)).await
        }
        (Operation::QueryEntity, TableResource::Entity { table, partition_key, row_key }) => {
            point::query_entity(&call, table, partition_key, row_key, seen).await
        }
        (Operation::EntityGroupTransaction, _) => Box::pin(group::entity_group_transaction(&call, seen)).await,
        (Operation::GetTableServiceProperties, _) => call.about_service().properties().await,
        (Operation::SetTableServiceProperties, _) => call.about_service().set_properties(&call.body).await,
        (Operation::GetTableServiceStats, _) => call.about_service().stats(),
        (Operation::TablePreflightRequest, _) => call.about_service().preflight().await,
        _ => entity_write::write_entity(&call).await,
    }
}

/// What a `Prefer` header asks for, in the words of `Preference-Applied`.
pub(crate) fn prefer(headers: &HeaderMap) -> Option<&'static str> {
    headers.get(PREFER).and_then(|value| value.to_str().ok()).and_then(preference)
}

fn preference(text: &str) -> Option<&'static str> {
    ["return-content", RETURN_NO_CONTENT].into_iter().find(|known| text.trim().eq_ignore_ascii_case(known))
}

const RETURN_NO_CONTENT: &str = "return-no-content";
/// What accompanies JSON.
const DATA_SERVICE_VERSION: &str = "3.0;";
