//! The model of tables rejects what must not happen, and accepts what may.

use std::collections::{BTreeMap, BTreeSet};

use tablerock_crash::model::{Model as _, Outcome, resolve_all};
use tablerock_crash::tables::{
    Address, Content, EntityChange, EntityOperation, Etag, IfMatch, ObservedTables, TableModel, TableWrite, Version,
};

const TABLE: &str = "T";

fn content(text: &str) -> Content {
    Content::unique(text, 3, &mut fastrand::Rng::with_seed(1))
}

fn etag(second: u32) -> Etag {
    Etag::parse(&format!("W/\"datetime'2026-01-01T00%3A00%3A{second:02}Z'\"")).expect("an ETag of the service")
}

fn address(row: &str) -> Address {
    Address::new(TABLE, "p", row)
}

fn insert(row: &str, text: &str) -> EntityOperation {
    EntityOperation { address: address(row), change: EntityChange::Insert(content(text)) }
}

fn replace(row: &str, text: &str) -> EntityOperation {
    EntityOperation { address: address(row), change: EntityChange::Replace(content(text), IfMatch::Any) }
}

fn delete(row: &str) -> EntityOperation {
    EntityOperation { address: address(row), change: EntityChange::Delete(IfMatch::Any) }
}

/// A model of a worker that has a table and, in it, the rows `a` and `b`, written in the first and second second.
fn model() -> TableModel {
    let mut model = TableModel::new(&[], false);
    model.on_response(&TableWrite::CreateTable(TABLE.to_owned()), &Outcome::Done(vec![None])).expect("a new table");
    for (second, row) in [(1, "a"), (2, "b")] {
        done(&mut model, vec![insert(row, row)], &[Some(second)]).expect("a new row");
    }
    model
}

fn done(model: &mut TableModel, operations: Vec<EntityOperation>, seconds: &[Option<u32>]) -> Result<(), String> {
    let etags = seconds.iter().map(|second| second.map(etag)).collect();
    model.on_response(&TableWrite::Entities(operations), &Outcome::Done(etags))
}

/// What a server shows: the table, and these rows with what wrote them and when.
fn shown(rows: &[(&str, &str, u32)]) -> ObservedTables {
    let version = |(row, text, second): &(&str, &str, u32)| {
        (address(row), Version { content: content(text), etag: etag(*second) })
    };
    ObservedTables { tables: BTreeSet::from([TABLE.to_owned()]), entities: rows.iter().map(version).collect() }
}

fn violations(model: &mut TableModel, observed: &ObservedTables) -> Vec<String> {
    resolve_all(&mut [model], observed).1
}

#[test]
fn acknowledged_entities_that_exist_are_fine() {
    assert_eq!(violations(&mut model(), &shown(&[("a", "a", 1), ("b", "b", 2)])), [""; 0]);
}

#[test]
fn a_lost_write_is_found() {
    let found = violations(&mut model(), &shown(&[("a", "a", 1)]));
    assert!(found.len() == 1 && found[0].contains("T/p/b") && found[0].contains("is gone"), "{found:?}");
    let mut model = model();
    done(&mut model, vec![replace("a", "newer")], &[Some(3)]).unwrap();
    let found = violations(&mut model, &shown(&[("a", "a", 1), ("b", "b", 2)]));
    assert!(found.len() == 1 && found[0].contains("expected newer"), "{found:?}");
}

#[test]
fn a_lost_table_is_found() {
    let nothing = ObservedTables { tables: BTreeSet::new(), entities: BTreeMap::new() };
    assert!(violations(&mut model(), &nothing).iter().any(|violation| violation == "table T is gone"));
}

#[test]
fn a_delete_that_is_undone_is_found() {
    let mut model = model();
    done(&mut model, vec![delete("a")], &[None]).unwrap();
    assert_eq!(violations(&mut model.clone(), &shown(&[("b", "b", 2)])), [""; 0]);
    let found = violations(&mut model, &shown(&[("a", "a", 1), ("b", "b", 2)]));
    assert!(found.len() == 1 && found[0].contains("should not"), "{found:?}");
}

#[test]
fn a_table_that_no_worker_created_is_found() {
    let mut observed = shown(&[("a", "a", 1), ("b", "b", 2)]);
    observed.tables.insert("Other".to_owned());
    assert_eq!(violations(&mut model(), &observed), ["table Other exists and should not"]);
}

#[test]
fn an_unacknowledged_group_exists_or_not_but_never_in_part() {
    let mut model = model();
    model.on_no_response(&TableWrite::Entities(vec![replace("a", "new"), delete("b"), insert("c", "new")]));
    let before = shown(&[("a", "a", 1), ("b", "b", 2)]);
    let after = shown(&[("a", "new", 3), ("c", "new", 3)]);
    let halves = [
        shown(&[("a", "new", 3), ("b", "b", 2)]),
        shown(&[("a", "a", 1), ("c", "new", 3)]),
        shown(&[("a", "new", 3), ("b", "b", 2), ("c", "new", 3)]),
    ];
    for whole in [&before, &after] {
        assert_eq!(violations(&mut model.clone(), whole), [""; 0]);
    }
    for half in &halves {
        let found = violations(&mut model.clone(), half);
        assert!(found.iter().any(|violation| violation.contains("in part")), "{found:?}");
    }
}

#[test]
fn an_observed_unacknowledged_write_stays() {
    let mut model = model();
    model.on_no_response(&TableWrite::Entities(vec![delete("a")]));
    let (before, after) = (shown(&[("a", "a", 1), ("b", "b", 2)]), shown(&[("b", "b", 2)]));
    for (first, second) in [(&before, &after), (&after, &before)] {
        let mut model = model.clone();
        assert_eq!(violations(&mut model, first), [""; 0]);
        assert_eq!(violations(&mut model, first), [""; 0]);
        assert_eq!(violations(&mut model, second).len(), 1);
    }
}

#[test]
fn an_unacknowledged_drop_removes_the_whole_table_or_nothing() {
    let mut model = model();
    model.on_no_response(&TableWrite::DropTable(TABLE.to_owned()));
    let gone = ObservedTables { tables: BTreeSet::new(), entities: BTreeMap::new() };
    assert_eq!(violations(&mut model.clone(), &gone), [""; 0]);
    assert_eq!(violations(&mut model.clone(), &shown(&[("a", "a", 1), ("b", "b", 2)])), [""; 0]);
    assert_eq!(violations(&mut model, &shown(&[("a", "a", 1)])).len(), 1);
}

#[test]
fn a_timestamp_that_goes_back_is_found() {
    let found = done(&mut model(), vec![replace("b", "newer")], &[Some(1)]).unwrap_err();
    assert!(found.contains("written at"), "{found}");
    // One that was only seen, at a restart, counts as well; so does another worker's.
    let mut model = model();
    model.raise_latest(&etag(9).timestamp());
    assert!(done(&mut model, vec![replace("b", "newer")], &[Some(8)]).is_err());
    assert!(done(&mut model, vec![replace("b", "newer")], &[Some(10)]).is_ok());
}

#[test]
fn an_etag_that_was_another_versions_is_found() {
    let mut model = model();
    done(&mut model, vec![delete("b")], &[None]).unwrap();
    let found = done(&mut model, vec![insert("b", "another")], &[Some(2)]).unwrap_err();
    assert!(found.contains("already the ETag"), "{found}");
}

#[test]
fn an_etag_that_changes_by_itself_is_found() {
    let found = violations(&mut model(), &shown(&[("a", "a", 1), ("b", "b", 3)]));
    assert!(found.len() == 1 && found[0].contains("its ETag was"), "{found:?}");
}

#[test]
fn a_refusal_without_a_reason_and_a_success_against_one_are_found() {
    let mut model = model();
    let rejected = |model: &mut TableModel, operation, status| {
        model.on_response(&TableWrite::Entities(vec![operation]), &Outcome::Rejected(status))
    };
    assert!(rejected(&mut model, insert("a", "again"), 409).is_ok());
    assert!(rejected(&mut model, insert("c", "new"), 409).is_err());
    assert!(rejected(&mut model, delete("c"), 404).is_ok());
    assert!(done(&mut model, vec![insert("a", "again")], &[Some(3)]).is_err());
    let stale = EntityOperation { address: address("a"), change: EntityChange::Delete(IfMatch::Version(etag(9))) };
    assert!(rejected(&mut model, stale.clone(), 412).is_ok());
    assert!(done(&mut model, vec![stale], &[None]).is_err());
}

#[test]
fn a_written_entity_without_an_etag_is_found() {
    assert!(done(&mut model(), vec![replace("a", "newer")], &[None]).is_err());
    assert!(done(&mut model(), vec![replace("a", "newer")], &[]).is_err());
}
