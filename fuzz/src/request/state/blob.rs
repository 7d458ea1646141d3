//! Containers with their policies and leases, and their blobs with content, snapshots and uncommitted blocks.

use bytes::Bytes;
use tablerock_protocol::blob::{BlockId, Conditions, ContentHeaders, LeaseAction, LeaseDuration, LeaseId, Tags};
use tablerock_protocol::xml::ServiceProperties;
use tablerock_protocol::{ContainerName, DateTime, Metadata, Service};
use tablerock_server::Server;
use tablerock_services::blob::{
    Blob, BlobAddress, BlobKind, BlobQuery, Container, ContainerQuery, ListedBlob, NewBlob, PublicAccess, ReadTerms,
    WhichBlocks, WriteTerms,
};

use super::Places;
use crate::known_table::ACCOUNT;

const CONTAINER: &str = "photos";
/// Of the blob that is leased.
const LEASE: &str = "11111111-1111-1111-1111-111111111111";
/// No request makes more than one or two.
const ITEMS_MAX: usize = 300;

#[derive(Debug, PartialEq)]
pub(in crate::request) struct State {
    containers: Vec<(String, Container, Vec<StoredBlob>)>,
    settings: ServiceProperties,
}

/// A blob or snapshot, whose record has its content or names it, and the blocks that are not committed.
type StoredBlob = (String, Option<DateTime>, Option<Box<Blob>>, Vec<(BlockId, u64)>);

impl State {
    pub(super) async fn of(server: &Server) -> Self {
        let mut containers = Vec::new();
        for (name, container) in listed(server).await {
            let query = BlobQuery {
                items_max: ITEMS_MAX,
                with_snapshots: true,
                with_uncommitted: true,
                ..BlobQuery::default()
            };
            let page = server.blobs.list_blobs(ACCOUNT, &name, &query).await.expect("a container that was listed");
            let mut blobs = Vec::new();
            for entry in page.entries {
                blobs.push(match entry {
                    ListedBlob::Prefix(_) => panic!("a list without a delimiter has no prefixes"),
                    ListedBlob::Blob { name: blob, snapshot, blob: record } => {
                        let blocks = blocks(server, &name, &blob, &record).await;
                        (blob, snapshot, Some(record), blocks)
                    }
                    ListedBlob::Uncommitted { name: blob } => {
                        let blocks = uncommitted(server, &name, &blob).await;
                        (blob, None, None, blocks)
                    }
                });
            }
            containers.push((name, container, blobs));
        }
        Self { containers, settings: super::settings(server, Service::Blob).await }
    }
}

/// All containers but the one of Storage Analytics: settings of any service make it, and no request removes it.
async fn listed(server: &Server) -> Vec<(String, Container)> {
    let query = ContainerQuery { items_max: ITEMS_MAX, with_system: true, ..ContainerQuery::default() };
    let page = server.blobs.list_containers(ACCOUNT, &query).await.expect("the list of containers");
    let others = page.containers.into_iter().filter(|listed| listed.name != ContainerName::LOGS);
    others.map(|listed| (listed.name, listed.container)).collect()
}

async fn blocks(server: &Server, container: &str, name: &str, blob: &Blob) -> Vec<(BlockId, u64)> {
    if blob.kind == BlobKind::Block { uncommitted(server, container, name).await } else { vec![] }
}

async fn uncommitted(server: &Server, container: &str, name: &str) -> Vec<(BlockId, u64)> {
    let at = BlobAddress { account: ACCOUNT, container, name };
    let lists = server.blobs.block_list(at, None, &ReadTerms::default(), WhichBlocks::Uncommitted).await;
    lists.expect("a blob that was listed").uncommitted.unwrap_or_default()
}

fn at(name: &str) -> BlobAddress<'_> {
    BlobAddress { account: ACCOUNT, container: CONTAINER, name }
}

/// A container with a block blob that has tags and a snapshot, an append blob, a leased one, and an uncommitted block.
pub(super) async fn fill(server: &Server) -> Places {
    let metadata = Metadata::new(vec![("Color".to_owned(), "red".to_owned())]).expect("metadata");
    let created = server.blobs.create_container(ACCOUNT, CONTAINER, &metadata, PublicAccess::Blob).await;
    created.expect("a new container");
    let mut etag = String::new();
    for (name, kind) in [("a", BlobKind::Block), ("log", BlobKind::Append), ("leased", BlobKind::Block)] {
        let content: &'static [u8] = if kind == BlobKind::Append { b"" } else { b"what is known" };
        let mut source = Some(Bytes::from_static(content));
        let received = server.blobs.receive_blob(at(name), &mut source, false).await.expect("a few bytes");
        let tags = if name == "a" { Tags::parse_header("status=ready&size=5").expect("tags") } else { Tags::default() };
        let headers = ContentHeaders::default();
        let new = NewBlob { kind, headers, metadata: metadata.clone(), tags, tier: None };
        let put = server.blobs.put_blob(at(name), &WriteTerms::default(), &new, received).await;
        put.expect("a container that is there");
        if name == "a" {
            let blob = server.blobs.blob(at(name), None, &ReadTerms::default()).await.expect("just put");
            etag = format!("0x{:X}", blob.changed.ticks());
        }
    }
    let terms = WriteTerms::default();
    let (taken, _) = server.blobs.snapshot_blob(at("a"), &terms, None).await.expect("a blob that is there");
    let lease = LeaseId::parse(LEASE).expect("an id");
    let acquire = LeaseAction::Acquire { duration: LeaseDuration::Infinite, proposed: Some(lease) };
    server.blobs.lease_blob(at("leased"), &terms, acquire).await.expect("a blob without a lease");
    for name in ["a", "blocks"] {
        let mut source = Some(Bytes::from_static(b"a block"));
        let received = server.blobs.receive_block(at(name), &mut source, false).await.expect("a few bytes");
        let id = BlockId::from_bytes(b"001");
        server.blobs.put_block(at(name), None, &id, received).await.expect("a container that is there");
    }
    vec![("etag-of-ours", etag), ("snapshot-of-ours", taken.to_seven_digits())]
}

pub(super) async fn clear(server: &Server) {
    let conditions = Conditions::default();
    for (name, container) in listed(server).await {
        if container.lease.is_some() {
            let released = LeaseAction::Break { period_seconds: Some(0) };
            // One that has ended by itself cannot be broken, and holds nothing.
            let _ = server.blobs.lease_container(ACCOUNT, &name, &conditions, released).await;
        }
        let deleted = server.blobs.delete_container(ACCOUNT, &name, &conditions, None).await;
        deleted.expect("a container that was listed");
    }
}
