//! Copies of page blobs: whole, page by page, and incremental.

use crate::container::Container;
use crate::expect::equal;
use crate::request::Request;
use crate::{Outcome, Session, cases};

cases! {
    PutPageFromURL {
        pages_are_written_from_another_blob,
        pages_from_a_url_have_checksums,
        pages_from_a_url_have_conditions_on_both_sides,
        pages_from_a_url_have_one_length,
        pages_that_are_cleared_have_no_source,
    }
    CopyBlob {
        a_copy_of_a_page_blob_has_its_pages,
        a_copy_of_a_snapshot_of_a_page_blob_has_what_was_there,
        a_copy_of_another_type_is_refused,
    }
    IncrementalCopyBlob {
        an_incremental_copy_ends_with_a_snapshot,
        an_incremental_copy_copies_what_changed,
        an_incremental_copy_needs_a_snapshot,
        an_incremental_copy_of_a_missing_snapshot_is_refused,
        an_incremental_copy_stays_with_its_source,
        an_incremental_copy_goes_forward,
        the_target_of_an_incremental_copy_is_not_read_or_written,
    }
}

fn from_url<'s>(container: &Container<'s>, source: &str, offset: u64, length: u64) -> Outcome<Request<'s>> {
    let put = container.blob_on("PUT", "target", "page")?.header("x-ms-page-write", "update");
    let range = |offset: u64| format!("bytes={offset}-{}", offset + length - 1);
    let put = put.header("x-ms-copy-source", &container.url(source)).header("x-ms-source-range", &range(offset));
    Ok(put.header("x-ms-range", &range(0)))
}

/// A public container with a page blob of four pages, and an empty target.
async fn with_source(at: &Session) -> Outcome<Container<'_>> {
    let container = at.container().await?;
    let open = container.on("PUT", "acl")?.header("x-ms-blob-public-access", "container");
    open.send().await?.expect(200)?;
    container.create_pages("source", 2048)?.send().await?.expect(201)?;
    container.put_pages("source", 0, b"abcd")?.send().await?.expect(201)?;
    container.create_pages("target", 2048)?.header("x-ms-blob-sequence-number", "4").send().await?.expect(201)?;
    Ok(container)
}

async fn pages_are_written_from_another_blob(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let put = from_url(&container, "source", 1024, 1024)?.send().await?;
    put.expect(201)?
        .expect_header("x-ms-blob-sequence-number", "4")?
        .expect_header("x-ms-request-server-encrypted", "true")?;
    let expected = format!("{}{}{}", "c".repeat(512), "d".repeat(512), "\0".repeat(1024));
    equal("the target", container.content("target").await?, expected)
}

async fn pages_from_a_url_have_checksums(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let wrong = "XUFAKrxLKna5cZ2REBfFkg==";
    let put = from_url(&container, "source", 0, 512)?.header("x-ms-source-content-md5", wrong).send().await?;
    put.expect_code(400, "Md5Mismatch")?;
    let put =
        from_url(&container, "source", 0, 512)?.header("x-ms-source-content-crc64", "iJh5CoYUi64=").send().await?;
    put.expect_code(400, "Crc64Mismatch")?;
    equal("ranges", container.page_ranges("target", "").await?, Vec::<String>::new())?;
    let crc64 = container.put_pages("source", 512, b"a")?.send().await?;
    let crc64 = crc64.expect(201)?.header("x-ms-content-crc64").unwrap_or_default().to_owned();
    let put = from_url(&container, "source", 0, 512)?.header("x-ms-source-content-crc64", &crc64).send().await?;
    put.expect(201)?.expect_header("x-ms-content-crc64", &crc64)?;
    Ok(())
}

async fn pages_from_a_url_have_conditions_on_both_sides(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let old = "Mon, 01 Jan 2001 00:00:00 GMT";
    for (name, value, status) in [
        ("x-ms-source-if-unmodified-since", old, 412),
        ("x-ms-source-if-match", "\"0x8D7215B3B006953\"", 412),
        ("If-Match", "\"0x8D7215B3B006953\"", 412),
        ("x-ms-if-sequence-number-lt", "4", 412),
        ("x-ms-if-sequence-number-eq", "4", 201),
        ("x-ms-source-if-modified-since", old, 201),
    ] {
        let put = from_url(&container, "source", 0, 512)?.header(name, value).send().await?;
        put.expect(status)?;
    }
    Ok(())
}

async fn pages_from_a_url_have_one_length(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let put = from_url(&container, "source", 0, 512)?.header("x-ms-source-range", "bytes=0-1023").send().await?;
    put.expect(400)?;
    from_url(&container, "source", 0, 512)?.without("x-ms-source-range").send().await?.expect(400)?;
    let put = from_url(&container, "source", 0, 4096)?.send().await?;
    put.expect(416)?;
    Ok(())
}

async fn copy(container: &Container<'_>, source: &str, to: &str) -> Outcome {
    let copy = container.blob("PUT", to)?.header("x-ms-copy-source", &format!("{}{source}", container.url("source")));
    copy.send().await?.expect(202)?;
    Ok(())
}

async fn pages_that_are_cleared_have_no_source(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    container.put_pages("target", 0, b"x")?.send().await?.expect(201)?;
    let clear = from_url(&container, "source", 0, 512)?.without("x-ms-page-write").header("x-ms-page-write", "clear");
    clear.send().await?.expect_code(400, "InvalidHeaderValue")?;
    equal("ranges", container.page_ranges("target", "").await?, ["0-511"])
}

async fn a_copy_of_a_page_blob_has_its_pages(at: &Session) -> Outcome {
    let container = at.container().await?;
    let create = container.create_pages("source", 1 << 40)?.header("x-ms-blob-sequence-number", "11");
    create.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    container.put_pages("source", 1 << 39, b"xy")?.send().await?.expect(201)?;
    container.put_pages("source", 0, b"z")?.send().await?.expect(201)?;
    container.clear_pages("source", 1 << 39, 512)?.send().await?.expect(201)?;
    let tiered = container.blob("PUT", "copy")?.header("x-ms-copy-source", &container.url("source"));
    tiered.header("x-ms-access-tier", "Cool").send().await?.expect(400)?;
    copy(&container, "", "copy").await?;
    let head = container.blob("HEAD", "copy")?.send().await?;
    head.expect(200)?
        .expect_header("x-ms-blob-type", "PageBlob")?
        .expect_header("Content-Length", "1099511627776")?
        .expect_header("x-ms-blob-sequence-number", "11")?
        .expect_header("x-ms-meta-color", "red")?;
    equal("ranges", container.page_ranges("copy", "").await?, ["0-511", "549755814400-549755814911"])?;
    let read = container.blob("GET", "copy")?.header("x-ms-range", "bytes=549755814400-549755814911").send().await?;
    equal("the page", read.expect(206)?.text(), "y".repeat(512))
}

async fn a_copy_of_a_snapshot_of_a_page_blob_has_what_was_there(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let taken = container.snapshot("source").await?;
    container.put_pages("source", 0, b"xx")?.send().await?.expect(201)?;
    copy(&container, &format!("?snapshot={taken}"), "copy").await?;
    copy(&container, &format!("?snapshot={taken}"), "source").await?;
    for name in ["copy", "source"] {
        let expected = ["a", "b", "c", "d"].map(|byte| byte.repeat(512)).concat();
        equal(name, container.content(name).await?, expected)?;
    }
    Ok(())
}

async fn a_copy_of_another_type_is_refused(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    container.seed("block", "x").await?;
    let copy = container.blob("PUT", "block")?.header("x-ms-copy-source", &container.url("source")).send().await?;
    copy.expect_code(409, "InvalidBlobType")?;
    let copy = container.blob("PUT", "source")?.header("x-ms-copy-source", &container.url("block")).send().await?;
    copy.expect_code(409, "InvalidBlobType")?;
    Ok(())
}

fn incremental<'s>(container: &Container<'s>, source: &str, snapshot: &str, to: &str) -> Outcome<Request<'s>> {
    let source = format!("{}?snapshot={snapshot}", container.url(source));
    Ok(container.blob_on("PUT", to, "incrementalcopy")?.header("x-ms-copy-source", &source))
}

async fn an_incremental_copy_ends_with_a_snapshot(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let taken = container.snapshot("source").await?;
    let started = incremental(&container, "source", &taken, "backup")?.send().await?;
    let started = started.expect(202)?.expect_header("x-ms-copy-status", "pending")?;
    let id = started.header("x-ms-copy-id").unwrap_or_default().to_owned();
    started.etag()?;
    let head = container.blob("HEAD", "backup")?.send().await?;
    let snapshot = head
        .expect(200)?
        .expect_header("x-ms-incremental-copy", "true")?
        .expect_header("x-ms-copy-id", &id)?
        .expect_header("x-ms-copy-status", "success")?
        .expect_header("x-ms-copy-progress", "2048/2048")?
        .expect_header("Content-Length", "2048")?
        .header("x-ms-copy-destination-snapshot")
        .unwrap_or_default()
        .to_owned();
    let read = container.blob("GET", "backup")?.query("snapshot", &snapshot).send().await?;
    equal("the snapshot", read.expect(200)?.text(), ["a", "b", "c", "d"].map(|byte| byte.repeat(512)).concat())?;
    let list = container.on("GET", "list")?.raw_query("prefix=backup&include=snapshots,copy").send().await?;
    list.expect(200)?
        .expect_body_contains("<IncrementalCopy>true</IncrementalCopy>")?
        .expect_body_contains(&format!("<CopyDestinationSnapshot>{snapshot}</CopyDestinationSnapshot>"))?;
    equal("names", container.names("prefix=backup&include=snapshots").await?, ["backup", "backup"])
}

async fn an_incremental_copy_copies_what_changed(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let mut backups = Vec::new();
    for (offset, pages, expected) in [(0, b"a", "abcd"), (512, b"x", "a\0cx"), (1024, b"y", "a\0yx")] {
        if offset == 512 {
            container.clear_pages("source", 512, 512)?.send().await?.expect(201)?;
            container.put_pages("source", 1536, pages)?.send().await?.expect(201)?;
        } else {
            container.put_pages("source", offset, pages)?.send().await?.expect(201)?;
        }
        let taken = container.snapshot("source").await?;
        incremental(&container, "source", &taken, "backup")?.send().await?.expect(202)?;
        let head = container.blob("HEAD", "backup")?.send().await?;
        let snapshot = head.expect(200)?.header("x-ms-copy-destination-snapshot").unwrap_or_default().to_owned();
        backups.push((snapshot, expected));
    }
    for (snapshot, expected) in &backups {
        let read = container.blob("GET", "backup")?.query("snapshot", snapshot).send().await?;
        let expected: String = expected.chars().map(|page| page.to_string().repeat(512)).collect();
        equal("a backup", read.expect(200)?.text(), expected)?;
    }
    let query = format!("snapshot={}&prevsnapshot={}", backups[2].0, backups[1].0);
    equal("the difference", container.page_ranges("backup", &query).await?, ["1024-1535"])
}

async fn an_incremental_copy_needs_a_snapshot(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let copy = container.blob_on("PUT", "backup", "incrementalcopy")?;
    let copy = copy.header("x-ms-copy-source", &container.url("source")).send().await?;
    let message = "The source for incremental copy request must be a snapshot.";
    copy.expect_error(409, "IncrementalCopySourceMustBeSnapshot", message)?;
    Ok(())
}

async fn an_incremental_copy_of_a_missing_snapshot_is_refused(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let copy = incremental(&container, "none", "2019-03-29T18:12:15.6608647Z", "target")?.send().await?;
    copy.expect_error(404, "CannotVerifyCopySource", "The specified blob does not exist.")?;
    Ok(())
}

async fn an_incremental_copy_stays_with_its_source(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let (taken, other) = (container.snapshot("source").await?, container.snapshot("target").await?);
    incremental(&container, "source", &taken, "backup")?.send().await?.expect(202)?;
    let copy = incremental(&container, "target", &other, "backup")?.send().await?;
    copy.expect_code(409, "IncrementalCopyBlobMismatch")?;
    incremental(&container, "source", &taken, "target")?.send().await?.expect(409)?;
    Ok(())
}

async fn an_incremental_copy_goes_forward(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let (first, second) = (container.snapshot("source").await?, container.snapshot("source").await?);
    incremental(&container, "source", &second, "backup")?.send().await?.expect(202)?;
    incremental(&container, "source", &first, "backup")?.send().await?.expect(409)?;
    Ok(())
}

async fn the_target_of_an_incremental_copy_is_not_read_or_written(at: &Session) -> Outcome {
    let container = with_source(at).await?;
    let taken = container.snapshot("source").await?;
    incremental(&container, "source", &taken, "backup")?.send().await?.expect(202)?;
    let message = "The specified operation is not allowed on an incremental copy blob.";
    let code = "OperationNotAllowedOnIncrementalCopyBlob";
    container.blob("GET", "backup")?.send().await?.expect_error(409, code, message)?;
    container.put_pages("backup", 0, b"a")?.send().await?.expect_code(409, code)?;
    let copy = container.blob("PUT", "copy")?.header("x-ms-copy-source", &container.url("backup")).send().await?;
    copy.expect_code(409, code)?;
    container.clear_pages("backup", 0, 512)?.send().await?.expect_code(409, code)?;
    container.blob_on("PUT", "backup", "snapshot")?.send().await?.expect_code(409, code)?;
    let resize = container.blob_on("PUT", "backup", "properties")?.header("x-ms-blob-content-length", "512");
    resize.send().await?.expect_code(409, code)?;
    let delete = container.blob("DELETE", "backup")?.header("x-ms-delete-snapshots", "include");
    delete.send().await?.expect(202)?;
    Ok(())
}
