//! The credentials of a copy's source, and values of a SAS that a response repeats.

use crate::expect::equal;
use crate::sas::BlobSas;
use crate::{Outcome, Session, cases};

cases! {
    CopyBlob {
        the_source_of_a_copy_is_shown_without_its_sas,
        the_source_of_a_copy_is_shown_with_its_snapshot,
        a_source_over_http_needs_a_sas_for_http,
    }
    CopyBlobFromURL {
        the_source_of_a_synchronous_copy_is_shown_without_its_sas,
        only_copy_blob_reads_a_private_source_without_credentials_of_its_own,
    }
    Authentication {
        a_sas_sets_no_header_with_a_control_character,
    }
}

async fn the_source_of_a_copy_is_shown_without_its_sas(at: &Session) -> Outcome {
    copied_source_is_shown_without_sas(at, None).await
}

async fn the_source_of_a_synchronous_copy_is_shown_without_its_sas(at: &Session) -> Outcome {
    copied_source_is_shown_without_sas(at, Some("x-ms-requires-sync")).await
}

async fn copied_source_is_shown_without_sas(at: &Session, header: Option<&str>) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "content").await?;
    let token = BlobSas::of_blob(&container.name, "b", "r").query(at.target());
    let copy = container.blob("PUT", "copy")?.header("x-ms-copy-source", &format!("{}?{token}", container.url("b")));
    let copy = if let Some(header) = header { copy.header(header, "true") } else { copy };
    copy.send().await?.expect(202)?;
    let properties = container.blob("HEAD", "copy")?.send().await?;
    equal("x-ms-copy-source", properties.expect(200)?.header("x-ms-copy-source"), Some(container.url("b").as_str()))?;
    let list = container.on("GET", "list")?.query("include", "copy").send().await?;
    list.expect(200)?.expect_body_contains("<CopySource>")?.expect_body_lacks("sig=")?;
    Ok(())
}

async fn the_source_of_a_copy_is_shown_with_its_snapshot(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "content").await?;
    let taken = container.blob_on("PUT", "b", "snapshot")?.send().await?;
    let taken = taken.expect(201)?.header("x-ms-snapshot").unwrap_or_default().to_owned();
    let source = format!("{}?snapshot={taken}", container.url("b"));
    let token = BlobSas::of_blob(&container.name, "b", "r").query(at.target());
    let copy = container.blob("PUT", "copy")?.header("x-ms-copy-source", &format!("{source}&{token}"));
    copy.send().await?.expect(202)?;
    let properties = container.blob("HEAD", "copy")?.send().await?;
    equal("x-ms-copy-source", properties.expect(200)?.header("x-ms-copy-source"), Some(source.as_str()))
}

async fn a_source_over_http_needs_a_sas_for_http(at: &Session) -> Outcome {
    let (container, target) = (at.container().await?, at.container().await?);
    if !container.url("b").starts_with("http://") {
        return Err(crate::Failure::skipped("the target is addressed over https"));
    }
    container.seed("b", "content").await?;
    let may_write = BlobSas::of_container(&target.name, "cw").query(at.target());
    for (spr, scheme, status) in [("https,http", "http://", 202), ("https", "http://", 403), ("https", "https://", 403)]
    {
        let sas = BlobSas { spr: spr.into(), ..BlobSas::of_blob(&container.name, "b", "r") };
        let url = container.url("b").replacen("http://", scheme, 1);
        let source = format!("{url}?{}", sas.query(at.target()));
        let copy = target.blob("PUT", "copy")?.sas(&may_write).header("x-ms-copy-source", &source).send().await?;
        copy.expect(status)?;
    }
    Ok(())
}

async fn a_sas_sets_no_header_with_a_control_character(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "content").await?;
    for content_type in ["text/plain\r\nx-injected: 1", "text\nplain", "text\0plain"] {
        let sas = BlobSas { content_type: content_type.into(), ..BlobSas::of_blob(&container.name, "b", "r") };
        let read = container.blob("GET", "b")?.sas(&sas.query(at.target())).send().await?;
        read.expect_code(400, "InvalidQueryParameterValue")?;
    }
    Ok(())
}

async fn only_copy_blob_reads_a_private_source_without_credentials_of_its_own(at: &Session) -> Outcome {
    let container = at.container().await?;
    container.seed("b", "content").await?;
    container.create_append("a")?.send().await?.expect(201)?;
    let (private, readable) = (container.url("b"), container.readable_url("b"));
    let block = container.blob_on("PUT", "new", "block")?.query("blockid", "AAAA").body("");
    let append = container.blob_on("PUT", "a", "appendblock")?.body("");
    let put = container.blob("PUT", "put")?.header("x-ms-blob-type", "BlockBlob").body("");
    let copy = container.blob("PUT", "copy")?.header("x-ms-requires-sync", "true");
    for request in [block, append, put, copy] {
        let request = request.version("2021-12-02");
        let refused = request.clone().header("x-ms-copy-source", &private).send().await?;
        refused.expect_code(401, "CannotVerifyCopySource")?;
        request.header("x-ms-copy-source", &readable).send().await?.expect_one_of(&[201, 202])?;
    }
    let later = container.blob("PUT", "later")?.header("x-ms-copy-source", &private);
    later.send().await?.expect(202).map(drop)
}
