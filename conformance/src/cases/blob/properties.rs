//! Set Blob Properties: what a request does not give is cleared.

use crate::{Outcome, Session, cases};

cases! {
    SetBlobProperties {
        properties_that_are_not_given_are_cleared,
        any_base64_may_be_stated_as_the_md5_of_a_blob,
    }
    GetBlobTags {
        a_version_that_is_not_there_is_not_found,
    }
    PutBlockList {
        any_base64_may_be_stated_as_the_md5_of_a_block_list,
    }
}

async fn properties_that_are_not_given_are_cleared(at: &Session) -> Outcome {
    let container = at.container().await?;
    for given in [None, Some(("x-ms-blob-content-language", "de"))] {
        let put = container.put("b", "hello")?.header("x-ms-blob-content-type", "text/plain");
        put.header("x-ms-blob-cache-control", "no-cache").send().await?.expect(201)?;
        let set = container.blob_on("PUT", "b", "properties")?;
        let set = if let Some((name, value)) = given { set.header(name, value) } else { set };
        set.send().await?.expect(200)?;
        for verb in ["HEAD", "GET"] {
            let read = container.blob(verb, "b")?.send().await?;
            read.expect(200)?
                .expect_no_header("Content-Type")?
                .expect_no_header("Content-MD5")?
                .expect_no_header("Cache-Control")?;
            if let Some((_, value)) = given {
                read.expect_header("Content-Language", value)?;
            }
        }
        let list = container.on("GET", "list")?.send().await?;
        list.expect(200)?.expect_body_contains("<Content-Type />")?.expect_body_contains("<Content-MD5 />")?;
    }
    Ok(())
}

const NO_HASH: &str = "MDAwMDAwMDA=";

async fn any_base64_may_be_stated_as_the_md5_of_a_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "hello").await?;
    let set = || container.blob_on("PUT", "b", "properties");
    set()?.header("x-ms-blob-content-md5", NO_HASH).send().await?.expect(200)?;
    container.blob("HEAD", "b")?.send().await?.expect(200)?.expect_header("Content-MD5", NO_HASH)?;
    set()?.header("x-ms-blob-content-md5", "!").send().await?.expect_code(400, "InvalidMd5")?;
    Ok(())
}

async fn any_base64_may_be_stated_as_the_md5_of_a_block_list(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put_block("b", "QQ==", "x")?.send().await?.expect(201)?;
    let list = container.put_list("b", "<Latest>QQ==</Latest>")?.header("x-ms-blob-content-md5", NO_HASH);
    list.send().await?.expect(201)?;
    container.blob("GET", "b")?.send().await?.expect(200)?.expect_header("Content-MD5", NO_HASH)?;
    Ok(())
}

async fn a_version_that_is_not_there_is_not_found(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let tags = "<?xml version=\"1.0\"?><Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>";
    for (version, status, code) in
        [("2020-06-30T20:44:00.0000000Z", 404, "BlobNotFound"), ("not-a-version", 400, "InvalidQueryParameterValue")]
    {
        let tier = container.blob_on("PUT", "b", "tier")?.header("x-ms-access-tier", "Cool");
        for request in [
            container.blob_on("GET", "b", "tags")?,
            container.blob_on("PUT", "b", "tags")?.xml(tags),
            tier,
            container.blob("GET", "b")?,
            container.blob("DELETE", "b")?,
        ] {
            let request = request.version("2019-12-12").query("versionid", version);
            request.send().await?.expect_code(status, code)?;
        }
    }
    Ok(())
}
