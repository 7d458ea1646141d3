//! Single blobs: conditions, leases, blocks that grow old, ranges and lists.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::time::Duration;

use tablerock_kv::{Bytes, Store};
use tablerock_protocol::blob::{Conditions, EtagList, LeaseAction, LeaseDuration, LeaseId, Md5, strong_etag};
use tablerock_protocol::xml::BlockSource;
use tablerock_protocol::{ErrorCode, Metadata, Uuid};
use tablerock_services::blob::{
    AppendTerms, BlobKind, BlobQuery, BlobService, ContainerQuery, DeleteSnapshots, LeaseOutcome, ListedBlob,
    PublicAccess, ReadTerms, WhichBlocks, WriteTerms,
};
use tablerock_testkit::blob_model::*;

async fn service() -> BlobService {
    service_with_container(&Store::in_memory(), manual_clock()).await
}

fn if_none_match_any() -> WriteTerms {
    let conditions = Conditions { if_none_match: Some(EtagList::Any), ..Conditions::default() };
    WriteTerms { conditions, ..WriteTerms::default() }
}

#[tokio::test]
async fn a_blob_is_created_once_and_then_compared_and_swapped() {
    let service = service().await;
    let first = put_with(&service, "b", b"one", &if_none_match_any()).await.unwrap();
    assert_eq!(code(put_with(&service, "b", b"two", &if_none_match_any()).await), ErrorCode::BlobAlreadyExists);
    let if_match = |etag: &str| WriteTerms {
        conditions: Conditions { if_match: Some(EtagList::parse(etag).unwrap()), ..Conditions::default() },
        ..WriteTerms::default()
    };
    let second = put_with(&service, "b", b"two", &if_match(&strong_etag(first))).await.unwrap();
    assert!(second > first);
    assert_eq!(code(put_with(&service, "b", b"3", &if_match(&strong_etag(first))).await), ErrorCode::ConditionNotMet);
    assert_eq!(code(put_with(&service, "new", b"3", &if_match("*")).await), ErrorCode::ConditionNotMet);
    let only_create = WriteTerms { may_only_create: true, ..WriteTerms::default() };
    let refused = put_with(&service, "b", b"3", &only_create).await;
    assert_eq!(code(refused), ErrorCode::UnauthorizedBlobOverwrite);
    assert_eq!(read(&service, "b", None).await.unwrap(), "two");
}

#[tokio::test]
async fn checksums_are_those_of_the_content_however_large() {
    let service = service().await;
    for length in [0, 10, 16 << 10, (16 << 10) + 1, 1 << 20] {
        let content: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
        let received = receive(&service, "b", &content).await.unwrap();
        assert_eq!(received.digests.md5, Some(Md5::of(&content)), "{length}");
        assert_eq!(received.length, length as u64);
    }
    service.rest().await;
}

#[tokio::test]
async fn a_leased_blob_is_written_by_whoever_has_the_lease() {
    let clock = manual_clock();
    let service = service_with_container(&Store::in_memory(), clock.clone()).await;
    put(&service, "b", b"one").await.unwrap();
    let acquire = LeaseAction::Acquire { duration: LeaseDuration::Seconds(15), proposed: None };
    let terms = WriteTerms::default();
    let (before, LeaseOutcome::Acquired(id)) = service.lease_blob(at("b"), &terms, acquire).await.unwrap() else {
        panic!("a lease")
    };
    assert_eq!(code(put(&service, "b", b"two").await), ErrorCode::LeaseIdMissing);
    assert_eq!(code(put_block(&service, "b", 1, b"x").await), ErrorCode::LeaseIdMissing);
    let delete = service.delete_blob(at("b"), &terms, DeleteSnapshots::Refuse).await;
    assert_eq!(code(delete), ErrorCode::LeaseIdMissing);
    let with = |id| WriteTerms { lease: Some(id), ..WriteTerms::default() };
    let other = LeaseId(Uuid::from_bytes([1; 16]));
    let mismatch = put_with(&service, "b", b"two", &with(other)).await;
    assert_eq!(code(mismatch), ErrorCode::LeaseIdMismatchWithBlobOperation);
    let blob = service.blob(at("b"), None, &ReadTerms::default()).await.unwrap();
    assert_eq!(blob.changed, before, "a lease does not count as a change");
    put_with(&service, "b", b"two", &with(id)).await.unwrap();

    clock.advance(Duration::from_secs(15));
    assert_eq!(code(put_with(&service, "b", b"x", &with(id)).await), ErrorCode::LeaseLost);
    put(&service, "b", b"three").await.unwrap();
    let renew = service.lease_blob(at("b"), &terms, LeaseAction::Renew { id }).await;
    assert_eq!(code(renew), ErrorCode::LeaseIdMismatchWithLeaseOperation, "the write ended the lease for good");
}

#[tokio::test]
async fn blocks_have_ids_of_one_length_and_die_after_a_week() {
    let clock = manual_clock();
    let store = Store::in_memory();
    let service = service_with_container(&store, clock.clone()).await;
    put_block(&service, "b", 1, b"one").await.unwrap();
    let odd = tablerock_protocol::blob::BlockId::from_bytes(b"longer");
    let received = service.receive_block(at("b"), &mut Some(Bytes::from("x")), false).await.unwrap();
    let refused = service.put_block(at("b"), None, &odd, received).await;
    assert_eq!(code(refused), ErrorCode::InvalidBlobOrBlock);

    clock.advance(Duration::from_secs(4 * 24 * 3600));
    put_block(&service, "b", 2, b"two").await.unwrap();
    clock.advance(Duration::from_secs(4 * 24 * 3600));
    service.drop_old_blocks().await.unwrap();
    let lists = service.block_list(at("b"), None, &ReadTerms::default(), WhichBlocks::All).await.unwrap();
    assert_eq!(lists.uncommitted.unwrap().len(), 2, "the second block came three days ago");
    clock.advance(Duration::from_secs(8 * 24 * 3600));
    service.drop_old_blocks().await.unwrap();
    service.rest().await;
    let gone = service.block_list(at("b"), None, &ReadTerms::default(), WhichBlocks::All).await;
    assert_eq!(code(gone), ErrorCode::BlobNotFound);
    assert_eq!(records(&store, b"bon").await, []);
}

#[tokio::test]
async fn a_block_list_takes_blocks_from_where_it_says() {
    let service = service().await;
    put_block(&service, "b", 1, b"one").await.unwrap();
    put_block(&service, "b", 2, b"two").await.unwrap();
    use BlockSource::{Committed, Latest, Uncommitted};
    assert_eq!(code(put_list(&service, "b", &[(Committed, 1)]).await), ErrorCode::InvalidBlockList);
    put_list(&service, "b", &[(Latest, 2), (Uncommitted, 1), (Latest, 2)]).await.unwrap();
    assert_eq!(read(&service, "b", None).await.unwrap(), "twoonetwo");
    put_block(&service, "b", 1, b"ONE").await.unwrap();
    put_list(&service, "b", &[(Committed, 1), (Latest, 1), (Committed, 2)]).await.unwrap();
    assert_eq!(read(&service, "b", None).await.unwrap(), "oneONEtwo");
    assert_eq!(code(put_list(&service, "b", &[(Uncommitted, 1)]).await), ErrorCode::InvalidBlockList);
}

#[tokio::test]
async fn appends_meet_their_conditions_and_many_writers_lose_nothing() {
    let service = std::sync::Arc::new(service().await);
    create_append(&service, "log").await.unwrap();
    let append_with = async |terms: AppendTerms| {
        let received = receive(&service, "log", b"line").await.unwrap();
        service.append_block(at("log"), &terms, received).await
    };
    let appended = append_with(AppendTerms { position: Some(0), ..Default::default() }).await.unwrap();
    assert_eq!((appended.offset, appended.blocks), (0, 1));
    let late = append_with(AppendTerms { position: Some(0), ..Default::default() }).await;
    assert_eq!(code(late), ErrorCode::AppendPositionConditionNotMet);
    let long = append_with(AppendTerms { length_max: Some(7), ..Default::default() }).await;
    assert_eq!(code(long), ErrorCode::MaxBlobSizeConditionNotMet);

    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..10u8 {
        let service = service.clone();
        writers.spawn(async move {
            for _ in 0..10 {
                append(&service, "log", &[writer; 100]).await.unwrap();
            }
        });
    }
    while let Some(done) = writers.join_next().await {
        done.unwrap();
    }
    let content = read(&service, "log", None).await.unwrap();
    assert_eq!(content.len(), 4 + 100 * 100);
    assert!(content[4..].chunks(100).all(|line| line.iter().all(|byte| *byte == line[0])), "blocks are whole");
    service.seal_blob(at("log"), &WriteTerms::default(), None).await.unwrap();
    assert_eq!(code(append(&service, "log", b"x").await), ErrorCode::BlobIsSealed);
}

#[tokio::test]
async fn lists_fold_names_at_a_delimiter_and_go_on_where_they_ended() {
    let service = service().await;
    for name in ["a", "b/1", "b/2", "b/c/3", "c", "d//e"] {
        put(&service, name, b"x").await.unwrap();
    }
    put_block(&service, "never", 1, b"x").await.unwrap();
    let list = async |prefix: &str, delimiter: Option<&str>, items_max: usize| {
        let (mut names, mut marker) = (Vec::new(), None);
        loop {
            let query = BlobQuery {
                prefix: prefix.to_owned(),
                delimiter: delimiter.map(str::to_owned),
                marker: marker.take(),
                items_max,
                ..Default::default()
            };
            let page = service.list_blobs(ACCOUNT, CONTAINER, &query).await.unwrap();
            assert!(page.entries.len() <= items_max);
            names.extend(page.entries.into_iter().map(|entry| match entry {
                ListedBlob::Prefix(prefix) => format!("{prefix}*"),
                ListedBlob::Blob { name, .. } | ListedBlob::Uncommitted { name } => name,
            }));
            marker = page.next;
            if marker.is_none() {
                return names;
            }
        }
    };
    for items_max in [1, 2, 3, 100] {
        assert_eq!(list("", None, items_max).await, ["a", "b/1", "b/2", "b/c/3", "c", "d//e"]);
        assert_eq!(list("", Some("/"), items_max).await, ["a", "b/*", "c", "d/*"]);
        assert_eq!(list("b/", Some("/"), items_max).await, ["b/1", "b/2", "b/c/*"]);
        assert_eq!(list("d", Some("//"), items_max).await, ["d//*"]);
        assert_eq!(list("x", None, items_max).await, [""; 0]);
    }
    let wrong = BlobQuery { marker: Some("?".to_owned()), items_max: 1, ..Default::default() };
    assert_eq!(code(service.list_blobs(ACCOUNT, CONTAINER, &wrong).await), ErrorCode::InvalidMarker);
}

#[tokio::test]
async fn a_list_passes_over_what_it_does_not_show() {
    let service = service().await;
    create_append(&service, "a").await.unwrap();
    for _ in 0..1_500 {
        append(&service, "a", b"x").await.unwrap();
    }
    for number in 0..30u32 {
        put(&service, &format!("dir/{number}"), b"x").await.unwrap();
    }
    put(&service, "z", b"x").await.unwrap();
    let query = BlobQuery { items_max: 10, delimiter: Some("/".to_owned()), ..Default::default() };
    let page = service.list_blobs(ACCOUNT, CONTAINER, &query).await.unwrap();
    assert_eq!((page.entries.len(), page.next), (3, None));
}

#[tokio::test]
async fn content_for_a_container_that_went_away_is_not_put_into_its_successor() {
    let service = service().await;
    let received = receive(&service, "b", &vec![1; 100_000]).await.unwrap();
    service.delete_container(ACCOUNT, CONTAINER, &Conditions::default(), None).await.unwrap();
    service.create_container(ACCOUNT, CONTAINER, &Metadata::default(), PublicAccess::Private).await.unwrap();
    let put = service.put_blob(at("b"), &WriteTerms::default(), &new_blob(BlobKind::Block), received).await;
    assert_eq!(code(put), ErrorCode::ContainerNotFound);
    assert_eq!(code(read(&service, "b", None).await), ErrorCode::BlobNotFound);
}

#[tokio::test]
async fn containers_are_listed_and_their_names_are_free_at_once() {
    let service = service().await;
    for name in ["alpha", "beta", "$logs"] {
        let metadata = Metadata::default();
        service.create_container(ACCOUNT, name, &metadata, PublicAccess::Blob).await.unwrap();
    }
    let list = async |query: ContainerQuery| {
        let page = service.list_containers(ACCOUNT, &query).await.unwrap();
        (page.containers.into_iter().map(|listed| listed.name).collect::<Vec<_>>(), page.next)
    };
    let all = ContainerQuery { items_max: 10, ..Default::default() };
    assert_eq!(list(all.clone()).await.0, ["alpha", "beta", "photos"]);
    assert_eq!(list(ContainerQuery { with_system: true, ..all.clone() }).await.0[0], "$logs");
    assert_eq!(list(ContainerQuery { prefix: "be".into(), ..all.clone() }).await.0, ["beta"]);
    let (first, next) = list(ContainerQuery { items_max: 1, ..all.clone() }).await;
    assert_eq!((first, next.as_deref()), (vec!["alpha".to_owned()], Some("beta")));
    assert_eq!(list(ContainerQuery { from: next, ..all }).await.0, ["beta", "photos"]);

    put(&service, "b", b"x").await.unwrap();
    let none = Conditions::default();
    service.delete_container(ACCOUNT, CONTAINER, &none, None).await.unwrap();
    assert_eq!(code(put(&service, "b", b"x").await), ErrorCode::ContainerNotFound);
    service.create_container(ACCOUNT, CONTAINER, &Metadata::default(), PublicAccess::Private).await.unwrap();
    assert_eq!(code(read(&service, "b", None).await), ErrorCode::BlobNotFound);
}
