//! Put Blob, and what Get Blob returns.

use crate::expect::{ensure, equal};
use crate::http::Connection;
use crate::{Failure, Outcome, Session, cases};

cases! {
    PutBlob {
        an_upload_ends_after_the_time_that_it_allows,
        a_put_blob_answers_with_etag_date_and_checksum,
        a_blob_without_a_type_is_refused,
        a_blob_of_an_unknown_type_is_refused,
        a_wrong_md5_is_refused,
        a_malformed_md5_is_refused,
        a_wrong_crc64_is_refused,
        two_kinds_of_checksum_are_refused,
        the_md5_that_a_client_sets_is_compared_with_the_content,
        content_headers_of_the_blob_win_over_those_of_the_request,
        a_blob_is_replaced_with_all_that_it_had,
        a_blob_is_created_once,
        a_blob_is_replaced_if_its_etag_matches,
        conditions_that_exclude_each_other_are_refused,
        odd_names_of_blobs_are_kept,
        metadata_of_a_blob_has_names_and_bounds,
    }
    GetBlob {
        a_whole_blob_comes_with_its_properties,
        a_range_of_a_blob_is_partial_content,
        a_range_beyond_the_end_is_cut,
        a_range_that_begins_beyond_the_end_is_refused,
        any_range_of_an_empty_blob_is_refused,
        the_storage_range_wins_over_the_other,
        the_md5_of_a_range_is_computed_on_request,
        the_crc64_of_a_range_is_computed_on_request,
        the_md5_of_a_long_range_is_refused,
        an_unchanged_blob_is_not_sent_again,
        a_failed_match_dominates_an_unchanged_blob,
        a_missing_blob_is_not_found,
        none_match_any_is_no_condition_for_a_read,
    }
    GetBlobProperties {
        the_properties_of_a_blob_are_headers,
        a_missing_blob_has_its_code_in_a_header,
    }
    SetBlobProperties {
        set_properties_replaces_all_six_headers,
    }
    SetBlobMetadata {
        metadata_of_a_blob_is_replaced_as_a_whole,
    }
    GetBlobMetadata {
        metadata_of_a_blob_is_read_alone,
    }
    DeleteBlob {
        a_deleted_blob_is_gone,
        a_blob_is_deleted_if_its_etag_matches,
    }
    SetBlobTier {
        a_tier_is_kept,
        an_unknown_tier_is_refused,
    }
    SetBlobTags {
        tags_of_a_blob_are_set_and_read,
        tags_of_another_form_are_refused,
    }
    GetBlobTags {
        a_condition_on_tags_is_checked,
    }
}

const MD5_OF_HELLO: &str = "XUFAKrxLKna5cZ2REBfFkg==";
const CRC64_OF_DIGITS: &str = "iJh5CoYUi64=";

async fn a_put_blob_answers_with_etag_date_and_checksum(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("b", "hello")?.send().await?;
    let etag = put
        .expect(201)?
        .expect_no_body()?
        .expect_header("Content-MD5", MD5_OF_HELLO)?
        .expect_header("x-ms-request-server-encrypted", "true")?
        .etag()?;
    ensure(etag.starts_with("\"0x"), || format!("the ETag {etag}"))?;
    let crc = container.put("b", "123456789")?.send().await?;
    crc.expect(201)?.expect_header("x-ms-content-crc64", CRC64_OF_DIGITS)?;
    Ok(())
}

async fn a_blob_without_a_type_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.blob("PUT", "b")?.body("x").send().await?.expect_code(400, "MissingRequiredHeader")?;
    Ok(())
}

async fn a_blob_of_an_unknown_type_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.blob("PUT", "b")?.header("x-ms-blob-type", "Other").body("x").send().await?;
    put.expect_code(400, "InvalidHeaderValue")?;
    Ok(())
}

async fn a_wrong_md5_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("b", "other")?.header("Content-MD5", MD5_OF_HELLO).send().await?;
    let message = "The MD5 value specified in the request did not match with the MD5 value calculated by the server.";
    put.expect_error(400, "Md5Mismatch", message)?;
    container.blob("GET", "b")?.send().await?.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn a_malformed_md5_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "x")?.header("Content-MD5", "short").send().await?.expect_code(400, "InvalidMd5")?;
    Ok(())
}

async fn a_wrong_crc64_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("b", "other")?.header("x-ms-content-crc64", CRC64_OF_DIGITS).send().await?;
    put.expect_code(400, "Crc64Mismatch")?;
    Ok(())
}

async fn two_kinds_of_checksum_are_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("b", "hello")?.header("Content-MD5", MD5_OF_HELLO);
    let put = put.header("x-ms-content-crc64", CRC64_OF_DIGITS).send().await?;
    put.expect_code(400, "BothCrc64AndMd5HeaderPresent")?;
    Ok(())
}

async fn the_md5_that_a_client_sets_is_compared_with_the_content(at: &Session) -> Outcome {
    let container = at.container().await?;
    for header in ["x-ms-blob-content-md5", "Content-MD5"] {
        let put = container.put("b", "other")?.header(header, MD5_OF_HELLO).send().await?;
        put.expect_code(400, "Md5Mismatch")?
            .expect_body_contains(&format!("<UserSpecifiedMd5>{MD5_OF_HELLO}</UserSpecifiedMd5>"))?
            .expect_body_contains("<ServerCalculatedMd5>eV8yArF8trw9S3cdjGyerw==</ServerCalculatedMd5>")?;
    }
    container.blob("HEAD", "b")?.send().await?.expect(404)?;
    let put = container.put("b", "hello")?.header("x-ms-blob-content-md5", MD5_OF_HELLO).send().await?;
    put.expect(201)?;
    container.blob("HEAD", "b")?.send().await?.expect(200)?.expect_header("Content-MD5", MD5_OF_HELLO)?;
    Ok(())
}

async fn content_headers_of_the_blob_win_over_those_of_the_request(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("b", "x")?.header("Content-Type", "text/html").header("Content-Language", "fr");
    let put = put.header("x-ms-blob-content-type", "text/plain").header("x-ms-blob-cache-control", "no-store");
    put.send().await?.expect(201)?;
    let read = container.blob("GET", "b")?.send().await?;
    read.expect_header("Content-Type", "text/plain")?
        .expect_header("Content-Language", "fr")?
        .expect_header("Cache-Control", "no-store")?;
    container.put("c", "x")?.send().await?.expect(201)?;
    let read = container.blob("GET", "c")?.send().await?;
    read.expect_header("Content-Type", "application/octet-stream")?.expect_no_header("Content-Language")?;
    Ok(())
}

async fn a_blob_is_replaced_with_all_that_it_had(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "one")?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    container.put_block("b", "MDAx", "block")?.send().await?.expect(201)?;
    container.seed("b", "two").await?;
    let read = container.blob("GET", "b")?.send().await?;
    read.expect(200)?.expect_body("two")?.expect_no_header("x-ms-meta-color")?;
    let list = container.blob_on("GET", "b", "blocklist")?.raw_query("blocklisttype=all").send().await?;
    list.expect(200)?.expect_body_contains("<UncommittedBlocks />")?;
    Ok(())
}

async fn a_blob_is_created_once(at: &Session) -> Outcome {
    let container = at.container().await?;
    let create = || Ok::<_, crate::Failure>(container.put("b", "x")?.header("If-None-Match", "*"));
    create()?.send().await?.expect(201)?;
    create()?.send().await?.expect_error(409, "BlobAlreadyExists", "The specified blob already exists.")?;
    Ok(())
}

async fn a_blob_is_replaced_if_its_etag_matches(at: &Session) -> Outcome {
    let container = at.container().await?;
    let first = container.seed("b", "one").await?;
    let second = container.put("b", "two")?.if_match(&first).send().await?.expect(201)?.etag()?;
    ensure(first != second, || "the ETag did not change".to_owned())?;
    container.put("b", "three")?.if_match(&first).send().await?.expect_code(412, "ConditionNotMet")?;
    let unquoted = second.trim_matches('"').to_owned();
    container.put("b", "three")?.if_match(&unquoted).send().await?.expect(201)?;
    container.put("absent", "x")?.if_match(&first).send().await?.expect_code(412, "ConditionNotMet")?;
    Ok(())
}

async fn conditions_that_exclude_each_other_are_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let etag = container.seed("b", "one").await?;
    let put = container.put("b", "two")?.if_match(&etag).header("If-None-Match", "\"0x1\"");
    put.send().await?.expect_code(400, "MultipleConditionHeadersNotSupported")?;
    Ok(())
}

async fn odd_names_of_blobs_are_kept(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["a/b//c", "/slash/", "é 東京 😀", "a?b'(c),=d$~", "..", "a/../b", "%41", "Case"] {
        container.seed(name, name).await?;
        let content = container.content(name).await?;
        equal(format!("content of {name}"), content, name)?;
    }
    container.blob("GET", "case")?.send().await?.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn metadata_of_a_blob_has_names_and_bounds(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("b", "x")?.header("x-ms-meta-1st", "x").send().await?;
    put.expect_code(400, "InvalidMetadata")?;
    let put = container.put("b", "x")?.header("x-ms-meta-long", &"x".repeat(8 * 1024 + 1)).send().await?;
    put.expect_code(400, "MetadataTooLarge")?;
    Ok(())
}

async fn a_whole_blob_comes_with_its_properties(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("b", "hello")?.header("x-ms-meta-color", "red").send().await?;
    let read = container.blob("GET", "b")?.send().await?;
    read.expect(200)?
        .expect_body("hello")?
        .expect_header("Content-Length", "5")?
        .expect_header("Content-MD5", MD5_OF_HELLO)?
        .expect_header("ETag", &put.etag()?)?
        .expect_header("Accept-Ranges", "bytes")?
        .expect_header("x-ms-blob-type", "BlockBlob")?
        .expect_header("x-ms-meta-color", "red")?
        .expect_header("x-ms-lease-status", "unlocked")?
        .expect_header("x-ms-lease-state", "available")?
        .expect_header("x-ms-server-encrypted", "true")?
        .expect_no_header("Content-Range")?;
    ensure(read.header("x-ms-creation-time").is_some(), || "no creation time".to_owned())
}

async fn a_range_of_a_blob_is_partial_content(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "abcdefghijklmnopqrstuvwxyz").await?;
    let read = container.blob("GET", "b")?.header("Range", "bytes=2-4").send().await?;
    read.expect(206)?
        .expect_body("cde")?
        .expect_header("Content-Range", "bytes 2-4/26")?
        .expect_header("Content-Length", "3")?
        .expect_no_header("Content-MD5")?;
    ensure(read.header("x-ms-blob-content-md5").is_some(), || "no MD5 of the whole blob".to_owned())
}

async fn a_range_beyond_the_end_is_cut(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "abc").await?;
    let read = container.blob("GET", "b")?.header("x-ms-range", "bytes=0-33554431").send().await?;
    read.expect(206)?.expect_body("abc")?.expect_header("Content-Range", "bytes 0-2/3")?;
    let read = container.blob("GET", "b")?.header("x-ms-range", "bytes=1-").send().await?;
    read.expect(206)?.expect_body("bc")?;
    Ok(())
}

const INVALID_RANGE: &str = "The range specified is invalid for the current size of the resource.";

async fn a_range_that_begins_beyond_the_end_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "abc").await?;
    let read = container.blob("GET", "b")?.header("x-ms-range", "bytes=3-4").send().await?;
    read.expect_error(416, "InvalidRange", INVALID_RANGE)?.expect_header("Content-Range", "bytes */3")?;
    Ok(())
}

async fn any_range_of_an_empty_blob_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "").await?;
    let read = container.blob("GET", "b")?.header("x-ms-range", "bytes=0-33554431").send().await?;
    read.expect_error(416, "InvalidRange", INVALID_RANGE)?.expect_header("Content-Range", "bytes */0")?;
    let read = container.blob("GET", "b")?.send().await?;
    read.expect(200)?.expect_header("Content-Length", "0")?;
    Ok(())
}

async fn the_storage_range_wins_over_the_other(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "abc").await?;
    let read = container.blob("GET", "b")?.header("Range", "bytes=0-0").header("x-ms-range", "bytes=1-1");
    read.send().await?.expect(206)?.expect_body("b")?;
    Ok(())
}

async fn the_md5_of_a_range_is_computed_on_request(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "[hello]").await?;
    let read = container.blob("GET", "b")?.header("x-ms-range", "bytes=1-5");
    let read = read.header("x-ms-range-get-content-md5", "true").send().await?;
    read.expect(206)?.expect_header("Content-MD5", MD5_OF_HELLO)?;
    Ok(())
}

async fn the_crc64_of_a_range_is_computed_on_request(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "[123456789]").await?;
    let read = container.blob("GET", "b")?.header("x-ms-range", "bytes=1-9");
    let read = read.header("x-ms-range-get-content-crc64", "true").send().await?;
    read.expect(206)?.expect_header("x-ms-content-crc64", CRC64_OF_DIGITS)?;
    Ok(())
}

async fn the_md5_of_a_long_range_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", vec![b'x'; (4 << 20) + 1]).await?;
    let read = container.blob("GET", "b")?.header("x-ms-range", "bytes=0-");
    let read = read.header("x-ms-range-get-content-md5", "true").send().await?;
    read.expect_any_code(&[(400, "InvalidHeaderValue"), (400, "OutOfRangeInput")])?;
    Ok(())
}

async fn an_unchanged_blob_is_not_sent_again(at: &Session) -> Outcome {
    let container = at.container().await?;
    let etag = container.seed("b", "x").await?;
    for verb in ["GET", "HEAD"] {
        let read = container.blob(verb, "b")?.header("If-None-Match", &etag).send().await?;
        read.expect(304)?.expect_header("x-ms-error-code", "ConditionNotMet")?;
        let read = container.blob(verb, "b")?.header("If-Modified-Since", "Fri, 31 Dec 2100 23:59:59 GMT");
        read.send().await?.expect(304)?;
    }
    Ok(())
}

async fn a_failed_match_dominates_an_unchanged_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    let etag = container.seed("b", "x").await?;
    let read = container.blob("GET", "b")?.if_match("\"0x1\"").header("If-None-Match", &etag).send().await?;
    let message = "The condition specified using HTTP conditional header(s) is not met.";
    read.expect_error(412, "ConditionNotMet", message)?;
    Ok(())
}

async fn a_missing_blob_is_not_found(at: &Session) -> Outcome {
    let container = at.container().await?;
    let read = container.blob("GET", "b")?.send().await?;
    read.expect_error(404, "BlobNotFound", "The specified blob does not exist.")?;
    Ok(())
}

async fn none_match_any_is_no_condition_for_a_read(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let read = container.blob("GET", "b")?.header("If-None-Match", "*").send().await?;
    read.expect_code(400, "UnsatisfiableCondition")?;
    Ok(())
}

async fn the_properties_of_a_blob_are_headers(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "hello")?.header("Content-Type", "text/plain").send().await?.expect(201)?;
    let read = container.blob("HEAD", "b")?.send().await?;
    read.expect(200)?
        .expect_header("Content-Length", "5")?
        .expect_header("Content-Type", "text/plain")?
        .expect_header("Content-MD5", MD5_OF_HELLO)?
        .expect_header("x-ms-blob-type", "BlockBlob")?
        .expect_header("x-ms-access-tier", "Hot")?
        .expect_header("x-ms-access-tier-inferred", "true")?;
    Ok(())
}

async fn a_missing_blob_has_its_code_in_a_header(at: &Session) -> Outcome {
    let container = at.container().await?;
    let read = container.blob("HEAD", "b")?.send().await?;
    read.expect(404)?.expect_header("x-ms-error-code", "BlobNotFound")?;
    Ok(())
}

async fn set_properties_replaces_all_six_headers(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("b", "hello")?.header("Content-Type", "text/plain").header("Content-Language", "fr");
    let before = put.send().await?.expect(201)?.etag()?;
    let set = container.blob_on("PUT", "b", "properties")?.header("x-ms-blob-cache-control", "no-cache");
    let after = set.send().await?.expect(200)?.etag()?;
    ensure(before != after, || "the ETag did not change".to_owned())?;
    let read = container.blob("HEAD", "b")?.send().await?;
    read.expect_header("Cache-Control", "no-cache")?
        .expect_no_header("Content-Language")?
        .expect_no_header("Content-MD5")?
        .expect_header("Content-Length", "5")?;
    Ok(())
}

async fn metadata_of_a_blob_is_replaced_as_a_whole(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "x")?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    let set = container.blob_on("PUT", "b", "metadata")?.header("x-ms-meta-size", "5").send().await?;
    set.expect(200)?.expect_header("x-ms-request-server-encrypted", "true")?;
    let read = container.blob("HEAD", "b")?.send().await?;
    read.expect_header("x-ms-meta-size", "5")?.expect_no_header("x-ms-meta-color")?;
    container.blob_on("PUT", "absent", "metadata")?.send().await?.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn metadata_of_a_blob_is_read_alone(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "x")?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    for verb in ["GET", "HEAD"] {
        let read = container.blob_on(verb, "b", "metadata")?.send().await?;
        read.expect(200)?.expect_header("x-ms-meta-color", "red")?.expect_no_body()?;
    }
    Ok(())
}

async fn a_deleted_blob_is_gone(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let delete = container.blob("DELETE", "b")?.send().await?;
    delete.expect(202)?.expect_header("x-ms-delete-type-permanent", "true")?.expect_no_body()?;
    container.blob("DELETE", "b")?.send().await?.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn a_blob_is_deleted_if_its_etag_matches(at: &Session) -> Outcome {
    let container = at.container().await?;
    let etag = container.seed("b", "x").await?;
    container.blob("DELETE", "b")?.if_match("\"0x1\"").send().await?.expect_code(412, "ConditionNotMet")?;
    container.blob("DELETE", "b")?.if_match(&etag).send().await?.expect(202)?;
    container.blob("DELETE", "b")?.if_match(&etag).send().await?.expect_code(404, "BlobNotFound")?;
    Ok(())
}

async fn a_tier_is_kept(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let set = container.blob_on("PUT", "b", "tier")?.header("x-ms-access-tier", "Cool").send().await?;
    set.expect_one_of(&[200, 202])?;
    let read = container.blob("HEAD", "b")?.send().await?;
    read.expect_header("x-ms-access-tier", "Cool")?.expect_no_header("x-ms-access-tier-inferred")?;
    Ok(())
}

async fn an_unknown_tier_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let set = container.blob_on("PUT", "b", "tier")?.header("x-ms-access-tier", "Warm").send().await?;
    set.expect_any_code(&[(400, "InvalidHeaderValue"), (400, "InvalidBlobTier")])?;
    Ok(())
}

const TAGS: &str = "<Tags><TagSet><Tag><Key>status</Key><Value>ready</Value></Tag></TagSet></Tags>";

/// Tags came later than the version that other cases speak.
const TAGS_VERSION: &str = "2020-10-02";

async fn tags_of_a_blob_are_set_and_read(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    container.blob_on("PUT", "b", "tags")?.version(TAGS_VERSION).xml(TAGS).send().await?.expect(204)?;
    let read = container.blob_on("GET", "b", "tags")?.version(TAGS_VERSION).send().await?;
    read.expect(200)?.expect_body_contains(TAGS)?;
    let put = container.put("c", "x")?.version(TAGS_VERSION).header("x-ms-tags", "a=1&b%20c=2").send().await?;
    put.expect(201)?;
    let read = container.blob("HEAD", "c")?.version(TAGS_VERSION).send().await?;
    read.expect_header("x-ms-tag-count", "2")?;
    Ok(())
}

async fn tags_of_another_form_are_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put =
        |tags: &str| Ok::<_, crate::Failure>(container.put("b", "x")?.version(TAGS_VERSION).header("x-ms-tags", tags));
    let many: Vec<String> = (0..11).map(|number| format!("k{number}=v")).collect();
    put(&many.join("&"))?.send().await?.expect_refusal()?;
    put("=v")?.send().await?.expect_refusal()?;
    put("a=%C3%A9")?.send().await?.expect_refusal()?;
    Ok(())
}

async fn a_condition_on_tags_is_checked(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "x")?.version(TAGS_VERSION).header("x-ms-tags", "status=ready").send().await?.expect(201)?;
    let read = |condition: &str| {
        Ok::<_, crate::Failure>(container.blob("GET", "b")?.version(TAGS_VERSION).header("x-ms-if-tags", condition))
    };
    read("\"status\" = 'ready'")?.send().await?.expect(200)?;
    read("\"status\" = 'old'")?.send().await?.expect_code(412, "ConditionNotMet")?;
    Ok(())
}

async fn an_upload_ends_after_the_time_that_it_allows(at: &Session) -> Outcome {
    let container = at.container().await?;
    let bytes = container.put("b", [b'x'; 100])?.query("timeout", "1").bytes();
    let blob = at.target().blob.as_ref().ok_or_else(|| Failure::skipped("there is no endpoint for blobs"))?;
    let mut connection = Connection::open(&blob.primary).await?;
    connection.write(&bytes[..bytes.len() - 50]).await?;
    let answer = connection.read().await?;
    equal("status", answer.status, 500)?;
    equal("code", answer.header("x-ms-error-code"), Some("OperationTimedOut"))?;
    container.blob("HEAD", "b")?.send().await?.expect(404).map(drop)
}
