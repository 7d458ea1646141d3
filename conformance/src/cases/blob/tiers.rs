//! Tiers of block blobs.

use crate::container::Container;
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
    }
    GetBlob {
        an_archived_blob_is_not_read,
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
    container.put("b", "y")?.send().await?.expect(201)?;
    container.blob("GET", "b")?.send().await?.expect(200)?;
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
