//! Leases on blobs. Those on containers are with the containers.

use tablerock_protocol::ServiceError;

use super::Call;
use super::encode::{lease_outcome, refused};
use crate::answer::Answer;
use crate::operation::Operation;

pub(super) async fn lease_blob(call: Call<'_>) -> Result<Answer, ServiceError> {
    call.check_no_snapshot()?;
    let action = call.lease_action(action(call.operation))?;
    let (address, terms) = (call.address()?, call.write_terms()?);
    let leased = call.server.blobs.lease_blob(address, &terms, action).await;
    let (blob, outcome) = leased.map_err(refused)?;
    Ok(lease_outcome(blob.changed, outcome))
}

/// The action that an operation stands for.
pub(super) fn action(operation: Operation) -> &'static str {
    use Operation::*;
    match operation {
        AcquireBlobLease | AcquireContainerLease => "acquire",
        RenewBlobLease | RenewContainerLease => "renew",
        ChangeBlobLease | ChangeContainerLease => "change",
        ReleaseBlobLease | ReleaseContainerLease => "release",
        _ => "break",
    }
}
