//! Filters skip what cannot match, and nothing else: not while others write, nor when a writer goes away.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::support::*;
use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Clock, Error, FaultEngine, MemoryEngine, Store, SystemClock};
use tablerock_protocol::signing::{KeyBound, KeyRange};
use tablerock_protocol::{Filter, Value};
use tablerock_services::TableService;
use tablerock_services::table::{Change, EntityPage, EntityQuery};

use crate::support::engines::HeldEngine;

/// Rows `0000` and so on of one partition, each with its number as `n` and one of three colours.
async fn fill(service: &TableService, rows: usize) {
    for first in (0..rows).step_by(100) {
        let group = (first..rows.min(first + 100)).map(|row| {
            let colour = Value::String(["red", "green", "blue"][row % 3].into());
            let properties = properties(&[("n", Value::Int32(row as i32)), ("colour", colour)]);
            operation("p", &format!("{row:04}"), Change::Insert(properties))
        });
        apply(service, group.collect()).await.expect("an empty table takes inserts");
    }
}

async fn ask(service: &TableService, query: &EntityQuery) -> EntityPage {
    service.query_entities(ACCOUNT, TABLE, query).await.expect("a page")
}

fn asked(filter: &str) -> EntityQuery {
    EntityQuery { filter: Filter::parse(filter).expect("a filter"), ..Default::default() }
}

/// All rows that a query finds, over as many pages as it takes.
async fn all_rows(service: &TableService, mut query: EntityQuery) -> Vec<String> {
    let mut rows = Vec::new();
    loop {
        let page = ask(service, &query).await;
        rows.extend(page.entities.into_iter().map(|found| found.row_key));
        query.from = page.next;
        if query.from.is_none() {
            return rows;
        }
    }
}

#[tokio::test]
async fn what_was_read_once_is_not_read_again_for_a_value_that_is_not_there() {
    let service = service().await;
    fill(&service, 1000).await;
    for (filter, found, read) in [
        ("n eq 500", 1, 1000..=1000),
        ("n eq 500", 1, 1..=64),
        ("n eq -1", 0, 0..=0),
        ("n eq 3 or n eq 997", 2, 2..=128),
        ("n eq 500 and colour eq 'pink'", 0, 0..=0),
        ("colour eq 'green'", 333, 1000..=1000),
        ("RowKey eq '0123'", 1, 1..=64),
        ("n eq 500L", 0, 1..=64),
        ("n ge 500 and n le 500", 1, 1000..=1000),
    ] {
        let page = query(&service, filter, None).await;
        assert_eq!(page.entities.len(), found, "{filter}");
        assert!(read.contains(&page.entities_read), "{filter} read {}", page.entities_read);
    }
    apply_one(&service, upsert("p", "0700", 500)).await.unwrap();
    let page = query(&service, "n eq 500", None).await;
    assert_eq!(row_keys(&page), ["0500", "0700"]);
    assert!(page.entities_read <= 128, "the pieces of either row");
}

#[tokio::test]
async fn pages_and_key_ranges_are_the_same_with_sketches() {
    let bound = |row: &str| Some(KeyBound { partition_key: "p".to_owned(), row_key: Some(row.to_owned()) });
    let within = Some(KeyRange { start: bound("0100"), end: bound("0850") });
    let filter = "colour eq 'red' and (n eq 99 or n eq 102 or n eq 501 or n eq 849 or n eq 852)";
    let queries = [
        (asked(filter), vec!["0099", "0102", "0501", "0849", "0852"]),
        (EntityQuery { top: Some(2), ..asked(filter) }, vec!["0099", "0102", "0501", "0849", "0852"]),
        (EntityQuery { top: Some(1), within: within.clone(), ..asked(filter) }, vec!["0102", "0501", "0849"]),
        (EntityQuery { within, ..asked(filter) }, vec!["0102", "0501", "0849"]),
        (asked(&format!("PartitionKey eq 'p' and RowKey gt '0501' and ({filter})")), vec!["0849", "0852"]),
        (asked(&format!("RowKey lt '0102' and ({filter})")), vec!["0099"]),
    ];
    // Whichever comes first makes the sketches that the others then use.
    for first in 0..queries.len() {
        let service = service().await;
        fill(&service, 1000).await;
        for (query, rows) in queries[first..].iter().chain(&queries) {
            assert_eq!(all_rows(&service, query.clone()).await, *rows, "{query:?}");
        }
    }
}

/// A clock on which the time for a query is over after so many looks at it.
#[derive(Debug)]
struct ImpatientClock {
    start: Instant,
    looks: AtomicU32,
    patience: u32,
}

impl Clock for ImpatientClock {
    fn ticks(&self) -> u64 {
        NOON
    }

    fn instant(&self) -> Instant {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        self.start + Duration::from_secs(10) * (looks / self.patience)
    }
}

#[tokio::test]
async fn a_query_that_runs_out_of_time_goes_on_where_it_stopped() {
    for patience in 1..40 {
        let clock = ImpatientClock { start: Instant::now(), looks: AtomicU32::new(0), patience };
        let service = service_on(&Store::in_memory(), Arc::new(clock)).await;
        fill(&service, 700).await;
        for _ in 0..3 {
            assert_eq!(all_rows(&service, asked("n eq 3 or n eq 650")).await, ["0003", "0650"], "{patience}");
            assert!(all_rows(&service, asked("n eq -1")).await.is_empty());
            apply_one(&service, upsert("p", "0333", 333)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn any_history_of_writes_and_filters_is_as_without_sketches() {
    let seed = std::env::var("TABLEROCK_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| tablerock_kv::Rng::from_os().number());
    println!("TABLEROCK_SEED={seed}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let service = service().await;
    let mut model = BTreeMap::new();
    for _ in 0..3_000 {
        let (partition_key, row) = (format!("p{}", rng.u8(..3)), format!("{:03}", rng.u16(..400)));
        let n = rng.i32(..40);
        match rng.u8(..10) {
            0..6 => {
                let group: BTreeMap<String, i32> =
                    (0..rng.usize(1..6)).map(|_| (format!("{:03}", rng.u16(..400)), rng.i32(..40))).collect();
                let operations = group.iter().map(|(row, n)| upsert(&partition_key, row, *n)).collect();
                apply(&service, operations).await.unwrap();
                model.extend(group.into_iter().map(|(row, n)| ((partition_key.clone(), row), n)));
            }
            6 => {
                let there = model.remove(&(partition_key.clone(), row.clone())).is_some();
                assert_eq!(apply_one(&service, delete(&partition_key, &row)).await.is_ok(), there);
            }
            _ => {
                let filter = match rng.u8(..3) {
                    0 => format!("n eq {n}"),
                    1 => format!("n eq {n} and PartitionKey ge 'p1'"),
                    _ => format!("n eq {n} and RowKey lt '{row}'"),
                };
                let query = EntityQuery { top: rng.bool().then(|| rng.usize(1..5)), ..asked(&filter) };
                let rows = all_rows(&service, query).await;
                let expected = model.iter().filter(|((partition_key, at), value)| {
                    **value == n
                        && (!filter.contains("PartitionKey") || partition_key.as_str() >= "p1")
                        && (!filter.contains("RowKey") || *at < row)
                });
                assert_eq!(rows, expected.map(|((_, row), _)| row.clone()).collect::<Vec<_>>(), "{filter}");
            }
        }
    }
}

#[tokio::test]
async fn a_write_that_lands_after_its_caller_has_gone_is_found() {
    let engine = Arc::new(HeldEngine::new(Arc::new(MemoryEngine::new())));
    let service = service_on(&Store::new(engine.clone()), Arc::new(SystemClock)).await;
    fill(&service, 300).await;
    assert!(query(&service, "n eq 999", None).await.entities.is_empty());

    engine.hold();
    let abandoned = apply_one(&service, upsert("p", "0150", 999));
    assert!(tokio::time::timeout(Duration::from_millis(20), abandoned).await.is_err(), "it is held back");
    // These read what is there before the write is, and might remember it.
    for _ in 0..3 {
        assert!(query(&service, "n eq 999", None).await.entities.is_empty());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let timestamp = async || service.query_entity(ACCOUNT, TABLE, "p", "0150").await.unwrap().timestamp();
    let before = timestamp().await;
    engine.release();
    while timestamp().await == before {
        tokio::task::yield_now().await;
    }
    assert_eq!(row_keys(&query(&service, "n eq 999", None).await), ["0150"]);
    tokio::time::sleep(Duration::from_millis(20)).await;
    query(&service, "n eq 999", None).await;
    let page = query(&service, "n eq 999", None).await;
    assert_eq!((page.entities.len(), page.entities_read <= 64), (1, true), "then it is remembered");
}

#[tokio::test]
async fn when_the_outcome_of_a_write_cannot_be_known_nothing_is_remembered() {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::new())));
    let service = service_on(&Store::new(engine.clone()), Arc::new(SystemClock)).await;
    fill(&service, 300).await;
    engine.script(Call::Commit, [Fault::Delay(Duration::from_secs(3600))]);
    let abandoned = apply_one(&service, upsert("p", "0150", 999));
    assert!(tokio::time::timeout(Duration::from_millis(20), abandoned).await.is_err());
    engine.always(Call::Commit, Fault::Fail(Error::unavailable("the disk is gone")));
    tokio::time::sleep(Duration::from_millis(20)).await;
    for _ in 0..3 {
        assert_eq!(query(&service, "n eq -1", None).await.entities_read, 300);
    }
}

#[tokio::test]
async fn a_store_that_others_write_to_as_well_is_always_read() {
    let service = service_on(&Store::new(Arc::new(MemoryEngine::shared())), Arc::new(SystemClock)).await;
    fill(&service, 300).await;
    for _ in 0..3 {
        assert_eq!(query(&service, "n eq -1", None).await.entities_read, 300);
    }
}
