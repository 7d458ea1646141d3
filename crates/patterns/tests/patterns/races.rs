//! Readers and writers race on every pattern with a counter: no update is lost, and no reader finds half of one.

use std::time::Duration;

use tablerock_client::{DateTime, Entity, TableOperation};
use tablerock_patterns::{
    Archive, EntityList, IndexList, ListedEntities, Period, PeriodTables, Series, TableLists, WorkOutcome,
};

use crate::killed::email;
use crate::mortal::{Process, hasty};
use crate::support::{Account, unique_name};
use crate::versions::{Patterns, Verbs, counted, patterns};

const WRITERS: i64 = 4;
const READERS: i64 = 2;
const INCREMENTS: i64 = 6;
const ATTEMPTS_MAX: usize = 500;

/// Reads the entity, all of whose values are of one write.
async fn read(pattern: &impl Verbs) -> (Entity, i64) {
    let read = pattern.read().await.expect("the entity is never deleted");
    let count: i64 = read.property("Count").unwrap();
    let photo: Vec<u8> = read.property("Photo").unwrap();
    assert!(photo.iter().all(|byte| i64::from(*byte) == count % 256), "values of two writes");
    (read, count)
}

/// Reads until all updates are there. No reader finds an older one than before.
async fn follow(pattern: &impl Verbs) -> usize {
    let (mut last, mut reads) = (0, 0);
    while last < WRITERS * INCREMENTS {
        let (_, count) = read(pattern).await;
        assert!(count >= last, "{count} after {last}");
        (last, reads) = (count, reads + 1);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    reads
}

/// Reads, adds one and writes the version that was read, until it is not changed in between.
async fn increment(pattern: &impl Verbs) -> usize {
    for attempt in 0..ATTEMPTS_MAX {
        let (read, count) = read(pattern).await;
        let mut next = counted(count + 1).with("Email", format!("{}@contoso.com", count % 3));
        next.etag.clone_from(&read.etag);
        match pattern.put(&next).await {
            Ok(_) => return attempt,
            Err(error) if error.is_precondition_failed() => {}
            Err(error) => panic!("{error}"),
        }
        tokio::time::sleep(Duration::from_millis(fastrand::Rng::new().u64(1..20))).await;
    }
    panic!("it was always changed in between");
}

async fn race(pattern: impl Verbs) {
    pattern.insert(&counted(0)).await.unwrap();
    let writers = (0..WRITERS).map(|_| {
        let pattern = pattern.clone();
        tokio::spawn(async move {
            let mut conflicts = 0;
            for _ in 0..INCREMENTS {
                conflicts += increment(&pattern).await;
            }
            conflicts
        })
    });
    let writers: Vec<_> = writers.collect();
    let readers = (0..READERS).map(|_| {
        let pattern = pattern.clone();
        tokio::spawn(async move { follow(&pattern).await })
    });
    let readers: Vec<_> = readers.collect();
    let mut conflicts = 0;
    for writer in writers {
        conflicts += tokio::time::timeout(Duration::from_secs(120), writer).await.unwrap().unwrap();
    }
    let (_, count) = read(&pattern).await;
    assert_eq!(count, WRITERS * INCREMENTS, "after {conflicts} conflicts");
    for reader in readers {
        assert!(tokio::time::timeout(Duration::from_secs(120), reader).await.unwrap().unwrap() > 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_update_of_a_wide_entity_is_lost() {
    let account = Account::open().await;
    race(patterns(&account).await.wide).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_update_of_a_large_entity_is_lost() {
    let account = Account::open().await;
    race(patterns(&account).await.large).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_update_of_copies_in_a_partition_is_lost() {
    let account = Account::open().await;
    let within = patterns(&account).await.within;
    race(within.clone()).await;
    let report = within.verify().await.unwrap();
    assert!(report.is_consistent(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_update_of_copies_across_partitions_is_lost() {
    let account = Account::open().await;
    let across = patterns(&account).await.across;
    race(across.clone()).await;
    let report = across.verify().await.unwrap();
    assert!(report.is_consistent(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_update_of_listed_entities_is_lost() {
    let account = Account::open().await;
    let listed = patterns(&account).await.listed;
    race(listed.clone()).await;
    let report = listed.verify().await.unwrap();
    assert!(report.is_consistent(), "{report:?}");
}

/// The lists are entities of another table, instead of blobs.
#[tokio::test(flavor = "multi_thread")]
async fn no_update_of_entities_listed_in_a_table_is_lost() {
    let account = Account::open().await;
    let (process, name) = (Process::healthy(&account), unique_name());
    let (queue, poison) = (process.queues.queue(&name), process.queues.queue(format!("{name}-poison")));
    let lists = TableLists::new(process.tables.table(format!("{name}lists")));
    let listed = ListedEntities::<Entity, _>::new(process.tables.table(&name), lists, queue, poison);
    let listed = listed.index("email", email).with_intents(hasty);
    listed.create_if_not_exists().await.unwrap();
    race(listed.clone()).await;
    let report = listed.verify().await.unwrap();
    assert!(report.is_consistent() && report.entities == 1 && report.entries == 1, "{report:?}");
}

/// Rebuilds until a race is over.
async fn rebuild_during<R: std::fmt::Debug>(
    race: impl Future<Output = ()>,
    rebuild: impl AsyncFn() -> tablerock_client::Result<R>,
) {
    let mut race = std::pin::pin!(race);
    while tokio::time::timeout(Duration::from_millis(10), race.as_mut()).await.is_err() {
        rebuild().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_while_writers_run_loses_nothing() {
    let account = Account::open().await;
    let Patterns { within, across, listed, .. } = patterns(&account).await;
    tokio::join!(
        rebuild_during(race(within.clone()), async || within.rebuild().await),
        rebuild_during(race(across.clone()), async || across.rebuild().await),
        rebuild_during(race(listed.clone()), async || listed.rebuild().await),
    );
    for report in [within.verify().await, across.verify().await, listed.verify().await] {
        let report = report.unwrap();
        assert!(report.is_consistent() && report.entities == 1 && report.entries == 1, "{report:?}");
    }
}

/// Writers that find the entity by its second key, which they also change.
#[tokio::test(flavor = "multi_thread")]
async fn no_update_by_a_second_key_is_lost() {
    let account = Account::open().await;
    let Patterns { within, .. } = patterns(&account).await;
    within.insert(&counted(0)).await.unwrap();
    let writers = (0..WRITERS).map(|_| {
        let within = within.clone();
        tokio::spawn(async move {
            let mut done = 0;
            while done < INCREMENTS {
                for address in ["a@contoso.com", "b@contoso.com"] {
                    let Some(read) = within.find_by("p", "email", address).await.unwrap() else { continue };
                    let count = read.property::<i64>("Count").unwrap() + 1;
                    let other = if count % 2 == 0 { "a@contoso.com" } else { "b@contoso.com" };
                    match within.replace(&read.with("Count", count).with("Email", other)).await {
                        Ok(_) => done += 1,
                        Err(error) => assert!(error.is_precondition_failed() || error.is_not_found(), "{error}"),
                    }
                    tokio::time::sleep(Duration::from_millis(fastrand::Rng::new().u64(1..10))).await;
                }
            }
            done
        })
    });
    let mut done = 0;
    for writer in writers.collect::<Vec<_>>() {
        done += tokio::time::timeout(Duration::from_secs(120), writer).await.unwrap().unwrap();
    }
    let read = within.get_if_exists("p", "r").await.unwrap().unwrap();
    assert_eq!(read.property::<i64>("Count").unwrap(), done);
    assert!(within.verify().await.unwrap().is_consistent());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_update_of_a_series_is_lost() {
    let account = Account::open().await;
    let series = Series::<i64>::new(account.table().await, Period::Day);
    let time = DateTime::parse("2026-11-16T08:30:00Z").unwrap();
    let writers = (0..WRITERS).map(|_| {
        let series = series.clone();
        tokio::spawn(async move {
            for _ in 0..INCREMENTS {
                series.update("000123", time, |count| count.unwrap_or(0) + 1).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(series.values("000123", time).await.unwrap()[8], Some(WRITERS * INCREMENTS));
}

/// Each writer of a list adds a member with its counter in the same transaction.
#[tokio::test(flavor = "multi_thread")]
async fn no_update_of_an_index_list_and_its_entities_is_lost() {
    let account = Account::open().await;
    let table = account.table().await;
    let list = IndexList::new(EntityList::new(table.clone(), "p", "list"));
    let writers = (0..WRITERS).map(|writer| {
        let list = list.clone();
        tokio::spawn(async move {
            for number in 0..INCREMENTS {
                let id = format!("{writer}{number}");
                list.add_with(&id, &[TableOperation::insert(&Entity::new("p", id.as_str()))]).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let found: Vec<Entity> = table.query().all().await.unwrap();
    let found: Vec<String> = found.into_iter().map(|entity| entity.row_key).filter(|key| key != "list").collect();
    assert_eq!((list.ids().await.unwrap(), found.len() as i64), (found.clone(), WRITERS * INCREMENTS));
}

/// Updates of the current entity race with its move: those that succeed are in the archive.
#[tokio::test(flavor = "multi_thread")]
async fn no_update_of_an_entity_is_lost_by_its_archive() {
    let account = Account::open().await;
    let (process, name) = (Process::healthy(&account), unique_name());
    let (current, archived) = (process.tables.table(&name), process.tables.table(format!("{name}old")));
    let (queue, poison) = (process.queues.queue(&name), process.queues.queue(format!("{name}-poison")));
    let archive = Archive::new(current.clone(), archived.clone(), queue, poison).with_intents(hasty);
    archive.create_if_not_exists().await.unwrap();
    for round in 0..5_u64 {
        let key = format!("r{round}");
        current.insert(&Entity::new("p", &key).with("Count", 0_i64)).await.unwrap();
        let writers = (0..WRITERS).map(|_| {
            let (current, key) = (current.clone(), key.clone());
            tokio::spawn(async move {
                let mut done = 0;
                while let Some(read) = current.get_if_exists::<Entity>("p", &key).await.unwrap() {
                    let count = read.property::<i64>("Count").unwrap() + 1;
                    // Fewer changes than the attempts of a move, so that it ends on a slow server as well.
                    if done < INCREMENTS {
                        done += i64::from(current.replace(&read.with("Count", count)).await.is_ok());
                    }
                    tokio::time::sleep(Duration::from_millis(fastrand::Rng::new().u64(10..50))).await;
                }
                done
            })
        });
        let writers: Vec<_> = writers.collect();
        tokio::time::sleep(Duration::from_millis(5 * round)).await;
        archive.request("p", &key).await.unwrap();
        let outcome = archive.work_once().await.unwrap();
        assert!(matches!(outcome, WorkOutcome::Finished), "{outcome:?}");
        let mut done = 0;
        for writer in writers {
            done += tokio::time::timeout(Duration::from_secs(60), writer).await.unwrap().unwrap();
        }
        let last: Entity = archived.get("p", &key).await.unwrap();
        assert_eq!(last.property::<i64>("Count").unwrap(), done, "round {round}");
    }
}

/// The first inserts of a day create its table at the same time, and a query meets the entities of all days.
#[tokio::test(flavor = "multi_thread")]
async fn no_insert_into_period_tables_is_lost() {
    let account = Account::open().await;
    let logins = PeriodTables::new(account.tables(), unique_name(), Period::Day);
    let day = |day: i64| DateTime::parse(&format!("2026-11-{:02}T08:30:00Z", day + 1)).unwrap();
    let writers = (0..WRITERS).map(|writer| {
        let logins = logins.clone();
        tokio::spawn(async move {
            for number in 0..INCREMENTS {
                logins.insert(day(number), &Entity::new(writer.to_string(), "r")).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let all = logins.query::<Entity>(day(0)..day(INCREMENTS)).all().await.unwrap();
    assert_eq!(all.len() as i64, WRITERS * INCREMENTS);
    let some = logins.query::<Entity>(day(1)..day(2)).partition("0").newest_first().all().await.unwrap();
    assert_eq!(some.len(), 2);
    logins.delete_before(day(20)).await.unwrap();
}
