//! List, Create and Delete Queue, their metadata and their access policies.

use tablerock_protocol::signing::QueuePermissions;
use tablerock_protocol::xml::{BOM, QueueListing, StoredAccessPolicies};
use tablerock_protocol::{ErrorCode, QueueName, ServiceError};
use tablerock_services::queue::{Created, QueueQuery};

use super::{Call, parameters};
use crate::answer::Answer;
use crate::headers::AnswerHeader;
use crate::metadata;

pub(super) async fn list_queues(call: &Call<'_>) -> Result<Answer, ServiceError> {
    let (prefix, marker) = (call.query.value("prefix"), call.query.value("marker"));
    // A page that is larger than the largest is the largest.
    let max_results = parameters::number(call.query, "maxresults", &(1..=usize::MAX))?;
    let includes_metadata = includes_metadata(call)?;
    let query = QueueQuery {
        prefix: prefix.unwrap_or_default().to_owned(),
        from: marker.map(|marker| parse_marker(call.account(), marker)).transpose()?.unwrap_or_default().to_owned(),
        count_max: max_results,
    };
    let page = call.server.queues.list_queues(call.account(), &query).await;
    let page = page.map_err(|error| error.into_service_error())?;
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
        next_marker: page.next.map_or_else(String::new, |next| format!("/{}/{next}", call.account())),
    };
    Ok(Answer::xml(200, format!("{BOM}{}", listing.render()).into_bytes()))
}

fn includes_metadata(call: &Call<'_>) -> Result<bool, ServiceError> {
    match call.query.value("include") {
        None => Ok(false),
        Some("metadata") => Ok(true),
        Some(other) => Err(ServiceError::invalid_parameter("include", other, "The value is not known.")),
    }
}

/// Markers have the form of the live service, `/account/queue`.
fn parse_marker<'m>(account: &str, marker: &'m str) -> Result<&'m str, ServiceError> {
    let name =
        marker.strip_prefix('/').and_then(|rest| rest.strip_prefix(account)).and_then(|rest| rest.strip_prefix('/'));
    name.ok_or_else(|| ErrorCode::InvalidMarker.into())
}

pub(super) async fn create_queue(call: &Call<'_>, queue: &QueueName) -> Result<Answer, ServiceError> {
    let metadata = metadata::read(call.headers, call.spelled)?;
    let created = call.server.queues.create_queue(call.account(), queue, &metadata).await;
    Ok(Answer::empty(match created.map_err(|error| error.into_service_error())? {
        Created::New => 201,
        Created::Before => 204,
    }))
}

pub(super) async fn delete_queue(call: &Call<'_>, queue: &QueueName) -> Result<Answer, ServiceError> {
    let deleted = call.server.queues.delete_queue(call.account(), queue).await;
    deleted.map_err(|error| error.into_service_error())?;
    Ok(Answer::empty(204))
}

pub(super) async fn queue_metadata(call: &Call<'_>, queue: &QueueName) -> Result<Answer, ServiceError> {
    let state = call.server.queues.queue_metadata(call.account(), queue).await;
    let state = state.map_err(|error| error.into_service_error())?;
    let mut answer = Answer::empty(200).with(AnswerHeader::ApproximateMessagesCount, state.messages.to_string());
    answer.metadata = state.metadata.pairs().to_vec();
    Ok(answer)
}

pub(super) async fn set_queue_metadata(call: &Call<'_>, queue: &QueueName) -> Result<Answer, ServiceError> {
    let metadata = metadata::read(call.headers, call.spelled)?;
    let set = call.server.queues.set_queue_metadata(call.account(), queue, &metadata).await;
    set.map_err(|error| error.into_service_error())?;
    Ok(Answer::empty(204))
}

pub(super) async fn queue_acl(call: &Call<'_>, queue: &QueueName) -> Result<Answer, ServiceError> {
    let policies = call.server.queues.queue_acl(call.account(), queue).await;
    let policies = policies.map_err(|error| error.into_service_error())?;
    Ok(Answer::xml(200, format!("{BOM}{}", policies.render()).into_bytes()))
}

pub(super) async fn set_queue_acl(call: &Call<'_>, queue: &QueueName) -> Result<Answer, ServiceError> {
    let policies = StoredAccessPolicies::parse(&call.body, QueuePermissions::LETTERS)?;
    let set = call.server.queues.set_queue_acl(call.account(), queue, &policies).await;
    set.map_err(|error| error.into_service_error())?;
    Ok(Answer::empty(204))
}
