//! Tiers of block blobs.

use crate::container::Container;
use crate::expect::equal;
use crate::{Failure, Outcome, Session, cases, clock};

cases! {
    DeleteBlob {
        a_deletion_may_depend_on_the_time_of_the_tier,
    }
    SetBlobTier {
        a_blob_leaves_the_archive_in_its_own_time,
        a_rehydration_goes_to_one_tier,
        a_snapshot_has_a_tier_of_its_own,
        a_smart_tier_shows_where_the_blob_is,
        only_block_blobs_have_tiers,
    }
    GetBlob {
        an_archived_blob_is_not_read,
    }
    PutBlob {
        an_archived_blob_is_not_replaced,
        a_blob_keeps_the_tier_of_the_one_that_it_replaces,
    }
    CopyBlob {
        a_copy_of_an_archived_blob_is_rehydrated,
    }
}

async fn a_deletion_may_depend_on_the_time_of_the_tier(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    container.put("set", "x")?.header("x-ms-access-tier", "Cool").send().await?.expect(201)?;
    let past = clock::rfc1123(clock::now() - clock::minutes(60));
    let future = clock::rfc1123(clock::now() + clock::minutes(60));
    let (modified, unmodified) = ("x-ms-access-tier-if-modified-since", "x-ms-access-tier-if-unmodified-since");
    for blob in ["b", "set"] {
        for (header, date) in [(modified, &future), (unmodified, &past)] {
            let delete = container.blob("DELETE", blob)?.header(header, date).send().await?;
            delete.expect_code(412, "AccessTierChangeTimeConditionNotMet")?;
        }
        let delete = container.blob("DELETE", blob)?.header(modified, &past).header(unmodified, &future);
        delete.send().await?.expect(202)?;
    }
    container.seed("b", "x").await?;
    let delete = container.blob("DELETE", "b")?.header(modified, "yesterday").send().await?;
    delete.expect_code(400, "InvalidHeaderValue")?;
    Ok(())
}

/// A container with an archived blob.
async fn archived(at: &Session) -> Outcome<Container<'_>> {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    container.blob_on("PUT", "b", "tier")?.header("x-ms-access-tier", "Archive").send().await?.expect(200)?;
    container.blob("HEAD", "b")?.send().await?.expect(200)?.expect_header("x-ms-access-tier", "Archive")?;
    Ok(container)
}

async fn a_blob_leaves_the_archive_in_its_own_time(at: &Session) -> Outcome {
    let container = archived(at).await?;
    let set = container.blob_on("PUT", "b", "tier")?.version("2020-10-02").header("x-ms-access-tier", "Cool");
    set.header("x-ms-rehydrate-priority", "High").send().await?.expect(202)?;
    let read = container.blob("HEAD", "b")?.version("2020-10-02").send().await?;
    read.expect(200)?
        .expect_header("x-ms-access-tier", "Archive")?
        .expect_header("x-ms-archive-status", "rehydrate-pending-to-cool")?
        .expect_header("x-ms-rehydrate-priority", "High")?;
    let list = container.on("GET", "list")?.version("2020-10-02").send().await?;
    list.expect(200)?
        .expect_body_contains("<AccessTier>Archive</AccessTier>")?
        .expect_body_contains("<ArchiveStatus>rehydrate-pending-to-cool</ArchiveStatus>")?
        .expect_body_contains("<RehydratePriority>High</RehydratePriority>")?;
    let wrong = container.blob_on("PUT", "b", "tier")?.header("x-ms-access-tier", "Cool");
    wrong.header("x-ms-rehydrate-priority", "Soon").send().await?.expect_code(400, "InvalidHeaderValue")?;
    Ok(())
}

async fn a_rehydration_goes_to_one_tier(at: &Session) -> Outcome {
    let container = archived(at).await?;
    let set = |tier: &str| Ok::<_, Failure>(container.blob_on("PUT", "b", "tier")?.header("x-ms-access-tier", tier));
    set("Archive")?.send().await?.expect(200)?;
    set("Hot")?.send().await?.expect(202)?;
    set("Hot")?.send().await?.expect(202)?;
    set("Cool")?.send().await?.expect_code(409, "BlobBeingRehydrated")?;
    let read = container.blob("HEAD", "b")?.send().await?;
    read.expect(200)?
        .expect_header("x-ms-archive-status", "rehydrate-pending-to-hot")?
        .expect_header("x-ms-rehydrate-priority", "Standard")?;
    Ok(())
}

async fn a_snapshot_has_a_tier_of_its_own(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let taken = container.blob_on("PUT", "b", "snapshot")?.send().await?;
    let taken = taken.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned();
    let set = |tier: &str| {
        let set = container.blob_on("PUT", "b", "tier")?.query("snapshot", &taken);
        Ok::<_, Failure>(set.version("2020-10-02").header("x-ms-access-tier", tier))
    };
    set("Cool")?.send().await?.expect(200)?;
    let head = container.blob("HEAD", "b")?.query("snapshot", &taken).version("2020-10-02").send().await?;
    head.expect(200)?.expect_header("x-ms-access-tier", "Cool")?;
    container.blob("HEAD", "b")?.send().await?.expect(200)?.expect_header("x-ms-access-tier", "Hot")?;
    set("Archive")?.send().await?.expect(200)?;
    set("Hot")?.send().await?.expect(202)?;
    let absent = container.blob_on("PUT", "b", "tier")?.query("snapshot", "2019-05-09T00:48:31.3653282Z");
    absent.header("x-ms-access-tier", "Cool").send().await?.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn a_smart_tier_shows_where_the_blob_is(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put =
        |version: &str| Ok::<_, Failure>(container.put("b", "x")?.version(version).header("x-ms-access-tier", "Smart"));
    put("2026-02-06")?.send().await?.expect_code(400, "InvalidHeaderValue")?;
    put("2026-04-06")?.send().await?.expect(201)?;
    let read = container.blob("HEAD", "b")?.version("2026-04-06").send().await?;
    read.expect(200)?.expect_header("x-ms-access-tier", "Smart")?.expect_header("x-ms-smart-access-tier", "Hot")?;
    let list = container.on("GET", "list")?.version("2026-04-06").send().await?;
    list.expect(200)?.expect_body_contains("</AccessTierChangeTime><SmartAccessTier>Hot</SmartAccessTier>")?;
    Ok(())
}

async fn an_archived_blob_is_not_read(at: &Session) -> Outcome {
    let container = archived(at).await?;
    container.blob("GET", "b")?.send().await?.expect_code(409, "BlobArchived")?;
    container.blob_on("PUT", "b", "snapshot")?.send().await?.expect_code(409, "BlobArchived")?;
    container.blob_on("PUT", "b", "tier")?.header("x-ms-access-tier", "Hot").send().await?.expect(202)?;
    container.blob("GET", "b")?.send().await?.expect_code(409, "BlobArchived")?;
    container.put("b", "y")?.send().await?.expect_code(409, "BlobArchived")?;
    Ok(())
}

/// An archived blob is deleted or rehydrated before another takes its place, whatever tier that has.
async fn an_archived_blob_is_not_replaced(at: &Session) -> Outcome {
    let container = archived(at).await?;
    container.seed("other", "y").await?;
    let copy = || container.blob("PUT", "b").map(|copy| copy.version("2020-10-02"));
    let from = |name: &str| container.readable_url(name);
    let itself = copy()?.header("x-ms-copy-source", &container.url("b")).header("x-ms-access-tier", "Hot");
    for (what, request) in [
        ("Put Blob", container.put("b", "y")?),
        ("Put Blob with a tier", container.put("b", "y")?.header("x-ms-access-tier", "Hot")),
        ("Put Blob of another type", container.create_append("b")?),
        ("Put Block", container.put_block("b", "MDAx", "y")?),
        ("Put Block List", container.put_list("b", "")?),
        ("Put Blob From URL", container.put("b", "")?.version("2020-10-02").header("x-ms-copy-source", &from("other"))),
        ("Copy Blob", copy()?.header("x-ms-copy-source", &from("other"))),
        ("Copy Blob of itself", itself),
        ("Copy Blob From URL", copy()?.header("x-ms-copy-source", &from("other")).header("x-ms-requires-sync", "true")),
    ] {
        let refused = request.send().await?;
        equal(what, (refused.status(), refused.header("x-ms-error-code")), (409, Some("BlobArchived")))?;
    }
    container.blob("DELETE", "b")?.send().await?.expect(202)?;
    container.put("b", "y")?.send().await?.expect(201)?;
    Ok(())
}

async fn a_blob_keeps_the_tier_of_the_one_that_it_replaces(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("other", "y").await?;
    let block = container.put_block("b", "MDAx", "y")?;
    let list = container.put_list("b", "<Latest>MDAx</Latest>")?;
    let copy = container.blob("PUT", "b")?.header("x-ms-copy-source", &container.url("other"));
    container.put("b", "x")?.header("x-ms-access-tier", "Cool").send().await?.expect(201)?;
    for request in [container.put("b", "y")?, block, list, copy] {
        request.send().await?.expect_one_of(&[201, 202])?;
        let head = container.blob("HEAD", "b")?.send().await?;
        head.expect(200)?.expect_header("x-ms-access-tier", "Cool")?.expect_no_header("x-ms-access-tier-inferred")?;
    }
    container.put("b", "y")?.header("x-ms-access-tier", "Cold").send().await?.expect(201)?;
    container.blob("HEAD", "b")?.send().await?.expect(200)?.expect_header("x-ms-access-tier", "Cold")?;
    Ok(())
}

/// Page blobs have tiers on premium accounts only, and those have other names.
async fn only_block_blobs_have_tiers(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 512)?.send().await?.expect(201)?;
    container.create_append("a")?.send().await?.expect(201)?;
    container.seed("b", "x").await?;
    for (blob, tier) in [("p", "Hot"), ("p", "P4"), ("a", "Cool"), ("b", "P10")] {
        let set = container.blob_on("PUT", blob, "tier")?.header("x-ms-access-tier", tier).send().await?;
        set.expect_code(400, "AccessTierNotSupportedForBlobType")?;
    }
    let copy = container.blob("PUT", "q")?.header("x-ms-copy-source", &container.url("p"));
    let copy = copy.header("x-ms-access-tier", "P10").send().await?;
    copy.expect_code(400, "AccessTierNotSupportedForBlobType")?;
    Ok(())
}

async fn a_copy_of_an_archived_blob_is_rehydrated(at: &Session) -> Outcome {
    let container = archived(at).await?;
    let copy = || {
        let copy = container.blob("PUT", "copy")?.version("2020-10-02");
        Ok::<_, Failure>(copy.header("x-ms-copy-source", &container.url("b")))
    };
    copy()?.send().await?.expect_code(409, "BlobArchived")?;
    let rehydrated = copy()?.header("x-ms-access-tier", "Hot").header("x-ms-rehydrate-priority", "High");
    rehydrated.send().await?.expect(202)?;
    let read = container.blob("HEAD", "copy")?.version("2020-10-02").send().await?;
    read.expect(200)?
        .expect_header("x-ms-access-tier", "Archive")?
        .expect_header("x-ms-archive-status", "rehydrate-pending-to-hot")?
        .expect_header("x-ms-rehydrate-priority", "High")?;
    Ok(())
}
