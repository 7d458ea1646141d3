//! Queries read what their keys allow, in the service's order, page by page.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::*;
use tablerock_protocol::signing::{KeyBound, KeyRange};
use tablerock_protocol::{ErrorCode, Filter, Value};
use tablerock_services::TableService;
use tablerock_services::table::{Change, EntityQuery};

async fn fill(service: &TableService, partitions: usize, rows: usize) {
    for partition in 0..partitions {
        let partition_key = format!("p{partition:03}");
        for first in (0..rows).step_by(100) {
            let group =
                (first..rows.min(first + 100)).map(|row| insert(&partition_key, &format!("r{row:05}"), row as i32));
            apply(service, group.collect()).await.expect("an empty table takes inserts");
        }
    }
}

#[tokio::test]
async fn a_query_reads_only_what_its_keys_allow() {
    let service = service().await;
    fill(&service, 5, 1000).await;
    let cases = [
        ("PartitionKey eq 'p002' and RowKey eq 'r00500'", 1, 1),
        ("PartitionKey eq 'p002' and RowKey ge 'r00500' and RowKey lt 'r00510'", 10, 10),
        ("PartitionKey eq 'p002' and (RowKey eq 'r00001' or RowKey eq 'r00900' or RowKey eq 'gone')", 2, 2),
        ("(PartitionKey eq 'p001' or PartitionKey eq 'p003') and RowKey eq 'r00007'", 2, 2),
        ("PartitionKey eq 'p002' and n ge 5 and n le 5", 1, 1000),
        ("PartitionKey gt 'p003'", 1000, 1000),
        ("n ge 5 and n le 5", 5, 5000),
        ("PartitionKey eq 'missing'", 0, 0),
    ];
    for (filter, found, read) in cases {
        let page = query(&service, filter, None).await;
        assert_eq!((page.entities.len(), page.entities_read), (found, read), "{filter}");
        assert!(page.next.is_none(), "{filter}");
    }
}

#[tokio::test]
async fn results_are_sorted_by_utf16_code_units() {
    let service = service().await;
    let keys = [
        "",
        "A",
        "Z",
        "a",
        "aa",
        "b",
        "partition-1",
        "partition-10",
        "partition-2",
        "é",
        "\u{10000}",
        "\u{e000}",
        "\u{ffff}",
    ];
    for key in keys.iter().rev() {
        apply_one(&service, insert(key, "r", 0)).await.unwrap();
        apply_one(&service, insert("rows", key, 0)).await.unwrap();
    }
    let page = query(&service, "PartitionKey eq 'rows'", None).await;
    assert_eq!(row_keys(&page), keys);
    let page = query(&service, "RowKey eq 'r'", None).await;
    let partitions: Vec<&str> = page.entities.iter().map(|found| found.partition_key.as_str()).collect();
    assert_eq!(partitions, keys);
}

#[tokio::test]
async fn a_page_ends_at_top_and_a_full_last_page_has_no_continuation() {
    let service = service().await;
    fill(&service, 1, 10).await;
    let page = query(&service, "", Some(4)).await;
    assert_eq!(page.entities.len(), 4);
    assert_eq!(page.next, Some(("p000".to_owned(), "r00004".to_owned())));
    assert!(query(&service, "", Some(10)).await.next.is_none());
    let nothing = query(&service, "", Some(0)).await;
    assert!(nothing.entities.is_empty() && nothing.next.is_none());
}

#[tokio::test]
async fn a_page_ends_at_its_bytes() {
    let service = service().await;
    let large =
        || properties(&(0..15).map(|_| ("x", Value::String("y".repeat(30_000).into()))).take(1).collect::<Vec<_>>());
    for row in 0..200 {
        apply_one(&service, operation("p", &format!("{row:03}"), Change::Insert(large()))).await.unwrap();
    }
    let page = query(&service, "", None).await;
    assert!(page.entities.len() < 200, "200 entities of 30 KB are more than a page");
    assert_eq!(page.next, Some(("p".to_owned(), format!("{:03}", page.entities.len()))));
}

#[tokio::test]
async fn paging_never_repeats_or_skips_while_others_write() {
    let service = Arc::new(service().await);
    fill(&service, 3, 1500).await;
    let done = Arc::new(AtomicBool::new(false));
    let writer = {
        let (service, done) = (service.clone(), done.clone());
        tokio::spawn(async move {
            // Rows between the ones that stay come and go, and those that stay are rewritten.
            for n in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let row = format!("r{:05}x", n % 1500);
                apply_one(&service, upsert("p001", &row, -1)).await.unwrap();
                apply_one(&service, upsert("p001", &format!("r{:05}", (n * 7) % 1500), n)).await.unwrap();
                apply_one(&service, delete("p001", &row)).await.unwrap();
                tokio::task::yield_now().await;
            }
        })
    };
    for page_size in [7, 100, 1000] {
        let mut from = None;
        let mut stable = Vec::new();
        loop {
            let asked = EntityQuery { top: Some(page_size), from, ..Default::default() };
            let page = service.query_entities(ACCOUNT, TABLE, &asked).await.unwrap();
            let keys = page.entities.into_iter().map(|found| (found.partition_key, found.row_key));
            stable.extend(keys.filter(|(_, row)| !row.ends_with('x')));
            from = page.next;
            if from.is_none() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let expected = (0..3).flat_map(|p| (0..1500).map(move |r| (format!("p{p:03}"), format!("r{r:05}"))));
        assert!(stable.into_iter().eq(expected), "pages of {page_size}");
    }
    done.store(true, Ordering::Relaxed);
    writer.await.unwrap();
}

#[tokio::test]
async fn a_key_range_hides_what_is_outside() {
    let service = service().await;
    fill(&service, 4, 3).await;
    let bound = |partition: &str, row: Option<&str>| {
        Some(KeyBound { partition_key: partition.to_owned(), row_key: row.map(str::to_owned) })
    };
    let within = |start, end| EntityQuery { within: Some(KeyRange { start, end }), ..Default::default() };
    let cases = [
        (within(bound("p001", None), bound("p002", None)), 6),
        (within(bound("p001", Some("r00001")), bound("p002", Some("r00001"))), 4),
        (within(None, bound("p000", Some("r00000"))), 1),
        (within(bound("p003", Some("r00002")), None), 1),
        (within(bound("p009", None), None), 0),
    ];
    for (asked, count) in cases {
        let page = service.query_entities(ACCOUNT, TABLE, &asked).await.unwrap();
        assert_eq!(page.entities.len(), count, "{asked:?}");
    }
    let narrowed = EntityQuery {
        filter: Filter::parse("RowKey eq 'r00001'").unwrap(),
        ..within(bound("p001", None), bound("p002", None))
    };
    assert_eq!(service.query_entities(ACCOUNT, TABLE, &narrowed).await.unwrap().entities.len(), 2);
}

#[tokio::test]
async fn a_missing_table_is_named_as_such() {
    let service = service().await;
    let missing = service.query_entities(ACCOUNT, "Missing", &EntityQuery::default()).await;
    assert_eq!(code(missing), ErrorCode::TableNotFound);
}
