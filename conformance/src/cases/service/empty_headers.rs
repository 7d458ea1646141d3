//! Empty headers count as absent: many clients send one for a value that they do not have.

use serde_json::json;

use crate::{Outcome, Session, cases};

cases! {
    PutBlob {
        an_empty_tier_is_no_tier,
        empty_conditions_of_a_blob_are_none,
    }
    CopyBlobFromURL {
        empty_conditions_of_a_copy_source_are_none,
    }
    AppendBlock {
        empty_headers_of_an_append_are_none,
    }
    CreateContainer {
        empty_headers_of_a_container_are_none,
    }
    InsertOrReplaceEntity {
        empty_conditions_of_an_entity_are_none,
    }
    CreateQueue {
        an_empty_version_of_a_queue_request_is_none,
    }
}

/// Restic sends it with every blob.
async fn an_empty_tier_is_no_tier(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "x")?.header("x-ms-access-tier", "").send().await?.expect(201)?;
    container.blob("HEAD", "b")?.send().await?.expect(200)?.expect_header("x-ms-access-tier-inferred", "true")?;
    Ok(())
}

async fn empty_conditions_of_a_blob_are_none(at: &Session) -> Outcome {
    let container = at.container().await?;
    let names = [
        "If-Match",
        "If-None-Match",
        "If-Modified-Since",
        "If-Unmodified-Since",
        "x-ms-lease-id",
        "x-ms-if-tags",
        "x-ms-blob-content-md5",
        "x-ms-blob-content-type",
        "x-ms-content-crc64",
        "Content-MD5",
        "x-ms-tags",
        "x-ms-copy-source",
    ];
    for name in names {
        container.put("b", "x")?.header(name, "").send().await?.expect(201)?;
    }
    for name in ["If-Match", "If-None-Match", "x-ms-lease-id", "x-ms-range", "Range", "x-ms-range-get-content-md5"] {
        container.blob("GET", "b")?.header(name, "").send().await?.expect(200)?;
    }
    container.blob("DELETE", "b")?.header("x-ms-delete-snapshots", "").send().await?.expect(202)?;
    Ok(())
}

/// The library for .NET sends them with `SyncCopyFromUri`.
async fn empty_conditions_of_a_copy_source_are_none(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let mut copy = container.blob("PUT", "copy")?.header("x-ms-copy-source", &container.readable_url("b"));
    for name in [
        "x-ms-source-if-match",
        "x-ms-source-if-none-match",
        "x-ms-source-if-modified-since",
        "x-ms-source-content-md5",
        "x-ms-blob-type",
        "x-ms-access-tier",
    ] {
        copy = copy.header(name, "");
    }
    copy.header("x-ms-requires-sync", "true")
        .send()
        .await?
        .expect(202)?
        .expect_header("x-ms-copy-status", "success")?;
    Ok(())
}

/// AzCopy sends an empty MD5 with an append blob.
async fn empty_headers_of_an_append_are_none(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_append("b")?.header("x-ms-blob-content-md5", "").send().await?.expect(201)?;
    let append = container.append("b", "x")?.header("x-ms-blob-condition-appendpos", "");
    append.header("x-ms-blob-condition-maxsize", "").header("Content-MD5", "").send().await?.expect(201)?;
    Ok(())
}

async fn empty_headers_of_a_container_are_none(at: &Session) -> Outcome {
    let container = at.missing_container();
    container.create()?.header("x-ms-blob-public-access", "").send().await?.expect(201)?;
    container
        .request("DELETE")?
        .header("x-ms-lease-id", "")
        .header("If-Modified-Since", "")
        .send()
        .await?
        .expect(202)?;
    Ok(())
}

async fn empty_conditions_of_an_entity_are_none(at: &Session) -> Outcome {
    let table = at.table().await?;
    table.put("p", "r", json!({ "A": 1 })).if_match("").send().await?.expect(204)?;
    table.put("p", "r", json!({ "A": 2 })).header("If-None-Match", "").send().await?.expect(204)?;
    table.read("p", "r").header("If-None-Match", "").send().await?.expect(200)?;
    Ok(())
}

async fn an_empty_version_of_a_queue_request_is_none(at: &Session) -> Outcome {
    let queue = at.missing_queue();
    queue.create()?.header("x-ms-version", "").header("x-ms-client-request-id", "").send().await?.expect(201)?;
    Ok(())
}
