//! Requests to page blobs, as the models and other tests make them. Those with a customer's key end with `_with`.

use tablerock_kv::Bytes;
use tablerock_protocol::DateTime;
use tablerock_protocol::blob::{ByteRange, CustomerKey};
use tablerock_services::Result;
use tablerock_services::blob::{
    BlobKind, BlobService, NewPages, PageProperties, PageTerms, PageWrite, PagesWritten, ReadTerms, WriteTerms,
};

use crate::blob_model::{at, new_blob};

/// The customer's key of a request.
pub type Key<'a> = Option<&'a CustomerKey>;

/// One of many customer's keys.
pub fn customer_key(number: u8) -> CustomerKey {
    CustomerKey::parse(&format!("{}{}=", "A".repeat(42), ['A', 'E', 'I', 'M'][usize::from(number % 4)])).unwrap()
}

/// The terms of a request with a key, which names it by its digest.
pub fn keyed_terms(key: Key<'_>) -> WriteTerms {
    WriteTerms { key_digest: key.map(CustomerKey::digest), ..WriteTerms::default() }
}

pub async fn create_pages(service: &BlobService, name: &str, length: u64) -> Result<DateTime> {
    create_pages_with(service, name, length, None).await
}

pub async fn create_pages_with(service: &BlobService, name: &str, length: u64, key: Key<'_>) -> Result<DateTime> {
    let (terms, new) = (keyed_terms(key), new_blob(BlobKind::Page));
    service.put_page_blob(at(name), &terms, &new, NewPages { length, sequence_number: 0 }).await
}

pub async fn put_pages(service: &BlobService, name: &str, offset: u64, bytes: &[u8]) -> Result<PagesWritten> {
    put_pages_with(service, name, offset, bytes, None).await
}

pub async fn put_pages_with(
    service: &BlobService,
    name: &str,
    offset: u64,
    bytes: &[u8],
    key: Key<'_>,
) -> Result<PagesWritten> {
    let range = ByteRange { offset, length: bytes.len() as u64 };
    let terms = PageTerms { key: key.cloned(), ..PageTerms::default() };
    service.put_pages(at(name), &terms, range, PageWrite::Update(Bytes::copy_from_slice(bytes))).await
}

pub async fn clear_pages(service: &BlobService, name: &str, offset: u64, length: u64) -> Result<PagesWritten> {
    clear_pages_with(service, name, offset, length, None).await
}

pub async fn clear_pages_with(
    service: &BlobService,
    name: &str,
    offset: u64,
    length: u64,
    key: Key<'_>,
) -> Result<PagesWritten> {
    let terms = PageTerms { key: key.cloned(), ..PageTerms::default() };
    service.put_pages(at(name), &terms, ByteRange { offset, length }, PageWrite::Clear).await
}

pub async fn resize(service: &BlobService, name: &str, length: u64) -> Result<()> {
    let pages = PageProperties { length: Some(length), sequence: None };
    service.set_page_properties(at(name), &WriteTerms::default(), None, pages).await.map(drop)
}

pub async fn read_range(
    service: &BlobService,
    name: &str,
    snapshot: Option<DateTime>,
    range: ByteRange,
) -> Result<Bytes> {
    read_range_with(service, name, snapshot, range, None).await
}

pub async fn read_range_with(
    service: &BlobService,
    name: &str,
    snapshot: Option<DateTime>,
    range: ByteRange,
    key: Key<'_>,
) -> Result<Bytes> {
    let opened = service.download_with(at(name), snapshot, &ReadTerms::default(), key, |_: &_| Ok(range)).await;
    opened?.2.read_to_end().await
}
