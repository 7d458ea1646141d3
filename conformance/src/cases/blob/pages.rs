//! Page blobs: Put Blob, Put Page and Clear, and what reads show of them.

use crate::expect::{ensure, equal};
use crate::sas::BlobSas;
use crate::{Outcome, Session, cases};

cases! {
    PutBlob {
        a_page_blob_is_created_with_zeros,
        a_page_blob_needs_a_length_of_whole_pages,
        a_page_blob_has_no_body,
        a_page_blob_has_no_tier_on_a_general_account,
        a_page_blob_may_have_a_tebibyte,
    }
    PutPage {
        pages_are_written_in_place,
        pages_answer_with_a_checksum_and_the_sequence_number,
        pages_with_a_wrong_checksum_are_refused,
        pages_that_are_not_whole_are_refused,
        pages_beyond_the_end_are_refused,
        pages_and_their_range_have_one_length,
        more_than_four_mebibytes_of_pages_are_refused,
        four_mebibytes_of_pages_are_written,
        a_write_of_pages_names_its_kind_and_range,
        pages_need_a_page_blob,
        pages_of_a_missing_blob_or_container_are_refused_first,
        pages_are_written_under_conditions,
        pages_are_written_under_conditions_on_the_sequence_number,
        pages_of_a_leased_blob_need_the_lease,
        pages_are_written_with_a_sas_that_may_write,
        pages_are_written_if_the_tags_match,
    }
    ClearPage {
        cleared_pages_are_zeros,
        a_clear_has_no_body,
        a_clear_beyond_the_end_is_refused,
    }
    GetBlob {
        a_range_of_a_page_blob_need_not_be_whole_pages,
    }
    GetBlobProperties {
        a_page_blob_has_a_sequence_number_and_no_tier,
    }
    ListBlobs {
        a_list_has_the_sequence_numbers_of_page_blobs,
    }
    PutBlock {
        blocks_need_a_block_blob,
    }
}

async fn a_page_blob_is_created_with_zeros(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.create_pages("p", 1024)?.send().await?;
    put.expect(201)?
        .expect_no_body()?
        .expect_header("x-ms-request-server-encrypted", "true")?
        .expect_no_header("Content-MD5")?;
    let read = container.blob("GET", "p")?.send().await?;
    read.expect(200)?.expect_header("Content-Length", "1024")?.expect_header("x-ms-blob-type", "PageBlob")?;
    ensure(read.text().bytes().all(|byte| byte == 0), || "not all bytes are zeros".to_owned())?;
    container.blob("GET", "p")?.header("x-ms-range", "bytes=1024-").send().await?.expect_code(416, "InvalidRange")?;
    Ok(())
}

async fn a_page_blob_needs_a_length_of_whole_pages(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.blob("PUT", "p")?.header("x-ms-blob-type", "PageBlob").send().await?;
    put.expect_code(400, "MissingRequiredHeader")?;
    let message = "The value for one of the HTTP headers is not in the correct format.";
    for length in ["511", "-512", "x"] {
        let put = container.blob("PUT", "p")?.header("x-ms-blob-type", "PageBlob");
        let put = put.header("x-ms-blob-content-length", length).send().await?;
        put.expect_error(400, "InvalidHeaderValue", message)?;
    }
    container.create_pages("p", (8 << 40) + 512)?.send().await?.expect_refusal()?;
    for number in ["-1", "9223372036854775808"] {
        let put = container.create_pages("p", 512)?.header("x-ms-blob-sequence-number", number).send().await?;
        put.expect_code(400, "InvalidHeaderValue")?;
    }
    container.create_pages("p", 0)?.send().await?.expect(201)?;
    Ok(())
}

async fn a_page_blob_has_no_body(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.create_pages("p", 512)?.body(vec![1; 512]).send().await?;
    put.expect_code(400, "InvalidHeaderValue")?;
    Ok(())
}

async fn a_page_blob_has_no_tier_on_a_general_account(at: &Session) -> Outcome {
    let container = at.container().await?;
    let create = container.create_pages("p", 512)?.header("x-ms-access-tier", "P10").send().await?;
    create.expect_code(400, "AccessTierNotSupportedForBlobType")?;
    container.blob("HEAD", "p")?.send().await?.expect(404)?;
    Ok(())
}

async fn a_page_blob_may_have_a_tebibyte(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 1 << 40)?.send().await?.expect(201)?;
    container.put_pages("p", (1 << 40) - 512, b"z")?.send().await?.expect(201)?;
    let head = container.blob("HEAD", "p")?.send().await?;
    head.expect(200)?.expect_header("Content-Length", "1099511627776")?;
    let read = container.blob("GET", "p")?.header("x-ms-range", "bytes=1099511626752-").send().await?;
    equal("the end", read.expect(206)?.text(), format!("{}{}", "\0".repeat(512), "z".repeat(512)))?;
    equal("ranges", container.page_ranges("p", "").await?, ["1099511627264-1099511627775"])
}

async fn pages_are_written_in_place(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 2048)?.send().await?.expect(201)?;
    container.put_pages("p", 512, b"ab")?.send().await?.expect(201)?;
    container.put_pages("p", 1024, b"c")?.send().await?.expect(201)?;
    let expected = format!("{}{}{}{}", "\0".repeat(512), "a".repeat(512), "c".repeat(512), "\0".repeat(512));
    equal("the content", container.content("p").await?, expected)?;
    equal("ranges", container.page_ranges("p", "").await?, ["512-1535"])
}

async fn pages_answer_with_a_checksum_and_the_sequence_number(at: &Session) -> Outcome {
    let container = at.container().await?;
    let created = container.create_pages("p", 4096)?.header("x-ms-blob-sequence-number", "7").send().await?;
    let put = container.put_pages("p", 0, b"bbbbbbbb")?.send().await?;
    put.expect(201)?
        .expect_no_body()?
        .expect_header("x-ms-content-crc64", "hZKj+vsuWCQ=")?
        .expect_header("x-ms-blob-sequence-number", "7")?
        .expect_header("x-ms-request-server-encrypted", "true")?;
    ensure(put.etag()? != created.expect(201)?.etag()?, || "the ETag is the same".to_owned())?;
    let md5 = "u+ZALNybfiA2/JfpqRcmzQ==";
    let put = container.put_pages("p", 0, b"bb")?.header("Content-MD5", md5).send().await?;
    put.expect(201)?.expect_header("Content-MD5", md5)?;
    Ok(())
}

async fn pages_with_a_wrong_checksum_are_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 1024)?.send().await?.expect(201)?;
    let put = container.put_pages("p", 0, b"a")?.header("x-ms-content-crc64", "iJh5CoYUi64=").send().await?;
    let message =
        "The CRC64 value specified in the request did not match with the CRC64 value calculated by the server.";
    put.expect_error(400, "Crc64Mismatch", message)?;
    let put = container.put_pages("p", 0, b"a")?.header("Content-MD5", "XUFAKrxLKna5cZ2REBfFkg==").send().await?;
    put.expect_code(400, "Md5Mismatch")?;
    let crc64 = container.put_pages("p", 0, b"a")?.send().await?;
    let crc64 = crc64.expect(201)?.header("x-ms-content-crc64").unwrap_or_default().to_owned();
    let put = container.put_pages("p", 512, b"a")?.header("x-ms-content-crc64", &crc64).send().await?;
    put.expect(201)?.expect_header("x-ms-content-crc64", &crc64)?;
    equal("ranges", container.page_ranges("p", "").await?, ["0-1023"])
}

async fn pages_that_are_not_whole_are_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 2048)?.send().await?.expect(201)?;
    for range in ["bytes=0-510", "bytes=1-512", "bytes=100-611"] {
        let put = container.put_pages("p", 0, b"a")?.header("x-ms-range", range).send().await?;
        put.expect_error(416, "InvalidPageRange", "The page range specified is invalid.")?;
    }
    Ok(())
}

async fn pages_beyond_the_end_are_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    for offset in [5120, 4096, 3584] {
        let put = container.put_pages("p", offset, b"ab")?.send().await?;
        put.expect_error(416, "InvalidPageRange", "The page range specified is invalid.")?;
    }
    equal("ranges", container.page_ranges("p", "").await?, Vec::<String>::new())
}

async fn pages_and_their_range_have_one_length(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 2048)?.send().await?.expect(201)?;
    let put = container.put_pages("p", 0, b"ab")?.header("x-ms-range", "bytes=0-511").send().await?;
    put.expect_code(400, "InvalidHeaderValue")?;
    Ok(())
}

async fn more_than_four_mebibytes_of_pages_are_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 16 << 20)?.send().await?.expect(201)?;
    let put = container.put_pages("p", 0, &[1; 8193])?.send().await?;
    put.expect_one_of(&[413, 416])?;
    equal("ranges", container.page_ranges("p", "").await?, Vec::<String>::new())
}

async fn four_mebibytes_of_pages_are_written(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 16 << 20)?.send().await?.expect(201)?;
    container.put_pages("p", 1536, &[b'x'; 8192])?.send().await?.expect(201)?;
    equal("ranges", container.page_ranges("p", "").await?, ["1536-4195839"])?;
    let read = container.blob("GET", "p")?.header("x-ms-range", "bytes=1535-4195840").send().await?;
    equal("the pages", read.expect(206)?.text(), format!("\0{}\0", "x".repeat(4 << 20)))
}

async fn a_write_of_pages_names_its_kind_and_range(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 1024)?.send().await?.expect(201)?;
    let put = container.put_pages("p", 0, b"a")?.without("x-ms-page-write").send().await?;
    put.expect_code(400, "MissingRequiredHeader")?;
    let put = container.put_pages("p", 0, b"a")?.header("x-ms-page-write", "append").send().await?;
    put.expect_code(400, "InvalidHeaderValue")?;
    container.put_pages("p", 0, b"a")?.without("x-ms-range").send().await?.expect_refusal()?;
    let put = container.put_pages("p", 0, b"a")?.without("x-ms-range").header("Range", "bytes=512-1023");
    put.header("x-ms-page-write", "Update").send().await?.expect(201)?;
    equal("ranges", container.page_ranges("p", "").await?, ["512-1023"])
}

async fn pages_need_a_page_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x".repeat(512)).await?;
    let message = "The blob type is invalid for this operation.";
    container.put_pages("b", 0, b"a")?.send().await?.expect_error(409, "InvalidBlobType", message)?;
    container.clear_pages("b", 0, 512)?.send().await?.expect_code(409, "InvalidBlobType")?;
    container.blob_on("GET", "b", "pagelist")?.send().await?.expect_code(409, "InvalidBlobType")?;
    container.create_pages("p", 512)?.send().await?.expect(201)?;
    container.append("p", "x")?.send().await?.expect_code(409, "InvalidBlobType")?;
    container.blob_on("GET", "p", "blocklist")?.send().await?.expect_code(409, "InvalidBlobType")?;
    Ok(())
}

async fn blocks_need_a_block_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 512)?.send().await?.expect(201)?;
    container.put_block("p", "QQ==", "x")?.send().await?.expect_code(409, "InvalidBlobType")?;
    Ok(())
}

async fn pages_of_a_missing_blob_or_container_are_refused_first(at: &Session) -> Outcome {
    let container = at.container().await?;
    let wrong = "XUFAKrxLKna5cZ2REBfFkg==";
    let put = container.put_pages("p", 0, b"a")?.header("Content-MD5", wrong).send().await?;
    put.expect_code(404, "BlobNotFound")?;
    container.clear_pages("p", 0, 512)?.send().await?.expect_code(404, "BlobNotFound")?;
    container.blob_on("GET", "p", "pagelist")?.send().await?.expect_code(404, "BlobNotFound")?;
    let missing = at.missing_container();
    missing
        .put_pages("p", 0, b"a")?
        .header("Content-MD5", wrong)
        .send()
        .await?
        .expect_code(404, "ContainerNotFound")?;
    missing.create_pages("p", 512)?.send().await?.expect_code(404, "ContainerNotFound")?;
    missing.blob_on("GET", "p", "pagelist")?.send().await?.expect_code(404, "ContainerNotFound")?;
    Ok(())
}

async fn pages_are_written_under_conditions(at: &Session) -> Outcome {
    let container = at.container().await?;
    let etag = container.create_pages("p", 1024)?.send().await?.expect(201)?.etag()?;
    let put = container.put_pages("p", 0, b"a")?.header("If-None-Match", &etag).send().await?;
    put.expect_code(412, "ConditionNotMet")?;
    let new = container.put_pages("p", 0, b"a")?.if_match(&etag).send().await?.expect(201)?.etag()?;
    container.put_pages("p", 0, b"b")?.if_match(&etag).send().await?.expect_code(412, "ConditionNotMet")?;
    container.clear_pages("p", 0, 512)?.if_match(&etag).send().await?.expect_code(412, "ConditionNotMet")?;
    let old = "Mon, 01 Jan 2001 00:00:00 GMT";
    let put = container.put_pages("p", 0, b"b")?.header("If-Unmodified-Since", old).send().await?;
    put.expect_code(412, "ConditionNotMet")?;
    let list = container.blob_on("GET", "p", "pagelist")?.header("If-None-Match", &new).send().await?;
    list.expect(304)?;
    Ok(())
}

async fn pages_are_written_under_conditions_on_the_sequence_number(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 1024)?.header("x-ms-blob-sequence-number", "5").send().await?.expect(201)?;
    let message = "The sequence number condition specified was not met.";
    for (name, number, holds) in [
        ("le", "5", true),
        ("le", "4", false),
        ("lt", "6", true),
        ("lt", "5", false),
        ("eq", "5", true),
        ("eq", "100", false),
    ] {
        let name = format!("x-ms-if-sequence-number-{name}");
        for request in [container.put_pages("p", 0, b"a")?, container.clear_pages("p", 512, 512)?] {
            let put = request.header(&name, number).send().await?;
            match holds {
                true => put.expect(201)?,
                false => put.expect_error(412, "SequenceNumberConditionNotMet", message)?,
            };
        }
    }
    let put = container.put_pages("p", 0, b"a")?.header("x-ms-if-sequence-number-lt", "-1").send().await?;
    put.expect_code(400, "InvalidHeaderValue")?;
    Ok(())
}

async fn pages_of_a_leased_blob_need_the_lease(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 1024)?.send().await?.expect(201)?;
    let id = "1f812371-a41d-49e6-b123-f4b542e851c5";
    let put = container.put_pages("p", 0, b"a")?.header("x-ms-lease-id", id).send().await?;
    put.expect_code(412, "LeaseNotPresentWithBlobOperation")?;
    let acquire = container.lease("p", "acquire")?.header("x-ms-lease-duration", "-1");
    acquire.header("x-ms-proposed-lease-id", id).send().await?.expect(201)?;
    container.put_pages("p", 0, b"a")?.send().await?.expect_code(412, "LeaseIdMissing")?;
    container.clear_pages("p", 0, 512)?.send().await?.expect_code(412, "LeaseIdMissing")?;
    container.put_pages("p", 0, b"a")?.header("x-ms-lease-id", id).send().await?.expect(201)?;
    container.blob_on("GET", "p", "pagelist")?.send().await?.expect(200)?;
    Ok(())
}

async fn pages_are_written_with_a_sas_that_may_write(at: &Session) -> Outcome {
    let container = at.container().await?;
    let sas = |permissions: &str| BlobSas::of_container(&container.name, permissions).query(at.target());
    container.create_pages("p", 1024)?.sas(&sas("c")).send().await?.expect(201)?;
    container.put_pages("p", 0, b"a")?.sas(&sas("rcad")).send().await?.expect(403)?;
    container.put_pages("p", 0, b"a")?.sas(&sas("w")).send().await?.expect(201)?;
    container.clear_pages("p", 0, 512)?.sas(&sas("w")).send().await?.expect(201)?;
    container.blob_on("GET", "p", "pagelist")?.sas(&sas("w")).send().await?.expect(403)?;
    container.blob_on("GET", "p", "pagelist")?.sas(&sas("r")).send().await?.expect(200)?;
    Ok(())
}

async fn pages_are_written_if_the_tags_match(at: &Session) -> Outcome {
    let container = at.container().await?;
    let created = container.create_pages("p", 512)?.version("2020-10-02").header("x-ms-tags", "a=1").send().await?;
    created.expect(201)?;
    for (condition, status) in [("\"a\" = '2'", 412), ("\"a\" = '1'", 201)] {
        let put = container.put_pages("p", 0, b"a")?.version("2020-10-02").header("x-ms-if-tags", condition);
        put.send().await?.expect(status)?;
    }
    Ok(())
}

async fn cleared_pages_are_zeros(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    container.put_pages("p", 0, b"abcdefgh")?.send().await?.expect(201)?;
    let cleared = container.clear_pages("p", 1024, 1024)?.send().await?;
    cleared
        .expect(201)?
        .expect_header("x-ms-blob-sequence-number", "0")?
        .expect_no_header("Content-MD5")?
        .expect_no_header("x-ms-content-crc64")?;
    let read = container.blob("GET", "p")?.header("Range", "bytes=1023-2048").send().await?;
    equal("the pages", read.expect(206)?.text(), format!("b{}e", "\0".repeat(1024)))?;
    equal("ranges", container.page_ranges("p", "").await?, ["0-1023", "2048-4095"])?;
    container.clear_pages("p", 0, 4096)?.send().await?.expect(201)?;
    equal("ranges", container.page_ranges("p", "").await?, Vec::<String>::new())?;
    equal("the content", container.content("p").await?, "\0".repeat(4096))
}

async fn a_clear_has_no_body(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 1024)?.send().await?.expect(201)?;
    let clear = container.clear_pages("p", 0, 512)?.body(vec![0; 512]).send().await?;
    clear.expect_code(400, "InvalidHeaderValue")?;
    Ok(())
}

async fn a_clear_beyond_the_end_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    let clear = container.clear_pages("p", 5120, 1024)?.send().await?;
    clear.expect_error(416, "InvalidPageRange", "The page range specified is invalid.")?;
    Ok(())
}

async fn a_range_of_a_page_blob_need_not_be_whole_pages(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 1 << 20)?.send().await?.expect(201)?;
    container.put_pages("p", 65_536, b"q")?.send().await?.expect(201)?;
    let read = container.blob("GET", "p")?.header("x-ms-range", "bytes=65530-65540").send().await?;
    read.expect(206)?.expect_header("Content-Range", "bytes 65530-65540/1048576")?;
    equal("the bytes", read.text(), format!("{}qqqqq", "\0".repeat(6)))?;
    let whole = container.content("p").await?;
    equal("the length", whole.len(), 1 << 20)?;
    equal("the written bytes", whole.bytes().filter(|byte| *byte == b'q').count(), 512)
}

async fn a_page_blob_has_a_sequence_number_and_no_tier(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 1024)?.header("x-ms-blob-sequence-number", "3").send().await?.expect(201)?;
    let head = container.blob("HEAD", "p")?.send().await?;
    head.expect(200)?
        .expect_header("x-ms-blob-type", "PageBlob")?
        .expect_header("x-ms-blob-sequence-number", "3")?
        .expect_header("Content-Length", "1024")?
        .expect_no_header("x-ms-access-tier")?
        .expect_no_header("Content-MD5")?;
    let get = container.blob("GET", "p")?.send().await?;
    get.expect(200)?.expect_header("x-ms-blob-sequence-number", "3")?;
    Ok(())
}

async fn a_list_has_the_sequence_numbers_of_page_blobs(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 1024)?.header("x-ms-blob-sequence-number", "9").send().await?.expect(201)?;
    container.seed("q", "x").await?;
    let list = container.on("GET", "list")?.send().await?;
    list.expect(200)?.expect_body_contains(
        "<x-ms-blob-sequence-number>9</x-ms-blob-sequence-number><BlobType>PageBlob</BlobType>",
    )?;
    equal("names", container.names("").await?, ["p", "q"])
}
