//! What can be chosen about a client: retries, time and the transport.

use std::sync::Arc;
use std::time::Duration;

use crate::transport::{HyperTransport, Transport};

/// Options of a client. The default suits most: four tries within a minute and a half.
///
/// ```
/// use std::time::Duration;
/// use tablerock_client::{ClientOptions, RetryPolicy};
///
/// let patient = ClientOptions::new()
///     .retry(RetryPolicy { tries_max: 10, ..RetryPolicy::default() })
///     .time_max(Duration::from_secs(300));
/// let hasty = ClientOptions::new().retry(RetryPolicy::never()).time_max(Duration::from_secs(2));
/// ```
#[derive(Debug, Clone)]
pub struct ClientOptions {
    pub(crate) retry: RetryPolicy,
    pub(crate) try_time_max: Duration,
    pub(crate) time_max: Duration,
    pub(crate) application: Option<String>,
    pub(crate) transport: Option<Arc<dyn Transport>>,
}

/// When a call is tried again, and after how long.
///
/// Tried again are connections that fail, answers that do not come in time, and the statuses 408, 429, 500, 502, 503
/// and 504, be it of an answer or of an operation in the answer to a group; access tokens that cannot be had; and, once
/// and at once, a 401 with another access token. The wait doubles from try to try and is drawn from its upper half, so that clients which failed together
/// do not come back together. A `Retry-After` of the service counts if it asks for a longer wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries in all, the first included; at least one is made.
    pub tries_max: u32,
    /// The longest wait before the second try.
    pub delay_first: Duration,
    /// The longest wait before any try, unless the service asks for more.
    pub delay_max: Duration,
}

impl ClientOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self {
            retry: RetryPolicy::default(),
            try_time_max: Duration::from_secs(35),
            time_max: Duration::from_secs(90),
            application: None,
            transport: None,
        }
    }

    /// When calls are tried again.
    #[must_use]
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// How long one try may take. The service itself gives up after 30 seconds.
    #[must_use]
    pub fn try_time_max(mut self, limit: Duration) -> Self {
        self.try_time_max = limit;
        self
    }

    /// How long a call may take, with all its tries and waits.
    #[must_use]
    pub fn time_max(mut self, limit: Duration) -> Self {
        self.time_max = limit;
        self
    }

    /// The name of the application, for the `User-Agent`.
    #[must_use]
    pub fn application(mut self, name: impl Into<String>) -> Self {
        self.application = Some(name.into());
        self
    }

    /// Another transport in the place of hyper, or hyper with other settings.
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
    /// One try, and that is it.
    pub const fn never() -> Self {
        Self { tries_max: 1, delay_first: Duration::ZERO, delay_max: Duration::ZERO }
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { tries_max: 4, delay_first: Duration::from_millis(500), delay_max: Duration::from_secs(20) }
    }
}
