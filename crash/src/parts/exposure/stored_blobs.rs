//! A data directory with blobs that are large enough to be files, for the checks of a start.

use std::fs;
use std::path::{Path, PathBuf};

use tablerock_conformance::http::Answer;
use tablerock_conformance::request::Request;
use tablerock_conformance::target::Service;

use crate::client::{Client, Reply};
use crate::run::{DataDirectory, Run};
use crate::server::{Server, StartError};

const BLOB_BYTES: usize = 1 << 20;
const VERSION: &str = "2021-12-02";

/// A stopped server's data: a container `box` with a blob `old`.
pub(super) struct StoredBlobs {
    pub(super) directory: DataDirectory,
}

impl StoredBlobs {
    /// Fills a directory and stops the server cleanly.
    pub(super) async fn create(run: &Run, name: &str) -> Result<Self, String> {
        let blobs = Self { directory: DataDirectory::create(run, name)? };
        let server = blobs.directory.start().await?;
        create_container(&server).await?;
        put(&server, "old").await?;
        server.stop().await?;
        Ok(blobs)
    }

    /// A path in the data directory.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        data(&self.directory).join(name)
    }

    /// Fails unless a start fails with one clear error that contains this text. `what` names the damage.
    pub(super) async fn check_refused(&self, what: &str, text: &str) -> Result<(), String> {
        match self.directory.spawn()?.ready().await {
            Err(error) => check_message(&error, text).map_err(|why| format!("{what}: {why}")),
            Ok(server) => {
                let read = get(&server, "old").await;
                server.kill();
                let status = read.map_or_else(|why| why, |answer| answer.status.to_string());
                Err(format!("{what}: the server starts, and reading a blob returns {status}"))
            }
        }
    }

    /// Fails unless a start succeeds and the old blob is whole. Then removes everything.
    pub(super) async fn check_whole(self) -> Result<(), String> {
        let server = self.directory.start().await?;
        check_blob(&server, "old").await?;
        server.stop().await?;
        self.directory.clean_up();
        Ok(())
    }
}

pub(super) fn data(directory: &DataDirectory) -> PathBuf {
    directory.location.join("tablerock-data")
}

/// Fails unless a start failed with one error for the operator that contains this text.
pub(super) fn check_message(error: &StartError, text: &str) -> Result<(), String> {
    let code = error.status.and_then(|status| status.code());
    let line = error.text.lines().find(|line| line.starts_with("tablerock: "));
    match line {
        Some(line) if code == Some(1) && line.contains(text) => Ok(()),
        _ => Err(format!("the error does not contain \"{text}\": {error}")),
    }
}

pub(super) async fn create_container(server: &Server) -> Result<(), String> {
    let answer = send(server, "PUT", "/box?restype=container", vec![]).await?;
    if answer.status == 201 { Ok(()) } else { Err(format!("creating a container returns {}", answer.status)) }
}

/// Puts a blob whose content depends on its name.
pub(super) async fn put(server: &Server, name: &str) -> Result<(), String> {
    match send(server, "PUT", &format!("/box/{name}"), content(name)).await? {
        answer if answer.status == 201 => Ok(()),
        answer => Err(format!("Put Blob {name} returns {}", answer.status)),
    }
}

pub(super) async fn get(server: &Server, name: &str) -> Result<Answer, String> {
    send(server, "GET", &format!("/box/{name}"), vec![]).await
}

/// Fails unless a blob has its own content.
pub(super) async fn check_blob(server: &Server, name: &str) -> Result<(), String> {
    let answer = get(server, name).await?;
    if answer.status == 200 && answer.body == content(name) {
        return Ok(());
    }
    let whose = ["old", "new"].into_iter().find(|other| answer.body == content(other));
    let whose = whose.map_or(String::new(), |other| format!(" with the content of the blob {other}"));
    Err(format!("Get Blob {name} returns {}{whose}", answer.status))
}

fn content(name: &str) -> Vec<u8> {
    name.bytes().cycle().take(BLOB_BYTES).collect()
}

async fn send(server: &Server, verb: &str, path: &str, body: Vec<u8>) -> Result<Answer, String> {
    let mut client: Client = server.client();
    let target = client.target();
    let blobs = target.blob.as_ref().ok_or("the target has no Blob service")?;
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mut request = Request::signing_headers(&target, blobs, verb, path).version(VERSION);
    if !query.is_empty() {
        request = request.raw_query(query);
    }
    if verb == "PUT" {
        request = request.header("x-ms-blob-type", "BlockBlob").body(body);
    }
    match client.send(Service::Blob, &request).await {
        Reply::Response(answer) => Ok(answer),
        Reply::ServerError(status, text) => Err(format!("{verb} {path}: {status} {text}")),
        Reply::NoResponse | Reply::NotSent => Err(format!("{verb} {path}: no response")),
    }
}

/// Copies a folder or a file with everything in it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let copied = if from.is_dir() {
        let tree = crate::disk::Tree::read(from).map_err(|error| format!("{}: {error}", from.display()))?;
        tree.save(to)
    } else {
        fs::copy(from, to).map(drop)
    };
    copied.map_err(|error| format!("{}: {error}", to.display()))
}

/// Moves a folder or a file.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), String> {
    fs::rename(from, to).map_err(|error| format!("{}: {error}", from.display()))
}
