//! Blocks, block lists and append blobs.

use crate::expect::{ensure, equal};
use crate::{Outcome, Session, cases};

cases! {
    PutBlock {
        a_block_answers_with_a_checksum_and_no_etag,
        uncommitted_blocks_are_no_blob,
        block_ids_have_one_length,
        a_block_id_that_is_no_base64_is_refused,
        a_block_without_an_id_is_refused,
        a_block_on_an_append_blob_is_refused,
    }
    PutBlockList {
        a_list_makes_a_blob_in_its_order,
        a_list_takes_blocks_from_where_it_says,
        an_empty_list_makes_an_empty_blob,
        an_unknown_block_is_refused,
        a_list_replaces_properties_and_metadata,
        a_list_creates_a_blob_once,
        a_list_that_is_no_xml_is_refused,
        a_list_of_50001_blocks_is_refused,
    }
    GetBlockList {
        lists_of_blocks_tell_names_and_sizes,
        a_blob_put_as_a_whole_has_no_blocks,
        the_blocks_of_a_missing_blob_are_not_found,
    }
    AppendBlock {
        appended_blocks_follow_each_other,
        an_append_at_another_position_is_refused,
        an_append_beyond_the_maximum_is_refused,
        an_append_to_a_block_blob_is_refused,
        an_append_to_a_missing_blob_is_refused,
        an_append_blob_is_created_empty,
    }
    SealBlob {
        a_sealed_blob_grows_no_more,
    }
}

async fn a_block_answers_with_a_checksum_and_no_etag(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put_block("b", "MDAx", "123456789")?.send().await?;
    put.expect(201)?
        .expect_no_body()?
        .expect_header("x-ms-content-crc64", "iJh5CoYUi64=")?
        .expect_no_header("ETag")?
        .expect_no_header("Last-Modified")?;
    let put = container.put_block("b", "MDAx", "hello")?.header("Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==");
    put.send().await?.expect(201)?.expect_header("Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==")?;
    Ok(())
}

async fn uncommitted_blocks_are_no_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put_block("b", "MDAx", "x")?.send().await?.expect(201)?;
    container.blob("GET", "b")?.send().await?.expect_code(404, "BlobNotFound")?;
    equal("the list", container.names("").await?, [""; 0])?;
    equal("the list with uncommitted blobs", container.names("include=uncommittedblobs").await?, ["b"])
}

async fn block_ids_have_one_length(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put_block("b", "MDAx", "x")?.send().await?.expect(201)?;
    let put = container.put_block("b", "MDAwMDAx", "x")?.send().await?;
    put.expect_error(400, "InvalidBlobOrBlock", "The specified blob or block content is invalid.")?;
    Ok(())
}

async fn a_block_id_that_is_no_base64_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put_block("b", "#", "x")?.send().await?;
    put.expect_any_code(&[(400, "InvalidQueryParameterValue"), (400, "InvalidBlockId")])?;
    Ok(())
}

async fn a_block_without_an_id_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.blob_on("PUT", "b", "block")?.body("x").send().await?;
    put.expect_any_code(&[(400, "MissingRequiredQueryParameter"), (400, "InvalidQueryParameterValue")])?;
    Ok(())
}

async fn a_block_on_an_append_blob_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_append("b")?.send().await?.expect(201)?;
    container.put_block("b", "MDAx", "x")?.send().await?.expect_code(409, "InvalidBlobType")?;
    Ok(())
}

async fn a_list_makes_a_blob_in_its_order(at: &Session) -> Outcome {
    let container = at.container().await?;
    for (id, content) in [("MDAx", "one"), ("MDAy", "two"), ("MDAz", "three")] {
        container.put_block("b", id, content)?.send().await?.expect(201)?;
    }
    let list = "<Latest>MDAy</Latest><Uncommitted>MDAx</Uncommitted><Latest>MDAy</Latest>";
    let put = container.put_list("b", list)?.send().await?;
    ensure(put.expect(201)?.header("x-ms-content-crc64").is_some(), || "no checksum of the list".to_owned())?;
    put.etag()?;
    equal("content", container.content("b").await?, "twoonetwo")?;
    let read = container.blob("HEAD", "b")?.send().await?;
    read.expect_no_header("Content-MD5")?;
    Ok(())
}

async fn a_list_takes_blocks_from_where_it_says(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put_block("b", "MDAx", "old")?.send().await?.expect(201)?;
    container.put_list("b", "<Latest>MDAx</Latest>")?.send().await?.expect(201)?;
    container.put_block("b", "MDAx", "new")?.send().await?.expect(201)?;
    let list = "<Committed>MDAx</Committed><Uncommitted>MDAx</Uncommitted><Latest>MDAx</Latest>";
    container.put_list("b", list)?.send().await?.expect(201)?;
    equal("content", container.content("b").await?, "oldnewnew")
}

async fn an_empty_list_makes_an_empty_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put_list("b", "")?.send().await?.expect(201)?;
    equal("content", container.content("b").await?, "")
}

async fn an_unknown_block_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put_list("b", "<Latest>MDAx</Latest>")?.send().await?;
    put.expect_error(400, "InvalidBlockList", "The specified block list is invalid.")?;
    Ok(())
}

async fn a_list_replaces_properties_and_metadata(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("b", "x")?.header("Content-Type", "text/plain").header("x-ms-meta-color", "red");
    put.send().await?.expect(201)?;
    let list = container.put_list("b", "")?.header("x-ms-blob-content-type", "text/html");
    list.header("x-ms-meta-size", "5").send().await?.expect(201)?;
    let read = container.blob("HEAD", "b")?.send().await?;
    read.expect_header("Content-Type", "text/html")?
        .expect_header("x-ms-meta-size", "5")?
        .expect_no_header("x-ms-meta-color")?;
    Ok(())
}

async fn a_list_creates_a_blob_once(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let list = container.put_list("b", "")?.header("If-None-Match", "*").send().await?;
    list.expect_code(409, "BlobAlreadyExists")?;
    Ok(())
}

async fn a_list_that_is_no_xml_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.blob_on("PUT", "b", "blocklist")?.body("<BlockList>").send().await?;
    put.expect_code(400, "InvalidXmlDocument")?;
    Ok(())
}

async fn a_list_of_50001_blocks_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put_block("b", "MDAx", "x")?.send().await?.expect(201)?;
    let list = "<Latest>MDAx</Latest>".repeat(50_001);
    container.put_list("b", &list)?.send().await?.expect_code(400, "BlockListTooLong")?;
    let list = "<Latest>MDAx</Latest>".repeat(50_000);
    container.put_list("b", &list)?.send().await?.expect(201)?;
    let read = container.blob("HEAD", "b")?.send().await?;
    read.expect_header("Content-Length", "50000")?;
    Ok(())
}

async fn lists_of_blocks_tell_names_and_sizes(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put_block("b", "MDAx", "one")?.send().await?.expect(201)?;
    let put = container.put_list("b", "<Latest>MDAx</Latest>")?.send().await?;
    container.put_block("b", "MDAz", "three")?.send().await?.expect(201)?;
    container.put_block("b", "MDAy", "two")?.send().await?.expect(201)?;
    let list = container.blob_on("GET", "b", "blocklist")?.raw_query("blocklisttype=all").send().await?;
    let wanted = "<BlockList><CommittedBlocks><Block><Name>MDAx</Name><Size>3</Size></Block></CommittedBlocks>\
                  <UncommittedBlocks><Block><Name>MDAy</Name><Size>3</Size></Block><Block><Name>MDAz</Name>\
                  <Size>5</Size></Block></UncommittedBlocks></BlockList>";
    list.expect(200)?
        .expect_body_contains(wanted)?
        .expect_header("ETag", &put.etag()?)?
        .expect_header("x-ms-blob-content-length", "3")?;
    let list = container.blob_on("GET", "b", "blocklist")?.send().await?;
    list.expect(200)?.expect_body_lacks("UncommittedBlocks")?;
    Ok(())
}

async fn a_blob_put_as_a_whole_has_no_blocks(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let list = container.blob_on("GET", "b", "blocklist")?.send().await?;
    list.expect(200)?.expect_body_contains("<CommittedBlocks />")?;
    Ok(())
}

async fn the_blocks_of_a_missing_blob_are_not_found(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.blob_on("GET", "b", "blocklist")?.send().await?.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn appended_blocks_follow_each_other(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_append("log")?.send().await?.expect(201)?;
    let first = container.append("log", "one\n")?.send().await?;
    first
        .expect(201)?
        .expect_header("x-ms-blob-append-offset", "0")?
        .expect_header("x-ms-blob-committed-block-count", "1")?
        .expect_header("x-ms-request-server-encrypted", "true")?;
    let second = container.append("log", "two\n")?.send().await?;
    second.expect_header("x-ms-blob-append-offset", "4")?.expect_header("x-ms-blob-committed-block-count", "2")?;
    ensure(first.etag()? != second.etag()?, || "the ETag did not change".to_owned())?;
    let read = container.blob("GET", "log")?.send().await?;
    read.expect_body("one\ntwo\n")?
        .expect_header("x-ms-blob-type", "AppendBlob")?
        .expect_header("x-ms-blob-committed-block-count", "2")?
        .expect_no_header("Content-MD5")?;
    Ok(())
}

async fn an_append_at_another_position_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_append("log")?.send().await?.expect(201)?;
    let append = || container.append("log", "line");
    append()?.header("x-ms-blob-condition-appendpos", "0").send().await?.expect(201)?;
    let again = append()?.header("x-ms-blob-condition-appendpos", "0").send().await?;
    again.expect_code(412, "AppendPositionConditionNotMet")?;
    Ok(())
}

async fn an_append_beyond_the_maximum_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_append("log")?.send().await?.expect(201)?;
    let append =
        || Ok::<_, crate::Failure>(container.append("log", "line")?.header("x-ms-blob-condition-maxsize", "7"));
    append()?.send().await?.expect(201)?;
    append()?.send().await?.expect_code(412, "MaxBlobSizeConditionNotMet")?;
    Ok(())
}

async fn an_append_to_a_block_blob_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    container.append("b", "x")?.send().await?.expect_code(409, "InvalidBlobType")?;
    Ok(())
}

async fn an_append_to_a_missing_blob_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.append("b", "x")?.send().await?.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn an_append_blob_is_created_empty(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_append("log")?.send().await?.expect(201)?.expect_no_header("Content-MD5")?;
    let again = container.create_append("log")?.header("If-None-Match", "*").send().await?;
    again.expect_code(409, "BlobAlreadyExists")?;
    container.create_append("log")?.body("x").send().await?.expect_refusal()?;
    Ok(())
}

async fn a_sealed_blob_grows_no_more(at: &Session) -> Outcome {
    const VERSION: &str = "2020-10-02";
    let container = at.container().await?;
    container.create_append("log")?.send().await?.expect(201)?;
    let seal = container.blob_on("PUT", "log", "seal")?.version(VERSION).send().await?;
    seal.expect(200)?.expect_header("x-ms-blob-sealed", "true")?;
    container.append("log", "x")?.version(VERSION).send().await?.expect_code(409, "BlobIsSealed")?;
    Ok(())
}
