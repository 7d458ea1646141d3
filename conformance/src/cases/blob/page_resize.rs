//! Set Blob Properties of page blobs: length and sequence number.

use crate::expect::equal;
use crate::{Outcome, Session, cases};

cases! {
    SetBlobProperties {
        a_page_blob_grows_with_zeros,
        a_page_blob_that_shrinks_loses_its_pages,
        a_tebibyte_that_shrank_and_grew_again_lists_its_pages,
        a_page_blob_keeps_its_snapshots_when_it_shrinks,
        a_length_that_is_not_whole_pages_is_refused,
        a_length_is_for_page_blobs,
        a_sequence_number_is_set_raised_and_counted,
        a_sequence_number_does_not_overflow,
        an_action_on_the_sequence_number_is_complete,
    }
}

async fn a_page_blob_grows_with_zeros(at: &Session) -> Outcome {
    let container = at.container().await?;
    let created = container.create_pages("p", 512)?.header("x-ms-blob-content-type", "a/b").send().await?;
    let created = created.expect(201)?.etag()?;
    container.put_pages("p", 0, b"a")?.send().await?.expect(201)?;
    let resize = container.blob_on("PUT", "p", "properties")?.header("x-ms-blob-content-length", "1024");
    let resized = resize.send().await?;
    resized.expect(200)?.expect_header("x-ms-blob-sequence-number", "0")?;
    equal("a new ETag", resized.etag()? != created, true)?;
    equal("the content", container.content("p").await?, format!("{}{}", "a".repeat(512), "\0".repeat(512)))
}

async fn a_page_blob_that_shrinks_loses_its_pages(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 16 << 20)?.send().await?.expect(201)?;
    for offset in [0, 1024, 8 << 20, (16 << 20) - 512] {
        container.put_pages("p", offset, b"a")?.send().await?.expect(201)?;
    }
    for length in ["1024", "16777216"] {
        let resize = container.blob_on("PUT", "p", "properties")?.header("x-ms-blob-content-length", length);
        resize.send().await?.expect(200)?;
        container.blob("HEAD", "p")?.send().await?.expect_header("Content-Length", length)?;
        equal("ranges", container.page_ranges("p", "").await?, ["0-511"])?;
    }
    let read = container.blob("GET", "p")?.header("x-ms-range", "bytes=512-2047").send().await?;
    equal("the pages", read.expect(206)?.text(), "\0".repeat(1536))
}

/// The list costs what is stored, not the area that was emptied: a server that visits all of it blocks other requests.
async fn a_tebibyte_that_shrank_and_grew_again_lists_its_pages(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 1 << 40)?.send().await?.expect(201)?;
    container.put_pages("p", 0, b"a")?.send().await?.expect(201)?;
    for length in ["512", "1099511627776"] {
        let resize = container.blob_on("PUT", "p", "properties")?.header("x-ms-blob-content-length", length);
        resize.send().await?.expect(200)?;
    }
    let list = || Ok::<_, crate::Failure>(container.blob_on("GET", "p", "pagelist")?.query("timeout", "3"));
    let (one, other) = tokio::join!(list()?.send(), list()?.send());
    for list in [one?, other?] {
        equal("ranges", crate::container::page_ranges(list.expect(200)?)?, ["0-511"])?;
    }
    Ok(())
}

async fn a_page_blob_keeps_its_snapshots_when_it_shrinks(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 1024)?.send().await?.expect(201)?;
    container.put_pages("p", 0, b"ab")?.send().await?.expect(201)?;
    let taken = container.snapshot("p").await?;
    let resize = container.blob_on("PUT", "p", "properties")?.header("x-ms-blob-content-length", "512");
    resize.send().await?.expect(200)?;
    let read = container.blob("GET", "p")?.query("snapshot", &taken).send().await?;
    equal("the snapshot", read.expect(200)?.text(), format!("{}{}", "a".repeat(512), "b".repeat(512)))?;
    equal("the blob", container.content("p").await?, "a".repeat(512))
}

async fn a_length_that_is_not_whole_pages_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    let resize = container.blob_on("PUT", "p", "properties")?.header("x-ms-blob-content-length", "511");
    let message = "The value for one of the HTTP headers is not in the correct format.";
    resize.send().await?.expect_error(400, "InvalidHeaderValue", message)?;
    Ok(())
}

async fn a_length_is_for_page_blobs(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let resize = container.blob_on("PUT", "b", "properties")?.header("x-ms-blob-content-length", "512");
    resize.send().await?.expect_code(409, "InvalidBlobType")?;
    let count = container.blob_on("PUT", "b", "properties")?.header("x-ms-sequence-number-action", "increment");
    count.send().await?.expect_code(409, "InvalidBlobType")?;
    Ok(())
}

async fn a_sequence_number_is_set_raised_and_counted(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 512)?.send().await?.expect(201)?;
    for (action, number, expected) in [
        ("update", Some("5"), "5"),
        ("max", Some("3"), "5"),
        ("max", Some("8"), "8"),
        ("increment", None, "9"),
        ("Update", Some("2"), "2"),
    ] {
        let set = container.blob_on("PUT", "p", "properties")?.header("x-ms-sequence-number-action", action);
        let set = match number {
            Some(number) => set.header("x-ms-blob-sequence-number", number),
            None => set,
        };
        set.send().await?.expect(200)?.expect_header("x-ms-blob-sequence-number", expected)?;
        container.blob("HEAD", "p")?.send().await?.expect_header("x-ms-blob-sequence-number", expected)?;
    }
    Ok(())
}

async fn a_sequence_number_does_not_overflow(at: &Session) -> Outcome {
    let container = at.container().await?;
    let create = container.create_pages("p", 512)?.header("x-ms-blob-sequence-number", "9223372036854775807");
    create.send().await?.expect(201)?;
    let count = container.blob_on("PUT", "p", "properties")?.header("x-ms-sequence-number-action", "increment");
    let message =
        "The sequence number increment cannot be performed because it would result in overflow of the sequence number.";
    count.send().await?.expect_error(409, "SequenceNumberIncrementTooLarge", message)?;
    Ok(())
}

async fn an_action_on_the_sequence_number_is_complete(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 512)?.send().await?.expect(201)?;
    for (action, number) in [
        (Some("update"), None),
        (Some("max"), None),
        (Some("increment"), Some("4")),
        (Some("lower"), Some("4")),
        (Some("update"), Some("-1")),
    ] {
        let mut set = container.blob_on("PUT", "p", "properties")?;
        if let Some(action) = action {
            set = set.header("x-ms-sequence-number-action", action);
        }
        if let Some(number) = number {
            set = set.header("x-ms-blob-sequence-number", number);
        }
        set.send().await?.expect(400)?;
    }
    container.blob("HEAD", "p")?.send().await?.expect_header("x-ms-blob-sequence-number", "0")?;
    Ok(())
}
