//! Containers: create, read, change, lease, delete.

use tablerock_protocol::ServiceError;
use tablerock_protocol::blob::strong_etag;
use tablerock_protocol::signing::BlobPermissions;
use tablerock_protocol::xml::{BOM, StoredAccessPolicies};
use tablerock_protocol::{ContainerName, DateTime, limits};
use tablerock_services::blob::{Container, LeaseState, state_of};

use super::BlobCall;
use super::encode::{changed, lease_duration, lease_headers, lease_outcome};
use super::request::LeaseVerb;
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

pub(super) async fn create_container(call: &BlobCall<'_>, container: &ContainerName) -> Result<Reply, ServiceError> {
    call.check_default_scope()?;
    let (metadata, access) = (call.metadata()?, call.public_access()?);
    let created = call.server().blobs.create_container(call.account(), container.as_str(), &metadata, access).await;
    Ok(changed(Reply::empty(201), created?))
}

pub(super) async fn delete_container(call: &BlobCall<'_>, container: &ContainerName) -> Result<Reply, ServiceError> {
    let (conditions, lease) = (call.conditions()?, call.lease_id()?);
    call.server().blobs.delete_container(call.account(), container.as_str(), &conditions, lease).await?;
    Ok(Reply::empty(202))
}

pub(super) async fn container_properties(
    call: &BlobCall<'_>,
    container: &ContainerName,
) -> Result<Reply, ServiceError> {
    let container = find(call, container).await?;
    let now = call.cx.now.ticks();
    let mut reply = changed(Reply::empty(200), container.changed);
    reply.metadata = container.metadata.pairs().to_vec();
    reply = lease_headers(reply, container.lease.as_ref(), state_of(container.lease.as_ref(), now));
    if let Some(access) = container.public_access.name() {
        reply = reply.with(ResponseHeader::PublicAccess, access);
    }
    Ok(reply
        .with(ResponseHeader::HasImmutabilityPolicy, "false")
        .with(ResponseHeader::HasLegalHold, "false")
        .with(ResponseHeader::DefaultEncryptionScope, "$account-encryption-key")
        .with(ResponseHeader::DenyEncryptionScopeOverride, "false")
        .with(ResponseHeader::ImmutableStorageWithVersioning, "false"))
}

pub(super) async fn container_metadata(call: &BlobCall<'_>, container: &ContainerName) -> Result<Reply, ServiceError> {
    let container = find(call, container).await?;
    let mut reply = changed(Reply::empty(200), container.changed);
    reply.metadata = container.metadata.pairs().to_vec();
    Ok(reply)
}

pub(super) async fn set_container_metadata(
    call: &BlobCall<'_>,
    container: &ContainerName,
) -> Result<Reply, ServiceError> {
    let (conditions, lease, metadata) = (call.conditions()?, call.lease_id()?, call.metadata()?);
    let (account, name) = (call.account(), container.as_str());
    let set = call.server().blobs.set_container_metadata(account, name, &conditions, lease, &metadata).await;
    Ok(changed(Reply::empty(200), set?))
}

pub(super) async fn container_acl(call: &BlobCall<'_>, container: &ContainerName) -> Result<Reply, ServiceError> {
    let (account, name) = (call.account(), container.as_str());
    let (container, policies) = call.server().blobs.container_acl(account, name, call.lease_id()?).await?;
    let xml = format!("{BOM}{}", policies.render());
    let reply = changed(Reply::xml(200, xml.into_bytes()), container.changed);
    Ok(match container.public_access.name() {
        Some(access) => reply.with(ResponseHeader::PublicAccess, access),
        None => reply,
    })
}

pub(super) async fn set_container_acl(
    call: &mut BlobCall<'_>,
    container: &ContainerName,
) -> Result<Reply, ServiceError> {
    let (conditions, lease, access) = (call.conditions()?, call.lease_id()?, call.public_access()?);
    let (account, name) = (call.account(), container.as_str());
    let body = call.whole_body(limits::XML_BODY_BYTES_MAX).await?;
    let policies = StoredAccessPolicies::parse(&body, BlobPermissions::LETTERS)?;
    let set = call.server().blobs.set_container_acl(account, name, &conditions, lease, &policies, access).await;
    Ok(changed(Reply::empty(200), set?))
}

pub(super) async fn lease_container(
    call: &BlobCall<'_>,
    container: &ContainerName,
    verb: LeaseVerb,
) -> Result<Reply, ServiceError> {
    let action = call.lease_action(verb)?;
    let conditions = call.conditions()?;
    let (account, name) = (call.account(), container.as_str());
    let (container, outcome) = call.server().blobs.lease_container(account, name, &conditions, action).await?;
    Ok(lease_outcome(container.changed, outcome))
}

async fn find(call: &BlobCall<'_>, container: &ContainerName) -> Result<Container, ServiceError> {
    let lease = call.lease_id()?;
    Ok(call.server().blobs.container(call.account(), container.as_str(), lease).await?)
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
    let fixed = [
        ("DefaultEncryptionScope", "$account-encryption-key"),
        ("DenyEncryptionScopeOverride", "false"),
        ("HasImmutabilityPolicy", "false"),
        ("HasLegalHold", "false"),
        ("ImmutableStorageWithVersioningEnabled", "false"),
    ];
    properties.extend(fixed.map(|(name, value)| (name, value.to_owned())));
    properties
}
