//! Block blobs: whole, with conditions.

use tablerock_client::{BlobServiceClient, ContainerClient, ErrorCode};

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
        assert!(blob.get_if_exists().await.unwrap().is_none());
        let etag = blob.put(content.clone()).content_type("application/json").await.unwrap();
        let got = blob.get().await.unwrap();
        assert_eq!((got.content.as_ref(), got.content_type.as_str()), (content.as_slice(), "application/json"));
        assert_eq!(got.etag, etag);
        blob.delete().await.unwrap();
        assert!(!blob.delete().if_exists().await.unwrap());
        assert_eq!(blob.get().await.unwrap_err().code(), Some(ErrorCode::BlobNotFound));
    }
}

#[tokio::test]
async fn conditions_hold_against_a_version_or_its_absence() {
    let account = Account::open().await;
    let blob = container(&account).await.blob("b");
    let first = blob.put("1").if_absent().await.unwrap();
    assert!(blob.put("2").if_absent().await.unwrap_err().is_conflict());
    let second = blob.put("2").if_match(first.clone()).await.unwrap();
    assert!(blob.put("3").if_match(first.clone()).await.unwrap_err().is_changed());
    assert!(blob.delete().if_match(first).await.unwrap_err().is_changed());
    assert_eq!(blob.get().await.unwrap().content, "2");
    assert!(blob.delete().if_match(second.clone()).if_exists().await.unwrap());
    assert!(blob.put("4").if_match(second).await.unwrap_err().is_changed());
}

#[tokio::test]
async fn containers_are_created_and_deleted_once() {
    let account = Account::open().await;
    let container = service(&account).container(unique_name());
    let error = container.blob("x").get_if_exists().await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::ContainerNotFound));
    assert!(container.create_if_not_exists().await.unwrap());
    assert!(!container.create_if_not_exists().await.unwrap());
    assert!(container.delete_container_if_exists().await.unwrap());
    assert!(!container.delete_container_if_exists().await.unwrap());
}
