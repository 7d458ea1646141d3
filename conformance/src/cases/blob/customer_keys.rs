//! Content under a key that the client provides with each request, and encryption scopes.

use crate::container::Container;
use crate::expect::equal;
use crate::request::Request;
use crate::{Outcome, Session, cases};

/// A key, and its SHA-256.
pub(super) type Key = (&'static str, &'static str);

pub(super) const KEY: Key =
    ("MDEyMzQ1NjcwMTIzNDU2NzAxMjM0NTY3MDEyMzQ1Njc=", "3QFFFpRA5+XANHqwwbT4yXDmrT/2JaLt/FKHjzhOdoE=");
pub(super) const OTHER: Key =
    ("YW5vdGhlciBrZXkgb2YgdGhpcnR5LXR3byBieXRlcyE=", "hwXUIm3kgGqrmOeaduCTeUdBcNjie1YV6lsFIuVT7lk=");

pub(super) const USES: &str = "BlobUsesCustomerSpecifiedEncryption";
pub(super) const USES_NOT: &str = "BlobDoesNotUseCustomerSpecifiedEncryption";
pub(super) const MISMATCH: &str = "BlobCustomerSpecifiedEncryptionMismatch";

cases! {
    PutBlob {
        a_blob_with_a_customers_key_is_read_with_it,
        a_blob_without_a_customers_key_is_read_without,
        a_customers_key_needs_three_headers,
        a_customers_key_must_fit_its_headers,
        a_blob_with_a_customers_key_is_replaced_without_it,
        a_missing_encryption_scope_is_refused,
    }
    GetBlob {
        ranges_under_a_customers_key_are_those_of_the_content,
    }
    PutBlockList {
        blocks_of_a_blob_have_one_key,
    }
    AppendBlock {
        appended_blocks_have_the_key_of_their_blob,
    }
    SetBlobMetadata {
        metadata_under_a_customers_key_needs_it,
    }
    SnapshotBlob {
        a_snapshot_has_the_key_of_its_blob,
    }
    ListBlobs {
        a_list_shows_the_digest_of_a_customers_key,
    }
    PutBlockFromURL {
        a_copy_source_under_a_customers_key_needs_it,
    }
    CreateContainer {
        a_container_with_a_missing_encryption_scope_is_refused,
    }
}

pub(super) fn keyed<'s>(request: Request<'s>, (key, digest): Key) -> Request<'s> {
    let request = request.version("2021-12-02").header("x-ms-encryption-key", key);
    request.header("x-ms-encryption-key-sha256", digest).header("x-ms-encryption-algorithm", "AES256")
}

pub(super) fn with_source<'s>(request: Request<'s>, from: &str, (key, digest): Key) -> Request<'s> {
    let request = request.version("2026-02-06").header("x-ms-copy-source", from);
    let request = request.header("x-ms-source-encryption-key", key);
    request.header("x-ms-source-encryption-key-sha256", digest).header("x-ms-source-encryption-algorithm", "AES256")
}

async fn seed(container: &Container<'_>, name: &str, content: impl Into<Vec<u8>>) -> Outcome {
    let put = keyed(container.put(name, content)?, KEY).send().await?;
    put.expect(201)?.expect_header("x-ms-request-server-encrypted", "true")?;
    put.expect_header("x-ms-encryption-key-sha256", KEY.1)?;
    Ok(())
}

async fn a_blob_with_a_customers_key_is_read_with_it(at: &Session) -> Outcome {
    let container = at.container().await?;
    for (name, content) in [("small", "content".to_owned()), ("large", "content ".repeat(100_000))] {
        seed(&container, name, content.clone()).await?;
        for (verb, part) in [("GET", None), ("HEAD", None), ("GET", Some("metadata"))] {
            let request = || match part {
                Some(part) => container.blob_on(verb, name, part),
                None => container.blob(verb, name),
            };
            let got = keyed(request()?, KEY).send().await?;
            got.expect(200)?;
            if part.is_none() {
                got.expect_header("x-ms-encryption-key-sha256", KEY.1)?
                    .expect_header("x-ms-server-encrypted", "true")?;
            }
            if (verb, part) == ("GET", None) {
                equal("the content", got.text(), content.as_str())?;
            }
            for (request, code) in [(request()?, USES), (keyed(request()?, OTHER), MISMATCH)] {
                let refused = request.send().await?;
                refused.expect(409)?.expect_header("x-ms-error-code", code)?;
            }
        }
    }
    container.blob_on("GET", "small", "tags")?.send().await?.expect(200)?;
    container.blob_on("PUT", "small", "properties")?.send().await?.expect(200)?;
    container.blob("DELETE", "small")?.send().await?.expect(202)?;
    Ok(())
}

async fn a_blob_without_a_customers_key_is_read_without(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "content").await?;
    let refused = keyed(container.blob("GET", "b")?, KEY).send().await?;
    refused.expect_error(
        409,
        USES_NOT,
        "The blob is not encrypted with customer specified encryption, but one was provided in the request.",
    )?;
    let got = container.blob("GET", "b")?.send().await?;
    got.expect(200)?.expect_no_header("x-ms-encryption-key-sha256")?;
    Ok(())
}

async fn a_customers_key_needs_three_headers(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["x-ms-encryption-key", "x-ms-encryption-key-sha256", "x-ms-encryption-algorithm"] {
        let put = keyed(container.put("b", "content")?, KEY).without(name).send().await?;
        put.expect_code(400, "MissingRequiredHeader")?;
        put.expect_body_contains(&format!("<HeaderName>{name}</HeaderName>"))?.expect_body_lacks(KEY.0)?;
    }
    container.blob("HEAD", "b")?.send().await?.expect(404)?;
    Ok(())
}

async fn a_customers_key_must_fit_its_headers(at: &Session) -> Outcome {
    let container = at.container().await?;
    for (name, value) in [
        ("x-ms-encryption-key", "c2hvcnQ="),
        ("x-ms-encryption-key", "!"),
        ("x-ms-encryption-key-sha256", OTHER.1),
        ("x-ms-encryption-key-sha256", "!"),
        ("x-ms-encryption-algorithm", "AES128"),
    ] {
        let put = keyed(container.put("b", "content")?, KEY).header(name, value).send().await?;
        put.expect_code(400, "InvalidHeaderValue")?.expect_body_lacks(KEY.0)?;
    }
    Ok(())
}

async fn a_blob_with_a_customers_key_is_replaced_without_it(at: &Session) -> Outcome {
    let container = at.container().await?;
    seed(&container, "b", "content").await?;
    container.seed("b", "plain").await?;
    equal("replaced", container.content("b").await?, "plain")?;
    seed(&container, "b", "content").await?;
    keyed(container.put("b", "again")?, OTHER).send().await?.expect(201)?;
    equal("another key", keyed(container.blob("GET", "b")?, OTHER).send().await?.expect(200)?.text(), "again")
}

async fn a_missing_encryption_scope_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.put("b", "content")?.header("x-ms-encryption-scope", "nosuchscope").send().await?;
    put.expect_refusal()?;
    container.blob("HEAD", "b")?.send().await?.expect(404)?;
    Ok(())
}

async fn ranges_under_a_customers_key_are_those_of_the_content(at: &Session) -> Outcome {
    let container = at.container().await?;
    let content: String = (0..60_000).map(|n| format!("{n:08} ")).collect();
    seed(&container, "b", content.clone()).await?;
    for (from, to) in [(0, 0), (1, 9), (262_100, 262_200), (262_112, 524_223), (500_000, 539_999)] {
        let got = keyed(container.blob("GET", "b")?, KEY).header("x-ms-range", &format!("bytes={from}-{to}"));
        let got = got.send().await?;
        equal(format!("{from} to {to}"), got.expect(206)?.text(), &content[from..=to])?;
        got.expect_header("Content-Range", &format!("bytes {from}-{to}/540000"))?;
    }
    Ok(())
}

async fn blocks_of_a_blob_have_one_key(at: &Session) -> Outcome {
    let container = at.container().await?;
    let block = |id: &str, content: &str| container.put_block("b", id, content);
    let long = "y".repeat(300_000);
    let put = keyed(block("QQ==", "first ")?, KEY).send().await?;
    put.expect(201)?.expect_header("x-ms-encryption-key-sha256", KEY.1)?;
    keyed(block("Qg==", &long)?, KEY).send().await?.expect(201)?;
    block("Qw==", "x")?.send().await?.expect_code(409, USES)?;
    keyed(block("Qw==", "x")?, OTHER).send().await?.expect_code(409, MISMATCH)?;
    let list = || container.put_list("b", "<Latest>QQ==</Latest><Latest>Qg==</Latest>");
    list()?.send().await?.expect_code(409, USES)?;
    keyed(list()?, OTHER).send().await?.expect_code(409, MISMATCH)?;
    let put = keyed(list()?, KEY).send().await?;
    put.expect(201)?.expect_header("x-ms-encryption-key-sha256", KEY.1)?;
    let got = keyed(container.blob("GET", "b")?, KEY).send().await?;
    equal("both blocks", got.expect(200)?.text(), format!("first {long}"))?;
    container.blob("GET", "b")?.send().await?.expect_code(409, USES)?;
    keyed(block("Qw==", " third")?, KEY).send().await?.expect(201)?;
    let list = container.put_list("b", "<Committed>QQ==</Committed><Uncommitted>Qw==</Uncommitted>")?;
    keyed(list, KEY).send().await?.expect(201)?;
    equal("old and new", keyed(container.blob("GET", "b")?, KEY).send().await?.expect(200)?.text(), "first  third")?;
    container.put_block("plain", "QQ==", "x")?.send().await?.expect(201)?;
    keyed(container.put_list("plain", "<Latest>QQ==</Latest>")?, KEY).send().await?.expect_code(409, USES_NOT)?;
    container.seed("replaced", "plain").await?;
    keyed(container.put_block("replaced", "QQ==", "secret")?, KEY).send().await?.expect(201)?;
    equal("the blob before the list", container.content("replaced").await?, "plain")?;
    keyed(container.put_list("replaced", "<Latest>QQ==</Latest>")?, KEY).send().await?.expect(201)?;
    container.blob("GET", "replaced")?.send().await?.expect_code(409, USES)?;
    let got = keyed(container.blob("GET", "replaced")?, KEY).send().await?;
    equal("the blob after the list", got.expect(200)?.text(), "secret")
}

async fn appended_blocks_have_the_key_of_their_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = keyed(container.create_append("log")?, KEY).send().await?;
    put.expect(201)?.expect_header("x-ms-encryption-key-sha256", KEY.1)?;
    container.append("log", "x")?.send().await?.expect_code(409, USES)?;
    keyed(container.append("log", "x")?, OTHER).send().await?.expect_code(409, MISMATCH)?;
    let long = "y".repeat(40_000);
    for line in ["one,", &long, ",two"] {
        let put = keyed(container.append("log", line)?, KEY).send().await?;
        put.expect(201)?.expect_header("x-ms-encryption-key-sha256", KEY.1)?;
    }
    let got = keyed(container.blob("GET", "log")?, KEY).send().await?;
    equal("all lines", got.expect(200)?.text(), format!("one,{long},two"))?;
    let got = keyed(container.blob("GET", "log")?, KEY).header("x-ms-range", "bytes=2-5").send().await?;
    equal("a range", got.expect(206)?.text(), "e,yy")?;
    container.create_append("plain")?.send().await?.expect(201)?;
    keyed(container.append("plain", "x")?, KEY).send().await?.expect_code(409, USES_NOT)?;
    Ok(())
}

async fn metadata_under_a_customers_key_needs_it(at: &Session) -> Outcome {
    let container = at.container().await?;
    seed(&container, "b", "content").await?;
    let set = || Ok::<_, crate::Failure>(container.blob_on("PUT", "b", "metadata")?.header("x-ms-meta-a", "b"));
    set()?.send().await?.expect_code(409, USES)?;
    keyed(set()?, OTHER).send().await?.expect_code(409, MISMATCH)?;
    keyed(set()?, KEY).send().await?.expect(200)?.expect_header("x-ms-encryption-key-sha256", KEY.1)?;
    keyed(container.blob("HEAD", "b")?, KEY).send().await?.expect(200)?.expect_header("x-ms-meta-a", "b")?;
    Ok(())
}

async fn a_snapshot_has_the_key_of_its_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    seed(&container, "b", "content").await?;
    container.blob_on("PUT", "b", "snapshot")?.send().await?.expect_code(409, USES)?;
    keyed(container.blob_on("PUT", "b", "snapshot")?, OTHER).send().await?.expect_code(409, MISMATCH)?;
    let taken = keyed(container.blob_on("PUT", "b", "snapshot")?, KEY).send().await?;
    let taken = taken.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned();
    container.seed("b", "plain").await?;
    let snapshot = || Ok::<_, crate::Failure>(container.blob("GET", "b")?.query("snapshot", &taken));
    snapshot()?.send().await?.expect_code(409, USES)?;
    equal("the snapshot", keyed(snapshot()?, KEY).send().await?.expect(200)?.text(), "content")?;
    equal("the blob", container.content("b").await?, "plain")
}

async fn a_list_shows_the_digest_of_a_customers_key(at: &Session) -> Outcome {
    let container = at.container().await?;
    seed(&container, "b", "content").await?;
    let list = container.on("GET", "list")?.query("include", "metadata").send().await?;
    list.expect(200)?.expect_body_contains("<Metadata Encrypted=\"true\" />")?;
    let wanted = format!("<CustomerProvidedKeySha256>{}</CustomerProvidedKeySha256>", KEY.1);
    list.expect(200)?.expect_body_contains(&wanted)?;
    Ok(())
}

async fn a_copy_source_under_a_customers_key_needs_it(at: &Session) -> Outcome {
    let container = at.container().await?;
    seed(&container, "source", "content").await?;
    let from = container.readable_url("source");
    let sourced = |request, key| with_source(request, &from, key);
    let block = || container.put_block("b", "QQ==", "");
    block()?.header("x-ms-copy-source", &from).send().await?.expect_refusal()?;
    sourced(block()?, OTHER).send().await?.expect_refusal()?;
    keyed(sourced(block()?, KEY), OTHER).send().await?.expect(201)?;
    keyed(container.put_list("b", "<Latest>QQ==</Latest>")?, OTHER).send().await?.expect(201)?;
    equal("a block", keyed(container.blob("GET", "b")?, OTHER).send().await?.expect(200)?.text(), "content")?;
    let put = container.blob("PUT", "whole")?.header("x-ms-blob-type", "BlockBlob");
    sourced(put, KEY).send().await?.expect(201)?;
    equal("a whole blob", container.content("whole").await?, "content")?;
    let put = container.blob("PUT", "keyed")?.header("x-ms-blob-type", "BlockBlob");
    let put = keyed(put, OTHER).header("x-ms-copy-source", &container.readable_url("whole")).send().await?;
    put.expect(201)?.expect_header("x-ms-encryption-key-sha256", OTHER.1)?;
    equal("a new key", keyed(container.blob("GET", "keyed")?, OTHER).send().await?.expect(200)?.text(), "content")?;
    let copy = container.blob("PUT", "copy")?.header("x-ms-copy-source", &from);
    copy.send().await?.expect_refusal()?;
    Ok(())
}

async fn a_container_with_a_missing_encryption_scope_is_refused(at: &Session) -> Outcome {
    let container = at.missing_container();
    let scoped =
        |scope: &str| Ok::<_, crate::Failure>(container.create()?.header("x-ms-default-encryption-scope", scope));
    let denied = scoped("nosuchscope")?.header("x-ms-deny-encryption-scope-override", "true");
    denied.send().await?.expect_refusal()?;
    scoped("$account-encryption-key")?.send().await?.expect_code(400, "MissingRequiredHeader")?;
    container.request("HEAD")?.send().await?.expect(404)?;
    Ok(())
}
