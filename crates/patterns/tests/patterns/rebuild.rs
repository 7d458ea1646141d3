//! An index over data that existed before it, or that was changed behind its back, is verified and rebuilt.

use tablerock_client::{Entity, Error, TableClient};
use tablerock_patterns::keys::compound;
use tablerock_patterns::{IndexProblemKind, IndexReport, IndexStore, IndexValue, IndexedTable};

use crate::killed::all;
use crate::support::Account;
use crate::versions::{Patterns, patterns};

const EMPLOYEES: usize = 50;

fn employee(number: usize) -> Entity {
    Entity::new(format!("p{}", number % 3), format!("{number:03}")).with("Email", address(number)).with("Age", 40)
}

fn address(number: usize) -> String {
    format!("{number}@contoso.com")
}

/// Entities of a table that has had no index.
async fn fill(table: &TableClient) {
    for number in 0..EMPLOYEES {
        table.insert(&employee(number)).await.unwrap();
    }
    // Without a value of the index, and with one that no index can have.
    table.insert(&Entity::new("p0", "none")).await.unwrap();
    table.insert(&Entity::new("p0", "odd").with("Email", "")).await.unwrap();
}

fn counts(report: &IndexReport) -> [u64; 5] {
    let IndexReport { missing, stale, dangling, duplicate, unreadable, .. } = report;
    [*missing, *stale, *dangling, *duplicate, *unreadable]
}

/// Checks a new index, damages it, and has it mended.
async fn rebuilt<S: IndexStore>(people: &IndexedTable<Entity, S>, stale: u64, damage: impl AsyncFn(&TableClient)) {
    let table = people.table();
    fill(table).await;
    let report = people.verify().await.unwrap();
    assert_eq!(counts(&report), [EMPLOYEES as u64, 0, 0, 0, 1], "{report:?}");
    assert_eq!((report.entities, report.entries, report.examples.len()), (EMPLOYEES as u64 + 2, 0, 20));
    people.rebuild().await.unwrap();
    let report = people.verify().await.unwrap();
    assert_eq!((counts(&report), report.entries), ([0, 0, 0, 0, 1], EMPLOYEES as u64), "{report:?}");
    assert_eq!(report.examples[0].kind, IndexProblemKind::Unreadable);
    assert_eq!(people.find_by("email", address(7)).first().await.unwrap().unwrap().row_key, "007");
    people.put(&Entity::new("p0", "odd").with("Age", 1)).any_version().await.unwrap_err();
    table.delete_by_keys("p0", "odd").any_version().await.unwrap();

    // An entity is deleted, another one moved and another one changed without the pattern.
    table.delete_by_keys("p1", "001").any_version().await.unwrap();
    table.merge(&employee(2).with("Email", "moved@contoso.com")).any_version().await.unwrap();
    table.merge(&employee(3).with("Age", 41)).any_version().await.unwrap();
    damage(table).await;
    let report = people.verify().await.unwrap();
    assert_eq!(counts(&report), [2, stale, 2, 0, 0], "{report:?}");
    assert_eq!(counts(&people.rebuild().await.unwrap()), [2, stale, 2, 0, 0]);
    let report = people.verify().await.unwrap();
    assert!(report.is_consistent() && report.entries == EMPLOYEES as u64 - 1, "{report:?}");
    let found = people.find_by("email", address(3)).first().await.unwrap().unwrap();
    assert_eq!(found.property::<i32>("Age").unwrap(), 41);
    people.replace(&found.with("Age", 42)).await.unwrap();
}

#[tokio::test]
async fn copies_across_partitions_are_rebuilt() {
    let account = Account::open().await;
    let Patterns { across, .. } = patterns(&account).await;
    let damage = async |table: &TableClient| {
        let keys = (compound(["email", "4@contoso.com"]), compound(["p1", "004"]));
        table.delete_by_keys(keys.0, keys.1).any_version().await.unwrap();
    };
    rebuilt(&across, 1, damage).await;
}

#[tokio::test]
async fn lists_are_rebuilt() {
    let account = Account::open().await;
    let Patterns { listed, .. } = patterns(&account).await;
    rebuilt(&listed, 0, async |_| {
        assert!(listed.list("email", address(4)).remove(&compound(["p1", "004"])).await.unwrap());
    })
    .await;
}

/// A value of many entities: its list is written once for each page of entities.
#[tokio::test]
async fn a_list_of_many_entities_is_rebuilt() {
    let account = Account::open().await;
    let Patterns { listed, .. } = patterns(&account).await;
    let teams = listed.index("team", |entity: &Entity| Some(entity.partition_key.clone()));
    fill(teams.table()).await;
    let report = teams.rebuild().await.unwrap();
    assert_eq!(counts(&report), [2 * EMPLOYEES as u64 + 1, 0, 0, 0, 1], "{report:?}");
    let found = teams.find_by("team", "p1").all().await.unwrap();
    assert_eq!(found.len(), (0..EMPLOYEES).filter(|number| number % 3 == 1).count());
    assert_eq!(counts(&teams.verify().await.unwrap()), [0, 0, 0, 0, 1]);
    if let Some(metrics) = account.metrics() {
        let writes = metrics.lines().filter(|line| line.contains("operation=\"PutBlob\""));
        let writes: usize = writes.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).max().unwrap();
        assert_eq!(writes, EMPLOYEES + 3);
    }
}

#[tokio::test]
async fn copies_in_a_partition_are_rebuilt() {
    let account = Account::open().await;
    let Patterns { within, .. } = patterns(&account).await;
    let table = within.table();
    fill(table).await;
    // A copy that is to be deleted and does not exist yet is an error with the remedy.
    let error = within.replace(&employee(5).with("Email", "x")).any_version().await.unwrap_err();
    assert!(matches!(&error, Error::Invalid(why) if why.contains("rebuild")), "{error}");
    table.insert(&employee(0).with_keys("p0", "twin")).await.unwrap();

    let report = within.verify().await.unwrap();
    assert_eq!(counts(&report), [EMPLOYEES as u64 + 1, 0, 0, 0, 1], "{report:?}");
    within.rebuild().await.unwrap();
    // Only one of two entities can have a value of a unique index.
    let report = within.verify().await.unwrap();
    assert_eq!((counts(&report), report.entries), ([0, 0, 0, 1, 1], EMPLOYEES as u64), "{report:?}");
    assert!(report.examples.iter().any(|problem| problem.value == Some(IndexValue::new("email", address(0)))));
    table.delete_by_keys("p0", "odd").any_version().await.unwrap();

    for key in ["000", "twin"] {
        table.delete_by_keys("p0", key).any_version().await.unwrap();
    }
    table.merge(&employee(3).with("Age", 41)).any_version().await.unwrap();
    table.delete_by_keys("p1", "email_4@contoso.com").any_version().await.unwrap();
    assert_eq!(counts(&within.rebuild().await.unwrap()), [1, 1, 1, 0, 0]);
    let report = within.verify().await.unwrap();
    assert!(report.is_consistent() && report.entries == EMPLOYEES as u64 - 1, "{report:?}");
    let found = within.find_by("p0", "email", &address(3)).await.unwrap().unwrap();
    assert_eq!(found.property::<i32>("Age").unwrap(), 41);
    within.delete(&found).await.unwrap();
    assert_eq!(all(table).await.len(), 2 * (EMPLOYEES - 2) + 1);
}
