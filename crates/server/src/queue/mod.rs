//! The Queue service over HTTP: parse, admit, decode, call the service, encode.

mod messages;
mod parameters;
mod queues;
mod request;

use bytes::Bytes;
use http::Method;
use tablerock_protocol::{ErrorCode, QueueResource, ServiceError, limits};

use self::request::QueueRequest;
use crate::auth::{Request, Target};
use crate::call::Call;
use crate::http::body::WholeBody;
use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;
use crate::http::request_body::RequestBody;
use crate::http::verb::Verb;
use crate::operation::Operation;
use crate::pipeline::{self, REQUEST_TIME, check_body_length, check_url_length};
use crate::request_context::{Address, RequestContext};
use crate::service_properties;

type QueueCall<'a> = Call<'a, Bytes>;

/// Serves a request.
pub(crate) async fn serve(cx: &mut RequestContext<'_>, body: RequestBody) -> Result<Reply, ServiceError> {
    pipeline::with_whole_body(body, async |body| admit_and_run(cx, body).await).await
}

async fn admit_and_run(cx: &mut RequestContext<'_>, body: &mut WholeBody) -> Result<Reply, ServiceError> {
    let head = cx.head;
    check_url_length(&head.uri)?;
    let verb = Verb::parse(head.method.as_str()).ok_or(ErrorCode::InvalidHttpVerb)?;
    let address = cx.read_address()?;
    let resource = QueueResource::parse(address.below_root())?;
    let request = QueueRequest::parse(verb, &resource, &address.query);
    let admitted = pipeline::admit(cx, verb, &address, Target::of_queue(&resource), request).await?;

    let operation = admitted.request.operation();
    check_body_length(operation, head, body.incoming())?;
    let body = body.read(limits::MESSAGE_BODY_BYTES_MAX, &cx.memory()).await;
    let body = body.map_err(|error| match error.code {
        ErrorCode::RequestBodyTooLarge => ServiceError::body_too_large(limits::MESSAGE_BODY_BYTES_MAX as u64),
        _ => error,
    })?;
    let reserved = match operation {
        Operation::GetMessages => cx.memory().take(messages_bytes(&address), REQUEST_TIME).await?,
        _ => pipeline::reserve_response(cx, operation, body.len()).await?,
    };
    let call = QueueCall::new(cx, &address, operation, &admitted.caller, body);
    let reply = match (cx.time_limit, admitted.witness) {
        (None, None) => run(&call, admitted.request).await,
        (limit, witness) => {
            Box::pin(pipeline::within(cx, limit, witness, Box::pin(run(&call, admitted.request)))).await
        }
    };
    if pipeline::shows_by_policy(&address, operation, &reply, cx) {
        Box::pin(pipeline::confirm_policy(cx, &address, Target::of_queue(&resource), admitted.request)).await?;
    }
    let mut reply = reply?;
    if head.method == Method::GET {
        reply = reply.with(ResponseHeader::CacheControl, "no-cache");
    }
    pipeline::cover_reply(cx, reserved, reply).await
}

/// The most memory that the messages of a response take, for as many as the request asks for.
fn messages_bytes(address: &Address<'_>) -> usize {
    // A count that is not allowed is rejected later.
    parameters::count(&address.query).unwrap_or(1) * limits::MESSAGE_BODY_BYTES_MAX
}

/// Runs a request. The match is the list of all there are.
async fn run(call: &QueueCall<'_>, request: QueueRequest<'_>) -> Result<Reply, ServiceError> {
    match request {
        QueueRequest::ListQueues => queues::list_queues(call).await,
        QueueRequest::CreateQueue(queue) => queues::create_queue(call, queue).await,
        QueueRequest::DeleteQueue(queue) => queues::delete_queue(call, queue).await,
        QueueRequest::GetQueueMetadata(queue) => queues::queue_metadata(call, queue).await,
        QueueRequest::SetQueueMetadata(queue) => queues::set_queue_metadata(call, queue).await,
        QueueRequest::GetQueueACL(queue) => queues::queue_acl(call, queue).await,
        QueueRequest::SetQueueACL(queue) => queues::set_queue_acl(call, queue).await,
        QueueRequest::PutMessage(queue) => messages::put_message(call, queue).await,
        QueueRequest::GetMessages(queue) => messages::get_messages(call, queue).await,
        QueueRequest::PeekMessages(queue) => messages::peek_messages(call, queue).await,
        QueueRequest::ClearMessages(queue) => messages::clear_messages(call, queue).await,
        QueueRequest::UpdateMessage(at) => messages::update_message(call, at).await,
        QueueRequest::DeleteMessage(at) => messages::delete_message(call, at).await,
        QueueRequest::GetQueueServiceProperties => service_properties::get(call).await,
        QueueRequest::SetQueueServiceProperties => service_properties::set(call, &call.body).await,
        QueueRequest::GetQueueServiceStats => service_properties::stats(call),
        QueueRequest::QueuePreflightRequest => service_properties::preflight(call).await,
    }
}
