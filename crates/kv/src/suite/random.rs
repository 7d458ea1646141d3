//! Random histories, with the memory engine as the oracle.

use std::sync::Arc;

use bytes::Bytes;

use super::Harness;
use super::steps::{all, everything, page};
use crate::{Commit, Engine, MemoryEngine, Position, Range, Rng, ScanLimits};

const STEPS: usize = 1_500;

/// Set to the seed that a failed run printed, this replays it.
const SEED_VARIABLE: &str = "TABLEROCK_SEED";

pub async fn any_history_ends_as_in_memory(mut harness: Box<dyn Harness>) {
    let seed = match std::env::var(SEED_VARIABLE) {
        Ok(seed) => seed.parse().expect("the seed is a number"),
        Err(_) => Rng::from_os().number(),
    };
    println!("{SEED_VARIABLE}={seed}");
    let mut engine = harness.open().await;
    let reopens = harness.capabilities().survives_reopening;
    let history = History { rng: Rng::seeded(seed), oracle: MemoryEngine::new() };
    for _ in 0..STEPS {
        match history.rng.below(100) {
            0..60 => history.commit(&engine).await,
            60..75 => history.read(&engine).await,
            75..99 => history.scan(&engine).await,
            _ if reopens => {
                engine.close().await.expect("closing succeeds");
                engine = harness.reopen(engine).await;
            }
            _ => {}
        }
    }
    assert_eq!(all(&*engine, &everything()).await, all(&history.oracle, &everything()).await);
}

struct History {
    rng: Rng,
    oracle: MemoryEngine,
}

impl History {
    /// A short string of few different bytes, so that the same one comes up often.
    fn string(&self) -> Bytes {
        let alphabet = [0x00, 0x01, b'a', b'b', 0xff];
        (0..self.rng.below(4)).map(|_| alphabet[self.rng.below(alphabet.len() as u64) as usize]).collect()
    }

    fn value(&self) -> Bytes {
        let length = match self.rng.below(20) {
            0 => 0,
            1 => 20_000,
            _ => 20,
        };
        vec![self.rng.below(256) as u8; length].into()
    }

    fn position(&self) -> Position {
        Position::new(self.string(), self.string())
    }

    async fn commit(&self, engine: &Arc<dyn Engine>) {
        let partition = self.string();
        let mut commit = Commit { partition: partition.clone(), ..Commit::default() };
        for _ in 0..self.rng.below(3) {
            let key = self.string();
            // Mostly what is there; now and then something else.
            let value = match self.rng.below(10) {
                0 => None,
                1 => Some(self.value()),
                _ => self.oracle.get(&partition, &key).await.expect("memory reads"),
            };
            commit.expected.push((key, value));
        }
        for _ in 0..self.rng.below(6) {
            let key = self.string();
            if commit.writes.iter().all(|(written, _)| *written != key) {
                let value = (self.rng.below(3) > 0).then(|| self.value());
                commit.writes.push((key, value));
            }
        }
        let wanted = self.oracle.commit(commit.clone()).await.map_err(|error| error.kind());
        let outcome = engine.commit(commit.clone()).await.map_err(|error| error.kind());
        assert_eq!(outcome, wanted, "{commit:?}");
    }

    async fn read(&self, engine: &Arc<dyn Engine>) {
        let position = self.position();
        let wanted = self.oracle.get(&position.partition, &position.key).await.expect("memory reads");
        let found = engine.get(&position.partition, &position.key).await.expect("a read succeeds");
        assert_eq!(found, wanted, "{position:?}");
    }

    async fn scan(&self, engine: &Arc<dyn Engine>) {
        let end = (self.rng.below(4) > 0).then(|| self.position());
        let range = Range { start: self.position(), end };
        let limits = ScanLimits {
            records_max: self.rng.below(40) as usize + 1,
            bytes_max: self.rng.below(5_000) as usize,
            deadline: None,
        };
        let wanted = page(&self.oracle, &range, limits).await;
        let found = page(&**engine, &range, limits).await;
        assert_eq!((found.records, found.next), (wanted.records, wanted.next), "{range:?} {limits:?}");
    }
}
