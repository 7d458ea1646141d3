//! The Blob service's operations over HTTP: decode, call the service, encode.

mod account_information;
mod batch;
mod blocks;
mod change_blob;
mod containers;
mod copy;
mod decode;
mod encode;
mod get_blob;
mod lease;
mod lists;
mod names;
mod put_blob;

use http::{HeaderMap, HeaderName};
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{
    BlobResource, ContainerName, ErrorCode, QueryString, Service, ServiceError, ServiceVersion, limits,
};
use tablerock_services::blob::PublicAccess;

use crate::answer::Answer;
use crate::auth::Caller;
use crate::endpoint::Endpoint;
use crate::observe::Seen;
use crate::operation::Operation;
use crate::pipeline::{Peer, Server};
use crate::progress::Progress;
use crate::respond::Envelope;
use crate::service_api::ServiceCall;
use crate::spelling::SpelledNames;
use crate::upload::Upload;

/// A request that has been admitted. Its body is still on its way.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Server,
    pub(crate) endpoint: &'a Endpoint<'a>,
    pub(crate) operation: Operation,
    pub(crate) resource: &'a BlobResource,
    pub(crate) query: &'a QueryString<'a>,
    pub(crate) headers: &'a HeaderMap,
    /// How names of metadata among them were spelled.
    pub(crate) spelled: Option<&'a SpelledNames>,
    pub(crate) caller: &'a Caller,
    pub(crate) envelope: &'a Envelope,
    pub(crate) peer: Peer,
    pub(crate) body: &'a mut Upload,
    /// To be told when long work that takes nothing in gets on.
    pub(crate) progress: &'a Progress,
}

impl<'a> Call<'a> {
    fn account(&self) -> &'a str {
        self.endpoint.account.name.as_str()
    }

    fn header(&self, name: HeaderName) -> Option<&'a str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// Runs an operation. The match is the list of all there are.
pub(crate) async fn dispatch(call: Call<'_>, seen: &mut Seen<'_>) -> Result<Answer, ServiceError> {
    use Operation::*;
    if matches!(call.caller, Caller::Anonymous) {
        check_public_access(&call).await?;
    }
    let Call { server, endpoint, envelope, headers, .. } = call;
    let service = ServiceCall { service: Service::Blob, server, endpoint, envelope, headers };
    match call.operation {
        ListContainers => lists::list_containers(call).await,
        CreateContainer => containers::create_container(call).await,
        DeleteContainer => containers::delete_container(call).await,
        GetContainerProperties => containers::container_properties(call).await,
        GetContainerMetadata => containers::container_metadata(call).await,
        SetContainerMetadata => containers::set_container_metadata(call).await,
        GetContainerACL => containers::container_acl(call).await,
        SetContainerACL => containers::set_container_acl(call).await,
        AcquireContainerLease
        | RenewContainerLease
        | ChangeContainerLease
        | ReleaseContainerLease
        | BreakContainerLease => containers::lease_container(call).await,
        ListBlobs => lists::list_blobs(call).await,
        PutBlob => put_blob::put_blob(call).await,
        GetBlob => get_blob::get_blob(call, seen).await,
        GetBlobProperties => get_blob::blob_properties(call).await,
        GetBlobMetadata => get_blob::blob_metadata(call).await,
        SetBlobProperties => change_blob::set_blob_properties(call).await,
        SetBlobMetadata => change_blob::set_blob_metadata(call).await,
        SetBlobTier => change_blob::set_blob_tier(call).await,
        GetBlobTags => change_blob::blob_tags(call).await,
        SetBlobTags => change_blob::set_blob_tags(call).await,
        SealBlob => change_blob::seal_blob(call).await,
        SnapshotBlob => change_blob::snapshot_blob(call).await,
        DeleteBlob => change_blob::delete_blob(&call).await,
        UndeleteBlob => change_blob::undelete_blob(call).await,
        PutBlock => blocks::put_block(call).await,
        PutBlockFromURL => blocks::put_block_from_url(call).await,
        PutBlockList => blocks::put_block_list(call).await,
        GetBlockList => blocks::block_list(call).await,
        AppendBlock => blocks::append_block(call).await,
        AppendBlockFromURL => blocks::append_block_from_url(call).await,
        AcquireBlobLease | RenewBlobLease | ChangeBlobLease | ReleaseBlobLease | BreakBlobLease => {
            lease::lease_blob(call).await
        }
        CopyBlob | CopyBlobFromURL | PutBlobFromURL => copy::copy_blob(call).await,
        AbortCopyBlob => change_blob::abort_copy(call).await,
        BlobBatch => batch::blob_batch(call).await,
        GetAccountInformation => Ok(account_information::account_information()),
        GetBlobServiceProperties => service.properties().await,
        SetBlobServiceProperties => service.set_properties(&call.body.whole(limits::XML_BODY_BYTES_MAX).await?).await,
        GetBlobServiceStats => service.stats(),
        BlobPreflightRequest => service.preflight().await,
        PutPage | PutPageFromURL | ClearPage | GetPageRanges | IncrementalCopyBlob => {
            Err(put_blob::page_blobs_are_not_supported())
        }
        // Bringing containers back, looking for tags, expiry, queries and keys of delegation are not here yet; no other
        // operation is resolved from a path of this service.
        _ => Err(ErrorCode::NotImplemented.into()),
    }
}

/// Whether the container is open to a stranger, for the operation that the stranger asks for.
async fn check_public_access(call: &Call<'_>) -> Result<(), ServiceError> {
    let refusal = if call.envelope.version >= ServiceVersion::STORAGE_TOKEN {
        ErrorCode::NoAuthenticationInformation
    } else {
        ErrorCode::ResourceNotFound
    };
    let needed = match call.resource {
        BlobResource::Blob { .. } => PublicAccess::Blob,
        _ => PublicAccess::Container,
    };
    check_public(call.server, call.account(), call.container()?, needed, refusal.into()).await
}

/// Whether a container is open to strangers this far. One that is not there is as closed as any.
async fn check_public(
    server: &Server,
    account: &str,
    container: &str,
    needed: PublicAccess,
    refusal: ServiceError,
) -> Result<(), ServiceError> {
    let access = match server.blobs.container(account, container, None).await {
        Ok(container) => container.public_access,
        Err(error) => match error.into_service_error() {
            error if error.code == ErrorCode::ContainerNotFound => PublicAccess::Private,
            error => return Err(error),
        },
    };
    let is_open = access == PublicAccess::Container || access == needed;
    if is_open { Ok(()) } else { Err(refusal) }
}

/// The stored access policies of a container, for a SAS that rests on one of them. A container that is gone has none.
pub(crate) async fn stored_policies(
    server: &Server,
    account: &str,
    container: &ContainerName,
) -> Result<StoredAccessPolicies, ServiceError> {
    let found = server.blobs.container_acl(account, container.as_str(), None).await;
    match found.map_err(|error| error.into_service_error()) {
        Err(error) if error.code == ErrorCode::ContainerNotFound => Ok(StoredAccessPolicies::default()),
        found => Ok(found?.1),
    }
}
