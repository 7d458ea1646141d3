//! Shared access signatures for queues, containers and blobs, made here and held against the server: by their own
//! terms, by a stored policy, by both, and for the whole account.

use tablerock_client::blob::ContainerAccess;
use tablerock_client::sas::{
    AccountPermissions, AccountSas, BlobPermissions, BlobSas, QueuePermissions, QueueSas, ResponseHeaders,
    SignedResourceTypes, SignedServices, StoredAccessPolicy,
};
use tablerock_client::{
    BlobServiceClient, ConnectionString, ContainerClient, Credential, DateTime, Error, ErrorCode, QueueClient,
    QueueServiceClient, SharedKey, TryStreamExt as _,
};

use crate::support::{Account, unique_name};

fn expiry() -> DateTime {
    DateTime::parse("2040-01-01T00:00:00Z").unwrap()
}

fn key(account: &Account) -> SharedKey {
    let connection = ConnectionString::parse(account.connection_string()).unwrap();
    let Credential::SharedKey(key) = connection.credential() else { panic!("the tests need the account's key") };
    key.clone()
}

async fn queue(account: &Account) -> QueueClient {
    let service = QueueServiceClient::from_connection_string(account.connection_string()).unwrap();
    let queue = service.queue(unique_name());
    queue.create().await.unwrap();
    queue
}

async fn container(account: &Account) -> ContainerClient {
    let service = BlobServiceClient::from_connection_string(account.connection_string()).unwrap();
    let container = service.container(unique_name());
    container.create().await.unwrap();
    container
}

/// A policy that leaves to its signatures what is `None`.
fn policies<P>(expiry: Option<DateTime>, permissions: Option<P>) -> Vec<StoredAccessPolicy<P>> {
    let mut policy = StoredAccessPolicy::new("guests");
    (policy.expiry, policy.permissions) = (expiry, permissions);
    vec![policy]
}

fn is_refused<T>(outcome: Result<T, Error>) -> bool {
    outcome.is_err_and(|error| error.status() == Some(403))
}

#[tokio::test]
async fn a_queue_s_signature_gives_its_permissions_and_no_more() {
    let account = Account::open().await;
    let queue = queue(&account).await;
    let adder = queue.with_credential(queue.sas(QueuePermissions::ADD, expiry()).sign().unwrap()).unwrap();
    adder.send_message("x").await.unwrap();
    assert!(is_refused(adder.receive_message().await));
    let both = QueuePermissions::READ | QueuePermissions::PROCESS;
    let worker = QueueSas::new(&key(&account), queue.name(), both, expiry()).unwrap().sign().unwrap();
    let worker = queue.with_credential(worker).unwrap();
    assert_eq!(worker.peek_messages(1).await.unwrap()[0].text, "x");
    let message = worker.receive_message().await.unwrap().unwrap();
    worker.delete_message(&message).await.unwrap();
    assert!(is_refused(worker.send_message("y").await));
    let late = queue.sas(both, expiry()).starts_on(expiry()).sign().unwrap();
    assert!(is_refused(queue.with_credential(late).unwrap().receive_message().await));
    let other = self::queue(&account).await;
    let stranger = other.with_credential(queue.sas(both, expiry()).sign().unwrap()).unwrap();
    assert!(is_refused(stranger.receive_message().await));
}

#[tokio::test]
async fn a_queue_s_policy_and_signature_share_the_terms_as_they_like() {
    let account = Account::open().await;
    let queue = queue(&account).await;
    let by = || queue.sas_from_policy("guests");
    let read = QueuePermissions::READ;
    for (policy, sas) in [
        (policies(Some(expiry()), Some(read)), by()),
        (policies(Some(expiry()), None), by().permissions(read)),
        (policies(None, Some(read)), by().expires_on(expiry())),
        (policies(None, None), queue.sas(read, expiry()).policy("guests")),
        (policies(Some(expiry()), Some(read)), QueueSas::from_policy(&key(&account), queue.name(), "guests").unwrap()),
    ] {
        queue.set_access_policies(&policy).await.unwrap();
        let guest = queue.with_credential(sas.sign().unwrap()).unwrap();
        assert!(guest.peek_messages(1).await.unwrap().is_empty(), "{policy:?}");
        assert!(is_refused(guest.send_message("x").await));
        queue.set_access_policies(&[]).await.unwrap();
        assert_eq!(guest.peek_messages(1).await.unwrap_err().code(), Some(ErrorCode::AuthenticationFailed));
    }
    // What is said twice is said too often.
    queue.set_access_policies(&policies(Some(expiry()), Some(read))).await.unwrap();
    let twice = queue.with_credential(by().permissions(read).sign().unwrap()).unwrap();
    assert!(is_refused(twice.peek_messages(1).await));
}

#[tokio::test]
async fn a_container_s_signature_is_good_for_all_its_blobs() {
    let account = Account::open().await;
    let container = container(&account).await;
    let read = BlobPermissions::READ;
    let sas = container.sas(read | BlobPermissions::CREATE | BlobPermissions::LIST, expiry()).sign().unwrap();
    let guest = container.with_credential(sas).unwrap();
    guest.blob("a/b").upload("x").if_not_exists().await.unwrap();
    assert_eq!(guest.blob("a/b").download().await.unwrap().content, "x");
    assert_eq!(guest.list_blobs().stream().try_collect::<Vec<_>>().await.unwrap().len(), 1);
    assert!(is_refused(guest.blob("a/b").delete().await));
    let reader = BlobSas::for_container(&key(&account), container.name(), read, expiry()).unwrap().sign().unwrap();
    let reader = container.with_credential(reader).unwrap();
    assert_eq!(reader.blob("a/b").download().await.unwrap().content, "x");
    assert!(is_refused(reader.list_blobs().page(None).await));
}

#[tokio::test]
async fn a_blob_s_signature_is_good_for_it_alone() {
    let account = Account::open().await;
    let container = container(&account).await;
    for name in ["a b/é", "other"] {
        container.blob(name).upload(name).await.unwrap();
    }
    let blob = container.blob("a b/é");
    let read = BlobPermissions::READ;
    for sas in [
        blob.sas(read, expiry()),
        BlobSas::for_blob(&key(&account), container.name(), blob.name(), read, expiry()).unwrap(),
    ] {
        let sas = sas.sign().unwrap();
        let guest = container.with_credential(sas.clone()).unwrap();
        assert_eq!(guest.blob("a b/é").download().await.unwrap().content, "a b/é");
        assert!(is_refused(guest.blob("other").download().await));
        assert!(is_refused(blob.with_credential(sas).unwrap().upload("y").await));
    }
    let headers = ResponseHeaders { content_type: Some("text/csv".into()), ..ResponseHeaders::default() };
    let told = blob.sas(read, expiry()).response_headers(headers).sign().unwrap();
    assert_eq!(blob.with_credential(told).unwrap().download().await.unwrap().content_type, "text/csv");
    // A signature for a snapshot does not reach the blob itself.
    let snapshot = blob.sas(read, expiry()).snapshot("2020-01-01T00:00:00.0000000Z").sign().unwrap();
    assert!(snapshot.as_str().contains("sr=bs"));
    assert!(is_refused(blob.with_credential(snapshot).unwrap().download().await));
}

#[tokio::test]
async fn a_container_s_policy_serves_its_blobs_as_well() {
    let account = Account::open().await;
    let container = container(&account).await;
    let blob = container.blob("b");
    blob.upload("x").await.unwrap();
    let read = BlobPermissions::READ;
    for (policy, sas) in [
        (policies(Some(expiry()), Some(read)), container.sas_from_policy("guests")),
        (policies(Some(expiry()), Some(read)), blob.sas_from_policy("guests")),
        (policies(None, Some(read)), blob.sas_from_policy("guests").expires_on(expiry())),
        (policies(Some(expiry()), None), container.sas_from_policy("guests").permissions(read)),
        (policies(None, None), blob.sas(read, expiry()).policy("guests")),
        (
            policies(Some(expiry()), Some(read)),
            BlobSas::from_policy(&key(&account), container.name(), "guests").unwrap(),
        ),
    ] {
        container
            .set_access_policies(&ContainerAccess { policies: policy, ..ContainerAccess::default() })
            .await
            .unwrap();
        let guest = blob.with_credential(sas.sign().unwrap()).unwrap();
        assert_eq!(guest.download().await.unwrap().content, "x");
        assert!(is_refused(guest.upload("y").await));
        container.set_access_policies(&ContainerAccess::default()).await.unwrap();
        assert!(is_refused(guest.download().await));
    }
}

#[tokio::test]
async fn an_account_s_signature_reaches_the_services_that_it_names() {
    let account = Account::open().await;
    let (queue, container) = (queue(&account).await, container(&account).await);
    let (levels, all) = (SignedResourceTypes::parse("sco").unwrap(), AccountPermissions::parse("rwdlacup").unwrap());
    let sas = |services| AccountSas::new(&key(&account), services, levels, all, expiry()).sign().unwrap();
    let (of_queues, of_blobs) = (sas(SignedServices::QUEUE), sas(SignedServices::BLOB));
    let worker = queue.with_credential(of_queues.clone()).unwrap();
    worker.send_message("x").await.unwrap();
    assert_eq!(worker.receive_message().await.unwrap().unwrap().text, "x");
    let writer = container.with_credential(of_blobs.clone()).unwrap();
    writer.blob("b").upload("x").await.unwrap();
    assert_eq!(writer.blob("b").download().await.unwrap().content, "x");
    let mismatch = Some(ErrorCode::AuthorizationServiceMismatch);
    assert_eq!(queue.with_credential(of_blobs).unwrap().receive_message().await.unwrap_err().code(), mismatch);
    assert_eq!(container.with_credential(of_queues).unwrap().blob("b").download().await.unwrap_err().code(), mismatch);
}

#[test]
fn a_name_that_nothing_can_have_is_told_when_it_is_signed() {
    let text = "UseDevelopmentStorage=true";
    let queue = QueueServiceClient::from_connection_string(text).unwrap().queue("No Queue");
    let container = BlobServiceClient::from_connection_string(text).unwrap().container("No Container");
    assert!(queue.sas(QueuePermissions::READ, expiry()).sign().is_err());
    assert!(container.sas(BlobPermissions::READ, expiry()).sign().is_err());
    assert!(container.blob("b").sas_from_policy("x").expires_on(expiry()).sign().is_err());
}
