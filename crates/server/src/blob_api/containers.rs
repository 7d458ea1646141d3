//! Containers: create, read, change, lease, delete.

use tablerock_protocol::ServiceError;
use tablerock_protocol::blob::strong_etag;
use tablerock_protocol::signing::BlobPermissions;
use tablerock_protocol::xml::{BOM, StoredAccessPolicies};
use tablerock_protocol::{DateTime, limits};
use tablerock_services::blob::{Container, LeaseState, state_of};

use super::encode::{changed, lease_duration, lease_headers, lease_outcome, refused};
use super::{Call, lease};
use crate::answer::Answer;
use crate::headers::AnswerHeader;

pub(super) async fn create_container(call: Call<'_>) -> Result<Answer, ServiceError> {
    let (metadata, access) = (call.metadata()?, call.public_access()?);
    let created = call.server.blobs.create_container(call.account(), call.container()?, &metadata, access).await;
    Ok(changed(Answer::empty(201), created.map_err(refused)?))
}

pub(super) async fn delete_container(call: Call<'_>) -> Result<Answer, ServiceError> {
    let (conditions, lease) = (call.conditions()?, call.lease_id()?);
    let deleted = call.server.blobs.delete_container(call.account(), call.container()?, &conditions, lease).await;
    deleted.map_err(refused)?;
    Ok(Answer::empty(202))
}

pub(super) async fn container_properties(call: Call<'_>) -> Result<Answer, ServiceError> {
    let container = find(&call).await?;
    let now = call.envelope.now.ticks();
    let mut answer = changed(Answer::empty(200), container.changed);
    answer.metadata = container.metadata.pairs().to_vec();
    answer = lease_headers(answer, container.lease.as_ref(), state_of(container.lease.as_ref(), now));
    if let Some(access) = container.public_access.name() {
        answer = answer.with(AnswerHeader::PublicAccess, access);
    }
    Ok(answer
        .with(AnswerHeader::HasImmutabilityPolicy, "false")
        .with(AnswerHeader::HasLegalHold, "false")
        .with(AnswerHeader::DefaultEncryptionScope, "$account-encryption-key")
        .with(AnswerHeader::DenyEncryptionScopeOverride, "false")
        .with(AnswerHeader::ImmutableStorageWithVersioning, "false"))
}

pub(super) async fn container_metadata(call: Call<'_>) -> Result<Answer, ServiceError> {
    let container = find(&call).await?;
    let mut answer = changed(Answer::empty(200), container.changed);
    answer.metadata = container.metadata.pairs().to_vec();
    Ok(answer)
}

pub(super) async fn set_container_metadata(call: Call<'_>) -> Result<Answer, ServiceError> {
    let (conditions, lease, metadata) = (call.conditions()?, call.lease_id()?, call.metadata()?);
    let (account, name) = (call.account(), call.container()?);
    let set = call.server.blobs.set_container_metadata(account, name, &conditions, lease, &metadata).await;
    Ok(changed(Answer::empty(200), set.map_err(refused)?))
}

pub(super) async fn container_acl(call: Call<'_>) -> Result<Answer, ServiceError> {
    let (account, name) = (call.account(), call.container()?);
    let found = call.server.blobs.container_acl(account, name, call.lease_id()?).await;
    let (container, policies) = found.map_err(refused)?;
    let xml = format!("{BOM}{}", policies.render());
    let answer = changed(Answer::xml(200, xml.into_bytes()), container.changed);
    Ok(match container.public_access.name() {
        Some(access) => answer.with(AnswerHeader::PublicAccess, access),
        None => answer,
    })
}

pub(super) async fn set_container_acl(call: Call<'_>) -> Result<Answer, ServiceError> {
    let (conditions, lease, access) = (call.conditions()?, call.lease_id()?, call.public_access()?);
    let (account, name) = (call.account(), call.container()?);
    let body = call.body.whole(limits::XML_BODY_BYTES_MAX).await?;
    let policies = StoredAccessPolicies::parse(&body, BlobPermissions::LETTERS)?;
    let set = call.server.blobs.set_container_acl(account, name, &conditions, lease, &policies, access).await;
    Ok(changed(Answer::empty(200), set.map_err(refused)?))
}

pub(super) async fn lease_container(call: Call<'_>) -> Result<Answer, ServiceError> {
    let action = call.lease_action(lease::action(call.operation))?;
    let conditions = call.conditions()?;
    let (account, name) = (call.account(), call.container()?);
    let leased = call.server.blobs.lease_container(account, name, &conditions, action).await;
    let (container, outcome) = leased.map_err(refused)?;
    Ok(lease_outcome(container.changed, outcome))
}

async fn find(call: &Call<'_>) -> Result<Container, ServiceError> {
    let lease = call.lease_id()?;
    call.server.blobs.container(call.account(), call.container()?, lease).await.map_err(refused)
}

/// The elements of a container in a list.
pub(super) fn listed_properties(container: &Container, now: DateTime) -> Vec<(&'static str, String)> {
    let state = state_of(container.lease.as_ref(), now.ticks());
    let mut properties = vec![
        ("Last-Modified", container.changed.to_http_date()),
        ("Etag", strong_etag(container.changed)),
        ("LeaseStatus", if state.is_locked() { "locked" } else { "unlocked" }.to_owned()),
        ("LeaseState", state.name().to_owned()),
    ];
    if let Some(lease) = container.lease.as_ref().filter(|_| state == LeaseState::Leased) {
        properties.push(("LeaseDuration", lease_duration(lease).to_owned()));
    }
    if let Some(access) = container.public_access.name() {
        properties.push(("PublicAccess", access.to_owned()));
    }
    properties.push(("HasImmutabilityPolicy", "false".to_owned()));
    properties.push(("HasLegalHold", "false".to_owned()));
    properties
}
