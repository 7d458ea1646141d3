//! Whether another try can help, and when to make it.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use tokio::time::Instant;

use super::retry_after;
use crate::surroundings::Dice;
use crate::transport::TransportError;
use crate::{ClientOptions, Error, Result};

/// The tries of one call so far, and what they leave to be tried.
#[derive(Debug)]
pub(super) struct Retry<'a> {
    options: &'a ClientOptions,
    dice: &'a Dice,
    started: Instant,
    tries: u32,
    after_lost_answer: bool,
}

/// A try that failed in a way that another may not.
#[derive(Debug)]
pub(super) struct Failure<E = Error> {
    error: E,
    /// The service may have carried out the request all the same.
    may_have_happened: bool,
    /// The wait that the service asks for.
    wait_asked: Option<Duration>,
}

/// An answer that asks for another try; `None` if it is final.
pub(super) fn classify(response: &Response<Bytes>) -> Option<Failure<()>> {
    let may_have_happened = match response.status() {
        // Refused before anything was done.
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => false,
        StatusCode::REQUEST_TIMEOUT
        | StatusCode::INTERNAL_SERVER_ERROR
        | StatusCode::BAD_GATEWAY
        | StatusCode::GATEWAY_TIMEOUT => true,
        _ => return None,
    };
    Some(Failure { error: (), may_have_happened, wait_asked: retry_after(response) })
}

impl Failure<()> {
    pub(super) fn with_error(self, error: impl FnOnce() -> Error) -> Failure {
        Failure { error: error(), may_have_happened: self.may_have_happened, wait_asked: self.wait_asked }
    }
}

impl Failure {
    pub(super) fn transport(source: TransportError, tries: u32) -> Self {
        let may_have_happened = source.may_have_arrived();
        Self { error: Error::Transport { tries, source }, may_have_happened, wait_asked: None }
    }

    pub(super) fn timeout(limit: Duration, tries: u32) -> Self {
        Self { error: Error::Timeout { limit, tries }, may_have_happened: true, wait_asked: None }
    }
}

impl<'a> Retry<'a> {
    pub(super) fn new(options: &'a ClientOptions, dice: &'a Dice, started: Instant) -> Self {
        Self { options, dice, started, tries: 0, after_lost_answer: false }
    }

    pub(super) fn tries(&self) -> u32 {
        self.tries
    }

    pub(super) fn after_lost_answer(&self) -> bool {
        self.after_lost_answer
    }

    /// Begins a try and tells how long it may take.
    pub(super) fn next_try_limit(&mut self) -> Duration {
        self.tries += 1;
        self.options.try_time_max.min(self.time_left())
    }

    /// The wait before the next try, or the error if there is none to be made.
    pub(super) fn after(&mut self, failure: Failure) -> Result<Duration> {
        let wait = self.wait(failure.wait_asked);
        if self.tries >= self.options.retry.tries_max || wait >= self.time_left() {
            return Err(failure.error);
        }
        self.after_lost_answer |= failure.may_have_happened;
        tracing::debug!(tries = self.tries, wait_ms = wait.as_millis() as u64, error = %failure.error, "trying again");
        Ok(wait)
    }

    fn wait(&self, asked: Option<Duration>) -> Duration {
        let policy = self.options.retry;
        let doublings = self.tries.saturating_sub(1).min(16);
        let longest = policy.delay_first.saturating_mul(1 << doublings).min(policy.delay_max);
        self.dice.upper_half(longest).max(asked.unwrap_or_default())
    }

    fn time_left(&self) -> Duration {
        self.options.time_max.saturating_sub(self.started.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RetryPolicy;

    fn answer(status: u16, after: Option<&str>) -> Response<Bytes> {
        let response = Response::builder().status(status);
        let response = after.into_iter().fold(response, |response, after| response.header("retry-after", after));
        response.body(Bytes::new()).unwrap()
    }

    fn failure(wait_asked: Option<Duration>) -> Failure {
        Failure { error: Error::invalid("test"), may_have_happened: false, wait_asked }
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
            let verdict = classify(&answer(status, None)).map(|failure| failure.may_have_happened);
            assert_eq!(verdict, expected, "{status}");
        }
    }

    #[test]
    fn the_service_may_ask_for_a_wait_in_seconds_or_by_date() {
        let asked = |after| classify(&answer(503, Some(after))).unwrap().wait_asked;
        assert_eq!(asked("7"), Some(Duration::from_secs(7)));
        assert_eq!(asked("soon"), None);
        assert_eq!(asked("Thu, 01 Jan 1970 00:00:00 GMT"), None);
        assert!(asked("Fri, 31 Dec 9999 23:59:59 GMT").unwrap() > Duration::from_secs(3600));
    }

    #[tokio::test(start_paused = true)]
    async fn waits_double_within_their_bounds_and_honour_the_service() {
        let policy =
            RetryPolicy { tries_max: 100, delay_first: Duration::from_millis(100), delay_max: Duration::from_secs(1) };
        let options = ClientOptions::new().retry(policy).time_max(Duration::from_secs(3600));
        let dice = Dice::seeded(1);
        let mut retry = Retry::new(&options, &dice, Instant::now());
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
        let dice = Dice::seeded(1);
        let mut retry = Retry::new(&options, &dice, Instant::now());
        assert_eq!(retry.next_try_limit(), Duration::from_secs(8));
        assert!(retry.after(failure(Some(Duration::from_secs(10)))).is_err());
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!(retry.next_try_limit(), Duration::from_secs(3));
        let mut retry = Retry::new(&options, &dice, Instant::now());
        for _ in 1..options.retry.tries_max {
            retry.next_try_limit();
            assert!(retry.after(failure(None)).is_ok());
        }
        retry.next_try_limit();
        assert!(retry.after(failure(None)).is_err());
    }
}
