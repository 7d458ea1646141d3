//! A filter sees every write that was acknowledged before it, and loses none that it has seen, while sketches of the
//! table come and go under many writers, some of whom do not wait for the end of their write.
//!
//! It is here because it runs on both engines, and only this package may name them.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tablerock_kv::{Engine, MemoryEngine, Rng, Store, SystemClock};
use tablerock_kv_local::LocalEngine;
use tablerock_protocol::{EtagCondition, Filter, Property, TableName, Value};
use tablerock_services::table::{Change, EntityGroup, EntityOperation, EntityQuery, Properties};
use tablerock_services::{TableService, ThrottleTargets};

const ACCOUNT: &str = "acct";
const TABLE: &str = "People";
const ROWS: u64 = 1_500;
const WRITERS: u64 = 6;
const ROUNDS: u64 = 120;

/// A table in which each writer has rows of its own, and the versions that writers have begun to write.
struct Scene {
    service: TableService,
    rng: Rng,
    started: Vec<AtomicU64>,
}

/// The text in the rows of a writer at one of its versions; no row has it at any other time.
fn tag(writer: u64, version: u64) -> String {
    format!("{writer}-{version}")
}

fn upsert(row: u64, tag: String) -> EntityOperation {
    let tag = Property { name: Cow::Borrowed("tag"), value: Value::String(tag.into()) };
    operation(row, Change::Replace { properties: Properties::encode(&[tag]), condition: None })
}

fn operation(row: u64, change: Change) -> EntityOperation {
    EntityOperation {
        table: TABLE.to_owned(),
        partition_key: format!("p{}", row % 3),
        row_key: format!("{:05}", row / 3),
        change,
    }
}

impl Scene {
    async fn open(engine: Arc<dyn Engine>) -> Arc<Self> {
        let store = Store::new(engine);
        let service = TableService::open(store, Arc::new(SystemClock), ThrottleTargets::default()).await.unwrap();
        service.create_table(ACCOUNT, &TableName::parse(TABLE).unwrap()).await.unwrap();
        for first in (0..ROWS).step_by(300) {
            for partition in 0..3 {
                let rows = (first..first + 300).filter(|row| row % 3 == partition);
                let group = rows.map(|row| upsert(row, format!("row {row}"))).collect();
                service.apply(ACCOUNT, &EntityGroup::new(group).unwrap()).await.unwrap();
            }
        }
        let started = (0..WRITERS).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self { service, rng: Rng::from_os(), started })
    }

    async fn count(&self, tag: &str) -> usize {
        let filter = Filter::parse(&format!("tag eq '{tag}'")).unwrap();
        let query = EntityQuery { filter, ..Default::default() };
        let page = self.service.query_entities(ACCOUNT, TABLE, &query).await.unwrap();
        assert!(page.next.is_none());
        page.entities.len()
    }

    /// Rows of a writer in one partition, at different places of it.
    fn rows_of(&self, writer: u64) -> Vec<u64> {
        (0..3).map(|part| 3 * (WRITERS * (10 + 25 * part) + writer)).collect()
    }

    async fn write(&self, writer: u64) {
        let rows = self.rows_of(writer);
        for version in 1..=ROUNDS {
            let tag = tag(writer, version);
            let group = EntityGroup::new(rows.iter().map(|row| upsert(*row, tag.clone())).collect()).unwrap();
            self.started[writer as usize].store(version, Ordering::SeqCst);
            let write = self.service.apply(ACCOUNT, &group);
            if self.rng.below(4) == 0 && self.is_abandoned(write).await {
                self.check_abandoned(rows[0], &tag).await;
                continue;
            }
            self.service.apply(ACCOUNT, &group).await.unwrap();
            assert_eq!(self.count(&tag).await, rows.len(), "{tag} was acknowledged");
        }
    }

    /// Lets go of a write after a while; true if it was not done by then.
    async fn is_abandoned(&self, write: impl Future) -> bool {
        let polls = self.rng.below(4);
        let wait = async {
            for _ in 0..polls {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            _ = write => false,
            () = wait => true,
        }
    }

    /// Whether the write lands is unknown; but where a point read shows it, a filter does as well.
    async fn check_abandoned(&self, row: u64, tag: &str) {
        let EntityOperation { partition_key, row_key, .. } =
            operation(row, Change::Delete { condition: EtagCondition::Any });
        for _ in 0..8 {
            let entity = self.service.query_entity(ACCOUNT, TABLE, &partition_key, &row_key).await.unwrap();
            let shows = |value: &Value<'_>| *value == Value::String(tag.into());
            let shown = entity.read(|properties| properties.filter(|(_, value)| shows(value)).count());
            if shown.unwrap() > 0 {
                assert_ne!(self.count(tag).await, 0, "{tag} landed, and no other writer writes there");
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits to see what is being written, and must not lose sight of it while it is there.
    async fn watch(&self, writer: u64) {
        loop {
            let version = self.started[writer as usize].load(Ordering::SeqCst);
            if version == ROUNDS {
                return;
            }
            let tag = tag(writer, version);
            if version > 0 && self.count(&tag).await > 0 && self.count(&tag).await == 0 {
                let now = self.started[writer as usize].load(Ordering::SeqCst);
                assert_ne!(now, version, "{tag} was seen and then missed");
            }
            tokio::task::yield_now().await;
        }
    }

    /// An entity that comes and goes behind the others, where the last sketch ends.
    async fn come_and_go(&self, row: u64) {
        for round in 0..ROUNDS {
            let tag = format!("guest {row}-{round}");
            let apply = async |operation| self.service.apply(ACCOUNT, &EntityGroup::single(operation)).await.unwrap();
            apply(upsert(row, tag.clone())).await;
            assert_eq!(self.count(&tag).await, 1, "{tag} was inserted");
            apply(operation(row, Change::Delete { condition: EtagCondition::Any })).await;
            assert_eq!(self.count(&tag).await, 0, "{tag} was deleted");
        }
    }
}

async fn play(engine: Arc<dyn Engine>) {
    let scene = Scene::open(engine).await;
    let mut actors = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (writing, watching) = (scene.clone(), scene.clone());
        actors.spawn(async move { writing.write(writer).await });
        actors.spawn(async move { watching.watch(writer).await });
    }
    for guest in 0..2 {
        let scene = scene.clone();
        actors.spawn(async move { scene.come_and_go(3 * ROWS + guest).await });
    }
    while let Some(actor) = actors.join_next().await {
        actor.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn filters_miss_nothing_on_the_memory_engine() {
    play(Arc::new(MemoryEngine::new())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn filters_miss_nothing_on_the_local_engine() {
    let directory = tempfile::tempdir().unwrap();
    play(Arc::new(LocalEngine::open(directory.path()).unwrap())).await;
}
