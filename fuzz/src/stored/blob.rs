//! Records of containers and blobs, of uncommitted blocks, and notes of what is to be tidied up.

use std::sync::Arc;

use bytes::Bytes;
use tablerock_kv::{ManualClock, Rng, Store};
use tablerock_protocol::Metadata;
use tablerock_protocol::blob::{ByteRange, ContentHeaders, Tags};
use tablerock_services::BlobService;
use tablerock_services::blob::{
    BlobAddress, BlobKind, BlobQuery, ContainerQuery, DeleteSnapshots, NewBlob, PublicAccess, ReadTerms, WhichBlocks,
    WriteTerms, keys,
};
use tablerock_services::namespace::Namespace;

use super::{replace, unless_corrupt, unless_refused};
use crate::known_table::{ACCOUNT, NOON};

const CONTAINER: &str = "known";
const AT: BlobAddress<'_> = BlobAddress { account: ACCOUNT, container: CONTAINER, name: "known/blob" };

/// The id of the first container of a store.
const FIRST_CONTAINER: u64 = 1;

/// More than this of a blob is not read: a record may say that it has any length.
const PIECES_READ_MAX: usize = 100;

pub(super) async fn check_container(stored: &Bytes) {
    let (store, service) = known_blob().await;
    replace(&store, &Namespace::Containers.directory(ACCOUNT), b"", stored).await;

    let container = unless_corrupt(service.container(ACCOUNT, CONTAINER, None).await);
    unless_corrupt(service.list_containers(ACCOUNT, &ContainerQuery::default()).await);
    let Some(container) = container else { return };
    let Some(_) = unless_corrupt(container.policies().map(drop)) else { return };
    let metadata = container.metadata.clone();
    let changed =
        unless_refused(service.set_container_metadata(ACCOUNT, CONTAINER, &Default::default(), None, &metadata).await);
    if let Some(changed) = changed {
        assert!(changed > container.changed, "a change has a new ETag");
        let again = service.container(ACCOUNT, CONTAINER, None).await.expect("just written");
        assert_eq!(again.metadata, metadata);
    }
}

pub(super) async fn check_blob(stored: &Bytes) {
    let (store, service) = known_blob().await;
    replace(&store, &keys::blob_partition(FIRST_CONTAINER, AT.name), keys::BASE_KEY, stored).await;

    let terms = ReadTerms::default();
    let blob = unless_corrupt(service.blob(AT, None, &terms).await);
    let query = BlobQuery { items_max: 10, with_snapshots: true, with_uncommitted: true, ..BlobQuery::default() };
    let listed = unless_corrupt(service.list_blobs(ACCOUNT, CONTAINER, &query).await);
    assert_eq!(blob.is_some(), listed.is_some());
    let Some(blob) = blob else { return };
    let whole = |_: &_| Ok(ByteRange { offset: 0, length: blob.length });
    if let Some((_, _, mut reader)) = unless_failed(service.download(AT, None, &terms, whole).await) {
        for _ in 0..PIECES_READ_MAX {
            if !matches!(reader.next().await, Ok(Some(_))) {
                break;
            }
        }
    }
    unless_failed(service.block_list(AT, None, &terms, WhichBlocks::All).await);

    let terms = WriteTerms::default();
    if let Some(amended) = unless_failed(service.set_blob_metadata(AT, &terms, &blob.metadata).await) {
        assert!(amended.changed > blob.changed, "a change has a new ETag");
        assert_eq!(amended.metadata, blob.metadata);
    }
    unless_failed(service.snapshot_blob(AT, &terms, None).await);
    unless_failed(service.delete_blob(AT, &terms, DeleteSnapshots::Include).await);
}

/// A note of anything is settled, or the service says at its start that it is corrupt.
pub(super) async fn check_note(stored: &Bytes) {
    let (store, service) = known_blob().await;
    service.close().await.expect("a memory engine");
    let key = keys::reclaim_intent_key(1);
    let put = |tx: &mut tablerock_kv::Transaction| {
        tx.put(key.clone(), stored.clone());
        Ok::<_, tablerock_kv::Error>(())
    };
    store.transact(&keys::intents_partition(), vec![], put).await.expect("a memory engine takes anything");
    let Some(service) = unless_corrupt(open(&store).await) else { return };
    let blob = service.blob(AT, None, &ReadTerms::default()).await.expect("no note removes what a blob refers to");
    assert_eq!(blob.length, KNOWN.len() as u64);
}

const KNOWN: &[u8] = b"what is known";

async fn open(store: &Store) -> tablerock_services::Result<BlobService> {
    BlobService::open(store.clone(), Arc::new(ManualClock::at(NOON)), Rng::seeded(1)).await
}

/// A container with a blob.
async fn known_blob() -> (Store, BlobService) {
    let store = Store::in_memory();
    let service = open(&store).await.expect("an empty store");
    let metadata = Metadata::default();
    service.create_container(ACCOUNT, CONTAINER, &metadata, PublicAccess::Private).await.expect("an empty store");
    let mut source = Some(Bytes::from_static(KNOWN));
    let received = service.receive_blob(AT, &mut source, false).await.expect("a few bytes");
    let (headers, tags) = (ContentHeaders::default(), Tags::default());
    let new = NewBlob { kind: BlobKind::Block, headers, metadata, tags, tier: None };
    service.put_blob(AT, &WriteTerms::default(), &new, received).await.expect("an empty container");
    (store, service)
}

/// A record may refer to content that is not there, which the store then reports as it would a lost one.
fn unless_failed<T>(result: tablerock_services::Result<T>) -> Option<T> {
    match result {
        Err(tablerock_services::Error::Store(error)) if error.kind() == tablerock_kv::ErrorKind::Unavailable => None,
        other => unless_refused(other),
    }
}
