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
mod encryption;
mod find_blobs;
mod get_blob;
mod lease;
mod lists;
mod names;
mod pages;
mod put_blob;
mod put_blob_from_url;
mod request;
mod tier;

use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;

use tablerock_protocol::{BlobResource, ErrorCode, ServiceError, limits};

use self::request::{BlobRequest, LeaseVerb};
use crate::auth::{Request, Target};
use crate::call::Call;
use crate::http::progress::Progress;
use crate::http::reply::Reply;
use crate::http::request_body::RequestBody;
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

/// The memory of content that is read from the store: a chunk that is being sent and the next one.
const CONTENT_BYTES: usize = 512 << 10;

type Running<'c> = Pin<Box<dyn Future<Output = Result<Reply, ServiceError>> + Send + 'c>>;

/// Serves a request for as long as it makes progress.
pub(crate) async fn serve(cx: &mut RequestContext<'_>, body: RequestBody) -> Result<Reply, ServiceError> {
    let progress = Arc::new(Progress::new());
    let mut upload = Upload::new(body, progress.clone());
    let work = async {
        let served = admit_and_run(cx, &mut upload, &progress).await;
        // A client that took too long is not given more time.
        if !served.as_ref().is_err_and(|error| error.code == ErrorCode::OperationTimedOut) {
            upload.finish(cx.is_admitted).await;
        }
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
    if operation.has_no_body() {
        upload.check_empty().await?;
    }
    let reserved = match operation {
        _ if operation.copies_content() => cx.memory().for_content(CONTENT_BYTES).await?,
        _ => pipeline::reserve_response(cx, operation, 0).await?,
    };
    let mut call = BlobCall::new(cx, &address, operation, &admitted.caller, BlobBody { upload, progress });
    let running = run(&mut call, admitted.request);
    let reply = match (cx.time_limit, admitted.witness) {
        (None, None) => running.await,
        (limit, witness) => Box::pin(pipeline::within(cx, limit, witness, running)).await,
    };
    if pipeline::shows_by_policy(&address, operation, &reply, cx) {
        Box::pin(pipeline::confirm_policy(cx, &address, Target::of_blob(&resource), admitted.request)).await?;
    }
    pipeline::cover_reply(cx, reserved, reply?).await
}

/// Runs a request. The match is the list of all there are.
///
/// Each future is in a box of its own: one future for all would be as large as the largest, and every request would pay
/// for moving it.
fn run<'c>(call: &'c mut BlobCall<'_>, request: BlobRequest<'c>) -> Running<'c> {
    use BlobRequest::*;
    match request {
        ListContainers => Box::pin(lists::list_containers(call)),
        CreateContainer(container) => Box::pin(containers::create_container(call, container)),
        DeleteContainer(container) => Box::pin(containers::delete_container(call, container)),
        GetContainerProperties(container) => Box::pin(containers::container_properties(call, container)),
        GetContainerMetadata(container) => Box::pin(containers::container_metadata(call, container)),
        SetContainerMetadata(container) => Box::pin(containers::set_container_metadata(call, container)),
        GetContainerACL(container) => Box::pin(containers::container_acl(call, container)),
        SetContainerACL(container) => Box::pin(containers::set_container_acl(call, container)),
        AcquireContainerLease(at) => Box::pin(containers::lease_container(call, at, LeaseVerb::Acquire)),
        RenewContainerLease(at) => Box::pin(containers::lease_container(call, at, LeaseVerb::Renew)),
        ChangeContainerLease(at) => Box::pin(containers::lease_container(call, at, LeaseVerb::Change)),
        ReleaseContainerLease(at) => Box::pin(containers::lease_container(call, at, LeaseVerb::Release)),
        BreakContainerLease(at) => Box::pin(containers::lease_container(call, at, LeaseVerb::Break)),
        ListBlobs(container) => Box::pin(lists::list_blobs(call, container)),
        FindBlobsByTags(container) => Box::pin(find_blobs::find_blobs_by_tags(call, container)),
        PutBlob(at) => Box::pin(put_blob::put_blob(call, at)),
        GetBlob(at) => Box::pin(get_blob::get_blob(call, at)),
        GetBlobProperties(at) => Box::pin(get_blob::blob_properties(call, at)),
        GetBlobMetadata(at) => Box::pin(get_blob::blob_metadata(call, at)),
        SetBlobProperties(at) => Box::pin(change_blob::set_blob_properties(call, at)),
        SetBlobMetadata(at) => Box::pin(change_blob::set_blob_metadata(call, at)),
        SetBlobTier(at) => Box::pin(change_blob::set_blob_tier(call, at)),
        GetBlobTags(at) => Box::pin(change_blob::blob_tags(call, at)),
        SetBlobTags(at) => Box::pin(change_blob::set_blob_tags(call, at)),
        SealBlob(at) => Box::pin(change_blob::seal_blob(call, at)),
        SnapshotBlob(at) => Box::pin(change_blob::snapshot_blob(call, at)),
        DeleteBlob(at) => Box::pin(change_blob::delete_blob(call, at)),
        UndeleteBlob(at) => Box::pin(change_blob::undelete_blob(call, at)),
        PutBlock(at) => Box::pin(blocks::put_block(call, at)),
        PutBlockFromURL(at) => Box::pin(blocks::put_block_from_url(call, at)),
        PutBlockList(at) => Box::pin(blocks::put_block_list(call, at)),
        GetBlockList(at) => Box::pin(blocks::block_list(call, at)),
        AppendBlock(at) => Box::pin(blocks::append_block(call, at)),
        AppendBlockFromURL(at) => Box::pin(blocks::append_block_from_url(call, at)),
        AcquireBlobLease(at) => Box::pin(lease::lease_blob(call, at, LeaseVerb::Acquire)),
        RenewBlobLease(at) => Box::pin(lease::lease_blob(call, at, LeaseVerb::Renew)),
        ChangeBlobLease(at) => Box::pin(lease::lease_blob(call, at, LeaseVerb::Change)),
        ReleaseBlobLease(at) => Box::pin(lease::lease_blob(call, at, LeaseVerb::Release)),
        BreakBlobLease(at) => Box::pin(lease::lease_blob(call, at, LeaseVerb::Break)),
        PutBlobFromURL(at) => Box::pin(put_blob_from_url::put_blob_from_url(call, at)),
        CopyBlob(at) | CopyBlobFromURL(at) => Box::pin(copy::copy_blob(call, at)),
        AbortCopyBlob(at) => Box::pin(change_blob::abort_copy(call, at)),
        BlobBatch(container) => Box::pin(batch::blob_batch(call, container)),
        GetAccountInformation => Box::pin(ready(Ok(account_information::account_information()))),
        GetBlobServiceProperties => Box::pin(service_properties::get(call)),
        SetBlobServiceProperties => Box::pin(async {
            let body = call.whole_body(limits::XML_BODY_BYTES_MAX).await?;
            service_properties::set(call, &body).await
        }),
        GetBlobServiceStats => Box::pin(ready(service_properties::stats(call))),
        BlobPreflightRequest => Box::pin(service_properties::preflight(call)),
        PutPage(at) => Box::pin(pages::put_page(call, at)),
        PutPageFromURL(at) => Box::pin(pages::put_page_from_url(call, at)),
        ClearPage(at) => Box::pin(pages::clear_page(call, at)),
        GetPageRanges(at) => Box::pin(pages::page_ranges(call, at)),
        IncrementalCopyBlob(at) => Box::pin(copy::incremental_copy(call, at)),
        UndeleteContainer(_) | SetBlobExpiry(_) | QueryBlobContents(_) | GetUserDelegationKey => {
            Box::pin(ready(Err(ErrorCode::NotImplemented.into())))
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
