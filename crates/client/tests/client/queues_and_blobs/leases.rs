//! Leases of blobs and containers.

use std::time::Duration;

use tablerock_client::{BlobServiceClient, ContainerClient, ErrorCode, Uuid};

use crate::support::{Account, unique_name};

const MINUTE: Duration = Duration::from_secs(60);

async fn container(account: &Account) -> ContainerClient {
    let service = BlobServiceClient::from_connection_string(account.connection_string()).unwrap();
    let container = service.container(unique_name());
    container.create().await.unwrap();
    container
}

#[tokio::test]
async fn a_leased_blob_is_written_with_the_lease_only() {
    let account = Account::open().await;
    let blob = container(&account).await.blob("b");
    blob.upload("1").await.unwrap();
    let id = blob.acquire_lease(MINUTE).await.unwrap();
    assert_eq!(blob.get_properties().await.unwrap().lease_state, "leased");
    assert_eq!(blob.upload("2").await.unwrap_err().code(), Some(ErrorCode::LeaseIdMissing));
    blob.upload("2").lease_id(id).await.unwrap();
    blob.set_metadata(&[("a".to_owned(), "b".to_owned())]).lease_id(id).await.unwrap();
    assert_eq!(blob.download().lease_id(id).await.unwrap().content, "2");
    let other = Uuid::from_u128(7);
    assert!(blob.delete().lease_id(other).await.unwrap_err().is_precondition_failed());
    blob.delete().lease_id(id).if_exists().await.unwrap();
}

#[tokio::test]
async fn a_lease_is_renewed_changed_released_and_broken() {
    let account = Account::open().await;
    let container = container(&account).await;
    let blob = container.blob("b");
    blob.upload("1").await.unwrap();
    let proposed = Uuid::from_u128(1);
    assert_eq!(blob.acquire_lease_as(proposed, None).await.unwrap(), proposed);
    assert_eq!(blob.acquire_lease_as(proposed, Some(MINUTE)).await.unwrap(), proposed);
    assert_eq!(blob.renew_lease(proposed).await.unwrap(), proposed);
    let changed = blob.change_lease(proposed, Uuid::from_u128(2)).await.unwrap();
    assert!(blob.acquire_lease(MINUTE).await.unwrap_err().is_conflict());
    blob.release_lease(changed).await.unwrap();
    blob.acquire_infinite_lease().await.unwrap();
    assert_eq!(blob.break_lease(None).await.unwrap(), Duration::ZERO);
    assert_eq!(blob.get_properties().await.unwrap().lease_state, "broken");

    let id = container.acquire_lease(MINUTE).await.unwrap();
    assert_eq!(container.get_properties().await.unwrap().lease_state, "leased");
    assert!(container.delete_container().await.unwrap_err().is_precondition_failed());
    assert!(container.break_lease(Some(Duration::from_secs(5))).await.unwrap() <= Duration::from_secs(5));
    container.release_lease(id).await.unwrap();
    container.delete_container().await.unwrap();
}
