//! Conditions on tags, and conditions of requests for tags.

use crate::request::Request;
use crate::{Failure, Outcome, Session, cases, clock};

cases! {
    SnapshotBlob {
        a_snapshot_may_depend_on_tags,
    }
    SetBlobTier {
        a_tier_may_depend_on_tags,
    }
    DeleteBlob {
        a_deletion_of_snapshots_may_depend_on_tags,
    }
    AcquireBlobLease {
        every_action_of_a_lease_may_depend_on_tags,
    }
    CopyBlob {
        a_copy_may_depend_on_tags_of_both_sides,
    }
    GetBlobTags {
        a_read_of_tags_may_depend_on_the_blob,
    }
    SetBlobTags {
        a_write_of_tags_may_depend_on_the_blob,
        tags_of_a_snapshot_are_its_own,
    }
}

const VERSION: &str = "2026-02-06";
const YES: &str = "\"color\" = 'red'";
const NO: &str = "\"color\" = 'blue'";
const LEASE: &str = "1f812371-a41d-49e6-b123-f4b542e851c5";
const OTHER: &str = "2f812371-a41d-49e6-b123-f4b542e851c5";
const TAGS: &str = "<?xml version=\"1.0\"?><Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>";

/// A container with a red blob.
async fn red(at: &Session) -> Outcome<crate::container::Container<'_>> {
    let container = at.container().await?;
    container.put("b", "x")?.version(VERSION).header("x-ms-tags", "color=red").send().await?.expect(201)?;
    Ok(container)
}

/// A request fails if it wants the blob to be blue, and succeeds if it wants it to be red.
async fn depends<'s>(request: impl Fn() -> Outcome<Request<'s>>, header: &str, code: &str, status: u16) -> Outcome {
    let refused = request()?.version(VERSION).header(header, NO).send().await?;
    refused.expect_code(412, code)?;
    request()?.version(VERSION).header(header, YES).send().await?.expect(status)?;
    Ok(())
}

async fn a_snapshot_may_depend_on_tags(at: &Session) -> Outcome {
    let container = red(at).await?;
    depends(|| container.blob_on("PUT", "b", "snapshot"), "x-ms-if-tags", "ConditionNotMet", 201).await
}

async fn a_deletion_of_snapshots_may_depend_on_tags(at: &Session) -> Outcome {
    let container = red(at).await?;
    container.blob_on("PUT", "b", "snapshot")?.version(VERSION).send().await?.expect(201)?;
    let delete = || Ok(container.blob("DELETE", "b")?.header("x-ms-delete-snapshots", "only"));
    depends(delete, "x-ms-if-tags", "ConditionNotMet", 202).await
}

async fn a_tier_may_depend_on_tags(at: &Session) -> Outcome {
    let container = red(at).await?;
    let set = || Ok(container.blob_on("PUT", "b", "tier")?.header("x-ms-access-tier", "Cool"));
    depends(set, "x-ms-if-tags", "ConditionNotMet", 200).await
}

async fn every_action_of_a_lease_may_depend_on_tags(at: &Session) -> Outcome {
    let container = red(at).await?;
    for (action, id, status) in [
        ("acquire", LEASE, 201),
        ("renew", LEASE, 200),
        ("change", LEASE, 200),
        ("break", OTHER, 202),
        ("release", OTHER, 200),
    ] {
        let lease = || {
            let lease = container.lease("b", action)?;
            Ok(match action {
                "acquire" => lease.header("x-ms-lease-duration", "15").header("x-ms-proposed-lease-id", id),
                "change" => lease.header("x-ms-lease-id", id).header("x-ms-proposed-lease-id", OTHER),
                "break" => lease,
                _ => lease.header("x-ms-lease-id", id),
            })
        };
        depends(lease, "x-ms-if-tags", "ConditionNotMet", status).await?;
    }
    Ok(())
}

async fn a_copy_may_depend_on_tags_of_both_sides(at: &Session) -> Outcome {
    let container = red(at).await?;
    container.put("copy", "x")?.version(VERSION).header("x-ms-tags", "color=red").send().await?.expect(201)?;
    let copy = || {
        let copy = container.blob("PUT", "copy")?.header("x-ms-tags", "color=red");
        Ok::<_, Failure>(copy.header("x-ms-copy-source", &container.readable_url("b")))
    };
    depends(copy, "x-ms-if-tags", "ConditionNotMet", 202).await?;
    depends(copy, "x-ms-source-if-tags", "ConditionNotMet", 202).await?;
    let sync = || Ok(copy()?.header("x-ms-requires-sync", "true"));
    depends(sync, "x-ms-source-if-tags", "ConditionNotMet", 202).await
}

/// The names of the conditions, each with a value that holds and one that does not.
async fn conditions(container: &crate::container::Container<'_>) -> Outcome<[(&'static str, String, String, u16); 4]> {
    let etag = container.blob("HEAD", "b")?.send().await?.expect(200)?.etag()?;
    let past = clock::rfc1123(clock::now() - clock::minutes(60));
    let future = clock::rfc1123(clock::now() + clock::minutes(60));
    Ok([
        ("x-ms-blob-if-match", etag.clone(), "\"0x1\"".to_owned(), 412),
        ("x-ms-blob-if-none-match", "\"0x1\"".to_owned(), etag, 304),
        ("x-ms-blob-if-modified-since", past.clone(), future.clone(), 304),
        ("x-ms-blob-if-unmodified-since", future, past, 412),
    ])
}

async fn a_read_of_tags_may_depend_on_the_blob(at: &Session) -> Outcome {
    let container = red(at).await?;
    let read = || Ok::<_, Failure>(container.blob_on("GET", "b", "tags")?.version(VERSION));
    for (name, holds, fails, status) in conditions(&container).await? {
        read()?.header(name, &holds).send().await?.expect(200)?;
        read()?
            .header(name, &fails)
            .send()
            .await?
            .expect(status)?
            .expect_header("x-ms-error-code", "ConditionNotMet")?;
    }
    Ok(())
}

async fn a_write_of_tags_may_depend_on_the_blob(at: &Session) -> Outcome {
    let container = red(at).await?;
    let write = || Ok::<_, Failure>(container.blob_on("PUT", "b", "tags")?.version(VERSION).xml(TAGS));
    for (name, holds, fails, _) in conditions(&container).await? {
        write()?.header(name, &fails).send().await?.expect_code(412, "ConditionNotMet")?;
        write()?.header(name, &holds).send().await?.expect(204)?;
    }
    Ok(())
}

async fn tags_of_a_snapshot_are_its_own(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("b", "x")?.version(VERSION).header("x-ms-tags", "a=1");
    put.send().await?.expect(201)?;
    let taken = container.snapshot("b").await?;
    let tags = |value: &str| format!("<Tags><TagSet><Tag><Key>a</Key><Value>{value}</Value></Tag></TagSet></Tags>");
    let set = |taken: &str| {
        let set = container.blob_on("PUT", "b", "tags")?.version(VERSION).query("snapshot", taken);
        Ok::<_, Failure>(set.xml(tags("2")))
    };
    set(&taken)?.header("x-ms-if-tags", "\"a\" = '2'").send().await?.expect_code(412, "ConditionNotMet")?;
    set(&taken)?.send().await?.expect(204)?;
    set("2020-01-01T00:00:00.0000000Z")?.send().await?.expect_code(404, "BlobNotFound")?;
    let read = || Ok::<_, Failure>(container.blob_on("GET", "b", "tags")?.version(VERSION));
    read()?.query("snapshot", &taken).send().await?.expect(200)?.expect_body_contains(&tags("2"))?;
    read()?.send().await?.expect(200)?.expect_body_contains(&tags("1"))?;
    // Only blobs are found by their tags.
    for (value, is_found) in [("1", true), ("2", false)] {
        let find = container.on("GET", "blobs")?.version(VERSION).query("where", &format!("\"a\"='{value}'"));
        let found = find.send().await?;
        match is_found {
            true => found.expect(200)?.expect_body_contains("<Name>b</Name>")?,
            false => found.expect(200)?.expect_body_lacks("<Name>b</Name>")?,
        };
    }
    Ok(())
}
