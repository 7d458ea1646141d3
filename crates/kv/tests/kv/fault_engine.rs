//! A fault engine without a script keeps the contract; with one it does what the script says.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::suite::{Capabilities, Harness};
use tablerock_kv::{Commit, Engine, Error, ErrorKind, FaultEngine, Health, MemoryEngine};

struct Faultless;

#[async_trait::async_trait]
impl Harness for Faultless {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn open(&mut self) -> Arc<dyn Engine> {
        Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())))
    }
}

tablerock_kv::engine_suite!(Faultless);

fn put(key: &'static str) -> Commit {
    Commit { partition: "p".into(), expected: vec![], writes: vec![(key.into(), Some("v".into()))] }
}

#[tokio::test]
async fn a_failed_commit_has_no_effect_and_a_lost_answer_has() {
    let engine = FaultEngine::new(Arc::new(MemoryEngine::new()));
    let error = || Error::unavailable("scripted");
    engine.script(Call::Commit, [Fault::Fail(error()), Fault::FailAfter(error())]);
    for key in ["failed", "lost", "fine"] {
        let outcome = engine.commit(put(key)).await.map_err(|error| error.kind());
        assert_eq!(outcome, if key == "fine" { Ok(()) } else { Err(ErrorKind::Unavailable) });
    }
    assert_eq!(engine.get(b"p", b"failed").await.unwrap(), None);
    assert!(engine.get(b"p", b"lost").await.unwrap().is_some());
}

#[tokio::test]
async fn a_lasting_fault_ends_when_told_to() {
    let engine = FaultEngine::new(Arc::new(MemoryEngine::new()));
    engine.always(Call::Get, Fault::Fail(Error::unavailable("scripted")));
    for _ in 0..3 {
        assert!(engine.get(b"p", b"k").await.is_err());
    }
    engine.always(Call::Get, Fault::Pass);
    assert!(engine.get(b"p", b"k").await.is_ok());
}

#[tokio::test]
async fn delays_delay_and_health_is_what_it_is_told_to_be() {
    let engine = FaultEngine::new(Arc::new(MemoryEngine::new()));
    engine.script(Call::Scan, [Fault::Delay(Duration::from_millis(30))]);
    let start = Instant::now();
    let limits = tablerock_kv::ScanLimits { records_max: 1, bytes_max: 1, deadline: None };
    engine.scan(&tablerock_kv::Range::partition(b"p"), limits).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(30));

    let down = Health::Down("scripted".to_owned());
    engine.set_health(Some(down.clone()));
    assert_eq!(engine.health(), down);
    engine.set_health(None);
    assert_eq!(engine.health(), Health::Healthy);
}
