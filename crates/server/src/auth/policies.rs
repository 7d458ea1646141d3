//! The stored access policies that a SAS may rest on. A resource that is gone has none, so every SAS that rested on its
//! policies is rejected.

use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{ContainerName, ErrorCode, QueueName, ServiceError};

use crate::pipeline::Server;

pub(super) async fn of_table(
    server: &Server,
    account: &str,
    table: &str,
) -> Result<StoredAccessPolicies, ServiceError> {
    or_none(server.tables.table_acl(account, table).await, ErrorCode::TableNotFound)
}

pub(super) async fn of_queue(
    server: &Server,
    account: &str,
    queue: &QueueName,
) -> Result<StoredAccessPolicies, ServiceError> {
    or_none(server.queues.queue_acl(account, queue).await, ErrorCode::QueueNotFound)
}

pub(super) async fn of_container(
    server: &Server,
    account: &str,
    container: &ContainerName,
) -> Result<StoredAccessPolicies, ServiceError> {
    let found = server.blobs.container_acl(account, container.as_str(), None).await;
    or_none(found.map(|(_, policies)| policies), ErrorCode::ContainerNotFound)
}

fn or_none(
    found: tablerock_services::Result<StoredAccessPolicies>,
    gone: ErrorCode,
) -> Result<StoredAccessPolicies, ServiceError> {
    match found.map_err(ServiceError::from) {
        Err(error) if error.code == gone => Ok(StoredAccessPolicies::default()),
        found => found,
    }
}
