//! The observed state: all blobs of the container with their snapshots and blocks, read over HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;

use tablerock_conformance::http::Answer;
use tablerock_conformance::request::Request;
use tablerock_conformance::target::Service;
use tablerock_conformance::xml::{self, Element};

use super::operation::request;
use super::version::{BlobKind, BlobVersion};
use crate::client::{Client, Reply};

/// Everything under one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservedBlob {
    pub current: Option<BlobVersion>,
    /// The lengths of the uncommitted blocks.
    pub uncommitted: BTreeMap<String, usize>,
    pub snapshots: BTreeMap<String, BlobVersion>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservedBlobs {
    pub blobs: BTreeMap<String, ObservedBlob>,
}

impl ObservedBlobs {
    /// Lists all blobs and reads each of them whole.
    pub async fn read(client: &mut Client) -> Result<Self, String> {
        let mut observed = Self::default();
        for item in list(client).await? {
            let name = item.at("Name").unwrap_or_default().to_owned();
            let found = observed.blobs.entry(name.clone()).or_default();
            match item.at("Snapshot") {
                Some(time) => {
                    let version = read_version(client, &name, Some(time), &item).await?;
                    found.snapshots.insert(time.to_owned(), version);
                }
                // A name with nothing but uncommitted blocks has no ETag.
                None if item.at("Properties/Etag").is_none() => {
                    found.uncommitted = read_blocks(client, &name).await?.1.into_iter().collect();
                }
                None => {
                    let mut version = read_version(client, &name, None, &item).await?;
                    if version.kind == BlobKind::Block {
                        let (committed, uncommitted) = read_blocks(client, &name).await?;
                        version.blocks = committed;
                        found.uncommitted = uncommitted.into_iter().collect();
                    }
                    found.current = Some(version);
                }
            }
        }
        Ok(observed)
    }

    /// The blob of this name, which is empty if there is none.
    pub fn blob(&self, name: &str) -> ObservedBlob {
        self.blobs.get(name).cloned().unwrap_or_default()
    }
}

async fn list(client: &mut Client) -> Result<Vec<Element>, String> {
    let target = client.target();
    // After a power cut before its creation, the container counts as empty. The models report missing blobs.
    let properties = request(&target, "HEAD", None).raw_query("restype=container");
    if matches!(client.send(Service::Blob, &properties).await, Reply::Response(answer) if answer.status == 404) {
        return Ok(vec![]);
    }
    let mut items = Vec::new();
    let mut marker = String::new();
    loop {
        let list = request(&target, "GET", None).raw_query("restype=container&comp=list&maxresults=50");
        let list = list.query("include", "snapshots,metadata,uncommittedblobs");
        let list = if marker.is_empty() { list } else { list.query("marker", &marker) };
        let mut root = parse(&send(client, list).await?)?;
        marker = root.at("NextMarker").unwrap_or_default().to_owned();
        let blobs = root.children.iter_mut().find(|child| child.name == "Blobs").ok_or("a list without `Blobs`")?;
        items.append(&mut blobs.children);
        if marker.is_empty() {
            return Ok(items);
        }
    }
}

/// Reads a blob or a snapshot and compares it with its entry in the list, which takes another code path in the server.
async fn read_version(
    client: &mut Client,
    name: &str,
    snapshot: Option<&str>,
    listed: &Element,
) -> Result<BlobVersion, String> {
    let target = client.target();
    let get = request(&target, "GET", Some(name));
    let get = snapshot.into_iter().fold(get, |get, time| get.query("snapshot", time));
    let answer = send(client, get).await?;
    let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
    let kind = BlobKind::of_header(&header("x-ms-blob-type"));
    let (etag, mark) = (header("ETag"), header("x-ms-meta-mark"));
    let property = |name: &str| listed.at(&format!("Properties/{name}")).unwrap_or_default().to_owned();
    let in_list = (property("Etag"), property("Content-Length"), listed.at("Metadata/mark").unwrap_or_default());
    let in_response = (etag.trim_matches('"').to_owned(), answer.body.len().to_string(), mark.as_str());
    if in_list != in_response {
        return Err(format!("{name}: listed as {in_list:?}, read as {in_response:?}"));
    }
    Ok(BlobVersion { kind, bytes: Arc::new(answer.body), mark, etag: Some(etag), blocks: vec![] })
}

type Blocks = Vec<(String, usize)>;

/// The committed and the uncommitted blocks of a name.
async fn read_blocks(client: &mut Client, name: &str) -> Result<(Blocks, Blocks), String> {
    let target = client.target();
    let get = request(&target, "GET", Some(name)).raw_query("comp=blocklist&blocklisttype=all");
    let root = parse(&send(client, get).await?)?;
    let block = |block: &Element| {
        let size = block.at("Size").and_then(|size| size.parse().ok()).unwrap_or_default();
        (block.at("Name").unwrap_or_default().to_owned(), size)
    };
    let blocks = |name: &str| root.child(name).map_or(vec![], |list| list.children.iter().map(block).collect());
    Ok((blocks("CommittedBlocks"), blocks("UncommittedBlocks")))
}

fn parse(answer: &Answer) -> Result<Element, String> {
    xml::parse(&String::from_utf8_lossy(&answer.body)).map_err(|failure| failure.message)
}

async fn send(client: &mut Client, request: Request<'_>) -> Result<Answer, String> {
    let summary = request.summary();
    match client.send(Service::Blob, &request).await {
        Reply::Response(answer) if answer.status == 200 => Ok(answer),
        Reply::Response(answer) => {
            Err(format!("{summary}: {} {}", answer.status, String::from_utf8_lossy(&answer.body)))
        }
        reply => Err(format!("{summary}: {reply:?}")),
    }
}
