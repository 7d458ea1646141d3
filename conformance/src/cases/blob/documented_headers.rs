//! Each operation with each header that Azure documents for it, one at a time and with a value that cannot be met.
//!
//! A service that accepts such a request has not read the header: it promised something and did not do it. Headers that
//! take any value (metadata, content types) have cases of their own.

use crate::container::Container;
use crate::request::Request;
use crate::{Failure, Outcome, Session, cases};

cases! {
    CreateContainer { create_container_reads_its_headers }
    DeleteContainer { delete_container_reads_its_headers }
    GetContainerProperties { get_container_properties_reads_its_headers }
    SetContainerMetadata { set_container_metadata_reads_its_headers }
    GetContainerACL { get_container_acl_reads_its_headers }
    SetContainerACL { set_container_acl_reads_its_headers }
    ListBlobs { list_blobs_reads_its_parameters }
    ListContainers { list_containers_reads_its_parameters }
    PutBlob { put_blob_reads_its_headers, put_append_blob_reads_its_headers }
    PutBlobFromURL { put_blob_from_url_reads_its_headers }
    GetBlob { get_blob_reads_its_headers }
    GetBlobProperties { get_blob_properties_reads_its_headers }
    GetBlobMetadata { get_blob_metadata_reads_its_headers }
    SetBlobProperties { set_blob_properties_reads_its_headers }
    SetBlobMetadata { set_blob_metadata_reads_its_headers }
    DeleteBlob { delete_blob_reads_its_headers }
    PutBlock { put_block_reads_its_headers }
    PutBlockFromURL { put_block_from_url_reads_its_headers }
    PutBlockList { put_block_list_reads_its_headers }
    GetBlockList { get_block_list_reads_its_headers }
    AppendBlock { append_block_reads_its_headers }
    AppendBlockFromURL { append_block_from_url_reads_its_headers }
    SealBlob { append_blob_seal_reads_its_headers }
    AcquireBlobLease { acquire_lease_reads_its_headers }
    RenewBlobLease { renew_lease_reads_its_headers }
    ChangeBlobLease { change_lease_reads_its_headers }
    ReleaseBlobLease { release_lease_reads_its_headers }
    BreakBlobLease { break_lease_reads_its_headers }
    SnapshotBlob { snapshot_blob_reads_its_headers }
    CopyBlob { copy_blob_reads_its_headers }
    CopyBlobFromURL { copy_blob_from_url_reads_its_headers }
    SetBlobTier { set_blob_tier_reads_its_headers }
    GetBlobTags { get_blob_tags_reads_its_headers }
    SetBlobTags { set_blob_tags_reads_its_headers }
}

/// Old enough for Azurite, and new enough for every header below.
const VERSION: &str = "2024-11-04";
const LONG_AGO: &str = "Mon, 01 Jan 2001 00:00:00 GMT";
const LATER: &str = "Wed, 01 Jan 2098 00:00:00 GMT";
const LEASE_ID: &str = "6f1c1d6e-9f5d-4f0e-8a0c-0d4f2f6b8a11";
/// The lengths of an MD5 and a CRC64, of other content.
const OTHER_MD5: &str = "AAAAAAAAAAAAAAAAAAAAAA==";
const OTHER_CRC64: &str = "AAAAAAAAAAA=";

/// A header or parameter with a value that cannot be met.
pub(super) type Asked = (&'static str, &'static str);

pub(super) const TIMES: &[Asked] = &[("If-Modified-Since", LATER), ("If-Unmodified-Since", LONG_AGO)];
pub(super) const ETAGS: &[Asked] = &[("If-Match", "\"0x8D000000000000\"")];
pub(super) const LEASE: &[Asked] = &[("x-ms-lease-id", LEASE_ID)];
pub(super) const TAG_CONDITION: &[Asked] = &[("x-ms-if-tags", "\"color\" = 'none'")];
pub(super) const KEY: &[Asked] =
    &[("x-ms-encryption-key", "AAAA"), ("x-ms-encryption-key-sha256", "AAAA"), ("x-ms-encryption-algorithm", "ROT13")];
pub(super) const SCOPE: &[Asked] = &[("x-ms-encryption-scope", "nosuchscope")];
pub(super) const MD5: &[Asked] = &[("Content-MD5", OTHER_MD5)];
pub(super) const CRC64: &[Asked] = &[("x-ms-content-crc64", OTHER_CRC64)];
pub(super) const STRUCTURE: &[Asked] =
    &[("x-ms-structured-body", "XSM/1.0; properties=nothing"), ("x-ms-structured-content-length", "many")];
pub(super) const IMMUTABILITY: &[Asked] = &[
    ("x-ms-immutability-policy-until-date", LATER),
    ("x-ms-immutability-policy-mode", "Locked"),
    ("x-ms-legal-hold", "true"),
];
const EXPIRY: &[Asked] = &[("x-ms-expiry-option", "RelativeToNow"), ("x-ms-expiry-time", "soon")];
const TIER: &[Asked] = &[("x-ms-access-tier", "Lukewarm")];
const REHYDRATION: &[Asked] = &[("x-ms-rehydrate-priority", "Slow")];
pub(super) const TAGS: &[Asked] = &[("x-ms-tags", "color=red&color=blue")];
pub(super) const BLOB_MD5: &[Asked] = &[("x-ms-blob-content-md5", "no Base64")];
pub(super) const SOURCE_CONDITIONS: &[Asked] = &[
    ("x-ms-source-if-match", "\"0x8D000000000000\""),
    ("x-ms-source-if-unmodified-since", LONG_AGO),
    ("x-ms-source-if-modified-since", LATER),
    ("x-ms-source-if-none-match", "*"),
];
pub(super) const SOURCE_TAGS: &[Asked] = &[("x-ms-source-if-tags", "\"color\" = 'none'")];
pub(super) const SOURCE_MD5: &[Asked] = &[("x-ms-source-content-md5", OTHER_MD5)];
pub(super) const SOURCE_CRC64: &[Asked] = &[("x-ms-source-content-crc64", OTHER_CRC64)];
const SOURCE_RANGE: &[Asked] = &[("x-ms-source-range", "bytes=9000-9001")];
pub(super) const SOURCE_KEY: &[Asked] = &[
    ("x-ms-source-encryption-key", "AAAA"),
    ("x-ms-source-encryption-key-sha256", "AAAA"),
    ("x-ms-source-encryption-algorithm", "ROT13"),
];
pub(super) const SOURCE_ACCESS: &[Asked] =
    &[("x-ms-copy-source-authorization", "Bearer none"), ("x-ms-file-request-intent", "guess")];
const TAG_OPTION: &[Asked] = &[("x-ms-copy-source-tag-option", "MERGE")];
const POSITION: &[Asked] = &[("x-ms-blob-condition-appendpos", "9000")];
const SIZE: &[Asked] = &[("x-ms-blob-condition-maxsize", "1")];
const PUBLIC_ACCESS: &[Asked] = &[("x-ms-blob-public-access", "anyone-at-all")];
const PROPOSED_LEASE: &[Asked] = &[("x-ms-proposed-lease-id", "none")];
const LEASE_TIME: &[Asked] = &[("x-ms-lease-duration", "7")];

pub(super) const TIMEOUT: &[Asked] = &[("timeout", "soon")];
pub(super) const VERSIONS: &[Asked] = &[("snapshot", "yesterday"), ("versionid", "first")];
pub(super) const LIST: &[Asked] = &[("maxresults", "many"), ("include", "nothing")];

/// Asks for each thing in turn, which has to be rejected. Then the plain request has to succeed, so nothing else was wrong.
pub(super) async fn reads(request: Request<'_>, headers: &[&[Asked]], parameters: &[&[Asked]]) -> Outcome {
    let request = request.version(VERSION);
    let mut accepted = Vec::new();
    for (name, value) in headers.concat() {
        if request.clone().header(name, value).send().await?.status() < 300 {
            accepted.push(name);
        }
    }
    for (name, value) in parameters.concat() {
        if request.clone().query(name, value).send().await?.status() < 300 {
            accepted.push(name);
        }
    }
    if !accepted.is_empty() {
        return Err(Failure::new(format!("{}: accepted and not done: {}", request.summary(), accepted.join(", "))));
    }
    let plain = request.send().await?;
    if plain.status() < 300 { Ok(()) } else { plain.expect(200).map(drop) }
}

/// A container with a block blob and an append blob.
async fn seeded(at: &Session) -> Outcome<Container<'_>> {
    let container = at.container().await?;
    container.seed("b", "content").await?;
    container.create_append("a")?.send().await?.expect(201)?;
    Ok(container)
}

async fn create_container_reads_its_headers(at: &Session) -> Outcome {
    let container = at.missing_container();
    at.delete_container_afterwards(&container.name);
    let scopes: &[Asked] =
        &[("x-ms-default-encryption-scope", "nosuchscope"), ("x-ms-deny-encryption-scope-override", "perhaps")];
    reads(container.create()?, &[PUBLIC_ACCESS, scopes], &[TIMEOUT]).await
}

async fn delete_container_reads_its_headers(at: &Session) -> Outcome {
    let container = at.container().await?;
    reads(container.request("DELETE")?, &[LEASE, TIMES], &[TIMEOUT]).await
}

async fn get_container_properties_reads_its_headers(at: &Session) -> Outcome {
    let container = at.container().await?;
    reads(container.request("GET")?, &[LEASE], &[TIMEOUT]).await
}

async fn set_container_metadata_reads_its_headers(at: &Session) -> Outcome {
    let container = at.container().await?;
    reads(container.on("PUT", "metadata")?, &[LEASE, &TIMES[..1]], &[TIMEOUT]).await
}

async fn get_container_acl_reads_its_headers(at: &Session) -> Outcome {
    let container = at.container().await?;
    reads(container.on("GET", "acl")?, &[LEASE], &[TIMEOUT]).await
}

async fn set_container_acl_reads_its_headers(at: &Session) -> Outcome {
    let container = at.container().await?;
    reads(container.on("PUT", "acl")?, &[LEASE, TIMES, PUBLIC_ACCESS], &[TIMEOUT]).await
}

async fn list_blobs_reads_its_parameters(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let shown: &[Asked] = &[("showonly", "deleted")];
    reads(container.on("GET", "list")?, &[], &[TIMEOUT, LIST, shown]).await
}

async fn list_containers_reads_its_parameters(at: &Session) -> Outcome {
    let _container = at.container().await?;
    reads(at.to_blobs("GET", "/")?.query("comp", "list").query("maxresults", "1"), &[], &[TIMEOUT, &LIST[1..]]).await
}

const CREATION: &[&[Asked]] =
    &[ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE, IMMUTABILITY, EXPIRY, TAGS, MD5, CRC64, STRUCTURE, BLOB_MD5];

async fn put_blob_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let headers = [CREATION, &[TIER]].concat();
    reads(container.put("b", "other content")?, &headers, &[TIMEOUT]).await
}

async fn put_append_blob_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE, IMMUTABILITY, TAGS, BLOB_MD5];
    reads(container.create_append("a")?, &headers, &[TIMEOUT]).await
}

async fn put_blob_from_url_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    container.seed("target", "content").await?;
    let request = container.blob("PUT", "target")?.header("x-ms-blob-type", "BlockBlob").body("");
    let request = request.header("x-ms-copy-source", &container.readable_url("b"));
    let own = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE, EXPIRY, TAGS, TIER, TAG_OPTION];
    let source = [SOURCE_CONDITIONS, SOURCE_TAGS, SOURCE_MD5, SOURCE_CRC64, SOURCE_KEY, SOURCE_ACCESS];
    let properties: &[Asked] = &[("x-ms-copy-source-blob-properties", "perhaps")];
    reads(request, &[&own[..], &source, &[properties]].concat(), &[TIMEOUT]).await
}

async fn get_blob_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let checksums: &[Asked] = &[
        ("x-ms-range-get-content-md5", "perhaps"),
        ("x-ms-range-get-content-crc64", "perhaps"),
        ("x-ms-structured-body", "XSM/1.0; properties=nothing"),
        ("x-ms-range", "bytes=9000-9001"),
        ("Range", "bytes=9000-9001"),
    ];
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, checksums];
    reads(container.blob("GET", "b")?, &headers, &[TIMEOUT, VERSIONS]).await
}

async fn get_blob_properties_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY];
    reads(container.blob("HEAD", "b")?, &headers, &[TIMEOUT, VERSIONS]).await
}

async fn get_blob_metadata_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY];
    reads(container.blob_on("GET", "b", "metadata")?, &headers, &[TIMEOUT, VERSIONS]).await
}

async fn set_blob_properties_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let pages: &[Asked] = &[("x-ms-blob-content-length", "512"), ("x-ms-sequence-number-action", "max")];
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, BLOB_MD5, pages];
    reads(container.blob_on("PUT", "b", "properties")?, &headers, &[TIMEOUT]).await
}

async fn set_blob_metadata_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE];
    reads(container.blob_on("PUT", "b", "metadata")?, &headers, &[TIMEOUT]).await
}

async fn delete_blob_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let own: &[Asked] = &[
        ("x-ms-delete-snapshots", "some"),
        ("x-ms-access-tier-if-modified-since", LATER),
        ("x-ms-access-tier-if-unmodified-since", LONG_AGO),
    ];
    let kind: &[Asked] = &[("deletetype", "permanent")];
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, own];
    reads(container.blob("DELETE", "b")?, &headers, &[TIMEOUT, VERSIONS, kind]).await
}

async fn put_block_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let headers = [LEASE, KEY, SCOPE, MD5, CRC64, STRUCTURE];
    reads(container.put_block("b", "AAAA", "block")?, &headers, &[TIMEOUT]).await
}

async fn put_block_from_url_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let request = container.blob_on("PUT", "new", "block")?.query("blockid", "AAAA").body("");
    let request = request.header("x-ms-copy-source", &container.readable_url("b"));
    let source = [SOURCE_CONDITIONS, SOURCE_MD5, SOURCE_CRC64, SOURCE_RANGE, SOURCE_KEY, SOURCE_ACCESS];
    reads(request, &[&[KEY, SCOPE], &source[..]].concat(), &[TIMEOUT]).await
}

async fn put_block_list_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    container.put_block("b", "AAAA", "block")?.send().await?.expect(201)?;
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE, IMMUTABILITY, TAGS, TIER, MD5, CRC64, BLOB_MD5];
    reads(container.put_list("b", "<Latest>AAAA</Latest>")?, &headers, &[TIMEOUT]).await
}

async fn get_block_list_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let kind: &[Asked] = &[("blocklisttype", "some"), ("snapshot", "yesterday"), ("versionid", "first")];
    reads(container.blob_on("GET", "b", "blocklist")?, &[LEASE, TAG_CONDITION], &[TIMEOUT, kind]).await
}

async fn append_block_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE, MD5, CRC64, STRUCTURE, POSITION, SIZE];
    reads(container.append("a", "more")?, &headers, &[TIMEOUT]).await
}

async fn append_block_from_url_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let request = container.blob_on("PUT", "a", "appendblock")?.body("");
    let request = request.header("x-ms-copy-source", &container.readable_url("b"));
    let own = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE, POSITION, SIZE];
    let source = [SOURCE_CONDITIONS, SOURCE_MD5, SOURCE_CRC64, SOURCE_RANGE, SOURCE_KEY, SOURCE_ACCESS];
    reads(request, &[&own[..], &source].concat(), &[TIMEOUT]).await
}

async fn append_blob_seal_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let headers = [ETAGS, TIMES, LEASE, POSITION];
    reads(container.blob_on("PUT", "a", "seal")?, &headers, &[TIMEOUT]).await
}

async fn acquire_lease_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let request = container.lease("b", "acquire")?.header("x-ms-lease-duration", "-1");
    reads(request, &[ETAGS, TIMES, TAG_CONDITION, PROPOSED_LEASE, LEASE_TIME], &[TIMEOUT]).await
}

async fn leased(container: &Container<'_>) -> Outcome {
    let request = container.lease("b", "acquire")?.header("x-ms-lease-duration", "-1");
    request.header("x-ms-proposed-lease-id", LEASE_ID).send().await?.expect(201).map(drop)
}

async fn renew_lease_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    leased(&container).await?;
    let request = container.lease("b", "renew")?.header("x-ms-lease-id", LEASE_ID);
    reads(request, &[ETAGS, TIMES, TAG_CONDITION], &[TIMEOUT]).await
}

async fn change_lease_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    leased(&container).await?;
    let request = container.lease("b", "change")?.header("x-ms-lease-id", LEASE_ID);
    let request = request.header("x-ms-proposed-lease-id", "6f1c1d6e-9f5d-4f0e-8a0c-0d4f2f6b8a12");
    reads(request, &[ETAGS, TIMES, TAG_CONDITION, PROPOSED_LEASE], &[TIMEOUT]).await
}

async fn release_lease_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    leased(&container).await?;
    let request = container.lease("b", "release")?.header("x-ms-lease-id", LEASE_ID);
    reads(request, &[ETAGS, TIMES, TAG_CONDITION], &[TIMEOUT]).await
}

async fn break_lease_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    leased(&container).await?;
    let period: &[Asked] = &[("x-ms-lease-break-period", "61")];
    reads(container.lease("b", "break")?, &[ETAGS, TIMES, TAG_CONDITION, period], &[TIMEOUT]).await
}

async fn snapshot_blob_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let headers = [ETAGS, TIMES, LEASE, TAG_CONDITION, KEY, SCOPE];
    reads(container.blob_on("PUT", "b", "snapshot")?, &headers, &[TIMEOUT]).await
}

const COPY: &[&[Asked]] =
    &[ETAGS, TIMES, LEASE, TAG_CONDITION, SOURCE_CONDITIONS, SOURCE_TAGS, IMMUTABILITY, TAGS, TIER];

async fn copy_blob_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    container.seed("target", "content").await?;
    let request = container.blob("PUT", "target")?.header("x-ms-copy-source", &container.readable_url("b"));
    let sealed: &[Asked] = &[("x-ms-seal-blob", "true")];
    reads(request, &[COPY, &[REHYDRATION, sealed]].concat(), &[TIMEOUT]).await
}

async fn copy_blob_from_url_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    container.seed("target", "content").await?;
    let request = container.blob("PUT", "target")?.header("x-ms-copy-source", &container.readable_url("b"));
    let request = request.header("x-ms-requires-sync", "true");
    let own: &[&[Asked]] = &[SCOPE, SOURCE_MD5, SOURCE_ACCESS, TAG_OPTION];
    reads(request, &[COPY, own].concat(), &[TIMEOUT]).await
}

async fn set_blob_tier_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let request = container.blob_on("PUT", "b", "tier")?.header("x-ms-access-tier", "Cool");
    reads(request, &[LEASE, TAG_CONDITION, TIER, REHYDRATION], &[TIMEOUT, VERSIONS]).await
}

const BLOB_CONDITIONS: &[Asked] = &[
    ("x-ms-blob-if-match", "\"0x8D000000000000\""),
    ("x-ms-blob-if-modified-since", LATER),
    ("x-ms-blob-if-unmodified-since", LONG_AGO),
    ("x-ms-blob-if-none-match", "*"),
];

async fn get_blob_tags_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let request = container.blob_on("GET", "b", "tags")?;
    reads(request, &[LEASE, TAG_CONDITION, BLOB_CONDITIONS], &[TIMEOUT, VERSIONS]).await
}

async fn set_blob_tags_reads_its_headers(at: &Session) -> Outcome {
    let container = seeded(at).await?;
    let request = container.blob_on("PUT", "b", "tags")?.body("<Tags><TagSet/></Tags>");
    reads(request, &[LEASE, TAG_CONDITION, BLOB_CONDITIONS, MD5, CRC64], &[TIMEOUT, VERSIONS]).await
}
