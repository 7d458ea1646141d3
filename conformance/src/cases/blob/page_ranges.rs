//! Get Page Ranges: of blobs and snapshots, in pages, and as differences.

use crate::expect::{ensure, equal};
use crate::{Outcome, Session, cases, container};

cases! {
    GetPageRanges {
        the_ranges_of_a_page_blob_are_a_document,
        ranges_of_a_part_of_a_blob_are_cut,
        ranges_that_begin_beyond_the_end_are_refused,
        ranges_come_in_pages,
        a_page_of_ranges_has_bounds,
        ranges_of_a_snapshot_stay,
        a_difference_has_written_and_cleared_pages,
        a_difference_to_an_empty_snapshot_has_what_was_cleared_since,
        a_difference_of_two_snapshots_leaves_out_what_came_later,
        a_difference_comes_in_pages,
        a_difference_has_pages_that_were_hidden_by_a_large_clear,
        a_difference_over_eight_tebibytes_is_one_range,
        a_missing_previous_snapshot_is_refused,
        a_previous_snapshot_is_not_newer,
        a_previous_snapshot_is_of_the_same_blob,
        a_previous_snapshot_has_no_address_here,
    }
    SnapshotBlob {
        a_snapshot_of_a_page_blob_does_not_change,
    }
    DeleteBlob {
        snapshots_of_page_blobs_are_deleted_one_by_one,
    }
}

async fn the_ranges_of_a_page_blob_are_a_document(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    container.put_pages("p", 0, b"ab")?.send().await?.expect(201)?;
    let etag = container.put_pages("p", 2048, b"c")?.send().await?.expect(201)?.etag()?;
    let list = container.blob_on("GET", "p", "pagelist")?.send().await?;
    list.expect(200)?
        .expect_header("Content-Type", "application/xml")?
        .expect_header("x-ms-blob-content-length", "4096")?
        .expect_header("ETag", &etag)?;
    let text = list.text();
    let text = text.trim_start_matches('\u{feff}');
    let body = "<PageList><PageRange><Start>0</Start><End>1023</End></PageRange>\
        <PageRange><Start>2048</Start><End>2559</End></PageRange></PageList>";
    equal("the document", text, format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n{body}"))
}

async fn ranges_of_a_part_of_a_blob_are_cut(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    container.put_pages("p", 0, b"abcd")?.send().await?.expect(201)?;
    container.put_pages("p", 3072, b"e")?.send().await?.expect(201)?;
    for (range, expected) in [
        ("bytes=512-1535", vec!["512-1535"]),
        ("bytes=1536-8191", vec!["1536-2047", "3072-3583"]),
        ("bytes=2048-3071", vec![]),
    ] {
        let list = container.blob_on("GET", "p", "pagelist")?.header("x-ms-range", range).send().await?;
        equal(range, container::page_ranges(&list)?, expected)?;
    }
    Ok(())
}

async fn ranges_that_begin_beyond_the_end_are_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    let list = container.blob_on("GET", "p", "pagelist")?.header("x-ms-range", "bytes=5120-9215").send().await?;
    let message = "The range specified is invalid for the current size of the resource.";
    list.expect_error(416, "InvalidRange", message)?;
    Ok(())
}

async fn ranges_come_in_pages(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    for offset in [0, 1024, 2048, 3072] {
        container.put_pages("p", offset, b"a")?.send().await?.expect(201)?;
    }
    let list = |query: &str| {
        let list = container.blob_on("GET", "p", "pagelist")?.version("2021-04-10");
        Ok::<_, crate::Failure>(list.raw_query(query))
    };
    let first = list("maxresults=2")?.send().await?;
    equal("the first page", container::page_ranges(&first)?, ["0-511", "1024-1535"])?;
    let marker = first.xml()?.child("NextMarker").map(|marker| marker.text.clone()).unwrap_or_default();
    ensure(!marker.is_empty(), || "no marker".to_owned())?;
    let second = list("maxresults=2")?.query("marker", &marker).send().await?;
    equal("the second page", container::page_ranges(&second)?, ["2048-2559", "3072-3583"])?;
    let marker = second.xml()?.child("NextMarker").map(|marker| marker.text.clone()).unwrap_or_default();
    equal("the last marker", marker.as_str(), "")?;
    let all = list("")?.send().await?;
    equal("all", container::page_ranges(&all)?.len(), 4)
}

async fn a_page_of_ranges_has_bounds(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    for query in ["maxresults=0", "maxresults=-1", "maxresults=x", "marker=x"] {
        let list = container.blob_on("GET", "p", "pagelist")?.version("2021-04-10").raw_query(query).send().await?;
        list.expect(400)?;
    }
    Ok(())
}

async fn ranges_of_a_snapshot_stay(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    container.put_pages("p", 512, b"a")?.send().await?.expect(201)?;
    let taken = container.snapshot("p").await?;
    container.put_pages("p", 1024, b"b")?.send().await?.expect(201)?;
    container.clear_pages("p", 512, 512)?.send().await?.expect(201)?;
    equal("the blob", container.page_ranges("p", "").await?, ["1024-1535"])?;
    equal("the snapshot", container.page_ranges("p", &format!("snapshot={taken}")).await?, ["512-1023"])
}

async fn a_difference_has_written_and_cleared_pages(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    container.put_pages("p", 0, b"bbbbbbbb")?.send().await?.expect(201)?;
    let taken = container.snapshot("p").await?;
    for offset in [0, 1024, 2048, 3072] {
        container.put_pages("p", offset, b"a")?.send().await?.expect(201)?;
        container.clear_pages("p", offset + 512, 512)?.send().await?.expect(201)?;
    }
    let expected =
        ["0-511", "-512-1023", "1024-1535", "-1536-2047", "2048-2559", "-2560-3071", "3072-3583", "-3584-4095"];
    equal("the difference", container.page_ranges("p", &format!("prevsnapshot={taken}")).await?, expected)
}

async fn a_difference_to_an_empty_snapshot_has_what_was_cleared_since(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 2048)?.send().await?.expect(201)?;
    let first = container.snapshot("p").await?;
    container.put_pages("p", 0, b"abc")?.send().await?.expect(201)?;
    let second = container.snapshot("p").await?;
    container.clear_pages("p", 512, 512)?.send().await?.expect(201)?;
    let to_first = container.page_ranges("p", &format!("prevsnapshot={first}")).await?;
    equal("to the first", to_first, ["0-511", "-512-1023", "1024-1535"])?;
    equal("to the second", container.page_ranges("p", &format!("prevsnapshot={second}")).await?, ["-512-1023"])
}

async fn a_difference_of_two_snapshots_leaves_out_what_came_later(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    container.put_pages("p", 0, b"ab")?.send().await?.expect(201)?;
    let first = container.snapshot("p").await?;
    container.put_pages("p", 2048, b"cd")?.send().await?.expect(201)?;
    let second = container.snapshot("p").await?;
    container.put_pages("p", 3072, b"e")?.send().await?.expect(201)?;
    let query = format!("snapshot={second}&prevsnapshot={first}");
    equal("the difference", container.page_ranges("p", &query).await?, ["2048-3071"])?;
    equal(
        "to itself",
        container.page_ranges("p", &format!("snapshot={second}&prevsnapshot={second}")).await?,
        Vec::<String>::new(),
    )
}

async fn a_difference_comes_in_pages(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    container.put_pages("p", 0, b"bbbb")?.send().await?.expect(201)?;
    let taken = container.snapshot("p").await?;
    container.put_pages("p", 0, b"a")?.send().await?.expect(201)?;
    container.clear_pages("p", 512, 512)?.send().await?.expect(201)?;
    container.put_pages("p", 1536, b"a")?.send().await?.expect(201)?;
    let mut found = Vec::new();
    let mut marker = String::new();
    loop {
        let list = container.blob_on("GET", "p", "pagelist")?.version("2021-04-10").query("prevsnapshot", &taken);
        let list = list.raw_query("maxresults=1");
        let list = if marker.is_empty() { list } else { list.query("marker", &marker) };
        let list = list.send().await?;
        found.extend(container::page_ranges(&list)?);
        marker = list.xml()?.child("NextMarker").map(|marker| marker.text.clone()).unwrap_or_default();
        if marker.is_empty() || found.len() > 3 {
            break;
        }
    }
    equal("the difference", found, ["0-511", "-512-1023", "1536-2047"])
}

async fn a_difference_has_pages_that_were_hidden_by_a_large_clear(at: &Session) -> Outcome {
    let container = at.container().await?;
    let length = 32 << 20;
    container.create_pages("p", length)?.send().await?.expect(201)?;
    container.put_pages("p", 0, b"ab")?.send().await?.expect(201)?;
    container.put_pages("p", 16 << 20, b"c")?.send().await?.expect(201)?;
    let taken = container.snapshot("p").await?;
    container.clear_pages("p", 512, length - 1024)?.send().await?.expect(201)?;
    container.put_pages("p", 1 << 20, b"d")?.send().await?.expect(201)?;
    equal("the blob", container.page_ranges("p", "").await?, ["0-511", "1048576-1049087"])?;
    let read = container.blob("GET", "p")?.header("x-ms-range", "bytes=511-1023").send().await?;
    equal("the pages", read.expect(206)?.text(), format!("a{}", "\0".repeat(512)))?;
    let snapshot = container.page_ranges("p", &format!("snapshot={taken}")).await?;
    equal("the snapshot", snapshot, ["0-1023", "16777216-16777727"])?;
    let difference = container.page_ranges("p", &format!("prevsnapshot={taken}")).await?;
    ensure(difference.contains(&"1048576-1049087".to_owned()), || format!("the difference {difference:?}"))?;
    ensure(difference.first().is_some_and(|range| range.starts_with("-512-")), || {
        format!("the difference {difference:?}")
    })
}

async fn a_difference_over_eight_tebibytes_is_one_range(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 8 << 40)?.send().await?.expect(201)?;
    container.put_pages("p", 1 << 30, b"a")?.send().await?.expect(201)?;
    let taken = container.snapshot("p").await?;
    container.clear_pages("p", 0, 8 << 40)?.send().await?.expect(201)?;
    let list = |previous: &str| {
        let list = container.blob_on("GET", "p", "pagelist")?.query("timeout", "3");
        Ok::<_, crate::Failure>(if previous.is_empty() { list } else { list.query("prevsnapshot", previous) })
    };
    equal("ranges", container::page_ranges(list("")?.send().await?.expect(200)?)?, Vec::<String>::new())?;
    let changed = list(&taken)?.send().await?;
    let text = changed.expect(200)?.text();
    let cleared = "<ClearRange><Start>0</Start><End>8796093022207</End></ClearRange></PageList>";
    ensure(text.ends_with(cleared), || format!("one cleared range: {text}"))
}

async fn a_missing_previous_snapshot_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    let list = container.blob_on("GET", "p", "pagelist")?.raw_query("prevsnapshot=2019-05-09T00:48:31.3653282Z");
    list.send().await?.expect_error(409, "PreviousSnapshotNotFound", "The previous snapshot is not found.")?;
    let list = container.blob_on("GET", "p", "pagelist")?.raw_query("prevsnapshot=yesterday").send().await?;
    list.expect_code(400, "InvalidQueryParameterValue")?;
    Ok(())
}

async fn a_previous_snapshot_is_not_newer(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    let (first, second) = (container.snapshot("p").await?, container.snapshot("p").await?);
    let list = container.blob_on("GET", "p", "pagelist")?.query("snapshot", &first).query("prevsnapshot", &second);
    let message = "The prevsnapshot query parameter value cannot be newer than snapshot query parameter value.";
    list.send().await?.expect_error(400, "PreviousSnapshotCannotBeNewer", message)?;
    Ok(())
}

async fn a_previous_snapshot_is_of_the_same_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    let taken = container.snapshot("p").await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    let list = container.blob_on("GET", "p", "pagelist")?.query("prevsnapshot", &taken).send().await?;
    list.expect_code(409, "BlobOverwritten")?;
    Ok(())
}

async fn a_previous_snapshot_has_no_address_here(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 4096)?.send().await?.expect(201)?;
    let taken = container.snapshot("p").await?;
    let url = format!("{}?snapshot={taken}", container.url("p"));
    let list = container.blob_on("GET", "p", "pagelist")?.header("x-ms-previous-snapshot-url", &url);
    list.version("2019-07-07").send().await?.expect_refusal()?;
    Ok(())
}

async fn a_snapshot_of_a_page_blob_does_not_change(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 2048)?.send().await?.expect(201)?;
    let mut taken = Vec::new();
    for pages in [b"abcd", b"efgh", b"ijkl"] {
        container.put_pages("p", 0, pages)?.send().await?.expect(201)?;
        taken.push((container.snapshot("p").await?, pages));
        container.clear_pages("p", 1024, 512)?.send().await?.expect(201)?;
    }
    for (snapshot, pages) in taken {
        let read = container.blob("GET", "p")?.query("snapshot", &snapshot).send().await?;
        let expected: String = pages.iter().map(|byte| char::from(*byte).to_string().repeat(512)).collect();
        equal("the snapshot", read.expect(200)?.text(), expected)?;
        let write = container.put_pages("p", 0, b"x")?.query("snapshot", &snapshot).send().await?;
        write.expect(400)?;
    }
    Ok(())
}

async fn snapshots_of_page_blobs_are_deleted_one_by_one(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_pages("p", 2048)?.send().await?.expect(201)?;
    let mut taken = Vec::new();
    for pages in [b"a", b"b", b"c"] {
        container.put_pages("p", 0, pages)?.send().await?.expect(201)?;
        taken.push(container.snapshot("p").await?);
    }
    container.put_pages("p", 512, b"d")?.send().await?.expect(201)?;
    container.blob("DELETE", "p")?.query("snapshot", &taken[1]).send().await?.expect(202)?;
    for (snapshot, byte) in [(&taken[0], "a"), (&taken[2], "c")] {
        let read =
            container.blob("GET", "p")?.query("snapshot", snapshot).header("Range", "bytes=0-511").send().await?;
        equal("the snapshot", read.expect(206)?.text(), byte.repeat(512))?;
    }
    let query = format!("prevsnapshot={}", taken[0]);
    equal("the difference", container.page_ranges("p", &query).await?, ["0-1023"])?;
    container.blob("DELETE", "p")?.send().await?.expect_code(409, "SnapshotsPresent")?;
    container.blob("DELETE", "p")?.header("x-ms-delete-snapshots", "only").send().await?.expect(202)?;
    let expected = format!("{}{}{}", "c".repeat(512), "d".repeat(512), "\0".repeat(1024));
    equal("the blob", container.content("p").await?, expected)?;
    container.blob("DELETE", "p")?.send().await?.expect(202)?;
    Ok(())
}
