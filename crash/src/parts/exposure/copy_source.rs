//! The SAS of a copy's source: it is neither shown nor stored, and `spr=https` does not admit it over plain HTTP.

use std::fs;
use std::path::Path;
use std::process::Command;

use tablerock_conformance::Outcome;
use tablerock_conformance::container::Container;
use tablerock_conformance::expect::ensure;
use tablerock_conformance::request::Request;
use tablerock_conformance::sas::BlobSas;

use super::fixture::{Fixture, text};
use crate::run::Run;

/// The ways to copy, by the headers that select them. The last one records no source.
const COPIES: [(&str, &[(&str, &str)]); 3] = [
    ("Copy Blob", &[]),
    ("Copy Blob From URL", &[("x-ms-requires-sync", "true")]),
    ("Put Blob From URL", &[("x-ms-blob-type", "BlockBlob")]),
];

/// Copies from a signed URL, and looks for the signature wherever the copy or its record can be read.
pub(super) async fn shown(run: &Run) -> Result<(), String> {
    let fixture = Fixture::start(run, "copy-source").await?;
    let signature = copy_and_read(&fixture).await.map_err(text)?;
    let directory = fixture.stop().await?;
    let export = Command::new(&run.program.binary).args(["export", "--from"]).arg(&directory.location).output();
    let export = export.map_err(|error| format!("export: {error}"))?;
    if contains(&export.stdout, &signature) {
        return Err(format!("the export has the signature {signature}"));
    }
    if let Some(file) = file_with(&directory.location, &signature)? {
        return Err(format!("{file} has the signature {signature}"));
    }
    directory.clean_up();
    Ok(())
}

/// Returns the signature of the source, as its URL has it.
async fn copy_and_read(fixture: &Fixture) -> Outcome<String> {
    let session = &fixture.session;
    let (private, public) = (session.container().await?, session.missing_container());
    public.create()?.header("x-ms-blob-public-access", "container").send().await?.expect(201)?;
    private.seed("b", "content").await?;
    let token = BlobSas::of_blob(&private.name, "b", "rwdl").query(session.target());
    let signature = token.split("sig=").nth(1).unwrap_or_default().to_owned();
    let source = format!("{}?{token}", private.url("b"));
    for (name, headers) in COPIES {
        copy(&public, &source, headers).await?;
        let properties = public.blob("HEAD", "copy")?.anonymous().send().await?;
        let shown = properties.expect(200)?.header("x-ms-copy-source").unwrap_or_default().to_owned();
        ensure(!shown.contains("sig="), || format!("{name}: a stranger reads x-ms-copy-source: {shown}"))?;
        let expected = if name == "Put Blob From URL" { String::new() } else { private.url("b") };
        ensure(shown == expected, || format!("{name}: x-ms-copy-source is {shown:?}"))?;
        let list = public.on("GET", "list")?.raw_query("include=copy").anonymous().send().await?;
        list.expect(200)?.expect_body_lacks("sig=")?;
    }
    Ok(signature)
}

async fn copy(to: &Container<'_>, source: &str, headers: &[(&str, &str)]) -> Outcome {
    let mut request = to.blob("PUT", "copy")?.header("x-ms-copy-source", source);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.send().await?.expect_one_of(&[201, 202])?;
    Ok(())
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// The first file below a folder that has this text.
fn file_with(folder: &Path, text: &str) -> Result<Option<String>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            if let Some(found) = file_with(&path, text)? {
                return Ok(Some(found));
            }
        } else if contains(&fs::read(&path).map_err(failed)?, text) {
            return Ok(Some(path.display().to_string()));
        }
    }
    Ok(None)
}

/// A SAS for HTTPS only is sent over plain HTTP, as the source of a copy whose URL claims to be https.
pub(super) async fn over_plain_http(run: &Run) -> Result<(), String> {
    let fixture = Fixture::start(run, "copy-source-https").await?;
    copy_with_https_only_sas(&fixture).await.map_err(text)?;
    fixture.stop().await?.clean_up();
    Ok(())
}

async fn copy_with_https_only_sas(fixture: &Fixture) -> Outcome {
    let session = &fixture.session;
    let (source, target) = (session.container().await?, session.container().await?);
    source.seed("b", "content").await?;
    let may_write = BlobSas::of_container(&target.name, "rcw").query(session.target());
    let copy = |spr: &str, scheme: &str| -> Outcome<Request<'_>> {
        let token = BlobSas { spr: spr.into(), ..BlobSas::of_blob(&source.name, "b", "r") }.query(session.target());
        let url = source.url("b").replacen("http://", scheme, 1);
        Ok(target.blob("PUT", "copy")?.sas(&may_write).header("x-ms-copy-source", &format!("{url}?{token}")))
    };
    copy("https,http", "http://")?.send().await?.expect(202)?;
    copy("https", "http://")?.send().await?.expect(403)?;
    copy("https", "https://")?.send().await?.expect(403)?;
    Ok(())
}
