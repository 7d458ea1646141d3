//! Content under a customer's key: nothing of it is stored in the clear, all of it comes back, and its space too.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

use tablerock_kv::{Bytes, Range, ScanLimits, Store};
use tablerock_protocol::blob::{ByteRange, CustomerKey, Md5};
use tablerock_protocol::xml::{BlockListRequest, BlockSource};
use tablerock_services::blob::{AppendTerms, Blob, BlobKind, BlobService, DeleteSnapshots, ReadTerms, WriteTerms};
use tablerock_services::transfer::{CopyTerms, copy_account};
use tablerock_testkit::blob_model::*;
use tablerock_testkit::page_model::{clear_pages_with, create_pages_with, keyed_terms, put_pages_with, resize};

const KEY: &str = "MDEyMzQ1NjcwMTIzNDU2NzAxMjM0NTY3MDEyMzQ1Njc=";

/// Lengths around those at which content changes its place, in itself and with what a segment adds.
const LENGTHS: [usize; 10] = [0, 1, 16_352, 16_353, 16_384, 262_112, 262_113, 262_144, 524_225, 700_001];

fn key() -> CustomerKey {
    CustomerKey::parse(KEY).unwrap()
}

fn content(length: usize) -> Vec<u8> {
    b"a sentence that is easy to find. ".iter().copied().cycle().take(length).collect()
}

async fn put_keyed(service: &BlobService, name: &str, bytes: &[u8]) {
    let mut source = Some(Bytes::copy_from_slice(bytes));
    let received = service.receive_blob_with(at(name), &mut source, true, Some(&key())).await.unwrap();
    assert_eq!((received.length, received.digests.md5), (bytes.len() as u64, Some(Md5::of(bytes))));
    service.put_blob(at(name), &WriteTerms::default(), &new_blob(BlobKind::Block), received).await.unwrap();
}

async fn read_keyed(service: &BlobService, name: &str, range: Option<ByteRange>) -> Bytes {
    let choose = |blob: &Blob| Ok(range.unwrap_or(ByteRange::whole(blob.length)));
    let key = key();
    let opened = service.download_with(at(name), None, &ReadTerms::default(), Some(&key), choose).await;
    opened.unwrap().2.read_to_end().await.unwrap()
}

/// Writes a page blob before and after a snapshot, clears some of it, and shrinks it.
async fn fill_pages(service: &BlobService) {
    let key = key();
    create_pages_with(service, "disk", 20 << 20, Some(&key)).await.unwrap();
    put_pages_with(service, "disk", 512, &content(1 << 20), Some(&key)).await.unwrap();
    service.snapshot_blob(at("disk"), &keyed_terms(Some(&key)), None).await.unwrap();
    put_pages_with(service, "disk", 5 << 9, &content(7 << 9), Some(&key)).await.unwrap();
    put_pages_with(service, "disk", 9 << 20, &content(512), Some(&key)).await.unwrap();
    clear_pages_with(service, "disk", 1024, 512, Some(&key)).await.unwrap();
    resize(service, "disk", 10 << 20).await.unwrap();
}

/// The content of that blob.
fn pages() -> Vec<u8> {
    let mut bytes = vec![0; 10 << 20];
    bytes[512..512 + (1 << 20)].copy_from_slice(&content(1 << 20));
    bytes[5 << 9..12 << 9].copy_from_slice(&content(7 << 9));
    bytes[9 << 20..(9 << 20) + 512].copy_from_slice(&content(512));
    bytes[1024..1536].fill(0);
    bytes
}

/// A blob of every length, one of blocks, one that was appended to, and one of pages.
async fn fill(service: &BlobService) {
    for length in LENGTHS {
        put_keyed(service, &format!("b{length}"), &content(length)).await;
    }
    let (key, digest) = (key(), Some(key().digest()));
    let terms = WriteTerms { key_digest: digest, ..WriteTerms::default() };
    for (number, length) in [(1, 300_000), (2, 10)] {
        let mut source = Some(Bytes::from(content(length)));
        let received = service.receive_block_with(at("blocks"), &mut source, false, Some(&key)).await.unwrap();
        service.put_block(at("blocks"), None, &block_id(number), received).await.unwrap();
    }
    let blocks = [1, 2].map(|number| (BlockSource::Latest, block_id(number))).to_vec();
    let list = BlockListRequest { blocks };
    service.put_block_list(at("blocks"), &terms, &new_blob(BlobKind::Block), &list).await.unwrap();
    let received = service.receive_blob_with(at("log"), &mut None::<Bytes>, false, Some(&key)).await.unwrap();
    service.put_blob(at("log"), &WriteTerms::default(), &new_blob(BlobKind::Append), received).await.unwrap();
    for length in [10, 300_000] {
        let mut source = Some(Bytes::from(content(length)));
        let received = service.receive_blob_with(at("log"), &mut source, false, Some(&key)).await.unwrap();
        service.append_block(at("log"), &AppendTerms::default(), received).await.unwrap();
    }
    fill_pages(service).await;
}

async fn check(service: &BlobService) {
    for length in LENGTHS {
        assert!(read_keyed(service, &format!("b{length}"), None).await == content(length), "{length}");
    }
    let blocks = [content(300_000), content(10)].concat();
    assert!(read_keyed(service, "blocks", None).await == blocks);
    assert!(read_keyed(service, "log", None).await == [content(10), content(300_000)].concat());
    for (offset, length) in [(0, 1), (262_111, 2), (262_112, 1), (299_999, 11), (5, 300_000)] {
        let range = ByteRange { offset, length };
        let wanted = &blocks[offset as usize..(offset + length) as usize];
        assert!(read_keyed(service, "blocks", Some(range)).await == wanted, "{range:?}");
    }
    assert!(read_keyed(service, "disk", None).await == pages());
    let range = ByteRange { offset: 700, length: 3000 };
    assert!(read_keyed(service, "disk", Some(range)).await == pages()[700..3700]);
}

async fn all_values(store: &Store) -> Vec<Bytes> {
    let limits = ScanLimits { records_max: 10_000, bytes_max: 256 << 20, deadline: None };
    let everything = Range { start: Range::partitions(b"\0").start, end: None };
    store.scan(&everything, limits).await.unwrap().records.into_iter().map(|record| record.value).collect()
}

#[tokio::test]
async fn content_comes_back_and_is_not_stored_in_the_clear() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    fill(&service).await;
    check(&service).await;
    // Layers are merged without the key.
    service.delete_blob(at("disk"), &WriteTerms::default(), DeleteSnapshots::Only).await.unwrap();
    service.rest().await;
    assert_eq!(records(&store, b"b").await.iter().filter(|(_, key)| key[0] == 6).count(), 1, "layers");
    check(&service).await;
    let secret = key();
    for value in all_values(&store).await {
        assert!(!value.windows(10).any(|window| window == b"a sentence" || window == b"nce that i"));
        assert!(!value.windows(32).any(|window| window == secret.as_bytes()), "the key itself");
    }
    assert!(service.download(at("b1"), None, &ReadTerms::default(), |_: &Blob| Ok(ByteRange::whole(1))).await.is_err());
}

#[tokio::test]
async fn two_contents_of_the_same_bytes_have_nothing_in_common() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    for name in ["a", "b"] {
        put_keyed(&service, name, &content(300_000)).await;
    }
    let mut chunks = store.records(Range::partitions(b"o"));
    let mut values = Vec::new();
    while let Some(chunk) = chunks.next().await.unwrap() {
        values.push(chunk.value[16..48].to_vec());
    }
    values.sort();
    values.dedup();
    assert_eq!(values.len(), 4);
}

#[tokio::test]
async fn the_space_of_encrypted_content_comes_back() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    fill(&service).await;
    fill(&service).await;
    let names =
        LENGTHS.map(|length| format!("b{length}")).into_iter().chain(["blocks", "log", "disk"].map(String::from));
    for name in names {
        service.delete_blob(at(&name), &WriteTerms::default(), DeleteSnapshots::Include).await.unwrap();
    }
    service.rest().await;
    assert_eq!(records(&store, b"bo").await, []);
}

#[tokio::test]
async fn content_that_was_changed_on_disk_is_an_error() {
    let store = Store::in_memory();
    let service = service_with_container(&store, manual_clock()).await;
    put_keyed(&service, "b", &content(20_000)).await;
    let mut partitions = store.records(Range::partitions(b"o"));
    let record = partitions.next().await.unwrap().unwrap();
    let mut changed = record.value.to_vec();
    changed[10_000] ^= 1;
    store.write(&record.partition, |tx| tx.put(record.key.clone(), changed.clone())).await.unwrap();
    let key = key();
    let choose = |blob: &Blob| Ok(ByteRange::whole(blob.length));
    let opened = service.download_with(at("b"), None, &ReadTerms::default(), Some(&key), choose).await;
    assert!(is_store_error(&opened), "{opened:?}");
}

/// A change of a record.
type Change = fn(&mut Vec<u8>);

#[tokio::test]
async fn pages_that_were_changed_or_moved_on_disk_are_an_error() {
    let key = key();
    let changes: [(&str, Change); 4] = [
        ("a bit of a page", |record| record[17 + 300] ^= 1),
        ("two pages, exchanged", |record| record[17..].rotate_left(544)),
        ("a page more", |record| record[8] |= 4),
        ("a page in the clear", |record| {
            record.truncate(17 + 1024);
            record[0] = 1;
        }),
    ];
    for (what, change) in changes {
        let store = Store::in_memory();
        let service = service_with_container(&store, manual_clock()).await;
        create_pages_with(&service, "b", 1024, Some(&key)).await.unwrap();
        put_pages_with(&service, "b", 0, &content(1024), Some(&key)).await.unwrap();
        let mut partitions = store.records(Range::partitions(b"b"));
        let record = loop {
            let record = partitions.next().await.unwrap().expect("a segment");
            if record.value.len() == 17 + 2 * 544 {
                break record;
            }
        };
        let mut changed = record.value.to_vec();
        change(&mut changed);
        store.write(&record.partition, |tx| tx.put(record.key.clone(), changed.clone())).await.unwrap();
        let choose = |blob: &Blob| Ok(ByteRange::whole(blob.length));
        let opened = service.download_with(at("b"), None, &ReadTerms::default(), Some(&key), choose).await;
        assert!(is_store_error(&opened), "{what}: {opened:?}");
    }
}

#[tokio::test]
async fn encrypted_content_moves_to_another_store_as_it_is() {
    let (old, new) = (Store::in_memory(), Store::in_memory());
    let source = service_with_container(&old, manual_clock()).await;
    fill(&source).await;
    source.close().await.unwrap();
    copy_account(&old, &new, ACCOUNT, &CopyTerms::from_store("the old store"), &|_| {}).await.unwrap();
    check(&service_on(&new, manual_clock()).await).await;
}
