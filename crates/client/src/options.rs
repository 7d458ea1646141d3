//! Options of a client: retries, timeouts and the transport.

use std::sync::Arc;
use std::time::Duration;

use crate::transport::{HyperTransport, Transport};

/// Options of a client. The default is four attempts within 90 seconds.
///
/// ```
/// use std::time::Duration;
/// use tablerock_client::{ClientOptions, RetryPolicy};
///
/// let patient = ClientOptions::new()
///     .retry(RetryPolicy { max_attempts: 10, ..RetryPolicy::default() })
///     .timeout(Duration::from_secs(300));
/// let hasty = ClientOptions::new().retry(RetryPolicy::none()).timeout(Duration::from_secs(2));
/// ```
#[derive(Debug, Clone)]
pub struct ClientOptions {
    pub(crate) retry: RetryPolicy,
    pub(crate) attempt_timeout: Duration,
    pub(crate) timeout: Duration,
    pub(crate) application_id: Option<String>,
    pub(crate) transport: Option<Arc<dyn Transport>>,
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
        }
    }

    /// Sets the retry policy.
    #[must_use]
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Sets the timeout of one attempt; 35 seconds by default. The service itself gives up after 30 seconds.
    #[doc(alias = "NetworkTimeout")]
    #[must_use]
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = timeout;
        self
    }

    /// Sets the timeout of a call with all its attempts and delays; 90 seconds by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the name of the application, which begins the `User-Agent` header.
    #[doc(alias = "user_agent")]
    #[must_use]
    pub fn application_id(mut self, id: impl Into<String>) -> Self {
        self.application_id = Some(id.into());
        self
    }

    /// Sets the transport: hyper with other settings, or another HTTP stack.
    #[must_use]
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    pub(crate) fn transport_for(&self, is_https: bool) -> Arc<dyn Transport> {
        match &self.transport {
            Some(transport) => Arc::clone(transport),
            None if is_https => Arc::new(HyperTransport::new()),
            None => Arc::new(HyperTransport::without_tls()),
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
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 4, initial_delay: Duration::from_millis(500), max_delay: Duration::from_secs(20) }
    }
}
