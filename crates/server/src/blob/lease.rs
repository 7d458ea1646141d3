//! Leases on blobs. Those on containers are with the containers.

use tablerock_protocol::ServiceError;

use super::BlobCall;
use super::encode::lease_outcome;
use super::request::{BlobTarget, LeaseVerb};
use crate::http::reply::Reply;

pub(super) async fn lease_blob(
    call: &BlobCall<'_>,
    at: BlobTarget<'_>,
    verb: LeaseVerb,
) -> Result<Reply, ServiceError> {
    call.check_no_snapshot()?;
    let action = call.lease_action(verb)?;
    let (address, terms) = (call.address(at), call.write_terms()?);
    let (changed, outcome) = call.server().blobs.lease_blob(address, &terms, action).await?;
    Ok(lease_outcome(changed, outcome))
}
