//! Puts that rest on nothing that was read, and pages that come with a record of another partition.

use super::Harness;
use super::steps::{bytes, get, put};
use crate::{BlindPut, Bytes, Engine, Range, Replaces, ScanLimits};

fn value(version: u64, rest: &str) -> Bytes {
    [&[1][..], &version.to_be_bytes(), rest.as_bytes()].concat().into()
}

async fn put_blind(engine: &dyn Engine, value: Bytes, replaces: Replaces) -> (bool, Option<Bytes>) {
    let put = BlindPut { partition: bytes("p"), key: bytes("k"), value, replaces };
    engine.put_blind(put, (b"rows", b"row")).await.expect("a put succeeds or is not made")
}

pub async fn a_later_version_is_not_replaced(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    let row = Some(bytes("the row"));
    assert_eq!(put_blind(&*engine, value(5, "first"), Replaces::Nothing).await, (true, None));
    put(&*engine, "rows", "row", "the row").await;
    assert_eq!(put_blind(&*engine, value(9, "second"), Replaces::Nothing).await, (false, row.clone()));
    for version in [4, 5] {
        assert_eq!(put_blind(&*engine, value(version, "second"), Replaces::Earlier).await, (false, row.clone()));
    }
    assert_eq!(get(&*engine, "p", "k").await, Some(value(5, "first")));
    assert_eq!(put_blind(&*engine, value(6, "second"), Replaces::Earlier).await, (true, row.clone()));
    assert_eq!(get(&*engine, "p", "k").await, Some(value(6, "second")));
}

pub async fn of_blind_puts_at_once_the_latest_stays(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    for round in 0..10 {
        let puts: Vec<_> = (1..=8)
            .map(|writer| {
                let (engine, version) = (engine.clone(), round * 100 + writer);
                tokio::spawn(async move {
                    let is_put = put_blind(&*engine, value(version, "v"), Replaces::Earlier).await.0;
                    is_put.then_some(version)
                })
            })
            .collect();
        let mut made = vec![];
        for put in puts {
            made.extend(put.await.expect("a put does not panic"));
        }
        let latest = made.into_iter().max().expect("one of them was made");
        assert_eq!(get(&*engine, "p", "k").await, Some(value(latest, "v")), "round {round}");
    }
}

pub async fn a_page_comes_with_a_row_that_is_not_older(mut harness: Box<dyn Harness>) {
    let engine = harness.open().await;
    for key in ["1", "2", "3"] {
        put(&*engine, "p", key, "v").await;
    }
    let limits = ScanLimits { records_max: 2, bytes_max: 1 << 20, deadline: None };
    let read = async || engine.scan_then_get(&Range::partition(b"p"), limits, (b"rows", b"row")).await;
    let (page, row) = read().await.expect("a page is read");
    assert_eq!((page.records.len(), page.next.is_some(), row), (2, true, None));
    put(&*engine, "rows", "row", "the row").await;
    assert_eq!(read().await.expect("a page is read").1, Some(bytes("the row")));
    let nothing = engine.scan_then_get(&Range::partition(b"none"), limits, (b"rows", b"row")).await;
    let (page, row) = nothing.expect("an empty page is read");
    assert_eq!((page.records.len(), row), (0, Some(bytes("the row"))));
}
