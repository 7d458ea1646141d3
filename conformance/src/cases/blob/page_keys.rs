//! Page blobs under a key that the client provides with each request.

use super::customer_keys::{KEY, MISMATCH, OTHER, USES, USES_NOT, keyed, with_source};
use crate::container::Container;
use crate::expect::equal;
use crate::{Outcome, Session, cases};

cases! {
    PutBlob {
        a_page_blob_with_a_customers_key_is_read_with_it,
        a_page_blob_with_a_customers_key_is_replaced_without_it,
        a_page_blob_in_a_missing_encryption_scope_is_refused,
    }
    PutPage {
        pages_have_the_customers_key_of_their_blob,
        pages_under_a_customers_key_are_written_in_place,
    }
    ClearPage {
        pages_under_a_customers_key_are_cleared_with_it,
    }
    GetPageRanges {
        page_ranges_need_no_customers_key,
    }
    SetBlobProperties {
        a_page_blob_under_a_customers_key_is_resized,
    }
    SnapshotBlob {
        a_snapshot_of_pages_has_the_customers_key_of_its_blob,
    }
    PutPageFromURL {
        pages_are_copied_from_one_customers_key_to_another,
    }
    CopyBlob {
        a_page_blob_under_a_customers_key_is_not_copied_without_it,
    }
}

/// A container with a page blob under a key.
async fn seeded(at: &Session, length: u64) -> Outcome<Container<'_>> {
    let container = at.container().await?;
    let put = keyed(container.create_pages("p", length)?, KEY).send().await?;
    put.expect(201)?.expect_header("x-ms-request-server-encrypted", "true")?;
    put.expect_header("x-ms-encryption-key-sha256", KEY.1)?;
    Ok(container)
}

/// Writes pages, each filled with one letter.
async fn write(container: &Container<'_>, offset: u64, letters: &str) -> Outcome {
    let put = keyed(container.put_pages("p", offset, letters.as_bytes())?, KEY).send().await?;
    put.expect(201)?.expect_header("x-ms-request-server-encrypted", "true")?;
    put.expect_header("x-ms-encryption-key-sha256", KEY.1)?.expect_header("x-ms-blob-sequence-number", "0")?;
    Ok(())
}

async fn content(container: &Container<'_>) -> Outcome<String> {
    Ok(keyed(container.blob("GET", "p")?, KEY).send().await?.expect(200)?.text())
}

/// The content of pages that are filled with these letters; a dot stands for zeros.
fn pages(letters: &str) -> String {
    letters.chars().map(|letter| if letter == '.' { '\0' } else { letter }.to_string().repeat(512)).collect()
}

async fn a_page_blob_with_a_customers_key_is_read_with_it(at: &Session) -> Outcome {
    let container = seeded(at, 1024).await?;
    equal("an empty blob", content(&container).await?, pages(".."))?;
    write(&container, 512, "a").await?;
    equal("a page", content(&container).await?, pages(".a"))?;
    for verb in ["GET", "HEAD"] {
        let got = keyed(container.blob(verb, "p")?, KEY).send().await?;
        got.expect(200)?.expect_header("x-ms-encryption-key-sha256", KEY.1)?;
        got.expect_header("x-ms-server-encrypted", "true")?.expect_header("Content-Length", "1024")?;
        for (request, code) in
            [(container.blob(verb, "p")?, USES), (keyed(container.blob(verb, "p")?, OTHER), MISMATCH)]
        {
            request.send().await?.expect(409)?.expect_header("x-ms-error-code", code)?;
        }
    }
    let got = keyed(container.blob("GET", "p")?, KEY).header("x-ms-range", "bytes=510-514").send().await?;
    equal("a range", got.expect(206)?.text(), "\0\0aaa")?;
    container.create_pages("plain", 512)?.send().await?.expect(201)?;
    keyed(container.blob("GET", "plain")?, KEY).send().await?.expect_code(409, USES_NOT)?;
    Ok(())
}

async fn a_page_blob_with_a_customers_key_is_replaced_without_it(at: &Session) -> Outcome {
    let container = seeded(at, 512).await?;
    write(&container, 0, "a").await?;
    container.create_pages("p", 512)?.send().await?.expect(201)?;
    equal("replaced", container.content("p").await?, pages("."))?;
    container.put_pages("p", 0, b"b")?.send().await?.expect(201)?;
    equal("written", container.content("p").await?, pages("b"))
}

async fn a_page_blob_in_a_missing_encryption_scope_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let put = container.create_pages("p", 512)?.header("x-ms-encryption-scope", "nosuchscope").send().await?;
    put.expect_refusal()?;
    container.blob("HEAD", "p")?.send().await?.expect(404)?;
    Ok(())
}

async fn pages_have_the_customers_key_of_their_blob(at: &Session) -> Outcome {
    let container = seeded(at, 1024).await?;
    let put = |name: &str| container.put_pages(name, 0, b"a");
    put("p")?.send().await?.expect_code(409, USES)?;
    keyed(put("p")?, OTHER).send().await?.expect_code(409, MISMATCH)?;
    keyed(put("p")?, KEY)
        .without("x-ms-encryption-key-sha256")
        .send()
        .await?
        .expect_code(400, "MissingRequiredHeader")?;
    container.create_pages("plain", 1024)?.send().await?.expect(201)?;
    keyed(put("plain")?, KEY).send().await?.expect_code(409, USES_NOT)?;
    equal("nothing is written", content(&container).await?, pages(".."))
}

async fn pages_under_a_customers_key_are_written_in_place(at: &Session) -> Outcome {
    let container = seeded(at, 64 << 10).await?;
    let letters = "ab".repeat(50);
    write(&container, 512, &letters).await?;
    write(&container, 63 * 512, "xyz").await?;
    let mut wanted = format!(".{letters}{}", ".".repeat(27));
    wanted.replace_range(63..66, "xyz");
    equal("all pages", content(&container).await? == pages(&wanted), true)?;
    let got = keyed(container.blob("GET", "p")?, KEY).header("x-ms-range", "bytes=32300-32799").send().await?;
    equal("a range", got.expect(206)?.text(), &pages(&wanted)[32_300..32_800])
}

async fn pages_under_a_customers_key_are_cleared_with_it(at: &Session) -> Outcome {
    let container = seeded(at, 2048).await?;
    write(&container, 0, "abcd").await?;
    let clear = || container.clear_pages("p", 512, 1024);
    clear()?.send().await?.expect_code(409, USES)?;
    keyed(clear()?, OTHER).send().await?.expect_code(409, MISMATCH)?;
    keyed(clear()?, KEY).send().await?.expect(201)?;
    equal("the rest", content(&container).await?, pages("a..d"))
}

async fn page_ranges_need_no_customers_key(at: &Session) -> Outcome {
    let container = seeded(at, 2048).await?;
    write(&container, 0, "ab").await?;
    write(&container, 1536, "d").await?;
    equal("ranges", container.page_ranges("p", "").await?, ["0-1023", "1536-2047"])
}

async fn a_page_blob_under_a_customers_key_is_resized(at: &Session) -> Outcome {
    let container = seeded(at, 2048).await?;
    write(&container, 0, "abcd").await?;
    let resize = |length: &str| {
        Ok::<_, crate::Failure>(container.blob_on("PUT", "p", "properties")?.header("x-ms-blob-content-length", length))
    };
    keyed(resize("512")?, OTHER).send().await?.expect_code(409, MISMATCH)?;
    keyed(resize("1024")?, KEY).send().await?.expect(200)?;
    resize("1536")?.send().await?.expect(200)?;
    equal("the content", content(&container).await?, pages("ab."))?;
    container.create_pages("plain", 512)?.send().await?.expect(201)?;
    keyed(container.blob_on("PUT", "plain", "properties")?, KEY).send().await?.expect_code(409, USES_NOT)?;
    Ok(())
}

async fn a_snapshot_of_pages_has_the_customers_key_of_its_blob(at: &Session) -> Outcome {
    let container = seeded(at, 1024).await?;
    write(&container, 0, "ab").await?;
    container.blob_on("PUT", "p", "snapshot")?.send().await?.expect_code(409, USES)?;
    let taken = keyed(container.blob_on("PUT", "p", "snapshot")?, KEY).send().await?;
    let taken = taken.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned();
    write(&container, 512, "c").await?;
    let snapshot = || Ok::<_, crate::Failure>(container.blob("GET", "p")?.query("snapshot", &taken));
    snapshot()?.send().await?.expect_code(409, USES)?;
    equal("the snapshot", keyed(snapshot()?, KEY).send().await?.expect(200)?.text(), pages("ab"))?;
    equal("the blob", content(&container).await?, pages("ac"))?;
    container.blob("DELETE", "p")?.query("snapshot", &taken).send().await?.expect(202)?;
    equal("the blob alone", content(&container).await?, pages("ac"))
}

async fn pages_are_copied_from_one_customers_key_to_another(at: &Session) -> Outcome {
    let container = seeded(at, 1024).await?;
    write(&container, 0, "ab").await?;
    keyed(container.create_pages("target", 1024)?, OTHER).send().await?.expect(201)?;
    let put = || {
        let put = container.blob_on("PUT", "target", "page")?.header("x-ms-page-write", "update");
        let put = put.header("x-ms-range", "bytes=512-1023").header("x-ms-source-range", "bytes=0-511");
        Ok::<_, crate::Failure>(put.header("Content-Length", "0"))
    };
    let from = container.readable_url("p");
    keyed(put()?.header("x-ms-copy-source", &from), OTHER).send().await?.expect_refusal()?;
    with_source(put()?, &from, KEY).send().await?.expect_code(409, USES)?;
    let copied = with_source(keyed(put()?, OTHER), &from, KEY).send().await?;
    copied.expect(201)?.expect_header("x-ms-encryption-key-sha256", OTHER.1)?;
    copied.expect_header("x-ms-request-server-encrypted", "true")?;
    let got = keyed(container.blob("GET", "target")?, OTHER).send().await?;
    equal("the target", got.expect(200)?.text(), pages(".a"))
}

async fn a_page_blob_under_a_customers_key_is_not_copied_without_it(at: &Session) -> Outcome {
    let container = seeded(at, 512).await?;
    write(&container, 0, "a").await?;
    let taken = keyed(container.blob_on("PUT", "p", "snapshot")?, KEY).send().await?;
    let taken = taken.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned();
    let open = container.on("PUT", "acl")?.header("x-ms-blob-public-access", "container");
    open.send().await?.expect(200)?;
    let from = container.url("p");
    container.blob("PUT", "copy")?.header("x-ms-copy-source", &from).send().await?.expect_refusal()?;
    let snapshot = format!("{from}?snapshot={taken}");
    let copy = container.blob_on("PUT", "copy", "incrementalcopy")?.header("x-ms-copy-source", &snapshot);
    copy.send().await?.expect_code(409, USES)?;
    container.blob("HEAD", "copy")?.send().await?.expect(404)?;
    Ok(())
}
