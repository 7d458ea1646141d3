//! Tables in a store that servers share: where a server believes a table to be is never more than a guess.

use std::sync::Arc;
use std::time::Duration;

use crate::support::*;
use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{Engine, FaultEngine, MemoryEngine, Range, ScanLimits, Store, TICKS_PER_SECOND};
use tablerock_protocol::ErrorCode;
use tablerock_services::table::{Change, EntityOperation, EntityQuery, Outcome, keys};
use tablerock_services::{Error, TableService};

/// Two servers on one store, both of which have seen the table and the entity in it.
async fn servers() -> (Arc<FaultEngine>, TableService, TableService) {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::shared())));
    let store = Store::new(engine.clone());
    let one = service_on(&store, manual_clock()).await;
    let other = service_on(&store, manual_clock()).await;
    apply_one(&one, insert("p", "r", 1)).await.expect("a fresh entity");
    assert_eq!(read(&other).await, Ok(()));
    (engine, one, other)
}

async fn read(service: &TableService) -> Result<(), ErrorCode> {
    let entity = service.query_entity(ACCOUNT, TABLE, "p", "r").await;
    entity.map(drop).map_err(|error| error.into_service_error().code)
}

fn merge() -> EntityOperation {
    operation("p", "r", Change::Merge { properties: number(3), condition: None })
}

/// Inserts that have to look first, since there are two.
async fn insert_two(service: &TableService) -> Result<Vec<Outcome>, Error> {
    apply(service, vec![insert("p", "r", 2), insert("p", "s", 2)]).await
}

#[tokio::test]
async fn a_table_that_another_server_dropped_is_gone() {
    let (_, one, other) = servers().await;
    one.delete_table(ACCOUNT, TABLE).await.unwrap();
    for _ in 0..2 {
        assert_eq!(read(&other).await, Err(ErrorCode::TableNotFound));
        assert_eq!(code(apply_one(&other, upsert("p", "r", 2)).await), ErrorCode::TableNotFound);
    }
}

#[tokio::test]
async fn a_table_that_another_server_made_anew_has_nothing_of_the_old_one() {
    let (_, one, other) = servers().await;
    for n in 0..3 {
        one.delete_table(ACCOUNT, TABLE).await.unwrap();
        create(&one, TABLE).await;
        // Once it is a write that meets the guess.
        if n != 1 {
            assert_eq!(read(&other).await, Err(ErrorCode::ResourceNotFound));
        }
        // Had it looked where the old table was, the entity would exist.
        apply_one(&other, insert("p", "r", n)).await.unwrap();
        assert_eq!(read(&one).await, Ok(()));
        assert_eq!(row_keys(&query(&other, "", None).await), ["r"]);
    }
}

#[tokio::test]
async fn an_entity_is_read_and_upserted_in_one_round_trip_and_merged_in_two() {
    let (engine, one, _) = servers().await;
    let trips = async |act: &str| {
        let calls = [Call::Get, Call::GetMany, Call::ReadNewest, Call::Commit, Call::PutBlind];
        let before = calls.map(|call| engine.calls(call));
        match act {
            "read" => read(&one).await.unwrap(),
            "merge" => drop(apply_one(&one, merge()).await.unwrap()),
            _ => drop(apply_one(&one, upsert("p", "r", 2)).await.unwrap()),
        }
        let mut trips = calls.map(|call| engine.calls(call));
        trips.iter_mut().zip(before).for_each(|(after, before)| *after -= before);
        trips
    };
    trips("merge").await;
    assert_eq!(trips("read").await, [0, 1, 0, 0, 0]);
    assert_eq!(trips("merge").await, [0, 1, 0, 1, 0]);
    assert_eq!(trips("write").await, [0, 0, 0, 0, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_entity_changed_after_the_look_is_decided_again() {
    let (engine, one, other) = servers().await;
    // Another server deletes the entity between look and commit.
    engine.script(Call::Commit, [Fault::Delay(Duration::from_secs(2))]);
    let (late, quick) = tokio::join!(insert_two(&one), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        apply_one(&other, delete("p", "r")).await
    });
    quick.unwrap();
    late.unwrap();
}

/// A server that stood still between look and commit meets a table that was dropped and swept meanwhile.
#[tokio::test(start_paused = true)]
async fn a_write_that_stood_still_does_not_decide_without_its_table() {
    for is_made_anew in [false, true] {
        let (engine, one, other) = servers().await;
        engine.script(Call::Commit, [Fault::Delay(Duration::from_secs(2))]);
        let (late, ()) = tokio::join!(insert_two(&one), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            other.delete_table(ACCOUNT, TABLE).await.unwrap();
            if is_made_anew {
                create(&other, TABLE).await;
            }
        });
        match is_made_anew {
            false => assert_eq!(code(late), ErrorCode::TableNotFound),
            true => {
                late.unwrap();
                assert_eq!(read(&other).await, Ok(()));
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_query_that_stood_still_shows_nothing_of_a_swept_table() {
    for is_made_anew in [false, true] {
        let (engine, one, other) = servers().await;
        engine.script(Call::Scan, [Fault::Delay(Duration::from_secs(2))]);
        let all = EntityQuery::default();
        let (late, ()) = tokio::join!(one.query_entities(ACCOUNT, TABLE, &all), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            other.delete_table(ACCOUNT, TABLE).await.unwrap();
            if is_made_anew {
                create(&other, TABLE).await;
                apply_one(&other, insert("p", "new", 2)).await.unwrap();
            }
        });
        match is_made_anew {
            false => assert_eq!(late.unwrap_err().into_service_error().code, ErrorCode::TableNotFound),
            true => assert_eq!(row_keys(&late.unwrap()), ["new"]),
        }
    }
}

/// The server writes where the table was last, and nothing of that stays.
#[tokio::test(start_paused = true)]
async fn a_blind_write_that_stood_still_ends_in_the_table_that_there_is() {
    for is_made_anew in [false, true] {
        let (engine, one, other) = servers().await;
        engine.script(Call::PutBlind, [Fault::Delay(Duration::from_secs(2))]);
        let (late, ()) = tokio::join!(apply_one(&one, upsert("p", "r", 2)), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            other.delete_table(ACCOUNT, TABLE).await.unwrap();
            if is_made_anew {
                create(&other, TABLE).await;
            }
        });
        match is_made_anew {
            false => assert_eq!(code(late), ErrorCode::TableNotFound),
            true => {
                late.unwrap();
                assert_eq!(read(&other).await, Ok(()));
            }
        }
        let entities = Range::partitions(&keys::table_range(1).start.partition[..1]);
        let left = engine.scan(&entities, ScanLimits::PAGE).await.unwrap().records.len();
        assert_eq!(left, usize::from(is_made_anew), "what landed in the table of before is removed");
    }
}

#[tokio::test]
async fn an_upsert_never_replaces_a_later_timestamp() {
    let store = Store::new(Arc::new(MemoryEngine::shared()));
    let clock = manual_clock();
    let ahead = service_on(&store, clock.clone()).await;
    clock.advance(Duration::from_secs(300));
    let Ok(Outcome::Written(later)) = apply_one(&ahead, upsert("p", "r", 1)).await else { panic!("it is written") };
    let behind = service_on(&store, manual_clock()).await;
    assert_eq!(read(&behind).await, Ok(()));
    // The first attempt reserves timestamps beyond the one that it found.
    let mut outcome = apply_one(&behind, upsert("p", "r", 2)).await;
    if outcome.is_err() {
        outcome = apply_one(&behind, upsert("p", "r", 2)).await;
    }
    let Ok(Outcome::Written(written)) = outcome else { panic!("{outcome:?}") };
    assert!(written > later && written.ticks() < later.ticks() + TICKS_PER_SECOND, "{later:?} {written:?}");
}
