//! Block blobs: whole, with conditions, in pieces and in lists.

use tablerock_client::blob::{BlobHttpHeaders, BlockId, ContainerAccess, ContainerItem, PublicAccess};
use tablerock_client::sas::{BlobPermissions, StoredAccessPolicy};
use tablerock_client::{BlobServiceClient, ContainerClient, ErrorCode, TryStreamExt as _};

use crate::support::{Account, unique_name};

fn service(account: &Account) -> BlobServiceClient {
    BlobServiceClient::from_connection_string(account.connection_string()).unwrap()
}

async fn container(account: &Account) -> ContainerClient {
    let container = service(account).container(unique_name());
    container.create().await.unwrap();
    container
}

#[tokio::test]
async fn a_blob_is_put_got_and_deleted() {
    let account = Account::open().await;
    let container = container(&account).await;
    for (name, content) in
        [("a", Vec::new()), ("employees/Jürgen +1%.json", vec![7; 300_000]), ("x y/'", b"z".to_vec())]
    {
        let blob = container.blob(name);
        assert!(blob.download_if_exists().await.unwrap().is_none());
        let etag = blob.upload(content.clone()).content_type("application/json").await.unwrap();
        let got = blob.download().await.unwrap();
        assert_eq!((got.content.as_ref(), got.content_type.as_str()), (content.as_slice(), "application/json"));
        assert_eq!(got.etag, etag);
        blob.delete().await.unwrap();
        assert!(!blob.delete().if_exists().await.unwrap());
        assert_eq!(blob.download().await.unwrap_err().code(), Some(ErrorCode::BlobNotFound));
    }
}

#[tokio::test]
async fn conditions_hold_against_a_version_or_its_absence() {
    let account = Account::open().await;
    let blob = container(&account).await.blob("b");
    let first = blob.upload("1").if_not_exists().await.unwrap();
    assert!(blob.upload("2").if_not_exists().await.unwrap_err().is_conflict());
    let second = blob.upload("2").if_match(first.clone()).await.unwrap();
    assert!(blob.upload("3").if_match(first.clone()).await.unwrap_err().is_precondition_failed());
    assert!(blob.delete().if_match(first).await.unwrap_err().is_precondition_failed());
    assert_eq!(blob.download().await.unwrap().content, "2");
    assert!(blob.delete().if_match(second.clone()).if_exists().await.unwrap());
    assert!(blob.upload("4").if_match(second).await.unwrap_err().is_precondition_failed());
}

#[tokio::test]
async fn containers_are_created_and_deleted_once() {
    let account = Account::open().await;
    let container = service(&account).container(unique_name());
    let error = container.blob("x").download_if_exists().await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::ContainerNotFound));
    assert!(container.create_if_not_exists().await.unwrap());
    assert!(!container.create_if_not_exists().await.unwrap());
    assert!(container.delete_container_if_exists().await.unwrap());
    assert!(!container.delete_container_if_exists().await.unwrap());
}

#[tokio::test]
async fn a_blob_is_written_by_blocks_and_read_by_ranges() {
    let account = Account::open().await;
    let blob = container(&account).await.blob("large");
    let pieces = [vec![1; 300_000], vec![2; 300_000], vec![3; 7]];
    let ids: Vec<BlockId> = (0..3_u32).map(|number| BlockId::from_bytes(&number.to_be_bytes())).collect();
    for (id, piece) in ids.iter().zip(&pieces) {
        blob.stage_block(id, piece.clone()).await.unwrap();
    }
    assert!(blob.download_if_exists().await.unwrap().is_none());
    let headers = BlobHttpHeaders {
        content_type: "text/plain".to_owned(),
        cache_control: "no-cache".to_owned(),
        content_md5: "AAAAAAAAAAAAAAAAAAAAAA==".to_owned(),
        ..BlobHttpHeaders::default()
    };
    let metadata = vec![("color".to_owned(), "red".to_owned())];
    let etag = blob.commit_block_list(ids).headers(headers.clone()).metadata(metadata.clone()).await.unwrap();
    let whole = pieces.concat();
    for range in [0..10_u64, 299_990..300_010, 600_000..600_007, 600_000..900_000, 5..5] {
        let end = (range.end as usize).min(whole.len());
        let got = blob.download_range(range.clone(), &etag).await.unwrap();
        assert!(got == whole[range.start as usize..end], "{range:?}");
    }
    assert_eq!(blob.download_range(600_007..600_008, &etag).await.unwrap_err().status(), Some(416));
    blob.upload("other").metadata(metadata.clone()).headers(BlobHttpHeaders::default()).await.unwrap();
    assert!(blob.download_range(0..1, &etag).await.unwrap_err().is_precondition_failed());
}

#[tokio::test]
async fn lists_tell_what_there_is_page_by_page() {
    let account = Account::open().await;
    let container = container(&account).await;
    let metadata = vec![("color".to_owned(), "red & blue".to_owned())];
    container.set_metadata(&metadata).await.unwrap();
    let listed: Vec<_> =
        service(&account).list_containers().prefix(container.name()).stream().try_collect().await.unwrap();
    assert_eq!(listed, [ContainerItem { name: container.name().to_owned(), metadata: metadata.clone() }]);

    let names = ["a", "a/b c", "d&<é>", "z"];
    let headers = BlobHttpHeaders {
        content_type: "text/plain".to_owned(),
        content_encoding: "gzip".to_owned(),
        content_language: "de".to_owned(),
        content_disposition: "inline".to_owned(),
        ..BlobHttpHeaders::default()
    };
    for name in names {
        container.blob(name).upload(name).headers(headers.clone()).metadata(metadata.clone()).await.unwrap();
    }
    let first = container.list_blobs().page_size(3).page(None).await.unwrap();
    assert_eq!(first.items.len(), 3);
    let token = first.continuation_token.unwrap().to_string().parse().unwrap();
    let second = container.list_blobs().page_size(3).page(Some(&token)).await.unwrap();
    assert!(second.items.len() == 1 && second.continuation_token.is_none(), "{second:?}");
    let blobs: Vec<_> = container.list_blobs().page_size(1).include_snapshots().stream().try_collect().await.unwrap();
    assert_eq!(blobs.iter().map(|blob| blob.name.as_str()).collect::<Vec<_>>(), names);
    for blob in &blobs {
        let told = BlobHttpHeaders { content_md5: String::new(), ..BlobHttpHeaders::from(blob) };
        assert_eq!((told, &blob.metadata), (headers.clone(), &metadata));
        assert_eq!((blob.length, blob.blob_type.as_str()), (blob.name.len() as u64, "BlockBlob"));
        assert!(!blob.content_md5.is_empty() && !blob.etag.is_empty());
    }
    assert!(container.list_blobs().prefix("d").stream().try_collect::<Vec<_>>().await.unwrap().len() == 1);
}

#[tokio::test]
async fn access_to_a_container_is_set_and_told() {
    let account = Account::open().await;
    let container = container(&account).await;
    assert_eq!(container.get_access_policies().await.unwrap(), ContainerAccess::default());
    let policy = StoredAccessPolicy::new("readers").permissions(BlobPermissions::READ);
    for public in [PublicAccess::Blob, PublicAccess::Container, PublicAccess::None] {
        let access = ContainerAccess { public_access: public, policies: vec![policy.clone()] };
        container.set_access_policies(&access).await.unwrap();
        assert_eq!(container.get_access_policies().await.unwrap(), access);
    }
}
