//! The rules of messages, one by one. `queue_random.rs` mixes them.

use std::time::Duration;

use crate::support::manual_clock;
use tablerock_kv::{Clock, Range, ScanLimits, Store, TICKS_PER_SECOND};
use tablerock_protocol::{DateTime, ErrorCode};
use tablerock_services::QueueService;
use tablerock_services::queue::{Message, MessageUpdate, NewMessage, TimeToLive};
use tablerock_testkit::queue_model::{ACCOUNT, code, jobs, message, service_on, service_with_queue};

async fn get_one(service: &QueueService, seconds: u32) -> Option<Message> {
    service.get_messages(ACCOUNT, &jobs(), 1, seconds).await.expect("a list").pop()
}

async fn put(service: &QueueService, text: &str, visibility_seconds: u32, time_to_live: TimeToLive) -> Message {
    let new = NewMessage { text: text.to_owned(), visibility_seconds, time_to_live };
    service.put_message(ACCOUNT, &jobs(), new).await.expect("a message is put")
}

#[tokio::test]
async fn messages_come_first_in_first_out_and_returned_ones_go_behind() {
    let clock = manual_clock();
    let service = service_with_queue(&Store::in_memory(), clock.clone()).await;
    for text in ["a", "b", "c"] {
        put(&service, text, 0, TimeToLive::Forever).await;
    }
    assert_eq!(get_one(&service, 5).await.unwrap().text, "a");
    clock.advance(Duration::from_secs(5));
    let texts: Vec<_> = service.peek_messages(ACCOUNT, &jobs(), 32).await.unwrap();
    assert_eq!(texts.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["b", "c", "a"]);
}

#[tokio::test]
async fn a_receipt_holds_until_the_message_is_given_out_again_and_not_only_until_its_timeout() {
    let clock = manual_clock();
    let service = service_with_queue(&Store::in_memory(), clock.clone()).await;
    let sent = put(&service, "a", 0, TimeToLive::Forever).await;
    let first = get_one(&service, 5).await.unwrap();
    let stale = service.delete_message(ACCOUNT, &jobs(), sent.id, sent.receipt).await;
    assert_eq!(code(stale), ErrorCode::MessageNotFound, "it was given out since");
    clock.advance(Duration::from_secs(60));
    let other_id = put(&service, "b", 600, TimeToLive::Forever).await.id;
    let wrong = service.delete_message(ACCOUNT, &jobs(), other_id, first.receipt).await;
    assert_eq!(code(wrong), ErrorCode::MessageNotFound, "a receipt is for one message");
    service.delete_message(ACCOUNT, &jobs(), first.id, first.receipt).await.expect("the timeout alone voids nothing");
    let again = service.delete_message(ACCOUNT, &jobs(), first.id, first.receipt).await;
    assert_eq!(code(again), ErrorCode::MessageNotFound);
}

#[tokio::test]
async fn the_sender_can_delete_a_message_that_nobody_got() {
    let service = service_with_queue(&Store::in_memory(), manual_clock()).await;
    let sent = put(&service, "a", 0, TimeToLive::Forever).await;
    service.delete_message(ACCOUNT, &jobs(), sent.id, sent.receipt).await.unwrap();
    assert_eq!(get_one(&service, 5).await, None);
}

#[tokio::test]
async fn an_update_keeps_what_it_does_not_name_and_voids_the_old_receipt() {
    let service = service_with_queue(&Store::in_memory(), manual_clock()).await;
    put(&service, "text", 0, TimeToLive::Seconds(100)).await;
    let got = get_one(&service, 50).await.unwrap();
    let update = async |receipt, visibility_seconds, text: Option<&str>| {
        let update = MessageUpdate { visibility_seconds, text: text.map(str::to_owned) };
        service.update_message(ACCOUNT, &jobs(), got.id, receipt, update).await
    };
    // The same time to the tick, and still another receipt.
    let hidden = update(got.receipt, 50, None).await.unwrap();
    assert_eq!((hidden.next_visible, hidden.text.as_str()), (got.next_visible, "text"));
    assert_eq!(code(update(got.receipt, 0, None).await), ErrorCode::MessageNotFound);
    let shown = update(hidden.receipt, 0, Some("")).await.unwrap();
    assert_eq!((shown.text.as_str(), shown.dequeue_count, shown.expires), ("", 1, got.expires));
    assert_eq!(code(update(shown.receipt, 101, None).await), ErrorCode::InvalidQueryParameterValue);
    assert_eq!(get_one(&service, 50).await.unwrap().dequeue_count, 2, "visible at once");
}

#[tokio::test]
async fn a_message_can_be_hidden_by_get_beyond_its_expiry_and_then_expires_unseen() {
    let clock = manual_clock();
    let service = service_with_queue(&Store::in_memory(), clock.clone()).await;
    put(&service, "a", 0, TimeToLive::Seconds(10)).await;
    let got = get_one(&service, 600).await.unwrap();
    assert!(got.next_visible > got.expires);
    clock.advance(Duration::from_secs(10));
    let update = MessageUpdate { visibility_seconds: 0, text: None };
    let updated = service.update_message(ACCOUNT, &jobs(), got.id, got.receipt, update).await;
    assert_eq!(code(updated), ErrorCode::MessageNotFound);
    let deleted = service.delete_message(ACCOUNT, &jobs(), got.id, got.receipt).await;
    assert_eq!(code(deleted), ErrorCode::MessageNotFound);
}

#[tokio::test]
async fn what_lives_for_ever_or_past_the_last_date_expires_on_the_last_date() {
    let service = service_with_queue(&Store::in_memory(), manual_clock()).await;
    assert_eq!(put(&service, "a", 0, TimeToLive::Forever).await.expires, DateTime::MAX);
    assert_eq!(put(&service, "b", 0, TimeToLive::Seconds(u64::MAX)).await.expires, DateTime::MAX);
    assert_eq!(service.sweep().await.unwrap(), 0);
}

#[tokio::test]
async fn expired_messages_are_swept_wherever_they_are_and_leave_nothing() {
    let (store, clock) = (Store::in_memory(), manual_clock());
    let service = service_with_queue(&store, clock.clone()).await;
    for number in 0..300 {
        put(&service, "short", number % 5, TimeToLive::Seconds(10 + u64::from(number) % 20)).await;
        put(&service, "long", 0, TimeToLive::Seconds(1000)).await;
    }
    service.get_messages(ACCOUNT, &jobs(), 32, 600).await.unwrap();
    clock.advance(Duration::from_secs(30));
    let count = async || service.queue_metadata(ACCOUNT, &jobs()).await.unwrap().messages;
    assert_eq!(count().await, 600, "expired ones count until they are swept");
    assert_eq!(service.sweep().await.unwrap(), 300);
    assert_eq!((count().await, service.sweep().await.unwrap()), (300, 0));
    // A new process looks at everything again, and finds what the old one could have left.
    clock.advance(Duration::from_secs(1000));
    let next = service_on(&store, clock.clone()).await;
    assert_eq!(next.sweep().await.unwrap(), 300);
    let everything = ScanLimits { records_max: 1000, bytes_max: 1 << 20, deadline: None };
    let left = store.scan(&Range::partitions(b"m"), everything).await.unwrap().records;
    assert!(left.iter().all(|record| record.key[0] == b'c'), "counts of zero: {left:?}");
    assert!(left.iter().all(|record| record.value[..] == [0; 8]));
}

#[tokio::test]
async fn a_front_of_expired_messages_hides_no_live_one() {
    let clock = manual_clock();
    let service = service_with_queue(&Store::in_memory(), clock.clone()).await;
    for _ in 0..1000 {
        put(&service, "short", 0, TimeToLive::Seconds(1)).await;
    }
    put(&service, "long", 0, TimeToLive::Forever).await;
    clock.advance(Duration::from_secs(1));
    assert_eq!(service.peek_messages(ACCOUNT, &jobs(), 32).await.unwrap().len(), 1);
    assert_eq!(get_one(&service, 30).await.unwrap().text, "long");
}

#[tokio::test]
async fn a_clock_that_is_set_back_neither_hides_messages_nor_brings_them_back() {
    let (store, clock) = (Store::in_memory(), manual_clock());
    let service = service_with_queue(&store, clock.clone()).await;
    put(&service, "there", 0, TimeToLive::Forever).await;
    put(&service, "expired", 0, TimeToLive::Seconds(5)).await;
    clock.advance(Duration::from_secs(5));
    assert_eq!(service.peek_messages(ACCOUNT, &jobs(), 32).await.unwrap().len(), 1);
    clock.set(clock.ticks() - 3600 * TICKS_PER_SECOND);
    let texts = |messages: Vec<Message>| messages.into_iter().map(|message| message.text).collect::<Vec<_>>();
    assert_eq!(texts(service.peek_messages(ACCOUNT, &jobs(), 32).await.unwrap()), ["there"]);
    service.close().await.unwrap();
    let next = service_on(&store, clock.clone()).await;
    assert_eq!(texts(next.peek_messages(ACCOUNT, &jobs(), 32).await.unwrap()), ["there"], "after a restart as well");
    // Timeouts go on, if a little slower than the world outside.
    get_one(&next, 30).await.unwrap();
    clock.advance(Duration::from_secs(33));
    assert_eq!(get_one(&next, 30).await.unwrap().dequeue_count, 2);
}

#[tokio::test]
async fn a_put_under_the_old_id_of_a_cleared_queue_is_as_if_it_came_before() {
    let service = service_with_queue(&Store::in_memory(), manual_clock()).await;
    let before = put(&service, "a", 0, TimeToLive::Forever).await;
    service.clear_messages(ACCOUNT, &jobs()).await.unwrap();
    let deleted = service.delete_message(ACCOUNT, &jobs(), before.id, before.receipt).await;
    assert_eq!(code(deleted), ErrorCode::MessageNotFound);
    service.put_message(ACCOUNT, &jobs(), message("b")).await.unwrap();
    assert_eq!(get_one(&service, 30).await.unwrap().text, "b");
}
