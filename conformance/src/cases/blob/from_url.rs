//! Blobs and blocks from a URL.

use crate::expect::equal;
use crate::request::Request;
use crate::sas::BlobSas;
use crate::{Failure, Outcome, Session, cases, clock};

cases! {
    PutBlobFromURL {
        a_blob_from_a_url_is_a_blob_of_its_own,
        headers_of_a_blob_from_a_url_are_given_or_those_of_its_source,
        conditions_of_a_blob_from_a_url_are_those_of_a_put_but_for_the_etag,
        a_source_that_does_not_meet_its_conditions_cannot_be_verified,
        the_etag_of_the_source_of_a_blob_has_a_code_of_its_own,
        the_sas_of_a_source_counts_beside_the_account_key,
        a_source_that_is_not_there_cannot_be_verified,
    }
}

const HELLO_MD5: &str = "XUFAKrxLKna5cZ2REBfFkg==";
const HELLO_CRC64: &str = "V0JSBnCFdzM=";

/// A blob of the session's own, and its URL with a SAS.
async fn source<'s>(at: &'s Session) -> Outcome<(crate::container::Container<'s>, String)> {
    let container = at.container().await?;
    let put = container.put("from", "hello")?.header("x-ms-blob-content-type", "text/plain");
    put.header("x-ms-blob-cache-control", "no-cache").send().await?.expect(201)?;
    let sas = BlobSas::of_blob(&container.name, "from", "r").query(at.target());
    let url = format!("{}?{sas}", container.url("from"));
    Ok((container, url))
}

fn put_from<'s>(container: &crate::container::Container<'s>, url: &str) -> Outcome<Request<'s>> {
    Ok(container.put("to", "")?.version("2020-10-02").header("x-ms-copy-source", url))
}

async fn a_blob_from_a_url_is_a_blob_of_its_own(at: &Session) -> Outcome {
    let (container, url) = source(at).await?;
    let put = put_from(&container, &url)?.send().await?;
    put.expect(201)?.expect_header("x-ms-content-crc64", HELLO_CRC64)?.expect_no_header("Content-MD5")?;
    put.expect_no_header("x-ms-copy-id")?.expect_header("x-ms-request-server-encrypted", "true")?;
    let put = put_from(&container, &url)?.header("x-ms-source-content-md5", HELLO_MD5).send().await?;
    put.expect(201)?.expect_header("Content-MD5", HELLO_MD5)?.expect_header("x-ms-content-crc64", HELLO_CRC64)?;
    let read = container.blob("GET", "to")?.send().await?;
    equal("content", read.expect(200)?.text().as_str(), "hello")?;
    for header in ["x-ms-copy-id", "x-ms-copy-source", "x-ms-copy-status", "x-ms-copy-completion-time"] {
        read.expect_no_header(header)?;
    }
    let wrong =
        put_from(&container, &url)?.header("x-ms-source-content-md5", "AAAAAAAAAAAAAAAAAAAAAA==").send().await?;
    wrong.expect_code(400, "Md5Mismatch")?;
    Ok(())
}

async fn headers_of_a_blob_from_a_url_are_given_or_those_of_its_source(at: &Session) -> Outcome {
    let (container, url) = source(at).await?;
    let put = put_from(&container, &url)?.header("x-ms-blob-content-type", "text/html");
    put.header("x-ms-blob-content-language", "de").send().await?.expect(201)?;
    let read = container.blob("HEAD", "to")?.send().await?;
    read.expect(200)?
        .expect_header("Content-Type", "text/html")?
        .expect_header("Content-Language", "de")?
        .expect_header("Cache-Control", "no-cache")?
        .expect_header("Content-MD5", HELLO_MD5)?;
    Ok(())
}

async fn conditions_of_a_blob_from_a_url_are_those_of_a_put_but_for_the_etag(at: &Session) -> Outcome {
    let (container, url) = source(at).await?;
    let etag = container.seed("to", "x").await?;
    let put = || put_from(&container, &url);
    let message = "The target condition specified using HTTP conditional header(s) is not met.";
    put()?.if_match("\"0x1\"").send().await?.expect_error(412, "TargetConditionNotMet", message)?;
    put()?.header("If-None-Match", "*").send().await?.expect_code(409, "BlobAlreadyExists")?;
    let (past, future) = (clock::now() - clock::minutes(60), clock::now() + clock::minutes(60));
    for (name, date) in [("If-Unmodified-Since", past), ("If-Modified-Since", future)] {
        let put = put()?.header(name, &clock::rfc1123(date));
        put.send().await?.expect_code(412, "ConditionNotMet")?;
    }
    put()?.if_match(&etag).send().await?.expect(201)?;
    Ok(())
}

/// The three operations that read content from a URL.
fn all_from<'s>(container: &crate::container::Container<'s>, url: &str) -> Outcome<[Request<'s>; 3]> {
    let block = container.blob_on("PUT", "blocks", "block")?.query("blockid", "QQ==").version("2020-10-02");
    let append = container.blob_on("PUT", "log", "appendblock")?.version("2020-10-02");
    Ok([put_from(container, url)?, block.header("x-ms-copy-source", url), append.header("x-ms-copy-source", url)])
}

async fn a_source_that_does_not_meet_its_conditions_cannot_be_verified(at: &Session) -> Outcome {
    let (container, url) = source(at).await?;
    container.create_append("log")?.send().await?.expect(201)?;
    let etag = container.blob("HEAD", "from")?.send().await?.expect(200)?.etag()?;
    let past = clock::rfc1123(clock::now() - clock::minutes(60));
    let future = clock::rfc1123(clock::now() + clock::minutes(60));
    for (name, fails, holds, status) in [
        ("x-ms-source-if-match", "\"0x1\"", etag.as_str(), 412),
        ("x-ms-source-if-none-match", &etag, "\"0x1\"", 304),
        ("x-ms-source-if-modified-since", &future, &past, 304),
        ("x-ms-source-if-unmodified-since", &past, &future, 412),
    ] {
        // The ETag of the source of a whole blob is the exception, which another case is about.
        let skipped = usize::from(name == "x-ms-source-if-match");
        for request in all_from(&container, &url)?.into_iter().skip(skipped) {
            let refused = request.header(name, fails).send().await?;
            refused
                .expect(status)?
                .expect_header("x-ms-error-code", "CannotVerifyCopySource")?
                .expect_header("x-ms-copy-source-status-code", &status.to_string())?
                .expect_header("x-ms-copy-source-error-code", "ConditionNotMet")?;
        }
        for request in all_from(&container, &url)? {
            request.header(name, holds).send().await?.expect(201)?;
        }
    }
    Ok(())
}

async fn the_etag_of_the_source_of_a_blob_has_a_code_of_its_own(at: &Session) -> Outcome {
    let (container, url) = source(at).await?;
    let refused = put_from(&container, &url)?.header("x-ms-source-if-match", "\"0x1\"").send().await?;
    let message = "The source condition specified using HTTP conditional header(s) is not met.";
    refused.expect_error(412, "SourceConditionNotMet", message)?.expect_no_header("x-ms-copy-source-status-code")?;
    Ok(())
}

async fn the_sas_of_a_source_counts_beside_the_account_key(at: &Session) -> Outcome {
    let (container, url) = source(at).await?;
    container.create_append("log")?.send().await?.expect(201)?;
    let may_write = BlobSas::of_blob(&container.name, "from", "w").query(at.target());
    let of_another = BlobSas::of_blob(&container.name, "other", "r").query(at.target());
    let plain = container.url("from");
    for (sas, code) in [(may_write, "AuthorizationPermissionMismatch"), (of_another, "AuthenticationFailed")] {
        let url = format!("{plain}?{sas}");
        let copy = || Ok::<_, Failure>(container.blob("PUT", "copy")?.header("x-ms-copy-source", &url));
        let others = [copy()?, copy()?.header("x-ms-requires-sync", "true")];
        for request in all_from(&container, &url)?.into_iter().chain(others) {
            let refused = request.send().await?;
            refused
                .expect_code(403, "CannotVerifyCopySource")?
                .expect_header("x-ms-copy-source-status-code", "403")?
                .expect_header("x-ms-copy-source-error-code", code)?
                .expect_body_contains("<CopySourceStatusCode>403</CopySourceStatusCode>")?
                .expect_body_contains(&format!("<CopySourceErrorCode>{code}</CopySourceErrorCode>"))?
                .expect_body_contains("<CopySourceErrorMessage>")?;
        }
    }
    let copy = container.blob("PUT", "copy")?.header("x-ms-copy-source", &url);
    copy.send().await?.expect(202)?;
    Ok(())
}

async fn a_source_that_is_not_there_cannot_be_verified(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_append("log")?.send().await?.expect(201)?;
    let sas = BlobSas::of_container(&container.name, "r").query(at.target());
    for request in all_from(&container, &format!("{}?{sas}", container.url("absent")))? {
        let refused = request.send().await?;
        refused
            .expect_code(404, "CannotVerifyCopySource")?
            .expect_header("x-ms-copy-source-status-code", "404")?
            .expect_header("x-ms-copy-source-error-code", "BlobNotFound")?;
    }
    Ok(())
}
