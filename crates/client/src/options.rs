//! Options of a client: retries, timeouts and the transport.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use tokio::sync::Semaphore;

use crate::credential::TOKEN_SCOPE;
use crate::policy::{AttemptPolicy, CallPolicy};
use crate::transport::{Transport, default_transport};
use crate::{Endpoint, Result};

/// The default of [`ClientOptions::connections_max`].
const CONNECTIONS_MAX_DEFAULT: usize = 64;

/// Options of a client. The default is four attempts within 90 seconds over at most 64 connections.
///
/// ```
/// use std::time::Duration;
/// use tablerock_client::{ClientOptions, RetryPolicy};
///
/// let patient = ClientOptions::new()
///     .retry(RetryPolicy::default().max_attempts(10))
///     .timeout(Duration::from_secs(300));
/// let hasty = ClientOptions::new().retry(RetryPolicy::none()).timeout(Duration::from_secs(2));
/// ```
#[derive(Debug, Clone)]
#[must_use = "options have no effect before a client has them"]
pub struct ClientOptions {
    pub(crate) retry: RetryPolicy,
    pub(crate) attempt_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) application_id: Option<String>,
    pub(crate) transport: Option<Arc<dyn Transport>>,
    pub(crate) connections_max: usize,
    pub(crate) call_policies: Vec<Arc<dyn CallPolicy>>,
    pub(crate) attempt_policies: Vec<Arc<dyn AttemptPolicy>>,
    pub(crate) trace_propagation: Option<TracePropagation>,
    pub(crate) audience: Option<String>,
}

/// Adds trace headers to a request.
#[derive(Clone)]
pub(crate) struct TracePropagation(Arc<dyn Fn(&mut HeaderMap) + Send + Sync>);

impl TracePropagation {
    pub(crate) fn inject(&self, headers: &mut HeaderMap) {
        self.0(headers);
    }
}

impl fmt::Debug for TracePropagation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TracePropagation")
    }
}

/// When a call is retried, and after which delay.
///
/// The client retries after connection errors, timeouts and the statuses 408, 429, 500, 502, 503 and 504. The status
/// may be that of one operation in a batch response. The client also retries if no access token is available. After a
/// 401 it retries once, at once, with a new access token.
///
/// The backoff doubles with each attempt. Jitter reduces a delay by up to half, so that clients do not retry in step. A
/// longer `Retry-After` of the service takes precedence.
#[doc(alias = "RetryOptions")]
#[doc(alias = "ExponentialRetry")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a policy has no effect before options have it"]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The number of attempts, including the first; at least one is made.
    pub max_attempts: u32,
    /// The longest delay before the second attempt.
    pub initial_delay: Duration,
    /// The longest delay before any attempt, unless `Retry-After` is longer.
    pub max_delay: Duration,
}

impl ClientOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self {
            retry: RetryPolicy::default(),
            attempt_timeout: Duration::from_secs(35),
            timeout: Duration::from_secs(90),
            application_id: None,
            transport: None,
            connections_max: CONNECTIONS_MAX_DEFAULT,
            call_policies: Vec::new(),
            attempt_policies: Vec::new(),
            trace_propagation: None,
            audience: None,
        }
    }

    /// Sets the retry policy.
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Sets the timeout of one attempt; 35 seconds by default. The service itself gives up after 30 seconds.
    #[doc(alias = "NetworkTimeout")]
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = timeout;
        self
    }

    /// Sets the timeout of a call with all its attempts and delays; 90 seconds by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the name of the application, which begins the `User-Agent` header.
    #[doc(alias = "user_agent")]
    pub fn application_id(mut self, id: impl Into<String>) -> Self {
        self.application_id = Some(id.into());
        self
    }

    /// Sets the transport: hyper with other settings, or another HTTP stack.
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Sets the largest number of requests that are sent at once, and so of connections; 64 by default.
    ///
    /// A call waits for a free connection within its timeout. Clients that are made from one another, such as those of
    /// a service and its tables, share the connections.
    #[doc(alias = "max_connections")]
    #[doc(alias = "pool_size")]
    #[doc(alias = "concurrency")]
    pub fn connections_max(mut self, connections: usize) -> Self {
        self.connections_max = connections.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Adds a policy that runs once for each call, before its attempts are signed. See [`policy`](crate::policy).
    #[doc(alias = "per_call_policies")]
    #[doc(alias = "interceptor")]
    #[doc(alias = "middleware")]
    pub fn call_policy(mut self, policy: impl CallPolicy + 'static) -> Self {
        self.call_policies.push(Arc::new(policy));
        self
    }

    /// Adds a policy that runs around each attempt, after its signature. See [`policy`](crate::policy).
    #[doc(alias = "per_try_policies")]
    #[doc(alias = "interceptor")]
    #[doc(alias = "middleware")]
    pub fn attempt_policy(mut self, policy: impl AttemptPolicy + 'static) -> Self {
        self.attempt_policies.push(Arc::new(policy));
        self
    }

    /// Sets a function that adds trace headers, such as `traceparent`, to each attempt. It runs inside of the call's
    /// span.
    ///
    /// With the crates `opentelemetry` and `tracing-opentelemetry` it is:
    ///
    /// ```ignore
    /// ClientOptions::new().trace_propagation(|headers| {
    ///     let context = tracing::Span::current().context();
    ///     opentelemetry::global::get_text_map_propagator(|propagator| {
    ///         propagator.inject_context(&context, &mut opentelemetry_http::HeaderInjector(headers))
    ///     });
    /// })
    /// ```
    #[doc(alias = "traceparent")]
    #[doc(alias = "opentelemetry")]
    pub fn trace_propagation(mut self, inject: impl Fn(&mut HeaderMap) + Send + Sync + 'static) -> Self {
        self.trace_propagation = Some(TracePropagation(Arc::new(inject)));
        self
    }

    /// Sets the audience of access tokens; `https://storage.azure.com` by default. National clouds and single accounts
    /// have others, such as `https://acct.table.core.windows.net`.
    #[doc(alias = "scope")]
    pub fn audience(mut self, audience: impl AsRef<str>) -> Self {
        let audience = audience.as_ref().trim_end_matches('/');
        let audience = audience.strip_suffix("/.default").unwrap_or(audience);
        self.audience = Some(format!("{audience}/.default"));
        self
    }

    /// Returns the scope of access tokens.
    pub(crate) fn token_scope(&self) -> &str {
        self.audience.as_deref().unwrap_or(TOKEN_SCOPE)
    }

    pub(crate) fn transport_for(&self, endpoint: &Endpoint) -> Result<Arc<dyn Transport>> {
        match &self.transport {
            Some(transport) => Ok(Arc::clone(transport)),
            None => default_transport(endpoint),
        }
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl RetryPolicy {
    /// Returns a policy without retries.
    pub const fn none() -> Self {
        Self { max_attempts: 1, initial_delay: Duration::ZERO, max_delay: Duration::ZERO }
    }

    /// Sets the number of attempts, including the first; at least one is made.
    #[doc(alias = "max_retries")]
    pub const fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// Sets the longest delay before the second attempt.
    pub const fn initial_delay(mut self, delay: Duration) -> Self {
        self.initial_delay = delay;
        self
    }

    /// Sets the longest delay before any attempt, unless `Retry-After` is longer.
    pub const fn max_delay(mut self, delay: Duration) -> Self {
        self.max_delay = delay;
        self
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 4, initial_delay: Duration::from_millis(500), max_delay: Duration::from_secs(20) }
    }
}
