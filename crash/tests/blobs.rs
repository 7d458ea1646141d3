//! The model of blobs rejects what must not happen, and accepts what may.

use std::sync::Arc;

use tablerock_crash::blobs::{
    BlobAck, BlobCondition, BlobKind, BlobModel, BlobOperation, BlobVersion, BlobWrite, ObservedBlob, ObservedBlobs,
};
use tablerock_crash::model::{Model as _, Outcome, resolve_all};

const NAME: &str = "b";

fn write(operation: BlobOperation) -> BlobWrite {
    BlobWrite { name: NAME.to_owned(), operation }
}

fn put(mark: &str) -> BlobWrite {
    write(BlobOperation::Put { bytes: content(mark), mark: mark.to_owned(), condition: BlobCondition::None })
}

/// Content that goes with a mark.
fn content(mark: &str) -> Arc<Vec<u8>> {
    Arc::new(mark.repeat(100).into_bytes())
}

fn done(model: &mut BlobModel, write: &BlobWrite, etag: &str) -> Result<(), String> {
    model.on_response(write, &Outcome::Done(BlobAck { etag: Some(etag.to_owned()), snapshot: Some(etag.to_owned()) }))
}

/// A model with one blob that was written as `one`.
fn model() -> BlobModel {
    let mut model = BlobModel::default();
    done(&mut model, &put("one"), "e1").expect("a new blob");
    model
}

fn version(mark: &str, etag: &str) -> BlobVersion {
    let (mark, etag) = (mark.to_owned(), Some(etag.to_owned()));
    BlobVersion { kind: BlobKind::Block, bytes: content(&mark), mark, etag, blocks: vec![] }
}

fn shown(current: Option<BlobVersion>) -> ObservedBlobs {
    let seen = ObservedBlob { current, ..ObservedBlob::default() };
    ObservedBlobs { blobs: [(NAME.to_owned(), seen)].into() }
}

fn violations(model: &mut BlobModel, observed: &ObservedBlobs) -> Vec<String> {
    resolve_all(&mut [model], observed).1
}

/// The one thing that is found.
fn found(model: &mut BlobModel, observed: &ObservedBlobs) -> String {
    let found = violations(model, observed);
    assert!(!found.is_empty(), "nothing was found");
    found.concat()
}

#[test]
fn acknowledged_blobs_that_exist_are_fine() {
    assert_eq!(violations(&mut model(), &shown(Some(version("one", "e1")))), [""; 0]);
}

#[test]
fn a_lost_blob_and_one_that_should_not_be_there_are_found() {
    assert!(found(&mut model(), &ObservedBlobs::default()).contains("is gone"));
    let observed = shown(Some(version("one", "e1")));
    assert!(found(&mut BlobModel::default(), &observed).contains("should not"));
    let mut model = model();
    done(&mut model, &write(BlobOperation::Delete { with_snapshots: true }), "").expect("it was there");
    assert!(found(&mut model, &observed).contains("should not"));
}

#[test]
fn an_older_version_another_etag_and_other_metadata_are_found() {
    let mut newer = model();
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
    assert!(found(&mut model(), &shown(Some(short))).contains("(300, 200) bytes"));
    let mut bytes = whole.bytes.to_vec();
    bytes[250] ^= 1;
    let changed = BlobVersion { bytes: Arc::new(bytes), ..whole };
    assert!(found(&mut model(), &shown(Some(changed))).contains("from byte 250 on"));
}

#[test]
fn an_unacknowledged_write_exists_or_not_and_stays_so() {
    let pending = || {
        let mut model = model();
        model.on_no_response(&put("two"));
        model
    };
    let (before, after) = (shown(Some(version("one", "e1"))), shown(Some(version("two", "e2"))));
    for (first, second) in [(&before, &after), (&after, &before)] {
        let mut model = pending();
        assert_eq!(violations(&mut model, first), [""; 0]);
        assert_eq!(violations(&mut model, first), [""; 0]);
        assert!(!violations(&mut model, second).is_empty(), "it has changed its mind");
    }
    let half = BlobVersion { bytes: content("one"), ..version("two", "e2") };
    assert!(found(&mut pending(), &shown(Some(half))).contains("neither the state before"));
}

#[test]
fn a_block_list_is_whole_or_not_there() {
    let mut model = model();
    let ids = ["0001", "0002"];
    for id in ids {
        done(&mut model, &write(BlobOperation::PutBlock { id: id.to_owned(), bytes: content(id) }), "")
            .expect("a block");
    }
    let uncommitted: ObservedBlob = ObservedBlob {
        current: Some(version("one", "e1")),
        uncommitted: ids.map(|id| (id.to_owned(), 400)).into(),
        ..ObservedBlob::default()
    };
    let observed = |seen: &ObservedBlob| ObservedBlobs { blobs: [(NAME.to_owned(), seen.clone())].into() };
    assert_eq!(violations(&mut model.clone(), &observed(&uncommitted)), [""; 0]);
    let one_lost = ObservedBlob { uncommitted: [("0001".to_owned(), 400)].into(), ..uncommitted.clone() };
    assert!(found(&mut model.clone(), &observed(&one_lost)).contains("uncommitted blocks"));

    model.on_no_response(&write(BlobOperation::PutBlockList {
        ids: ids.map(str::to_owned).to_vec(),
        mark: "two".to_owned(),
    }));
    let bytes = Arc::new([content("0001").as_slice(), &content("0002")].concat());
    let blocks = ids.map(|id| (id.to_owned(), 400)).to_vec();
    let committed = BlobVersion { bytes, blocks, ..version("two", "e2") };
    assert_eq!(violations(&mut model.clone(), &shown(Some(committed.clone()))), [""; 0]);
    assert_eq!(violations(&mut model.clone(), &observed(&uncommitted)), [""; 0]);
    let half = BlobVersion { bytes: content("0001"), ..committed };
    assert!(found(&mut model, &shown(Some(half))).contains("neither the state before"));
}

#[test]
fn a_snapshot_keeps_what_the_blob_was() {
    let mut model = model();
    done(&mut model, &write(BlobOperation::Snapshot), "t1").expect("a snapshot");
    done(&mut model, &put("two"), "e2").expect("a new version");
    let seen = |snapshot: BlobVersion| {
        let snapshots = [("t1".to_owned(), snapshot)].into();
        let seen = ObservedBlob { current: Some(version("two", "e2")), snapshots, ..ObservedBlob::default() };
        ObservedBlobs { blobs: [(NAME.to_owned(), seen)].into() }
    };
    assert_eq!(violations(&mut model.clone(), &seen(version("one", "e1"))), [""; 0]);
    assert!(found(&mut model.clone(), &seen(version("two", "e2"))).contains("snapshot t1"));
    assert!(found(&mut model, &shown(Some(version("two", "e2")))).contains("snapshot t1"));
}

#[test]
fn an_etag_is_never_used_twice() {
    let mut model = model();
    assert!(done(&mut model, &put("two"), "e1").expect_err("seen before").contains("already the ETag"));
}

#[test]
fn impossible_responses_are_found() {
    let rejected = |write: &BlobWrite| model().on_response(write, &Outcome::Rejected(404)).is_err();
    assert!(rejected(&put("two")), "nothing forbade it");
    let append = write(BlobOperation::Append { bytes: content("x"), position: 7 });
    assert!(done(&mut model(), &append, "e2").is_err(), "the blob is longer than that");
    let unknown = write(BlobOperation::PutBlockList { ids: vec!["0009".to_owned()], mark: "m".to_owned() });
    assert!(done(&mut model(), &unknown, "e2").is_err(), "there is no such block");
}
