//! The oracle rejects what must not happen, and accepts what may.

use std::collections::{BTreeMap, BTreeSet};

use tablerock_crash::client::Verdict;
use tablerock_crash::content::{Address, Content, Etag, Version};
use tablerock_crash::crew::settle_all;
use tablerock_crash::history::Book as _;
use tablerock_crash::ledger::Ledger;
use tablerock_crash::observed::Observed;
use tablerock_crash::operation::{Attempt, Change, Match, Operation};

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

fn insert(row: &str, text: &str) -> Operation {
    Operation { address: address(row), change: Change::Insert(content(text)) }
}

fn replace(row: &str, text: &str) -> Operation {
    Operation { address: address(row), change: Change::Replace(content(text), Match::Any) }
}

fn delete(row: &str) -> Operation {
    Operation { address: address(row), change: Change::Delete(Match::Any) }
}

/// A ledger of a worker that has a table and, in it, the rows `a` and `b`, written in the first and second second.
fn ledger() -> Ledger {
    let mut ledger = Ledger::new(&[], false);
    ledger.answered(&Attempt::CreateTable(TABLE.to_owned()), &Verdict::Done(vec![None])).expect("a new table");
    for (second, row) in [(1, "a"), (2, "b")] {
        done(&mut ledger, vec![insert(row, row)], &[Some(second)]).expect("a new row");
    }
    ledger
}

fn done(ledger: &mut Ledger, operations: Vec<Operation>, seconds: &[Option<u32>]) -> Result<(), String> {
    let etags = seconds.iter().map(|second| second.map(etag)).collect();
    ledger.answered(&Attempt::Entities(operations), &Verdict::Done(etags))
}

/// What a server shows: the table, and these rows with what wrote them and when.
fn shown(rows: &[(&str, &str, u32)]) -> Observed {
    let version = |(row, text, second): &(&str, &str, u32)| {
        (address(row), Version { content: content(text), etag: etag(*second) })
    };
    Observed { tables: BTreeSet::from([TABLE.to_owned()]), entities: rows.iter().map(version).collect() }
}

fn violations(ledger: &mut Ledger, observed: &Observed) -> Vec<String> {
    settle_all(&mut [ledger], observed).1
}

#[test]
fn what_was_acknowledged_and_is_there_is_fine() {
    assert_eq!(violations(&mut ledger(), &shown(&[("a", "a", 1), ("b", "b", 2)])), [""; 0]);
}

#[test]
fn a_lost_write_is_found() {
    let found = violations(&mut ledger(), &shown(&[("a", "a", 1)]));
    assert!(found.len() == 1 && found[0].contains("T/p/b") && found[0].contains("is gone"), "{found:?}");
    let mut ledger = ledger();
    done(&mut ledger, vec![replace("a", "newer")], &[Some(3)]).unwrap();
    let found = violations(&mut ledger, &shown(&[("a", "a", 1), ("b", "b", 2)]));
    assert!(found.len() == 1 && found[0].contains("expected newer"), "{found:?}");
}

#[test]
fn a_lost_table_is_found() {
    let nothing = Observed { tables: BTreeSet::new(), entities: BTreeMap::new() };
    assert!(violations(&mut ledger(), &nothing).iter().any(|violation| violation == "table T is gone"));
}

#[test]
fn a_delete_that_is_undone_is_found() {
    let mut ledger = ledger();
    done(&mut ledger, vec![delete("a")], &[None]).unwrap();
    assert_eq!(violations(&mut ledger.clone(), &shown(&[("b", "b", 2)])), [""; 0]);
    let found = violations(&mut ledger, &shown(&[("a", "a", 1), ("b", "b", 2)]));
    assert!(found.len() == 1 && found[0].contains("should not be"), "{found:?}");
}

#[test]
fn a_table_that_nobody_made_is_found() {
    let mut observed = shown(&[("a", "a", 1), ("b", "b", 2)]);
    observed.tables.insert("Other".to_owned());
    assert_eq!(violations(&mut ledger(), &observed), ["table Other is there and should not be"]);
}

#[test]
fn an_unanswered_group_is_there_or_not_but_never_by_halves() {
    let mut ledger = ledger();
    ledger.unanswered(&Attempt::Entities(vec![replace("a", "new"), delete("b"), insert("c", "new")]));
    let before = shown(&[("a", "a", 1), ("b", "b", 2)]);
    let after = shown(&[("a", "new", 3), ("c", "new", 3)]);
    let halves = [
        shown(&[("a", "new", 3), ("b", "b", 2)]),
        shown(&[("a", "a", 1), ("c", "new", 3)]),
        shown(&[("a", "new", 3), ("b", "b", 2), ("c", "new", 3)]),
    ];
    for whole in [&before, &after] {
        assert_eq!(violations(&mut ledger.clone(), whole), [""; 0]);
    }
    for half in &halves {
        let found = violations(&mut ledger.clone(), half);
        assert!(found.iter().any(|violation| violation.contains("by halves")), "{found:?}");
    }
}

#[test]
fn what_was_seen_of_an_unanswered_write_stays_so() {
    let mut ledger = ledger();
    ledger.unanswered(&Attempt::Entities(vec![delete("a")]));
    let (before, after) = (shown(&[("a", "a", 1), ("b", "b", 2)]), shown(&[("b", "b", 2)]));
    for (first, second) in [(&before, &after), (&after, &before)] {
        let mut ledger = ledger.clone();
        assert_eq!(violations(&mut ledger, first), [""; 0]);
        assert_eq!(violations(&mut ledger, first), [""; 0]);
        assert_eq!(violations(&mut ledger, second).len(), 1);
    }
}

#[test]
fn an_unanswered_drop_takes_all_of_the_table_or_nothing() {
    let mut ledger = ledger();
    ledger.unanswered(&Attempt::DropTable(TABLE.to_owned()));
    let gone = Observed { tables: BTreeSet::new(), entities: BTreeMap::new() };
    assert_eq!(violations(&mut ledger.clone(), &gone), [""; 0]);
    assert_eq!(violations(&mut ledger.clone(), &shown(&[("a", "a", 1), ("b", "b", 2)])), [""; 0]);
    assert_eq!(violations(&mut ledger, &shown(&[("a", "a", 1)])).len(), 1);
}

#[test]
fn a_timestamp_that_goes_back_is_found() {
    let found = done(&mut ledger(), vec![replace("b", "newer")], &[Some(1)]).unwrap_err();
    assert!(found.contains("written at"), "{found}");
    // One that was only seen, at a restart, counts as well; so does another worker's.
    let mut ledger = ledger();
    ledger.raise_latest(&etag(9).timestamp());
    assert!(done(&mut ledger, vec![replace("b", "newer")], &[Some(8)]).is_err());
    assert!(done(&mut ledger, vec![replace("b", "newer")], &[Some(10)]).is_ok());
}

#[test]
fn an_etag_that_was_another_versions_is_found() {
    let mut ledger = ledger();
    done(&mut ledger, vec![delete("b")], &[None]).unwrap();
    let found = done(&mut ledger, vec![insert("b", "another")], &[Some(2)]).unwrap_err();
    assert!(found.contains("already the ETag"), "{found}");
}

#[test]
fn an_etag_that_changes_by_itself_is_found() {
    let found = violations(&mut ledger(), &shown(&[("a", "a", 1), ("b", "b", 3)]));
    assert!(found.len() == 1 && found[0].contains("its ETag was"), "{found:?}");
}

#[test]
fn a_refusal_without_a_reason_and_a_success_against_one_are_found() {
    let mut ledger = ledger();
    let refused = |ledger: &mut Ledger, operation, status| {
        ledger.answered(&Attempt::Entities(vec![operation]), &Verdict::Refused(status))
    };
    assert!(refused(&mut ledger, insert("a", "again"), 409).is_ok());
    assert!(refused(&mut ledger, insert("c", "new"), 409).is_err());
    assert!(refused(&mut ledger, delete("c"), 404).is_ok());
    assert!(done(&mut ledger, vec![insert("a", "again")], &[Some(3)]).is_err());
    let stale = Operation { address: address("a"), change: Change::Delete(Match::Version(etag(9))) };
    assert!(refused(&mut ledger, stale.clone(), 412).is_ok());
    assert!(done(&mut ledger, vec![stale], &[None]).is_err());
}

#[test]
fn a_written_entity_without_an_etag_is_found() {
    assert!(done(&mut ledger(), vec![replace("a", "newer")], &[None]).is_err());
    assert!(done(&mut ledger(), vec![replace("a", "newer")], &[]).is_err());
}
