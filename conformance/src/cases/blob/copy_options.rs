//! What a copy takes along, where a list begins.

use crate::expect::{ensure, equal};
use crate::sas::BlobSas;
use crate::{Failure, Outcome, Session, cases};

cases! {
    CopyBlob {
        a_copy_of_an_append_blob_is_sealed_on_request,
    }
    CopyBlobFromURL {
        tags_of_the_source_are_copied_on_request,
        tags_of_the_source_and_others_are_too_many,
        tags_of_the_source_are_copied_for_those_who_may_read_them,
    }
    PutBlobFromURL {
        properties_of_the_source_are_left_behind_on_request,
    }
    ListBlobs {
        a_list_begins_where_it_is_told_to,
    }
}

const VERSION: &str = "2026-02-06";

async fn a_copy_of_an_append_blob_is_sealed_on_request(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.create_append("log")?.send().await?.expect(201)?;
    container.append("log", "x")?.send().await?.expect(201)?;
    let copy = |to: &str, source: &str| {
        let copy = container.blob("PUT", to)?.version(VERSION);
        Ok::<_, Failure>(copy.header("x-ms-copy-source", &container.url(source)))
    };
    copy("sealed", "log")?.header("x-ms-seal-blob", "true").send().await?.expect(202)?;
    container.blob("HEAD", "sealed")?.send().await?.expect(200)?.expect_header("x-ms-blob-sealed", "true")?;
    container.append("sealed", "y")?.send().await?.expect_code(409, "BlobIsSealed")?;
    copy("open", "sealed")?.header("x-ms-seal-blob", "false").send().await?.expect(202)?;
    container.append("open", "y")?.send().await?.expect(201)?;
    Ok(())
}

/// A container with a blob that has tags.
async fn tagged(at: &Session) -> Outcome<crate::container::Container<'_>> {
    let container = at.container().await?;
    let put = container.put("from", "x")?.version(VERSION).header("x-ms-tags", "color=red");
    put.header("x-ms-blob-content-type", "text/plain").send().await?.expect(201)?;
    Ok(container)
}

fn url(at: &Session, container: &crate::container::Container<'_>, permissions: &str) -> String {
    let sas = BlobSas::of_blob(&container.name, "from", permissions).query(at.target());
    format!("{}?{sas}", container.url("from"))
}

async fn tags_of_the_source_are_copied_on_request(at: &Session) -> Outcome {
    let container = tagged(at).await?;
    let url = url(at, &container, "rt");
    for (option, tags) in [("COPY", Some("color")), ("REPLACE", None)] {
        let sync = container.blob("PUT", "to")?.header("x-ms-requires-sync", "true");
        for (request, status) in [(sync, 202), (container.put("to", "")?, 201)] {
            let request = request.version(VERSION).header("x-ms-copy-source", &url);
            request.header("x-ms-copy-source-tag-option", option).send().await?.expect(status)?;
            let read = container.blob_on("GET", "to", "tags")?.version(VERSION).send().await?;
            let text = read.expect(200)?.text();
            ensure(text.contains("<Key>color</Key>") == tags.is_some(), || format!("{option}: {text}"))?;
        }
    }
    Ok(())
}

async fn tags_of_the_source_and_others_are_too_many(at: &Session) -> Outcome {
    let container = tagged(at).await?;
    let copy = container.blob("PUT", "to")?.version(VERSION).header("x-ms-requires-sync", "true");
    let copy = copy.header("x-ms-copy-source", &url(at, &container, "rt")).header("x-ms-tags", "a=b");
    let copy = copy.header("x-ms-copy-source-tag-option", "COPY").send().await?;
    copy.expect_code(400, "BothUserTagsAndSourceTagsCopyPresentException")?;
    Ok(())
}

async fn tags_of_the_source_are_copied_for_those_who_may_read_them(at: &Session) -> Outcome {
    let container = tagged(at).await?;
    let copy = container.blob("PUT", "to")?.version(VERSION).header("x-ms-requires-sync", "true");
    let copy = copy.header("x-ms-copy-source", &url(at, &container, "r"));
    let copy = copy.header("x-ms-copy-source-tag-option", "COPY").send().await?;
    copy.expect_code(403, "CannotVerifyCopySource")?;
    Ok(())
}

async fn properties_of_the_source_are_left_behind_on_request(at: &Session) -> Outcome {
    let container = tagged(at).await?;
    for (option, content_type) in [("false", "application/octet-stream"), ("true", "text/plain")] {
        let put = container.put("to", "")?.version(VERSION).header("x-ms-copy-source", &url(at, &container, "r"));
        put.header("x-ms-copy-source-blob-properties", option).send().await?.expect(201)?;
        container.blob("HEAD", "to")?.send().await?.expect(200)?.expect_header("Content-Type", content_type)?;
    }
    Ok(())
}

async fn a_list_begins_where_it_is_told_to(at: &Session) -> Outcome {
    let container = at.container().await?;
    for name in ["a", "b", "b/1", "c"] {
        container.seed(name, "x").await?;
    }
    let list = |query: &str| Ok::<_, Failure>(container.on("GET", "list")?.version(VERSION).raw_query(query));
    let names = |response: &crate::response::Response| crate::container::names(response);
    equal("from b", names(&list("startFrom=b")?.send().await?)?, vec!["b".to_owned(), "b/1".into(), "c".into()])?;
    equal("from bb", names(&list("startFrom=bb")?.send().await?)?, vec!["c".to_owned()])?;
    equal("from z", names(&list("startFrom=z")?.send().await?)?, Vec::<String>::new())?;
    let page = list("startFrom=b&maxresults=1")?.send().await?;
    equal("a page", names(&page)?, vec!["b".to_owned()])?;
    let marker = page.xml()?.at("NextMarker").unwrap_or_default().to_owned();
    let next = list("startFrom=b")?.query("marker", &marker).send().await?;
    equal("the next page", names(&next)?, vec!["b/1".to_owned(), "c".into()])
}
