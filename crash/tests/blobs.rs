//! The oracle of blobs rejects what must not happen, and accepts what may.

use std::sync::Arc;

use tablerock_crash::blobs::{
    Act, BlobAttempt, BlobLedger, BlobVerdict, BlobVersion, Condition, Kind, ObservedBlobs, SeenBlob, settle_all,
};
use tablerock_crash::history::Book as _;

const NAME: &str = "b";

fn attempt(act: Act) -> BlobAttempt {
    BlobAttempt { name: NAME.to_owned(), act }
}

fn put(mark: &str) -> BlobAttempt {
    attempt(Act::Put { bytes: content(mark), mark: mark.to_owned(), condition: Condition::None })
}

/// Content that goes with a mark.
fn content(mark: &str) -> Arc<Vec<u8>> {
    Arc::new(mark.repeat(100).into_bytes())
}

fn done(ledger: &mut BlobLedger, attempt: &BlobAttempt, etag: &str) -> Result<(), String> {
    ledger.answered(attempt, &BlobVerdict::Done { etag: Some(etag.to_owned()), snapshot: Some(etag.to_owned()) })
}

/// A ledger with one blob that was written as `one`.
fn ledger() -> BlobLedger {
    let mut ledger = BlobLedger::default();
    done(&mut ledger, &put("one"), "e1").expect("a new blob");
    ledger
}

fn version(mark: &str, etag: &str) -> BlobVersion {
    let (mark, etag) = (mark.to_owned(), Some(etag.to_owned()));
    BlobVersion { kind: Kind::Block, bytes: content(&mark), mark, etag, blocks: vec![] }
}

fn shown(current: Option<BlobVersion>) -> ObservedBlobs {
    let seen = SeenBlob { current, ..SeenBlob::default() };
    ObservedBlobs { blobs: [(NAME.to_owned(), seen)].into() }
}

fn violations(ledger: &mut BlobLedger, observed: &ObservedBlobs) -> Vec<String> {
    settle_all(&mut [ledger], observed).1
}

/// The one thing that is found.
fn found(ledger: &mut BlobLedger, observed: &ObservedBlobs) -> String {
    let found = violations(ledger, observed);
    assert!(!found.is_empty(), "nothing was found");
    found.concat()
}

#[test]
fn what_was_acknowledged_and_is_there_is_fine() {
    assert_eq!(violations(&mut ledger(), &shown(Some(version("one", "e1")))), [""; 0]);
}

#[test]
fn a_lost_blob_and_one_that_should_not_be_there_are_found() {
    assert!(found(&mut ledger(), &ObservedBlobs::default()).contains("is gone"));
    let observed = shown(Some(version("one", "e1")));
    assert!(found(&mut BlobLedger::default(), &observed).contains("should not be"));
    let mut ledger = ledger();
    done(&mut ledger, &attempt(Act::Delete { with_snapshots: true }), "").expect("it was there");
    assert!(found(&mut ledger, &observed).contains("should not be"));
}

#[test]
fn an_older_version_another_etag_and_other_metadata_are_found() {
    let mut newer = ledger();
    done(&mut newer, &put("two"), "e2").expect("a new version");
    assert!(found(&mut newer.clone(), &shown(Some(version("one", "e1")))).contains("from byte 0 on"));
    assert!(found(&mut newer.clone(), &shown(Some(version("two", "e1")))).contains("ETag"));
    let other = BlobVersion { mark: "one".to_owned(), ..version("two", "e2") };
    assert!(found(&mut newer, &shown(Some(other))).contains("expected"));
}

#[test]
fn content_that_is_cut_short_or_changed_is_found() {
    let whole = version("one", "e1");
    let short = BlobVersion { bytes: Arc::new(whole.bytes[..200].to_vec()), ..whole.clone() };
    assert!(found(&mut ledger(), &shown(Some(short))).contains("(300, 200) bytes"));
    let mut bytes = whole.bytes.to_vec();
    bytes[250] ^= 1;
    let changed = BlobVersion { bytes: Arc::new(bytes), ..whole };
    assert!(found(&mut ledger(), &shown(Some(changed))).contains("from byte 250 on"));
}

#[test]
fn an_unanswered_write_is_there_or_not_and_stays_so() {
    let open = || {
        let mut ledger = ledger();
        ledger.unanswered(&put("two"));
        ledger
    };
    let (before, after) = (shown(Some(version("one", "e1"))), shown(Some(version("two", "e2"))));
    for (first, second) in [(&before, &after), (&after, &before)] {
        let mut ledger = open();
        assert_eq!(violations(&mut ledger, first), [""; 0]);
        assert_eq!(violations(&mut ledger, first), [""; 0]);
        assert!(!violations(&mut ledger, second).is_empty(), "it has changed its mind");
    }
    let half = BlobVersion { bytes: content("one"), ..version("two", "e2") };
    assert!(found(&mut open(), &shown(Some(half))).contains("neither as before"));
}

#[test]
fn a_block_list_is_whole_or_not_there() {
    let mut ledger = ledger();
    let ids = ["0001", "0002"];
    for id in ids {
        done(&mut ledger, &attempt(Act::PutBlock { id: id.to_owned(), bytes: content(id) }), "").expect("a block");
    }
    let uncommitted: SeenBlob = SeenBlob {
        current: Some(version("one", "e1")),
        uncommitted: ids.map(|id| (id.to_owned(), 400)).into(),
        ..SeenBlob::default()
    };
    let observed = |seen: &SeenBlob| ObservedBlobs { blobs: [(NAME.to_owned(), seen.clone())].into() };
    assert_eq!(violations(&mut ledger.clone(), &observed(&uncommitted)), [""; 0]);
    let one_lost = SeenBlob { uncommitted: [("0001".to_owned(), 400)].into(), ..uncommitted.clone() };
    assert!(found(&mut ledger.clone(), &observed(&one_lost)).contains("uncommitted blocks"));

    ledger.unanswered(&attempt(Act::PutBlockList { ids: ids.map(str::to_owned).to_vec(), mark: "two".to_owned() }));
    let bytes = Arc::new([content("0001").as_slice(), &content("0002")].concat());
    let blocks = ids.map(|id| (id.to_owned(), 400)).to_vec();
    let committed = BlobVersion { bytes, blocks, ..version("two", "e2") };
    assert_eq!(violations(&mut ledger.clone(), &shown(Some(committed.clone()))), [""; 0]);
    assert_eq!(violations(&mut ledger.clone(), &observed(&uncommitted)), [""; 0]);
    let half = BlobVersion { bytes: content("0001"), ..committed };
    assert!(found(&mut ledger, &shown(Some(half))).contains("neither as before"));
}

#[test]
fn a_snapshot_keeps_what_the_blob_was() {
    let mut ledger = ledger();
    done(&mut ledger, &attempt(Act::Snapshot), "t1").expect("a snapshot");
    done(&mut ledger, &put("two"), "e2").expect("a new version");
    let seen = |snapshot: BlobVersion| {
        let snapshots = [("t1".to_owned(), snapshot)].into();
        let seen = SeenBlob { current: Some(version("two", "e2")), snapshots, ..SeenBlob::default() };
        ObservedBlobs { blobs: [(NAME.to_owned(), seen)].into() }
    };
    assert_eq!(violations(&mut ledger.clone(), &seen(version("one", "e1"))), [""; 0]);
    assert!(found(&mut ledger.clone(), &seen(version("two", "e2"))).contains("snapshot t1"));
    assert!(found(&mut ledger, &shown(Some(version("two", "e2")))).contains("snapshot t1"));
}

#[test]
fn an_etag_is_never_used_twice() {
    let mut ledger = ledger();
    assert!(done(&mut ledger, &put("two"), "e1").expect_err("seen before").contains("already the ETag"));
}

#[test]
fn answers_that_cannot_be_right_are_found() {
    let refused = |attempt: &BlobAttempt| ledger().answered(attempt, &BlobVerdict::Refused(404)).is_err();
    assert!(refused(&put("two")), "nothing forbade it");
    let append = attempt(Act::Append { bytes: content("x"), position: 7 });
    assert!(done(&mut ledger(), &append, "e2").is_err(), "the blob is longer than that");
    let unknown = attempt(Act::PutBlockList { ids: vec!["0009".to_owned()], mark: "m".to_owned() });
    assert!(done(&mut ledger(), &unknown, "e2").is_err(), "there is no such block");
}
