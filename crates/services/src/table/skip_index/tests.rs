//! The protocol between writers, builders and readers, step by step; and at random, that no match is ever skipped.

use std::borrow::Cow;
use std::cell::Cell;
use std::time::Duration;

use tablerock_kv::{ManualClock, Position, Record, ScanLimits};
use tablerock_protocol::filter::{Comparison, Operator};
use tablerock_protocol::{DateTime, Property, Uuid, Value};

use super::*;
use crate::table::keys;
use crate::table::stored_entity::EntityRow;
use crate::table::{Properties, StoredEntity};

const TABLE: u64 = 7;

fn partition() -> Bytes {
    keys::entity_partition(TABLE, "p")
}

fn row_key(row: usize) -> Bytes {
    keys::entity_key(&format!("{row:04}"))
}

fn entity(n: i32) -> Bytes {
    let property = Property { name: Cow::Borrowed("n"), value: Value::Int32(n) };
    Properties::encode(&[property]).at(DateTime::from_ticks(1)).into_bytes()
}

/// A store with some rows, each with its number as `n`, and the index of what has been read of it.
struct Bench {
    store: Store,
    clock: Arc<ManualClock>,
    skip_index: SkipIndex,
}

impl Bench {
    async fn new(rows: usize, bytes_max: usize) -> Self {
        let (store, clock) = (Store::in_memory(), Arc::new(ManualClock::at(0)));
        let skip_index = SkipIndex::with_bytes_max(store.clone(), clock.clone(), bytes_max);
        let bench = Self { store, clock, skip_index };
        for row in 0..rows {
            bench.put(row, row as i32).await;
        }
        bench
    }

    async fn put(&self, row: usize, n: i32) {
        let put = |tx: &mut tablerock_kv::Transaction| {
            tx.put(row_key(row), entity(n));
            Ok::<_, tablerock_kv::Error>(())
        };
        self.store.transact(&partition(), vec![], put).await.unwrap();
    }

    fn search(&self, n: i32) -> SkipSearch {
        self.skip_index.search(&Filter::parse(&format!("n eq {n}")).unwrap().unwrap()).unwrap()
    }

    async fn scan(&self, range: &Range) -> Page {
        let limits = ScanLimits { records_max: 1_000, bytes_max: 1 << 20, deadline: None };
        self.store.scan(range, limits).await.unwrap()
    }

    /// Reads the whole table and indexes it.
    async fn read(&self) {
        let building = self.search(0).build(keys::table_range(TABLE));
        building.keep(&self.scan(&keys::table_range(TABLE)).await);
    }

    /// How many entities a search reads in order to find a number, and whether it finds it.
    async fn find(&self, n: i32) -> (usize, bool) {
        let search = self.search(n);
        let mut range = keys::table_range(TABLE);
        let (mut read, mut found) = (0, false);
        while !range.is_empty() {
            let stretch = match search.look(&range) {
                RangeMatch::None => break,
                RangeMatch::NoneBefore(place) => {
                    range.start = place;
                    continue;
                }
                RangeMatch::Unindexed(stretch) | RangeMatch::Possible(stretch) => stretch,
            };
            let page = self.scan(&stretch).await;
            read += page.records.len();
            found |= page.records.iter().any(|record| record.value == entity(n));
            range.start = stretch.end.unwrap();
        }
        (read, found)
    }

    fn announce(&self, rows: &[usize]) -> Announcement {
        self.skip_index.announce(&partition(), &rows.iter().map(|row| row_key(*row)).collect::<Vec<_>>())
    }

    fn blocks(&self) -> usize {
        let state = self.skip_index.0.state.read();
        state.blocks.check();
        state.blocks.len()
    }
}

#[tokio::test]
async fn the_second_search_reads_one_block() {
    let bench = Bench::new(640, SKIP_INDEX_BYTES_MAX).await;
    assert_eq!(bench.find(300).await, (640, true));
    bench.read().await;
    assert_eq!(bench.blocks(), 10);
    assert_eq!(bench.find(300).await, (64, true));
    assert_eq!(bench.find(-1).await, (0, false));
}

#[tokio::test]
async fn a_write_drops_what_it_may_change_and_nothing_else() {
    let bench = Bench::new(640, SKIP_INDEX_BYTES_MAX).await;
    bench.read().await;
    let announcement = bench.announce(&[5, 70, 71]);
    assert_eq!(bench.blocks(), 8);
    bench.put(70, -70).await;
    assert_eq!(bench.find(-70).await, (128, true));
    announcement.over();
    bench.read().await;
    assert_eq!((bench.blocks(), bench.find(-70).await), (10, (64, true)));
}

#[tokio::test]
async fn a_builder_that_is_dropped_leaves_nothing_behind() {
    let bench = Bench::new(1, SKIP_INDEX_BYTES_MAX).await;
    drop(bench.search(0).build(keys::table_range(TABLE)));
    assert!(bench.skip_index.0.state.read().in_progress.is_idle());
}

#[tokio::test]
async fn no_block_is_kept_that_overlaps_a_write_in_time() {
    let table = keys::table_range(TABLE);
    for (begins_before, ends_before) in [(true, false), (true, true), (false, false), (false, true)] {
        let bench = Bench::new(128, SKIP_INDEX_BYTES_MAX).await;
        let early = begins_before.then(|| bench.announce(&[100]));
        let building = bench.search(0).build(table.clone());
        // It reads before the write is there, in all cases.
        let page = bench.scan(&table).await;
        let announcement = early.unwrap_or_else(|| bench.announce(&[100]));
        bench.put(100, -100).await;
        if ends_before {
            announcement.over();
            building.keep(&page);
        } else {
            building.keep(&page);
            announcement.over();
        }
        assert!(bench.find(-100).await.1, "begins before: {begins_before}, ends before: {ends_before}");
    }
}

#[tokio::test]
async fn blocks_next_to_a_write_are_kept() {
    let bench = Bench::new(128, SKIP_INDEX_BYTES_MAX).await;
    let building = bench.search(0).build(keys::table_range(TABLE));
    let page = bench.scan(&keys::table_range(TABLE)).await;
    let announcement = bench.announce(&[100]);
    building.keep(&page);
    announcement.over();
    assert_eq!(bench.blocks(), 1);
    assert_eq!(bench.find(-1).await, (64, false));
}

#[tokio::test]
async fn small_neighbours_become_one_block() {
    let bench = Bench::new(640, SKIP_INDEX_BYTES_MAX).await;
    bench.read().await;
    for row in (0..640).filter(|row| row % 64 != 0) {
        let announcement = bench.announce(&[row]);
        let delete = |tx: &mut tablerock_kv::Transaction| {
            tx.delete(row_key(row));
            Ok::<_, tablerock_kv::Error>(())
        };
        bench.store.transact(&partition(), vec![], delete).await.unwrap();
        announcement.over();
    }
    for _ in 0..10 {
        let RangeMatch::Unindexed(gap) = bench.search(-1).look(&keys::table_range(TABLE)) else { break };
        bench.search(0).build(gap.clone()).keep(&bench.scan(&gap).await);
    }
    assert_eq!(bench.blocks(), 1);
    assert_eq!(bench.find(64).await, (10, true));
}

#[tokio::test]
async fn memory_is_bounded_and_what_is_in_use_stays() {
    let bytes_max = 3_000;
    let bench = Bench::new(640, bytes_max).await;
    bench.read().await;
    let kept = bench.blocks();
    assert!((2..10).contains(&kept), "{kept}");
    let (read, _) = bench.find(-1).await;
    assert!((64..640).contains(&read));
    // What did not fit is read again and again, and does not replace what is asked all the time.
    let RangeMatch::Unindexed(rest) = bench.search(-1).look(&keys::table_range(TABLE)) else { panic!("not all fits") };
    for _ in 0..5 {
        bench.search(0).build(rest.clone()).keep(&bench.scan(&rest).await);
        assert_eq!(bench.find(-1).await.0, read);
    }
    bench.clock.advance(Duration::from_secs(120));
    for _ in 0..5 {
        bench.search(0).build(rest.clone()).keep(&bench.scan(&rest).await);
        bench.blocks();
    }
    let first = Range::between(keys::table_range(TABLE).start, Position::new(partition(), row_key(64)));
    assert!(matches!(bench.search(-1).look(&first), RangeMatch::Unindexed(_)), "the idle ones have made room");
}

#[tokio::test]
async fn a_look_stays_within_its_range() {
    let bench = Bench::new(640, SKIP_INDEX_BYTES_MAX).await;
    bench.read().await;
    let range =
        |from, to| Range::between(Position::new(partition(), row_key(from)), Position::new(partition(), row_key(to)));
    let search = bench.search(100);
    assert_eq!(search.look(&range(10, 20)), RangeMatch::None);
    assert_eq!(search.look(&range(70, 80)), RangeMatch::Possible(range(70, 80)));
    assert_eq!(search.look(&range(10, 90)), RangeMatch::Possible(range(64, 90)));
    assert_eq!(search.look(&range(10, 300)), RangeMatch::Possible(range(64, 128)));
    assert_eq!(search.look(&range(130, 300)), RangeMatch::None);
    bench.announce(&[200]).over();
    assert_eq!(search.look(&range(130, 195)), RangeMatch::Unindexed(range(192, 195)));
    assert_eq!(search.look(&range(130, 300)), RangeMatch::Unindexed(range(192, 256)));
}

#[test]
fn without_a_runtime_a_write_that_nobody_waits_for_turns_the_index_off() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let bench = runtime.block_on(async {
        let bench = Bench::new(64, SKIP_INDEX_BYTES_MAX).await;
        bench.read().await;
        bench
    });
    drop(bench.announce(&[5]));
    runtime.block_on(async {
        bench.read().await;
        assert_eq!(bench.blocks(), 0);
        assert!(bench.skip_index.0.state.read().in_progress.is_idle());
    });
}

/// Values of all types, few enough that they meet, and numbers that are equal across types.
fn any_value(rng: &mut fastrand::Rng) -> Value<'static> {
    let small = i64::from(rng.i8(-2..3));
    let large = rng.choice([i64::MAX, (1 << 53) + 1, 1 << 53, i64::from(i32::MAX), i64::from(i32::MIN)]).unwrap();
    let number = if rng.bool() { small } else { large };
    match rng.u8(..9) {
        0 => Value::Int32(i32::try_from(number).unwrap_or(1)),
        1 => Value::Int64(number),
        2 => Value::Double(number as f64),
        3 => Value::Double(rng.choice([-0.0, f64::NAN, f64::INFINITY, 0.5]).unwrap()),
        4 => Value::Boolean(rng.bool()),
        5 => Value::DateTime(DateTime::from_ticks(rng.u64(..3))),
        6 => Value::Guid(Uuid::from_bytes([rng.u8(..3); 16])),
        7 => Value::Binary(vec![rng.u8(..3); rng.usize(..3) * 90].into()),
        _ => {
            Value::String(rng.choice(["", "1", "a", "p", "0001"]).unwrap().repeat(rng.choice([1, 200]).unwrap()).into())
        }
    }
}

const PROPERTIES: [&str; 4] = ["a", "b", "c", "d"];

fn any_record(row: usize, rng: &mut fastrand::Rng) -> Record {
    let mut properties = Vec::new();
    for name in PROPERTIES.iter().filter(|_| rng.u8(..4) == 0).collect::<Vec<_>>() {
        properties.push(Property { name: Cow::Borrowed(*name), value: any_value(rng) });
    }
    let value = Properties::encode(&properties).at(DateTime::from_ticks(rng.u64(..3))).into_bytes();
    let partition = keys::entity_partition(TABLE, if row < 70 { "" } else { "p" });
    Record { partition, key: row_key(row), value }
}

fn any_filter(depth: usize, rng: &mut fastrand::Rng) -> Filter {
    let names = ["a", "b", "c", "d", "none", "PartitionKey", "RowKey", "Timestamp"];
    let property = rng.choice(names).unwrap().to_owned();
    let parts = |rng: &mut fastrand::Rng| (0..rng.usize(..4)).map(|_| any_filter(depth - 1, rng)).collect();
    match if depth == 0 { rng.u8(..10) } else { rng.u8(..16) } {
        0 => Filter::IsTrue(property),
        1..8 => Filter::Compare(Comparison { property, operator: Operator::Eq, literal: any_value(rng) }),
        8..10 => {
            let others = [Operator::Ne, Operator::Gt, Operator::Ge, Operator::Lt, Operator::Le];
            Filter::Compare(Comparison { property, operator: rng.choice(others).unwrap(), literal: any_value(rng) })
        }
        10..13 => Filter::And(parts(rng)),
        13..15 => Filter::Or(parts(rng)),
        _ => Filter::Not(Box::new(any_filter(depth - 1, rng))),
    }
}

fn matches(filter: &Filter, record: &Record) -> bool {
    let partition_key = String::from_utf8(keys::partition_key_of(&record.partition).unwrap().to_vec()).unwrap();
    let row_key = String::from_utf8(record.key.to_vec()).unwrap();
    let entity = StoredEntity::open(record.value.clone()).unwrap();
    let row =
        EntityRow { partition_key: &partition_key, row_key: &row_key, entity: &entity, corrupt: Cell::new(false) };
    filter.matches(&row)
}

#[test]
fn no_block_with_a_match_is_ever_skipped() {
    let seed = RandomSeed::draw();
    let mut rng = fastrand::Rng::with_seed(seed.0);
    let hasher = PropertyHasher::default();
    let (mut skipped, mut matched) = (0, 0);
    for _ in 0..200 {
        let rows = rng.usize(..150);
        let page = Page { records: (0..rows).map(|row| any_record(row, &mut rng)).collect(), next: None };
        let blocks = block::cut(&keys::table_range(TABLE), &page, &hasher);
        for _ in 0..50 {
            let filter = any_filter(3, &mut rng);
            let required = RequiredValues::of(&filter, &hasher);
            for (start, block) in &blocks {
                let range = Range::between(start.clone(), block.end.clone());
                let inside =
                    |record: &&Record| range.contains(&Position::new(record.partition.clone(), record.key.clone()));
                let found = page.records.iter().filter(inside).find(|record| matches(&filter, record));
                matched += usize::from(found.is_some());
                if !block.may_match(&required) {
                    skipped += 1;
                    assert!(found.is_none(), "{filter:?} matches {found:?}");
                }
            }
        }
    }
    assert!(skipped > 1_000 && matched > 1_000, "{skipped} skipped, {matched} with a match");
}

/// Printed when a test fails, so that the run can be repeated.
struct RandomSeed(u64);

impl RandomSeed {
    fn draw() -> Self {
        let given = std::env::var("TABLEROCK_SEED").ok().and_then(|seed| seed.parse().ok());
        Self(given.unwrap_or_else(|| tablerock_kv::Rng::from_os().number()))
    }
}

impl Drop for RandomSeed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("TABLEROCK_SEED={}", self.0);
        }
    }
}
