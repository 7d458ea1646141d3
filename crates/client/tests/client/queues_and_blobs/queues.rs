//! Queues: messages in, out, kept, changed and done.

use std::time::Duration;

use tablerock_client::queue::QueueItem;
use tablerock_client::sas::{QueuePermissions, StoredAccessPolicy};
use tablerock_client::{ErrorCode, QueueClient, QueueServiceClient, TryStreamExt as _};

use crate::support::{Account, unique_name};

fn service(account: &Account) -> QueueServiceClient {
    QueueServiceClient::from_connection_string(account.connection_string()).unwrap()
}

async fn queue(account: &Account) -> QueueClient {
    let queue = service(account).queue(unique_name());
    queue.create().await.unwrap();
    queue
}

#[tokio::test]
async fn a_message_is_put_got_and_deleted() {
    let account = Account::open().await;
    let queue = queue(&account).await;
    for text in ["", " <a> & \"b\"\r\n", "東京 😀"] {
        let put = queue.send_message(text).await.unwrap();
        let got = queue.receive_message().await.unwrap().unwrap();
        assert_eq!((got.id.as_str(), got.text.as_str(), got.dequeue_count), (put.id.as_str(), text, 1));
        assert!(queue.receive_message().await.unwrap().is_none());
        queue.delete_message(&got).await.unwrap();
        let error = queue.delete_message(&got).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::MessageNotFound), "{error}");
    }
    assert_eq!(queue.approximate_message_count().await.unwrap(), 0);
}

#[tokio::test]
async fn several_messages_come_in_order_and_can_be_peeked_at_and_cleared() {
    let account = Account::open().await;
    let queue = queue(&account).await;
    for text in ["1", "2", "3"] {
        queue.send_message(text).never_expires().await.unwrap();
    }
    let texts = |messages: Vec<tablerock_client::QueueMessage>| -> Vec<String> {
        messages.into_iter().map(|message| message.text).collect()
    };
    assert_eq!(texts(queue.peek_messages(32).await.unwrap()), ["1", "2", "3"]);
    assert_eq!(texts(queue.receive_messages(2).await.unwrap()), ["1", "2"]);
    assert_eq!(texts(queue.peek_messages(32).await.unwrap()), ["3"]);
    assert_eq!(queue.approximate_message_count().await.unwrap(), 3);
    queue.clear_messages().await.unwrap();
    assert_eq!(queue.approximate_message_count().await.unwrap(), 0);
}

#[tokio::test]
async fn a_message_can_be_kept_changed_and_given_back() {
    let account = Account::open().await;
    let queue = queue(&account).await;
    queue.send_message("first").time_to_live(Duration::from_secs(600)).await.unwrap();
    let got = queue.receive_message().visibility_timeout(Duration::from_millis(300)).await.unwrap().unwrap();
    let kept = queue.update_message_text(&got, "second", Duration::from_secs(30)).await.unwrap();
    assert_ne!(kept.pop_receipt, got.pop_receipt);
    assert!(queue.update_message(&got, Duration::ZERO).await.unwrap_err().is_not_found());
    queue.update_message(&kept, Duration::ZERO).await.unwrap();
    let again = queue.receive_message().await.unwrap().unwrap();
    assert_eq!((again.text.as_str(), again.dequeue_count), ("second", 2));
}

#[tokio::test]
async fn a_message_can_be_put_for_later_and_its_receipt_is_good_at_once() {
    let account = Account::open().await;
    let queue = queue(&account).await;
    let later = queue.send_message("later").visibility_timeout(Duration::from_secs(60)).await.unwrap();
    assert!(queue.receive_message().await.unwrap().is_none());
    queue.delete_message(&later).await.unwrap();
    assert_eq!(queue.approximate_message_count().await.unwrap(), 0);
}

#[tokio::test]
async fn what_is_no_message_is_refused_before_it_is_sent() {
    let account = Account::open().await;
    let queue = queue(&account).await;
    assert!(queue.send_message("\u{1}").await.unwrap_err().status().is_none());
    assert!(queue.send_message("x".repeat(70_000)).await.unwrap_err().status().is_none());
}

#[tokio::test]
async fn queues_are_created_and_deleted_once() {
    let account = Account::open().await;
    let queue = service(&account).queue(unique_name());
    assert!(queue.send_message("x").await.unwrap_err().is_not_found());
    assert!(queue.create_if_not_exists().await.unwrap());
    assert!(!queue.create_if_not_exists().await.unwrap());
    queue.set_metadata(&[("owner".to_owned(), "ann".to_owned())]).await.unwrap();
    assert!(!queue.create_if_not_exists().await.unwrap());
    assert!(queue.delete_queue_if_exists().await.unwrap());
    assert!(!queue.delete_queue_if_exists().await.unwrap());
}

#[tokio::test]
async fn queues_are_listed_with_metadata_and_have_policies() {
    let account = Account::open().await;
    let queue = queue(&account).await;
    let metadata = vec![("color".to_owned(), "red".to_owned())];
    queue.set_metadata(&metadata).await.unwrap();
    let listing = service(&account).list_queues().prefix(queue.name()).page_size(1);
    let listed: Vec<_> = listing.stream().try_collect().await.unwrap();
    assert_eq!(listed, [QueueItem { name: queue.name().to_owned(), metadata }]);
    let policies = [StoredAccessPolicy::new("readers").permissions(QueuePermissions::READ)];
    queue.set_access_policies(&policies).await.unwrap();
    assert_eq!(queue.get_access_policies().await.unwrap(), policies);
}
