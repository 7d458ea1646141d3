//! What is hot is seen in all three services, and a scan heats no partition.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use crate::support::{self, ACCOUNT, TABLE, apply, insert, manual_clock, query};
use tablerock_kv::Store;
use tablerock_protocol::Service;
use tablerock_services::{Load, LoadReport};
use tablerock_testkit::{blob_model, queue_model};

/// Reads, writes and names, hottest first. The clock stands still, so rates are in proportion to events.
fn events(load: &Load, of_one: f64) -> Vec<(String, u64, u64)> {
    let report = LoadReport::of(&[load], 10);
    let count = |rate: f64| (rate / of_one).round() as u64;
    let partitions = report.partitions.into_iter();
    partitions
        .map(|(at, rate)| (format!("{}/{}", at.name, at.partition), count(rate.reads), count(rate.writes)))
        .collect()
}

#[tokio::test]
async fn a_query_over_many_partitions_is_load_of_its_table_alone() {
    let tables = support::service_on(&Store::in_memory(), manual_clock()).await;
    for partition in ["a", "b"] {
        for first in (0..700).step_by(100) {
            let group = (first..first + 100).map(|row| insert(partition, &format!("r{row:05}"), row)).collect();
            apply(&tables, group).await.unwrap();
        }
    }
    let writes = LoadReport::of(&[tables.load()], 10);
    let of_one = writes.partitions[0].1.writes / 700.0;
    // Chunks of it lie in one partition each; the query does not.
    query(&tables, "n ge 0 and n le 699", None).await;
    query(&tables, "(PartitionKey eq 'a' or PartitionKey eq 'b') and RowKey eq 'r00000'", None).await;
    let name = |partition| format!("{TABLE}/{partition}");
    assert_eq!(events(tables.load(), of_one), [(name("a"), 0, 700), (name("b"), 0, 700)]);
    query(&tables, "PartitionKey eq 'b' and n ge 0", None).await;
    assert_eq!(events(tables.load(), of_one), [(name("b"), 700, 700), (name("a"), 0, 700)]);
    let table = &LoadReport::of(&[tables.load()], 10).holdings[0];
    assert_eq!((table.1.reads / of_one).round() as u64, 1_400 + 2 + 700, "whatever was read counts");
}

#[tokio::test]
async fn a_hot_queue_and_a_hot_blob_are_seen_beside_tables() {
    let (store, clock) = (Store::in_memory(), manual_clock());
    let queues = queue_model::service_with_queue(&store, clock.clone()).await;
    for number in 0..20 {
        queues.put_message(ACCOUNT, &queue_model::jobs(), queue_model::message(&format!("{number}"))).await.unwrap();
    }
    assert_eq!(queues.get_messages(ACCOUNT, &queue_model::jobs(), 5, 60).await.unwrap().len(), 5);
    queues.peek_messages(ACCOUNT, &queue_model::jobs(), 3).await.unwrap();
    let of_one = LoadReport::of(&[queues.load()], 1).holdings[0].1.writes / 25.0;
    assert_eq!(events(queues.load(), of_one), [("jobs/".to_owned(), 3, 25)]);

    let blobs = blob_model::service_with_container(&store, clock).await;
    blob_model::put(&blobs, "hot", b"x").await.unwrap();
    for _ in 0..9 {
        blob_model::read(&blobs, "hot", None).await.unwrap();
    }
    blob_model::put(&blobs, "cool", b"x").await.unwrap();
    let all = LoadReport::of(&[queues.load(), blobs.load()], 10);
    let services: Vec<Service> = all.holdings.iter().map(|(holding, _)| holding.service).collect();
    assert_eq!(services, [Service::Queue, Service::Blob]);
    let names: Vec<&str> = all.partitions.iter().map(|(at, _)| at.partition.as_str()).collect();
    assert_eq!(names, ["", "hot", "cool"]);
}
