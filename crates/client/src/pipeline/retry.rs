//! Whether and when to retry a call.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::error_response::ErrorResponse;
use crate::environment::Rng;
use crate::error::TimeoutLimit;
use crate::transport::{RESPONSE_BYTES_MAX, TransportError};
use crate::{ClientOptions, Error, Result};

/// The attempts of one call so far.
#[derive(Debug)]
pub(super) struct Retry<'a> {
    options: &'a ClientOptions,
    timeout: Duration,
    rng: &'a Rng,
    started: Instant,
    attempts: u32,
    after_lost_response: bool,
    has_new_token: bool,
}

/// A failed attempt.
#[derive(Debug)]
pub(super) struct Failure {
    error: Error,
    /// The service may have applied the request in spite of the error.
    may_be_applied: bool,
    next: Next,
}

/// Whether another attempt may succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Never,
    /// After the backoff, or after the delay of a `Retry-After`.
    Later(Option<Duration>),
    /// At once with another access token, but only once.
    WithNewToken,
}

/// Returns whether the service may have applied a request that failed with a transient status; `None` if the status is
/// not transient.
pub(crate) fn transient(status: u16) -> Option<bool> {
    match status {
        // Rejected before anything was applied.
        429 | 503 => Some(false),
        408 | 500 | 502 | 504 => Some(true),
        _ => None,
    }
}

impl Failure {
    /// The request could not be built, which is transient if an access token is missing.
    pub(super) fn not_sent(error: Error) -> Self {
        let next = if matches!(error, Error::Token { .. }) { Next::Later(None) } else { Next::Never };
        Self { error, may_be_applied: false, next }
    }

    pub(super) fn transport(source: TransportError, attempts: u32) -> Self {
        let may_be_applied = source.may_have_arrived();
        let error = Error::Transport { attempts, source, after_lost_response: false };
        Self { error, may_be_applied, next: Next::Later(None) }
    }

    /// The response is too large. A retry would return the same one.
    pub(super) fn response_too_large(is_write: bool) -> Self {
        let mib = RESPONSE_BYTES_MAX / (1024 * 1024);
        let why = format!("it has more than {mib} MiB; read a large blob in parts with download_range");
        let error = Error::InvalidResponse(why);
        let error = if is_write { Error::Unconfirmed(Arc::new(error)) } else { error };
        Self { error, may_be_applied: is_write, next: Next::Never }
    }

    pub(super) fn timeout(timeout: Duration, attempts: u32) -> Self {
        let limit = TimeoutLimit::Attempt;
        let error = Error::Timeout { limit, timeout, attempts, after_lost_response: false };
        Self { error, may_be_applied: true, next: Next::Later(None) }
    }

    /// All connections were in use. The request was not sent, and waiting again would only take longer.
    pub(super) fn no_connection(timeout: Duration, attempts: u32) -> Self {
        let limit = TimeoutLimit::Connections;
        let error = Error::Timeout { limit, timeout, attempts, after_lost_response: false };
        Self { error, may_be_applied: false, next: Next::Later(None) }
    }

    /// The service returned an error.
    pub(super) fn response(response: ErrorResponse, client_request_id: &str, attempts: u32) -> Self {
        let (transient, retry_after) = (transient(response.status), response.retry_after);
        let next = if transient.is_some() { Next::Later(retry_after) } else { Next::Never };
        let error = response.into_error(client_request_id, attempts);
        Self { error, may_be_applied: transient.unwrap_or(false), next }
    }

    /// Retries at once with another access token.
    pub(super) fn with_new_token(self) -> Self {
        Self { next: Next::WithNewToken, ..self }
    }
}

impl<'a> Retry<'a> {
    pub(super) fn new(options: &'a ClientOptions, timeout: Duration, rng: &'a Rng, started: Instant) -> Self {
        Self { options, timeout, rng, started, attempts: 0, after_lost_response: false, has_new_token: false }
    }

    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Begins an attempt and returns its timeout.
    pub(super) fn next_attempt(&mut self) -> Duration {
        self.attempts += 1;
        self.options.attempt_timeout.min(self.time_left())
    }

    /// Returns the delay before the next attempt, or the error if the call is not retried.
    pub(super) fn after(&mut self, failure: Failure) -> Result<Duration> {
        let Failure { error, may_be_applied, next } = failure;
        let delay = match next {
            Next::Never => None,
            Next::Later(retry_after) => Some(self.delay(retry_after)),
            Next::WithNewToken if self.has_new_token => None,
            Next::WithNewToken => Some(Duration::ZERO),
        };
        let is_within = |delay: &Duration| self.attempts < self.options.retry.max_attempts && *delay < self.time_left();
        let Some(delay) = delay.filter(is_within) else {
            let error = self.with_limit(error);
            return Err(if self.after_lost_response { error.made_ambiguous() } else { error });
        };
        self.after_lost_response |= may_be_applied;
        self.has_new_token |= next == Next::WithNewToken;
        tracing::debug!(attempts = self.attempts, delay_ms = delay.as_millis() as u64, error = %error, "retrying");
        Ok(delay)
    }

    /// Names the timeout of the call if that is what ended it, and not the number of attempts.
    fn with_limit(&self, error: Error) -> Error {
        match error {
            Error::Timeout { limit: TimeoutLimit::Attempt, timeout, attempts, after_lost_response }
                if timeout < self.options.attempt_timeout || attempts < self.options.retry.max_attempts =>
            {
                Error::Timeout { limit: TimeoutLimit::Call, timeout: self.timeout, attempts, after_lost_response }
            }
            other => other,
        }
    }

    fn delay(&self, retry_after: Option<Duration>) -> Duration {
        let policy = self.options.retry;
        let doublings = self.attempts.saturating_sub(1).min(16);
        let longest = policy.initial_delay.saturating_mul(1 << doublings).min(policy.max_delay);
        self.rng.jitter(longest).max(retry_after.unwrap_or_default())
    }

    fn time_left(&self) -> Duration {
        self.timeout.saturating_sub(self.started.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RetryPolicy;

    fn failure(retry_after: Option<Duration>) -> Failure {
        Failure { error: Error::invalid("test"), may_be_applied: false, next: Next::Later(retry_after) }
    }

    #[test]
    fn only_transient_statuses_are_retried() {
        for (status, expected) in [
            (200, None),
            (202, None),
            (304, None),
            (400, None),
            (403, None),
            (404, None),
            (408, Some(true)),
            (409, None),
            (412, None),
            (413, None),
            (429, Some(false)),
            (500, Some(true)),
            (501, None),
            (502, Some(true)),
            (503, Some(false)),
            (504, Some(true)),
        ] {
            assert_eq!(transient(status), expected, "{status}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn delays_double_within_their_bounds_and_respect_retry_after() {
        let policy = RetryPolicy::default().max_attempts(100);
        let policy = policy.initial_delay(Duration::from_millis(100)).max_delay(Duration::from_secs(1));
        let options = ClientOptions::new().retry(policy).timeout(Duration::from_secs(3600));
        let rng = Rng::seeded(1);
        let mut retry = Retry::new(&options, options.timeout, &rng, Instant::now());
        for longest_ms in [100, 200, 400, 800, 1000, 1000] {
            retry.next_attempt();
            let delay = retry.after(failure(None)).unwrap();
            let longest = Duration::from_millis(longest_ms);
            assert!(longest / 2 <= delay && delay <= longest, "{delay:?} of {longest:?}");
        }
        let asked = Some(Duration::from_secs(30));
        assert_eq!(retry.after(failure(asked)).unwrap(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_and_time_are_bounded() {
        let options = ClientOptions::new().timeout(Duration::from_secs(10)).attempt_timeout(Duration::from_secs(8));
        let rng = Rng::seeded(1);
        let mut retry = Retry::new(&options, options.timeout, &rng, Instant::now());
        assert_eq!(retry.next_attempt(), Duration::from_secs(8));
        assert!(retry.after(failure(Some(Duration::from_secs(10)))).is_err());
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!(retry.next_attempt(), Duration::from_secs(3));
        let mut retry = Retry::new(&options, options.timeout, &rng, Instant::now());
        for _ in 1..options.retry.max_attempts {
            retry.next_attempt();
            assert!(retry.after(failure(None)).is_ok());
        }
        retry.next_attempt();
        assert!(retry.after(failure(None)).is_err());
    }
    #[tokio::test(start_paused = true)]
    async fn a_new_token_is_requested_once() {
        let (options, rng) = (ClientOptions::new(), Rng::seeded(1));
        let mut retry = Retry::new(&options, options.timeout, &rng, Instant::now());
        retry.next_attempt();
        assert_eq!(retry.after(failure(None).with_new_token()).unwrap(), Duration::ZERO);
        retry.next_attempt();
        assert!(retry.after(failure(None).with_new_token()).is_err());
    }
}
