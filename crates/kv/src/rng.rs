//! Randomness as a value that constructors take, so that a test can replay it.

use std::hash::{BuildHasher, RandomState};

use parking_lot::Mutex;

/// A source of random numbers and ids. Fit for names that must not collide, not for secrets.
///
/// ```
/// use tablerock_kv::Rng;
///
/// assert_eq!(Rng::seeded(7).id(), Rng::seeded(7).id());
/// assert_ne!(Rng::from_os().id(), Rng::from_os().id());
/// ```
#[derive(Debug)]
pub struct Rng {
    // Two generators with seeds of their own, so that all 128 bits of an id are independent.
    generators: Mutex<[fastrand::Rng; 2]>,
}

impl Rng {
    /// The same numbers every time.
    pub fn seeded(seed: u64) -> Self {
        Self::from_seeds([seed, !seed])
    }

    /// Different numbers every time. The seeds are hash keys of the standard library, which come from the
    /// operating system.
    pub fn from_os() -> Self {
        Self::from_seeds([0, 1].map(|number: u64| RandomState::new().hash_one(number)))
    }

    fn from_seeds(seeds: [u64; 2]) -> Self {
        Self { generators: Mutex::new(seeds.map(fastrand::Rng::with_seed)) }
    }

    /// Any number, each as likely.
    pub fn number(&self) -> u64 {
        self.generators.lock()[0].u64(..)
    }

    /// A number below `bound`, each as likely; 0 if the bound is 0.
    pub fn below(&self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.generators.lock()[0].u64(..bound) }
    }

    /// Sixteen random bytes: a request id, a lease id, a table id.
    pub fn id(&self) -> [u8; 16] {
        let [high, low] = &mut *self.generators.lock();
        (u128::from(high.u64(..)) << 64 | u128::from(low.u64(..))).to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_replays_and_ids_differ() {
        let draw = |rng: Rng| (0..1_000).map(|_| rng.id()).collect::<std::collections::HashSet<_>>();
        let first = draw(Rng::seeded(42));
        assert_eq!(first.len(), 1_000);
        assert_eq!(first, draw(Rng::seeded(42)));
        assert!(first.is_disjoint(&draw(Rng::from_os())));
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let rng = Rng::seeded(1);
        assert!((0..1_000).all(|_| rng.below(3) < 3));
        assert_eq!(rng.below(0), 0);
    }
}
