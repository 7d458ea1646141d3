//! List, Create and Delete Queue, their metadata and their access policies.

use tablerock_protocol::signing::QueuePermissions;
use tablerock_protocol::xml::{BOM, QueueListing, StoredAccessPolicies};
use tablerock_protocol::{QueueName, ServiceError};
use tablerock_services::queue::{Created, QueueQuery};

use super::{QueueCall, parameters};
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;
use crate::http::{list_marker, metadata};

pub(super) async fn list_queues(call: &QueueCall<'_>) -> Result<Reply, ServiceError> {
    let (prefix, marker) = (call.parameter("prefix"), call.parameter("marker"));
    // Larger pages than the largest are cut to it.
    let max_results = parameters::number(call.query, "maxresults", &(1..=usize::MAX))?;
    let includes_metadata = includes_metadata(call)?;
    let query = QueueQuery {
        prefix: prefix.unwrap_or_default().to_owned(),
        from: marker
            .map(|marker| list_marker::parse(call.account(), marker))
            .transpose()?
            .unwrap_or_default()
            .to_owned(),
        count_max: max_results,
    };
    let page = call.server().queues.list_queues(call.account(), &query).await?;
    let listing = QueueListing {
        service_endpoint: &format!("{}/", call.endpoint.base),
        prefix,
        marker,
        max_results,
        queues: page
            .queues
            .iter()
            .map(|queue| (queue.name.as_str(), includes_metadata.then_some(&queue.metadata)))
            .collect(),
        next_marker: page.next.map_or_else(String::new, |next| list_marker::write(call.account(), &next)),
    };
    Ok(Reply::xml(200, format!("{BOM}{}", listing.render()).into_bytes()))
}

fn includes_metadata(call: &QueueCall<'_>) -> Result<bool, ServiceError> {
    match call.parameter("include") {
        None => Ok(false),
        Some(include) if include.eq_ignore_ascii_case("metadata") => Ok(true),
        Some(other) => Err(ServiceError::invalid_parameter("include", other, "The value is not known.")),
    }
}

pub(super) async fn create_queue(call: &QueueCall<'_>, queue: &QueueName) -> Result<Reply, ServiceError> {
    let metadata = metadata::read(call.headers, call.cx.header_case())?;
    let created = call.server().queues.create_queue(call.account(), queue, &metadata).await;
    Ok(Reply::empty(match created? {
        Created::New => 201,
        Created::Before => 204,
    }))
}

pub(super) async fn delete_queue(call: &QueueCall<'_>, queue: &QueueName) -> Result<Reply, ServiceError> {
    call.server().queues.delete_queue(call.account(), queue).await?;
    Ok(Reply::empty(204))
}

pub(super) async fn queue_metadata(call: &QueueCall<'_>, queue: &QueueName) -> Result<Reply, ServiceError> {
    let state = call.server().queues.queue_metadata(call.account(), queue).await?;
    let mut reply = Reply::empty(200).with(ResponseHeader::ApproximateMessagesCount, state.messages.to_string());
    reply.metadata = state.metadata.pairs().to_vec();
    Ok(reply)
}

pub(super) async fn set_queue_metadata(call: &QueueCall<'_>, queue: &QueueName) -> Result<Reply, ServiceError> {
    let metadata = metadata::read(call.headers, call.cx.header_case())?;
    call.server().queues.set_queue_metadata(call.account(), queue, &metadata).await?;
    Ok(Reply::empty(204))
}

pub(super) async fn queue_acl(call: &QueueCall<'_>, queue: &QueueName) -> Result<Reply, ServiceError> {
    let policies = call.server().queues.queue_acl(call.account(), queue).await?;
    Ok(Reply::xml(200, format!("{BOM}{}", policies.render()).into_bytes()))
}

pub(super) async fn set_queue_acl(call: &QueueCall<'_>, queue: &QueueName) -> Result<Reply, ServiceError> {
    let policies = StoredAccessPolicies::parse(&call.body, QueuePermissions::LETTERS)?;
    call.server().queues.set_queue_acl(call.account(), queue, &policies).await?;
    Ok(Reply::empty(204))
}
