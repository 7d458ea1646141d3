//! The stored access policies that a SAS may rest on. A resource that is gone has none, so every SAS that rested on its
//! policies is rejected.

use tablerock_kv::Witness;
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{ContainerName, ErrorCode, QueueName, ServiceError};

use crate::pipeline::Server;

/// The policies of a resource, and the row that they are in, for a request that one of them admits.
type Policies = (StoredAccessPolicies, Option<Witness>);

pub(super) async fn of_table(server: &Server, account: &str, table: &str, id: &str) -> Result<Policies, ServiceError> {
    or_none(server.tables.policies_for(account, table, id).await, ErrorCode::TableNotFound)
}

pub(super) async fn of_queue(
    server: &Server,
    account: &str,
    queue: &QueueName,
    id: &str,
) -> Result<Policies, ServiceError> {
    or_none(server.queues.policies_for(account, queue, id).await, ErrorCode::QueueNotFound)
}

pub(super) async fn of_container(
    server: &Server,
    account: &str,
    container: &ContainerName,
    id: &str,
) -> Result<Policies, ServiceError> {
    or_none(server.blobs.policies_for(account, container.as_str(), id).await, ErrorCode::ContainerNotFound)
}

fn or_none(
    found: tablerock_services::Result<(StoredAccessPolicies, Witness)>,
    gone: ErrorCode,
) -> Result<Policies, ServiceError> {
    match found.map_err(ServiceError::from) {
        Ok((policies, witness)) => Ok((policies, Some(witness))),
        Err(error) if error.code == gone => Ok((StoredAccessPolicies::default(), None)),
        Err(error) => Err(error),
    }
}
