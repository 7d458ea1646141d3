//! Operations on page blobs with each header that Azure documents for them. See `documented_headers.rs`.

use super::documented_headers::{
    Asked, BLOB_MD5, CRC64, ETAGS, IMMUTABILITY, KEY, LEASE, MD5, SCOPE, SOURCE_ACCESS, SOURCE_CONDITIONS,
    SOURCE_CRC64, SOURCE_KEY, SOURCE_MD5, STRUCTURE, TAG_CONDITION, TAGS, TIMEOUT, TIMES, VERSIONS, reads,
};
use crate::container::Container;
use crate::request::Request;
use crate::{Outcome, Session, cases};

cases! {
    PutBlob { put_page_blob_reads_its_headers }
    PutPage { put_page_reads_its_headers }
    ClearPage { clear_page_reads_its_headers }
    PutPageFromURL { put_page_from_url_reads_its_headers }
    GetPageRanges { get_page_ranges_reads_its_headers, a_difference_of_page_ranges_reads_its_parameters }
    SetBlobProperties { the_properties_of_a_page_blob_are_read }
    FindBlobsByTags { find_blobs_by_tags_reads_its_parameters }
}

const SEQUENCE_CONDITIONS: &[Asked] =
    &[("x-ms-if-sequence-number-le", "-1"), ("x-ms-if-sequence-number-lt", "0"), ("x-ms-if-sequence-number-eq", "9")];
const PAGE: [u8; 512] = [b'x'; 512];

/// A container with an empty page blob of two pages.
async fn seeded(at: &Session) -> Outcome<Container<'_>> {
    let container = at.container().await?;
    create(&container, "p")?.send().await?.expect(201)?;
    Ok(container)
}

fn create<'s>(container: &Container<'s>, name: &str) -> Outcome<Request<'s>> {
    let request = container.blob("PUT", name)?.header("x-ms-blob-type", "PageBlob");
    Ok(request.header("x-ms-blob-content-length", "1024"))
}

fn write<'s>(container: &Container<'s>, kind: &str) -> Outcome<Request<'s>> {
    let request = container.blob_on("PUT", "p", "page")?.header("x-ms-range", "bytes=0-511");
    Ok(request.header("x-ms-page-write", kind))
}

async fn put_page_blob_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let own: &[Asked] = &[("x-ms-blob-content-length", "513"), ("x-ms-blob-sequence-number", "-1")];
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE, IMMUTABILITY, TAGS, BLOB_MD5, own];
    reads(create(&container, "p")?, &headers, &[TIMEOUT]).await
}

async fn put_page_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE, MD5, CRC64, STRUCTURE, SEQUENCE_CONDITIONS];
    reads(write(&container, "update")?.body(PAGE), &headers, &[TIMEOUT]).await
}

async fn clear_page_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE, SEQUENCE_CONDITIONS];
    reads(write(&container, "clear")?, &headers, &[TIMEOUT]).await
}

async fn put_page_from_url_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    container.seed("source", PAGE).await?;
    let request = write(&container, "update")?.header("x-ms-copy-source", &container.readable_url("source"));
    let request = request.header("x-ms-source-range", "bytes=0-511").body("");
    let own = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE, SEQUENCE_CONDITIONS];
    let source = [SOURCE_CONDITIONS, SOURCE_MD5, SOURCE_CRC64, SOURCE_KEY, SOURCE_ACCESS];
    reads(request, &[&own[..], &source].concat(), &[TIMEOUT]).await
}

async fn get_page_ranges_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let range: &[Asked] = &[("x-ms-range", "bytes=9216-9727")];
    let pages: &[Asked] = &[("marker", "there"), ("maxresults", "many")];
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, range];
    reads(container.blob_on("GET", "p", "pagelist")?, &headers, &[TIMEOUT, VERSIONS, pages]).await
}

async fn a_difference_of_page_ranges_reads_its_parameters(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let taken = container.blob_on("PUT", "p", "snapshot")?.send().await?;
    let taken = taken.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned();
    let previous: &[Asked] = &[("prevsnapshot", "yesterday")];
    let url: &[Asked] = &[("x-ms-previous-snapshot-url", "http://127.0.0.1/none")];
    reads(container.blob_on("GET", "p", "pagelist")?, &[url], &[previous]).await?;
    let between = container.blob_on("GET", "p", "pagelist")?.query("prevsnapshot", &taken);
    reads(between, &[ETAGS, LEASE, TAG_CONDITION], &[TIMEOUT]).await
}

async fn the_properties_of_a_page_blob_are_read(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let own: &[Asked] = &[("x-ms-blob-content-length", "513"), ("x-ms-sequence-number-action", "shrink")];
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE, BLOB_MD5, own];
    reads(container.blob_on("PUT", "p", "properties")?, &headers, &[TIMEOUT]).await
}

async fn find_blobs_by_tags_reads_its_parameters(at: &Session) -> Outcome {
    let container = at.container().await?;
    let request = container.on("GET", "blobs")?.query("where", "\"color\" = 'red'");
    let pages: &[Asked] = &[("marker", "there"), ("maxresults", "many")];
    reads(request, &[], &[TIMEOUT, pages]).await
}
