//! List Blobs: flat, by hierarchy, page by page, and what it can include.

use crate::container::names;
use crate::expect::{ensure, equal};
use crate::{Failure, Outcome, Session, cases};

cases! {
    ListBlobs {
        a_list_has_names_and_properties,
        an_empty_container_has_an_empty_list,
        a_list_is_cut_by_prefix,
        a_list_folds_names_at_a_delimiter,
        a_page_of_blobs_says_where_the_next_one_starts,
        a_list_ends_before_the_name_it_is_told,
        a_folded_list_ends_before_the_name_it_is_told,
        pages_of_a_folded_list_have_each_entry_once,
        a_list_includes_what_it_is_asked_for,
        a_list_shows_snapshots_before_their_blob,
        snapshots_and_a_delimiter_do_not_go_together,
        a_list_of_no_blobs_or_less_is_refused,
        an_unknown_include_of_blobs_is_refused,
        the_list_of_a_missing_container_is_not_found,
        names_that_xml_cannot_write_are_encoded,
    }
}

async fn a_list_has_names_and_properties(at: &Session) -> Outcome {
    let container = at.container().await?;
    let etag = container.seed("blob1", "hello world").await?;
    let listing = container.on("GET", "list")?.send().await?;
    ensure(listing.expect(200)?.text().starts_with('\u{feff}'), || "no byte order mark".to_owned())?;
    let root = listing.xml()?;
    let attributes = &root.attributes;
    ensure(attributes.contains("ServiceEndpoint=\"") && attributes.contains("ContainerName=\""), || {
        attributes.clone()
    })?;
    equal("elements", root.names(), ["Blobs", "NextMarker"])?;
    let blob = root.child("Blobs").and_then(|blobs| blobs.child("Blob"));
    let at = |path: &str| blob.and_then(|blob| blob.at(path)).unwrap_or("(absent)").to_owned();
    equal("Name", at("Name"), "blob1")?;
    equal("Etag", at("Properties/Etag"), etag.trim_matches('"'))?;
    equal("Content-Length", at("Properties/Content-Length"), "11")?;
    equal("Content-Type", at("Properties/Content-Type"), "application/octet-stream")?;
    equal("Content-MD5", at("Properties/Content-MD5"), "XrY7u+Ae7tCTyyK7j1rNww==")?;
    equal("BlobType", at("Properties/BlobType"), "BlockBlob")?;
    equal("LeaseStatus", at("Properties/LeaseStatus"), "unlocked")?;
    equal("ServerEncrypted", at("Properties/ServerEncrypted"), "true")?;
    equal("AccessTier", at("Properties/AccessTier"), "Hot")
}

async fn an_empty_container_has_an_empty_list(at: &Session) -> Outcome {
    let container = at.container().await?;
    let listing = container.on("GET", "list")?.send().await?;
    listing.expect(200)?.expect_body_contains("<Blobs />")?.expect_body_contains("<NextMarker />")?;
    Ok(())
}

async fn a_list_is_cut_by_prefix(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["a", "ab", "b", "ab/c"] {
        container.seed(name, "x").await?;
    }
    equal("names", container.names("prefix=ab").await?, ["ab", "ab/c"])?;
    equal("no names", container.names("prefix=x").await?, [""; 0])
}

async fn a_list_folds_names_at_a_delimiter(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["a", "b/1", "b/2", "b/c/3", "c", "d--e"] {
        container.seed(name, "x").await?;
    }
    equal("the root", container.names("delimiter=%2F").await?, ["a", "b/*", "c", "d--e"])?;
    equal("a folder", container.names("delimiter=%2F&prefix=b%2F").await?, ["b/1", "b/2", "b/c/*"])?;
    equal("a long delimiter", container.names("delimiter=--&prefix=d").await?, ["d--*"])?;
    let listing = container.on("GET", "list")?.raw_query("delimiter=%2F").send().await?;
    equal("elements", listing.xml()?.names(), ["Delimiter", "Blobs", "NextMarker"])
}

async fn a_page_of_blobs_says_where_the_next_one_starts(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["a", "b", "c"] {
        container.seed(name, "x").await?;
    }
    let first = container.on("GET", "list")?.raw_query("maxresults=2").send().await?;
    equal("the first page", names(&first)?, ["a", "b"])?;
    equal("elements", first.xml()?.names(), ["MaxResults", "Blobs", "NextMarker"])?;
    let marker = first.xml()?.at("NextMarker").unwrap_or_default().to_owned();
    ensure(!marker.is_empty(), || "no marker".to_owned())?;
    container.seed("bb", "put between the pages").await?;
    let second = container.on("GET", "list")?.query("marker", &marker).send().await?;
    ensure(names(&second)?.ends_with(&["c".to_owned()]), || format!("the second page {:?}", names(&second)))?;
    equal("its marker", second.xml()?.at("NextMarker"), Some(""))
}

async fn a_list_ends_before_the_name_it_is_told(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["a", "b", "b/1", "c", "d"] {
        container.seed(name, "x").await?;
    }
    for (query, expected) in [
        ("endBefore=c", vec!["a", "b", "b/1"]),
        ("endBefore=b/", vec!["a", "b"]),
        ("endBefore=a", vec![]),
        ("endBefore=z", vec!["a", "b", "b/1", "c", "d"]),
        ("startFrom=b&endBefore=d", vec!["b", "b/1", "c"]),
        ("startFrom=c&endBefore=b", vec![]),
        ("prefix=b&endBefore=b/1", vec!["b"]),
    ] {
        let list = container.on("GET", "list")?.version("2026-10-06").raw_query(query).send().await?;
        equal(query, names(list.expect(200)?)?, expected)?;
    }
    let list = || Ok::<_, Failure>(container.on("GET", "list")?.version("2026-10-06").query("endBefore", "c"));
    let page = list()?.query("maxresults", "2").send().await?;
    let marker = page.expect(200)?.xml()?.at("NextMarker").unwrap_or_default().to_owned();
    let rest = list()?.query("marker", &marker).send().await?;
    equal("the next page", names(rest.expect(200)?)?, ["b/1"])?;
    equal("NextMarker", rest.xml()?.at("NextMarker").unwrap_or_default(), "")
}

async fn a_folded_list_ends_before_the_name_it_is_told(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["a/1", "b/1", "b/2", "c/1"] {
        container.seed(name, "x").await?;
    }
    for (end, expected) in [("b/", vec!["a/"]), ("b/2", vec!["a/", "b/"]), ("c", vec!["a/", "b/"])] {
        let list = container.on("GET", "list")?.version("2026-10-06").query("delimiter", "/").query("endBefore", end);
        let root = list.send().await?.expect(200)?.xml()?;
        let blobs = root.child("Blobs").map(|blobs| blobs.children.iter()).into_iter().flatten();
        let prefixes: Vec<_> = blobs.filter_map(|entry| entry.at("Name")).collect();
        equal(end, prefixes, expected)?;
    }
    Ok(())
}

async fn pages_of_a_folded_list_have_each_entry_once(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["a", "b/1", "b/2", "c", "d/1", "e"] {
        container.seed(name, "x").await?;
    }
    let (mut found, mut marker) = (Vec::new(), String::new());
    for _ in 0..10 {
        let list = container.on("GET", "list")?.raw_query("delimiter=%2F&maxresults=1");
        let list = if marker.is_empty() { list } else { list.query("marker", &marker) };
        let page = list.send().await?;
        found.extend(names(&page)?);
        marker = page.xml()?.at("NextMarker").unwrap_or_default().to_owned();
        if marker.is_empty() {
            break;
        }
    }
    equal("entries", found, ["a", "b/*", "c", "d/*", "e"])
}

async fn a_list_includes_what_it_is_asked_for(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.put("b", "x")?.header("x-ms-meta-color", "red").send().await?.expect(201)?;
    container.put_block("u", "MDAx", "x")?.send().await?.expect(201)?;
    let copy = container.blob("PUT", "copy")?.header("x-ms-copy-source", &container.url("b"));
    copy.send().await?.expect(202)?;
    let plain = container.on("GET", "list")?.send().await?;
    plain.expect(200)?.expect_body_lacks("<Metadata>")?.expect_body_lacks("CopyId")?;
    let list =
        container.on("GET", "list")?.raw_query("include=metadata%2Cuncommittedblobs&include=copy").send().await?;
    equal("names", names(&list)?, ["b", "copy", "u"])?;
    list.expect_body_contains("<Metadata><color>red</color></Metadata>")?
        .expect_body_contains("<CopyStatus>success</CopyStatus>")?;
    Ok(())
}

async fn a_list_shows_snapshots_before_their_blob(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "x").await?;
    let mut taken = Vec::new();
    for _ in 0..2 {
        let snapshot = container.blob_on("PUT", "b", "snapshot")?.send().await?;
        taken.push(snapshot.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned());
    }
    equal("without", container.names("").await?, ["b"])?;
    let list = container.on("GET", "list")?.raw_query("include=snapshots").send().await?;
    let root = list.expect(200)?.xml()?;
    let blobs = root.child("Blobs").map(|blobs| blobs.children.as_slice()).unwrap_or_default();
    let found: Vec<_> = blobs.iter().map(|blob| blob.at("Snapshot").unwrap_or("the blob").to_owned()).collect();
    equal("with", found, [taken[0].as_str(), taken[1].as_str(), "the blob"])?;
    equal("the lease of a snapshot", blobs[0].at("Properties/LeaseStatus"), None)
}

async fn snapshots_and_a_delimiter_do_not_go_together(at: &Session) -> Outcome {
    let container = at.container().await?;
    let list = container.on("GET", "list")?.raw_query("include=snapshots&delimiter=%2F").send().await?;
    list.expect_code(400, "InvalidQueryParameterValue")?;
    Ok(())
}

async fn a_list_of_no_blobs_or_less_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    for size in ["0", "-1"] {
        let list = container.on("GET", "list")?.query("maxresults", size).send().await?;
        list.expect_code(400, "OutOfRangeQueryParameterValue")?;
    }
    container.on("GET", "list")?.query("maxresults", "6000").send().await?.expect(200)?;
    Ok(())
}

async fn an_unknown_include_of_blobs_is_refused(at: &Session) -> Outcome {
    let container = at.container().await?;
    let list = container.on("GET", "list")?.query("include", "everything").send().await?;
    list.expect_code(400, "InvalidQueryParameterValue")?;
    Ok(())
}

async fn the_list_of_a_missing_container_is_not_found(at: &Session) -> Outcome {
    at.missing_container().on("GET", "list")?.send().await?.expect_code(404, "ContainerNotFound")?;
    Ok(())
}

async fn names_that_xml_cannot_write_are_encoded(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("a\u{1}b", "x").await?;
    let list = container.on("GET", "list")?.version("2021-02-12").send().await?;
    list.expect(200)?.expect_body_contains("<Name Encoded=\"true\">a%01b</Name>")?;
    Ok(())
}
