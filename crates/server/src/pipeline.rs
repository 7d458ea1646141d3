//! The path of a request, from its head to its response. Start reading here.
//!
//! Each service's `serve` does the same steps: read the address, parse the request, [`admit`](crate::auth::admit) it,
//! then decode, run and encode it. What comes before and after is the same for all and is in this file.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, header};
use hyper::body::Body;
use tablerock_kv::{Clock, Rng, Witness};
use tablerock_protocol::{DateTime, ErrorCode, QueryString, Service, ServiceError, limits};
use tablerock_services::{AccountService, Analytics, BlobService, QueueService, TableService};

use crate::accounts::ServedAccounts;
use crate::analytics_record::AnalyticsRecord;
use crate::auth::{self, Admitted, Claim, Credentials, Target};
use crate::http::body::WholeBody;
use crate::http::cors;
use crate::http::head_limit::RequestGuard;
use crate::http::listener::Handled;
use crate::http::reply::Reply;
use crate::http::request_body::RequestBody;
use crate::http::respond;
use crate::http::verb::Verb;
use crate::memory_budget::{MemoryBudget, MemoryPermit};
use crate::metrics::Metrics;
use crate::operation::Operation;
use crate::parameter::whole_number;
use crate::request_context::{Address, Peer, RequestContext};
use crate::request_log::{self, RequestScope};
use crate::{blob, queue, table};

/// How long any request may take. Streams may take as long as they make progress.
pub(crate) const REQUEST_TIME: Duration = Duration::from_secs(limits::REQUEST_SECONDS_MAX);

/// The state that all requests share.
#[derive(Debug)]
pub struct Server {
    /// The accounts that are served, with their keys.
    pub accounts: ServedAccounts,
    /// The Table service.
    pub tables: TableService,
    /// The Queue service.
    pub queues: QueueService,
    /// The Blob service.
    pub blobs: BlobService,
    /// The service properties of each account.
    pub settings: AccountService,
    /// Storage Analytics: logs and metrics that an account switched on.
    pub analytics: Analytics,
    /// The source of all time.
    pub clock: Arc<dyn Clock>,
    /// The source of request ids and batch boundaries.
    pub rng: Rng,
    /// The counters that `/metrics` shows.
    pub metrics: Metrics,
    /// The memory that bodies and responses may take together.
    pub memory: MemoryBudget,
    /// Whether bearer tokens are accepted over HTTPS, without a check of who signed them.
    pub accept_tokens: bool,
    /// Whether the account is read from the host name where that names one.
    pub host_style: bool,
    /// Whether headers and parameters that Azure documents and this server does not act on are ignored, not refused.
    pub is_loose: bool,
}

impl Server {
    /// Prepares an account that this server has not served yet: finishes its interrupted deletions, and watches over its Storage
    /// Analytics. Its requests may be served afterwards.
    pub async fn prepare_account(&self, name: &str) -> Result<(), tablerock_services::Error> {
        self.tables.finish_drops(name).await?;
        self.queues.finish_drops(name).await?;
        self.blobs.finish_drops(name).await?;
        self.analytics.add_account(&self.settings, &self.blobs, name).await
    }

    /// Serves one request. Nothing that a client sends makes this fail. The guard ends when the response is complete.
    pub(crate) async fn handle(
        self: Arc<Self>,
        service: Service,
        request: Request<RequestBody>,
        peer: Peer,
        guard: Option<RequestGuard>,
    ) -> Handled {
        let (head, body) = request.into_parts();
        let accounts = self.accounts.current();
        let mut cx = RequestContext::new(&self, &accounts, service, &head, peer);
        let scope = RequestScope::new(&cx);
        let result = {
            // The future of a request is as large as its largest branch. Tables have the smallest, and the others are
            // worth an allocation.
            let mut serve = std::pin::pin!(async {
                match service {
                    Service::Table => table::serve(&mut cx, body).await,
                    Service::Queue => Box::pin(queue::serve(&mut cx, body)).await,
                    Service::Blob => Box::pin(blob::serve(&mut cx, body)).await,
                }
            });
            std::future::poll_fn(|context| scope.run(|| serve.as_mut().poll(context))).await
        };
        let mut response = match result {
            Ok(reply) => {
                cx.error = reply.error;
                respond::success(&cx, reply)
            }
            Err(error) => {
                cx.error = Some(error.code);
                let response = respond::failure(&cx, &error);
                cx.error_reason = error.reason;
                response
            }
        };
        if cx.error.is_some() && head.headers.contains_key(header::EXPECT) && head.version < http::Version::HTTP_2 {
            // The body was not asked for, so the connection cannot be used again.
            response.headers_mut().insert(header::CONNECTION, http::HeaderValue::from_static("close"));
        }
        if let (Some(origin), Some(account)) = (head.headers.get(header::ORIGIN), cx.account) {
            cors::decorate(&self.settings, service, account, origin, &head.method, response.headers_mut()).await;
        }
        let duration = cx.elapsed();
        self.metrics.record(&cx, response.status(), duration);
        scope.run(|| request_log::record(&cx, &response, duration));
        if let Some(account) = cx.account
            && let Some(watched) = self.analytics.watched(account, service)
        {
            AnalyticsRecord { cx: &cx, account, response: &response, duration }.emit(&watched);
        }
        drop(guard);
        Ok(response)
    }

    pub(crate) fn now(&self) -> DateTime {
        DateTime::from_ticks(self.clock.ticks())
    }
}

/// Runs a request whose body is read whole or not at all, within the time that any request may take.
pub(crate) async fn with_whole_body(
    body: RequestBody,
    run: impl AsyncFnOnce(&mut WholeBody) -> Result<Reply, ServiceError>,
) -> Result<Reply, ServiceError> {
    let mut body = WholeBody::new(body);
    let served = tokio::time::timeout(REQUEST_TIME, run(&mut body)).await;
    let served = served.unwrap_or_else(|_| Err(ErrorCode::OperationTimedOut.into()));
    if served.is_err() {
        body.discard().await;
    }
    served
}

/// Admits the request that a context is about, on its own credentials.
pub(crate) async fn admit<'a, 'c: 'a, R: auth::Request>(
    cx: &mut RequestContext<'c>,
    verb: Verb,
    address: &'a Address<'c>,
    target: Target<'_>,
    request: Result<R, ServiceError>,
) -> Result<Admitted<'a, R>, ServiceError> {
    cx.operation = request.as_ref().ok().map(auth::Request::operation);
    let claim = match verb {
        Verb::Options => Claim::Preflight,
        _ => Claim::Own(own_credentials(cx, address)),
    };
    match auth::admit(cx, claim, &address.endpoint, target, request).await {
        Ok(admitted) => {
            cx.set_admitted();
            cx.time_limit = time_limit(&address.query)?;
            Ok(admitted)
        }
        Err(rejection) => Err(cx.reject(rejection)),
    }
}

fn own_credentials<'a, 'c: 'a>(cx: &RequestContext<'c>, address: &'a Address<'c>) -> Credentials<'a> {
    Credentials {
        method: cx.head.method.as_str(),
        headers: &cx.head.headers,
        path: address.path,
        query: &address.query,
        is_https: cx.peer.is_https,
    }
}

/// Returns whether a request has to be admitted again before its response is sent: a stored access policy admitted it, and
/// the response shows what was read. That is also so for errors, which are about stored data.
///
/// A write that succeeded rests on its witness instead, and is not rejected after it is committed.
pub(crate) fn shows_by_policy(
    address: &Address<'_>,
    operation: Operation,
    reply: &Result<Reply, ServiceError>,
    cx: &RequestContext<'_>,
) -> bool {
    let is_error = reply.as_ref().map_or(true, |reply| reply.error.is_some());
    let is_query_in_batch = operation.may_only_read() && cx.counts.group_operations() == 0;
    address.query.value("si").is_some() && (!operation.is_write() || is_query_in_batch || is_error)
}

/// Admits a request by a stored access policy again, after its records were read. A policy that still holds then held when they
/// were read; one that was revoked in between shows nothing, however long this server stood still.
pub(crate) async fn confirm_policy<R: auth::Request>(
    cx: &mut RequestContext<'_>,
    address: &Address<'_>,
    target: Target<'_>,
    request: R,
) -> Result<(), ServiceError> {
    let claim = Claim::Own(own_credentials(cx, address));
    match auth::admit(cx, claim, &address.endpoint, target, Ok(request)).await {
        Ok(_) => Ok(()),
        Err(rejection) => Err(cx.reject(rejection)),
    }
}

/// The time that a request gives the server, from its beginning.
fn time_limit(query: &QueryString<'_>) -> Result<Option<Duration>, ServiceError> {
    let Some(text) = query.value("timeout") else { return Ok(None) };
    let outside = |_| ServiceError::invalid_parameter("timeout", text, "Not a number of seconds.");
    let seconds = u32::try_from(whole_number("timeout", text)?).map_err(outside)?;
    // 0 is the service's own limit.
    Ok((seconds > 0).then(|| Duration::from_secs(seconds.into())))
}

/// Runs an operation within the time that its request allows, and with the row that admitted it as the witness of its
/// commits.
pub(crate) async fn within(
    cx: &RequestContext<'_>,
    limit: Option<Duration>,
    witness: Option<Witness>,
    running: Pin<Box<dyn Future<Output = Result<Reply, ServiceError>> + Send + '_>>,
) -> Result<Reply, ServiceError> {
    let running = async {
        match witness {
            Some(witness) => witness.scope(running).await,
            None => running.await,
        }
    };
    let Some(limit) = limit else { return running.await };
    let rest = limit.saturating_sub(cx.elapsed());
    tokio::time::timeout(rest, running).await.unwrap_or_else(|_| Err(ErrorCode::OperationTimedOut.into()))
}

/// Rejects a URL that is too long, which comes before everything else.
pub(crate) fn check_url_length(uri: &http::Uri) -> Result<(), ServiceError> {
    let length = uri.path_and_query().map_or(0, |target| target.as_str().len());
    if length > limits::URL_BYTES_MAX { Err(ServiceError::new(ErrorCode::InvalidUri).status(414)) } else { Ok(()) }
}

/// Rejects a body without a length where the operation needs one. HTTP/2 delimits bodies by itself; in HTTP/1 a request
/// with neither a length nor chunks has no body at all.
pub(crate) fn check_body_length(
    operation: Operation,
    head: &http::request::Parts,
    body: &RequestBody,
) -> Result<(), ServiceError> {
    let has_length = head.version == http::Version::HTTP_2
        || head.headers.contains_key(header::CONTENT_LENGTH)
        || head.headers.contains_key(header::TRANSFER_ENCODING)
        || !body.is_end_stream();
    if operation.needs_length() && !has_length { Err(ErrorCode::MissingContentLengthHeader.into()) } else { Ok(()) }
}

/// Waits for the memory of a response whose size is not known before the operation has run. Nothing is in memory
/// meanwhile, and a write is never rejected after it is committed.
pub(crate) async fn reserve_response(
    cx: &RequestContext<'_>,
    operation: Operation,
    body_bytes: usize,
) -> Result<MemoryPermit, ServiceError> {
    if operation.returns_page() {
        return cx.memory().reserve_page().await;
    }
    // A response to a write repeats at most its body.
    if operation.is_write() { cx.memory().take(body_bytes, REQUEST_TIME).await } else { Ok(MemoryPermit::default()) }
}

/// Gives a reply the memory that its body has, from the reservation if there is one.
pub(crate) async fn cover_reply(
    cx: &RequestContext<'_>,
    mut reserved: MemoryPermit,
    mut reply: Reply,
) -> Result<Reply, ServiceError> {
    if !reply.permit.is_empty() {
        return Ok(reply);
    }
    reply.body.release_spare();
    let bytes = reply.body.bytes_held();
    if bytes > reserved.bytes() {
        // JSON with all metadata is larger than the page that it shows.
        let more = bytes - reserved.bytes();
        let more =
            if reserved.is_empty() { cx.memory().take_now(more)? } else { cx.memory().for_content(more).await? };
        reserved.absorb(more);
    }
    reserved.shrink_to(bytes);
    reply.permit = reserved;
    Ok(reply)
}
