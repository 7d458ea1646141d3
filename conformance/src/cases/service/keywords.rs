//! Values that are one of a few words have no case: the libraries write them in different ways.

use crate::container::names;
use crate::expect::equal;
use crate::{Outcome, Session, cases};

cases! {
    GetBlockList {
        the_type_of_a_block_list_has_no_case,
        an_unknown_type_of_a_block_list_is_refused,
    }
    ListBlobs {
        the_parts_of_an_address_have_no_case,
    }
    PutBlob {
        the_type_of_a_blob_has_no_case,
    }
    SetContainerACL {
        the_public_access_of_a_container_has_no_case,
    }
    DeleteBlob {
        what_becomes_of_snapshots_has_no_case,
    }
    GetBlob {
        a_switch_of_a_read_has_no_case,
        a_switch_that_is_none_is_refused,
    }
    SetBlobTier {
        the_name_of_a_tier_has_no_case,
    }
    AcquireBlobLease {
        the_action_of_a_lease_has_no_case,
    }
    PeekMessages {
        the_parameters_of_messages_have_no_case,
    }
}

/// The legacy libraries for .NET and Java send `All` and `ALL`.
async fn the_type_of_a_block_list_has_no_case(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put_block("b", "QQ==", "x")?.send().await?.expect(201)?;
    for kind in ["all", "All", "ALL", "Uncommitted"] {
        let list = container.blob_on("GET", "b", "blocklist")?.query("blocklisttype", kind).send().await?;
        list.expect(200)?.expect_body_contains("<Name>QQ==</Name>")?;
    }
    let list = container.blob_on("GET", "b", "blocklist")?.query("blocklisttype", "Committed").send().await?;
    list.expect(200)?.expect_body_lacks("<Name>")?;
    Ok(())
}

async fn an_unknown_type_of_a_block_list_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let list = container.blob_on("GET", "b", "blocklist")?.query("blocklisttype", "each").send().await?;
    list.expect_code(400, "InvalidQueryParameterValue")?;
    Ok(())
}

async fn the_parts_of_an_address_have_no_case(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "x")?.header("x-ms-meta-k", "v").send().await?.expect(201)?;
    let list = at.to_blobs("GET", format!("/{}", container.name))?.raw_query("restype=CONTAINER&comp=LIST");
    let list = list.query("include", "MetaData").send().await?;
    equal("the blobs", names(&list)?, vec!["b".to_owned()])?;
    list.expect_body_contains("<k>v</k>")?;
    Ok(())
}

async fn the_type_of_a_blob_has_no_case(at: &Session) -> Outcome {
    let container = at.container().await?;
    for (sent, stored) in [("blockblob", "BlockBlob"), ("APPENDBLOB", "AppendBlob")] {
        container.blob("PUT", sent)?.header("x-ms-blob-type", sent).body("").send().await?.expect(201)?;
        container.blob("HEAD", sent)?.send().await?.expect(200)?.expect_header("x-ms-blob-type", stored)?;
    }
    let other = container.blob("PUT", "b")?.header("x-ms-blob-type", "Blob").body("").send().await?;
    other.expect_code(400, "InvalidHeaderValue")?;
    Ok(())
}

async fn the_public_access_of_a_container_has_no_case(at: &Session) -> Outcome {
    let container = at.missing_container();
    container.create()?.header("x-ms-blob-public-access", "Blob").send().await?.expect(201)?;
    container.request("HEAD")?.send().await?.expect(200)?.expect_header("x-ms-blob-public-access", "blob")?;
    container.on("PUT", "acl")?.header("x-ms-blob-public-access", "CONTAINER").body("").send().await?.expect(200)?;
    container.request("HEAD")?.send().await?.expect(200)?.expect_header("x-ms-blob-public-access", "container")?;
    Ok(())
}

async fn what_becomes_of_snapshots_has_no_case(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    for what in ["Only", "Include"] {
        container.blob_on("PUT", "b", "snapshot")?.send().await?.expect(201)?;
        container.blob("DELETE", "b")?.header("x-ms-delete-snapshots", what).send().await?.expect(202)?;
    }
    container.blob("HEAD", "b")?.send().await?.expect(404)?;
    Ok(())
}

async fn a_switch_of_a_read_has_no_case(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "hello").await?;
    let read = container.blob("GET", "b")?.header("x-ms-range", "bytes=0-4");
    let read = read.header("x-ms-range-get-content-md5", "True").send().await?;
    read.expect(206)?.expect_header("Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==")?;
    Ok(())
}

async fn a_switch_that_is_none_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "hello").await?;
    let read = container.blob("GET", "b")?.header("x-ms-range", "bytes=0-4");
    let read = read.header("x-ms-range-get-content-md5", "yes").send().await?;
    read.expect_code(400, "InvalidHeaderValue")?;
    Ok(())
}

async fn the_name_of_a_tier_has_no_case(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    container.blob_on("PUT", "b", "tier")?.header("x-ms-access-tier", "COOL").send().await?.expect(200)?;
    container.blob("HEAD", "b")?.send().await?.expect(200)?.expect_header("x-ms-access-tier", "Cool")?;
    Ok(())
}

async fn the_action_of_a_lease_has_no_case(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    container.lease("b", "Acquire")?.header("x-ms-lease-duration", "-1").send().await?.expect(201)?;
    container.lease("b", "BREAK")?.send().await?.expect(202)?;
    Ok(())
}

async fn the_parameters_of_messages_have_no_case(at: &Session) -> Outcome {
    let queue = at.queue().await?;
    let peek = at.to_queues("GET", format!("/{}/messages", queue.name))?.raw_query("peekonly=TRUE");
    peek.send().await?.expect(200)?;
    at.to_queues("GET", "/")?.raw_query("comp=LIST&include=Metadata").send().await?.expect(200)?;
    Ok(())
}
