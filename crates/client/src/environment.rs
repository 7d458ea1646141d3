//! The clock and the random numbers of a client.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tablerock_protocol::Uuid;

/// Returns wall time, for signatures and the age of tokens.
#[expect(clippy::disallowed_methods, reason = "the one place where the client reads the clock")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// Random numbers for ids and jitter; not for secrets.
#[derive(Debug)]
pub(crate) struct Rng {
    generator: Mutex<fastrand::Rng>,
}

impl Rng {
    /// Seeds the generator from a hash key of the standard library, which comes from the operating system.
    pub(crate) fn from_os() -> Self {
        Self::seeded(RandomState::new().hash_one(0))
    }

    pub(crate) fn seeded(seed: u64) -> Self {
        Self { generator: Mutex::new(fastrand::Rng::with_seed(seed)) }
    }

    /// Returns a random UUID.
    pub(crate) fn id(&self) -> Uuid {
        uuid::Builder::from_random_bytes(self.generator().u128(..).to_be_bytes()).into_uuid()
    }

    /// Returns a random delay between half of `delay` and all of it.
    pub(crate) fn jitter(&self, delay: Duration) -> Duration {
        delay.mul_f64(0.5 + self.generator().f64() / 2.0)
    }

    fn generator(&self) -> std::sync::MutexGuard<'_, fastrand::Rng> {
        // A panic elsewhere does not damage the generator.
        self.generator.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
