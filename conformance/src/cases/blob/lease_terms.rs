//! Leases together with other terms of a request: conditions, tags, blocks that no list has committed.

use crate::container::Container;
use crate::{Outcome, Session, cases};

cases! {
    PutBlob {
        the_holder_of_a_lease_overwrites_what_must_not_be_there,
    }
    AcquireBlobLease {
        uncommitted_blocks_can_be_leased,
    }
    PutBlock {
        a_lease_that_blocks_do_not_have_is_refused,
    }
    PutBlockList {
        a_lease_is_judged_before_the_list,
    }
    SetBlobTags {
        tags_of_a_leased_blob_need_the_lease,
    }
}

const LEASE: &str = "1f812371-a41d-49e6-b123-f4b542e851c5";
const OTHER: &str = "2f812371-a41d-49e6-b123-f4b542e851c5";

/// Leases a blob for ever.
async fn take_lease(container: &Container<'_>, name: &str) -> Outcome {
    let acquire = container.lease(name, "acquire")?.header("x-ms-lease-duration", "-1");
    acquire.header("x-ms-proposed-lease-id", LEASE).send().await?.expect(201)?;
    Ok(())
}

/// Every upload of the library for Python with a lease sends both.
async fn the_holder_of_a_lease_overwrites_what_must_not_be_there(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    container.seed("source", "from url").await?;
    take_lease(&container, "b").await?;
    let put = || Ok::<_, crate::Failure>(container.put("b", "y")?.header("If-None-Match", "*"));
    put()?.header("x-ms-lease-id", LEASE).send().await?.expect(201)?;
    put()?.send().await?.expect_code(412, "LeaseIdMissing")?;
    put()?.header("x-ms-lease-id", OTHER).send().await?.expect_code(412, "LeaseIdMismatchWithBlobOperation")?;
    let list = container.put_list("b", "")?.header("If-None-Match", "*").header("x-ms-lease-id", LEASE);
    list.send().await?.expect(201)?;
    let from_url = container.put("b", "")?.header("x-ms-copy-source", &container.readable_url("source"));
    from_url.header("If-None-Match", "*").header("x-ms-lease-id", LEASE).send().await?.expect(201)?;
    container.put("source", "y")?.header("If-None-Match", "*").send().await?.expect_code(409, "BlobAlreadyExists")?;
    Ok(())
}

async fn tags_of_a_leased_blob_need_the_lease(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    take_lease(&container, "b").await?;
    let tags = "<?xml version=\"1.0\"?><Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>";
    let set = || Ok::<_, crate::Failure>(container.blob_on("PUT", "b", "tags")?.version("2019-12-12").xml(tags));
    set()?.send().await?.expect_code(412, "LeaseIdMissing")?;
    set()?.header("x-ms-lease-id", OTHER).send().await?.expect_code(412, "LeaseIdMismatchWithBlobOperation")?;
    set()?.header("x-ms-lease-id", LEASE).send().await?.expect(204)?;
    container.blob_on("GET", "b", "tags")?.version("2019-12-12").send().await?.expect(200)?;
    Ok(())
}

async fn uncommitted_blocks_can_be_leased(at: &Session) -> Outcome {
    let container = at.container().await?;
    container
        .lease("b", "acquire")?
        .header("x-ms-lease-duration", "-1")
        .send()
        .await?
        .expect_code(404, "BlobNotFound")?;
    container.put_block("b", "QQ==", "x")?.send().await?.expect(201)?;
    take_lease(&container, "b").await?;
    container.put_block("b", "QQ==", "y")?.send().await?.expect_code(412, "LeaseIdMissing")?;
    container.put_block("b", "QQ==", "y")?.header("x-ms-lease-id", LEASE).send().await?.expect(201)?;
    let list = || container.put_list("b", "<Latest>QQ==</Latest>");
    list()?.send().await?.expect_code(412, "LeaseIdMissing")?;
    container.put("b", "z")?.send().await?.expect_code(412, "LeaseIdMissing")?;
    container.blob("DELETE", "b")?.send().await?.expect_code(412, "LeaseIdMissing")?;
    container.lease("b", "renew")?.header("x-ms-lease-id", LEASE).send().await?.expect(200)?;
    list()?.header("x-ms-lease-id", LEASE).send().await?.expect(201)?;
    let read = container.blob("HEAD", "b")?.send().await?;
    read.expect(200)?.expect_header("x-ms-lease-state", "leased")?.expect_header("Content-Length", "1")?;
    Ok(())
}

async fn a_lease_that_blocks_do_not_have_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = |id: &str| Ok::<_, crate::Failure>(container.put_block("b", id, "x")?.header("x-ms-lease-id", LEASE));
    put("QQ==")?.send().await?.expect(201)?;
    put("Qg==")?.send().await?.expect_code(412, "LeaseNotPresentWithBlobOperation")?;
    Ok(())
}

async fn a_lease_is_judged_before_the_list(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put_block("b", "QQ==", "x")?.send().await?.expect(201)?;
    let list = || container.put_list("b", "<Latest>Qg==</Latest>");
    list()?.header("x-ms-lease-id", LEASE).send().await?.expect_code(412, "LeaseNotPresentWithBlobOperation")?;
    list()?.send().await?.expect_code(400, "InvalidBlockList")?;
    Ok(())
}
