//! Time and chance, the only things that a client takes from the machine beside its network.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tablerock_protocol::Uuid;

/// Wall time, for signatures and the age of tokens.
#[expect(clippy::disallowed_methods, reason = "the one place where the client reads the clock")]
pub(crate) fn now() -> SystemTime {
    SystemTime::now()
}

/// Random numbers for ids and for waits; not for secrets.
#[derive(Debug)]
pub(crate) struct Rng {
    generator: Mutex<fastrand::Rng>,
}

impl Rng {
    /// Different numbers every time: the seed is a hash key of the standard library, which comes from the operating
    /// system.
    pub(crate) fn from_os() -> Self {
        Self::seeded(RandomState::new().hash_one(0))
    }

    pub(crate) fn seeded(seed: u64) -> Self {
        Self { generator: Mutex::new(fastrand::Rng::with_seed(seed)) }
    }

    /// An id in the form of a random UUID.
    pub(crate) fn id(&self) -> Uuid {
        uuid::Builder::from_random_bytes(self.generator().u128(..).to_be_bytes()).into_uuid()
    }

    /// A time from the upper half of a wait.
    pub(crate) fn upper_half(&self, wait: Duration) -> Duration {
        wait.mul_f64(0.5 + self.generator().f64() / 2.0)
    }

    fn generator(&self) -> std::sync::MutexGuard<'_, fastrand::Rng> {
        // A generator is good whoever panicked beside it.
        self.generator.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
