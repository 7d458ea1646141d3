//! Whether another try can help, and when to make it.

use std::sync::Arc;
use std::time::Duration;

use tablerock_protocol::Uuid;
use tokio::time::Instant;

use super::refusal::Refusal;
use crate::surroundings::Rng;
use crate::transport::{ANSWER_BYTES_MAX, TransportError};
use crate::{ClientOptions, Error, Result};

/// The tries of one call so far, and what they leave to be tried.
#[derive(Debug)]
pub(super) struct Retry<'a> {
    options: &'a ClientOptions,
    rng: &'a Rng,
    started: Instant,
    tries: u32,
    after_lost_answer: bool,
    has_new_token: bool,
}

/// A try that failed.
#[derive(Debug)]
pub(super) struct Failure {
    error: Error,
    /// The service may have carried out the request all the same.
    may_have_happened: bool,
    next: Next,
}

/// Whether another try may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Never,
    /// After a wait, which the service may have asked for.
    Later(Option<Duration>),
    /// At once and with another access token, but only once.
    WithNewToken,
}

/// Whether a call that was refused with a status may have happened, if the status is one that passes; `None` if it is
/// final.
pub(crate) fn passing(status: u16) -> Option<bool> {
    match status {
        // Refused before anything was done.
        429 | 503 => Some(false),
        408 | 500 | 502 | 504 => Some(true),
        _ => None,
    }
}

impl Failure {
    /// Nothing was sent: the request could not be made, which passes if it is for want of an access token.
    pub(super) fn not_sent(error: Error) -> Self {
        let next = if matches!(error, Error::Token { .. }) { Next::Later(None) } else { Next::Never };
        Self { error, may_have_happened: false, next }
    }

    pub(super) fn transport(source: TransportError, tries: u32) -> Self {
        let may_have_happened = source.may_have_arrived();
        let error = Error::Transport { tries, source, after_lost_answer: false };
        Self { error, may_have_happened, next: Next::Later(None) }
    }

    /// It would be as large the next time.
    pub(super) fn answer_too_large(is_to_write: bool) -> Self {
        let mib = ANSWER_BYTES_MAX / (1024 * 1024);
        let why = format!("it has more than {mib} MiB; a large blob is read in pieces, with get_range");
        let error = Error::Answer(why);
        let error = if is_to_write { Error::Unconfirmed(Arc::new(error)) } else { error };
        Self { error, may_have_happened: is_to_write, next: Next::Never }
    }

    pub(super) fn timeout(limit: Duration, tries: u32) -> Self {
        Self { error: Error::Timeout { limit, tries }, may_have_happened: true, next: Next::Later(None) }
    }

    /// The service answered, and refused.
    pub(super) fn refused(refusal: Refusal, client_request_id: Uuid, tries: u32) -> Self {
        let (passing, wait_asked) = (passing(refusal.status), refusal.wait_asked);
        let next = if passing.is_some() { Next::Later(wait_asked) } else { Next::Never };
        let error = refusal.into_error(client_request_id, tries);
        Self { error, may_have_happened: passing.unwrap_or(false), next }
    }

    /// The same, to be tried again with another access token.
    pub(super) fn with_new_token(self) -> Self {
        Self { next: Next::WithNewToken, ..self }
    }
}

impl<'a> Retry<'a> {
    pub(super) fn new(options: &'a ClientOptions, rng: &'a Rng, started: Instant) -> Self {
        Self { options, rng, started, tries: 0, after_lost_answer: false, has_new_token: false }
    }

    pub(super) fn tries(&self) -> u32 {
        self.tries
    }

    /// Begins a try and tells how long it may take.
    pub(super) fn next_try_limit(&mut self) -> Duration {
        self.tries += 1;
        self.options.try_time_max.min(self.time_left())
    }

    /// The wait before the next try, or the error if there is none to be made.
    pub(super) fn after(&mut self, failure: Failure) -> Result<Duration> {
        let Failure { error, may_have_happened, next } = failure;
        let wait = match next {
            Next::Never => None,
            Next::Later(asked) => Some(self.wait(asked)),
            Next::WithNewToken if self.has_new_token => None,
            Next::WithNewToken => Some(Duration::ZERO),
        };
        let is_within = |wait: &Duration| self.tries < self.options.retry.tries_max && *wait < self.time_left();
        let Some(wait) = wait.filter(is_within) else {
            return Err(if self.after_lost_answer { error.made_ambiguous() } else { error });
        };
        self.after_lost_answer |= may_have_happened;
        self.has_new_token |= next == Next::WithNewToken;
        tracing::debug!(tries = self.tries, wait_ms = wait.as_millis() as u64, error = %error, "trying again");
        Ok(wait)
    }

    fn wait(&self, asked: Option<Duration>) -> Duration {
        let policy = self.options.retry;
        let doublings = self.tries.saturating_sub(1).min(16);
        let longest = policy.delay_first.saturating_mul(1 << doublings).min(policy.delay_max);
        self.rng.upper_half(longest).max(asked.unwrap_or_default())
    }

    fn time_left(&self) -> Duration {
        self.options.time_max.saturating_sub(self.started.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RetryPolicy;

    fn failure(wait_asked: Option<Duration>) -> Failure {
        Failure { error: Error::invalid("test"), may_have_happened: false, next: Next::Later(wait_asked) }
    }

    #[test]
    fn only_passing_troubles_are_tried_again() {
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
            assert_eq!(passing(status), expected, "{status}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn waits_double_within_their_bounds_and_honour_the_service() {
        let policy =
            RetryPolicy { tries_max: 100, delay_first: Duration::from_millis(100), delay_max: Duration::from_secs(1) };
        let options = ClientOptions::new().retry(policy).time_max(Duration::from_secs(3600));
        let rng = Rng::seeded(1);
        let mut retry = Retry::new(&options, &rng, Instant::now());
        for longest_ms in [100, 200, 400, 800, 1000, 1000] {
            retry.next_try_limit();
            let wait = retry.after(failure(None)).unwrap();
            let longest = Duration::from_millis(longest_ms);
            assert!(longest / 2 <= wait && wait <= longest, "{wait:?} of {longest:?}");
        }
        let asked = Some(Duration::from_secs(30));
        assert_eq!(retry.after(failure(asked)).unwrap(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn tries_and_time_are_bounded() {
        let options = ClientOptions::new().time_max(Duration::from_secs(10)).try_time_max(Duration::from_secs(8));
        let rng = Rng::seeded(1);
        let mut retry = Retry::new(&options, &rng, Instant::now());
        assert_eq!(retry.next_try_limit(), Duration::from_secs(8));
        assert!(retry.after(failure(Some(Duration::from_secs(10)))).is_err());
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!(retry.next_try_limit(), Duration::from_secs(3));
        let mut retry = Retry::new(&options, &rng, Instant::now());
        for _ in 1..options.retry.tries_max {
            retry.next_try_limit();
            assert!(retry.after(failure(None)).is_ok());
        }
        retry.next_try_limit();
        assert!(retry.after(failure(None)).is_err());
    }
    #[tokio::test(start_paused = true)]
    async fn a_new_token_is_tried_once() {
        let (options, rng) = (ClientOptions::new(), Rng::seeded(1));
        let mut retry = Retry::new(&options, &rng, Instant::now());
        retry.next_try_limit();
        assert_eq!(retry.after(failure(None).with_new_token()).unwrap(), Duration::ZERO);
        retry.next_try_limit();
        assert!(retry.after(failure(None).with_new_token()).is_err());
    }
}
