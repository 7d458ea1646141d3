//! The Blob service over HTTP: parse, admit, decode, call the service, encode.
//!
//! Bodies are streams in both directions, and a request may take as long as it makes progress.

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
mod request;

use std::sync::Arc;

use hyper::body::Incoming;
use tablerock_protocol::{BlobResource, ErrorCode, ServiceError, limits};

use self::request::{BlobRequest, LeaseVerb};
use crate::auth::{Request, Target};
use crate::call::Call;
use crate::http::progress::Progress;
use crate::http::reply::Reply;
use crate::http::upload::Upload;
use crate::http::verb::Verb;
use crate::pipeline::{self, REQUEST_TIME, check_body_length, check_url_length};
use crate::request_context::RequestContext;
use crate::service_properties;

type BlobCall<'a> = Call<'a, BlobBody<'a>>;

/// A body that has not been read yet.
#[derive(Debug)]
struct BlobBody<'a> {
    upload: &'a mut Upload,
    /// For long work that reads nothing from the client.
    progress: &'a Progress,
}

/// Serves a request for as long as it makes progress.
pub(crate) async fn serve(cx: &mut RequestContext<'_>, body: Incoming) -> Result<Reply, ServiceError> {
    let progress = Arc::new(Progress::new());
    let mut upload = Upload::new(body, &cx.server.memory, progress.clone());
    let work = async {
        let served = admit_and_run(cx, &mut upload, &progress).await;
        upload.finish().await;
        served
    };
    let served = progress.within(REQUEST_TIME, work).await;
    served.unwrap_or_else(|| Err(ErrorCode::OperationTimedOut.into())).map_err(blob_error)
}

async fn admit_and_run(
    cx: &mut RequestContext<'_>,
    upload: &mut Upload,
    progress: &Progress,
) -> Result<Reply, ServiceError> {
    let head = cx.head;
    check_url_length(&head.uri)?;
    let verb = Verb::parse(head.method.as_str()).ok_or(ErrorCode::InvalidHttpVerb)?;
    let address = cx.read_address()?;
    let resource = BlobResource::parse(address.below_root(), address.query.value("restype").is_some())?;
    let request = BlobRequest::parse(verb, &resource, &address.query, &head.headers);
    let admitted = pipeline::admit(cx, verb, &address, Target::of_blob(&resource), request).await?;

    let operation = admitted.request.operation();
    check_body_length(operation, head, upload.incoming())?;
    let mut call = BlobCall {
        cx,
        operation,
        endpoint: &address.endpoint,
        query: &address.query,
        headers: &head.headers,
        caller: &admitted.caller,
        accepted: cx.accepted,
        body: BlobBody { upload, progress },
    };
    let mut reply = run(&mut call, admitted.request).await?;
    reply.permit = cx.server.memory.for_response(reply.body.bytes_held()).await?;
    Ok(reply)
}

/// Runs a request. The match is the list of all there are.
async fn run(call: &mut BlobCall<'_>, request: BlobRequest<'_>) -> Result<Reply, ServiceError> {
    use BlobRequest::*;
    match request {
        ListContainers => lists::list_containers(call).await,
        CreateContainer(container) => containers::create_container(call, container).await,
        DeleteContainer(container) => containers::delete_container(call, container).await,
        GetContainerProperties(container) => containers::container_properties(call, container).await,
        GetContainerMetadata(container) => containers::container_metadata(call, container).await,
        SetContainerMetadata(container) => containers::set_container_metadata(call, container).await,
        GetContainerACL(container) => containers::container_acl(call, container).await,
        SetContainerACL(container) => containers::set_container_acl(call, container).await,
        AcquireContainerLease(at) => containers::lease_container(call, at, LeaseVerb::Acquire).await,
        RenewContainerLease(at) => containers::lease_container(call, at, LeaseVerb::Renew).await,
        ChangeContainerLease(at) => containers::lease_container(call, at, LeaseVerb::Change).await,
        ReleaseContainerLease(at) => containers::lease_container(call, at, LeaseVerb::Release).await,
        BreakContainerLease(at) => containers::lease_container(call, at, LeaseVerb::Break).await,
        ListBlobs(container) => lists::list_blobs(call, container).await,
        PutBlob(at) => put_blob::put_blob(call, at).await,
        GetBlob(at) => get_blob::get_blob(call, at).await,
        GetBlobProperties(at) => get_blob::blob_properties(call, at).await,
        GetBlobMetadata(at) => get_blob::blob_metadata(call, at).await,
        SetBlobProperties(at) => change_blob::set_blob_properties(call, at).await,
        SetBlobMetadata(at) => change_blob::set_blob_metadata(call, at).await,
        SetBlobTier(at) => change_blob::set_blob_tier(call, at).await,
        GetBlobTags(at) => change_blob::blob_tags(call, at).await,
        SetBlobTags(at) => change_blob::set_blob_tags(call, at).await,
        SealBlob(at) => change_blob::seal_blob(call, at).await,
        SnapshotBlob(at) => change_blob::snapshot_blob(call, at).await,
        DeleteBlob(at) => change_blob::delete_blob(call, at).await,
        UndeleteBlob(at) => change_blob::undelete_blob(call, at).await,
        PutBlock(at) => blocks::put_block(call, at).await,
        PutBlockFromURL(at) => blocks::put_block_from_url(call, at).await,
        PutBlockList(at) => blocks::put_block_list(call, at).await,
        GetBlockList(at) => blocks::block_list(call, at).await,
        AppendBlock(at) => blocks::append_block(call, at).await,
        AppendBlockFromURL(at) => blocks::append_block_from_url(call, at).await,
        AcquireBlobLease(at) => lease::lease_blob(call, at, LeaseVerb::Acquire).await,
        RenewBlobLease(at) => lease::lease_blob(call, at, LeaseVerb::Renew).await,
        ChangeBlobLease(at) => lease::lease_blob(call, at, LeaseVerb::Change).await,
        ReleaseBlobLease(at) => lease::lease_blob(call, at, LeaseVerb::Release).await,
        BreakBlobLease(at) => lease::lease_blob(call, at, LeaseVerb::Break).await,
        CopyBlob(at) | CopyBlobFromURL(at) | PutBlobFromURL(at) => copy::copy_blob(call, at).await,
        AbortCopyBlob(at) => change_blob::abort_copy(call, at).await,
        BlobBatch(container) => batch::blob_batch(call, container).await,
        GetAccountInformation => Ok(account_information::account_information()),
        GetBlobServiceProperties => service_properties::get(call).await,
        SetBlobServiceProperties => {
            let body = call.body.upload.whole(limits::XML_BODY_BYTES_MAX).await?;
            service_properties::set(call, &body).await
        }
        GetBlobServiceStats => service_properties::stats(call),
        BlobPreflightRequest => service_properties::preflight(call).await,
        PutPage(_) | PutPageFromURL(_) | ClearPage(_) | GetPageRanges(_) | IncrementalCopyBlob(_) => {
            Err(put_blob::page_blobs_are_not_supported())
        }
        UndeleteContainer(_) | FindBlobsByTags(_) | SetBlobExpiry(_) | QueryBlobContents(_) | GetUserDelegationKey => {
            Err(ErrorCode::NotImplemented.into())
        }
    }
}

/// Translates the one error that has another name in this service: a key that is too long for the store is a blob's name.
fn blob_error(error: ServiceError) -> ServiceError {
    match error.code {
        ErrorCode::KeyValueTooLarge => ErrorCode::OutOfRangeInput.into(),
        _ => error,
    }
}
