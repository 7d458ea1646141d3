//! An account with something of everything, and all that can be seen of an account.

use std::ops::Range;

use bytes::Bytes;
use tablerock_client::blob::{BlobHttpHeaders, BlobItem, ContainerAccess, PublicAccess};
use tablerock_client::sas::{BlobPermissions, QueuePermissions, StoredAccessPolicy, TablePermissions};
use tablerock_client::table::{CorsMethod, CorsRule, ServicePropertiesUpdate};
use tablerock_client::{
    BlobClient, BlobServiceClient, DateTime, Entity, Etag, QueueServiceClient, TableOperation, TableServiceClient,
    TryStreamExt as _, Uuid, Value,
};

use super::server::Server;

pub(crate) const ENTITIES: usize = 2_345;
pub(crate) const BLOB_BYTES: usize = 17_000_003;

/// A blob of several blocks.
pub(crate) fn large() -> Vec<u8> {
    // A prime number of bytes, so that no two blocks are the same.
    let piece: Vec<u8> = (0..65_537_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut content = piece.repeat(BLOB_BYTES / piece.len() + 1);
    content.truncate(BLOB_BYTES);
    content
}

pub(crate) async fn fill(server: &Server) {
    let text = server.connection_string();
    fill_tables(&TableServiceClient::from_connection_string(&text).unwrap()).await;
    let queue = QueueServiceClient::from_connection_string(&text).unwrap().queue("jobs");
    queue.create().await.unwrap();
    queue.set_metadata(&pairs()).await.unwrap();
    queue.set_access_policies(&policies(QueuePermissions::parse("r"))).await.unwrap();
    for text in ["1", "2", "3"] {
        queue.send_message(text).await.unwrap();
    }
    let container = BlobServiceClient::from_connection_string(&text).unwrap().container("box");
    container.create().await.unwrap();
    container.set_metadata(&pairs()).await.unwrap();
    container
        .set_access_policies(&ContainerAccess {
            public_access: PublicAccess::Blob,
            policies: policies(BlobPermissions::parse("rl")),
        })
        .await
        .unwrap();
    let headers = BlobHttpHeaders {
        content_type: "text/plain".to_owned(),
        content_encoding: "x".to_owned(),
        content_language: "de".to_owned(),
        cache_control: "no-cache".to_owned(),
        content_disposition: "inline".to_owned(),
        ..BlobHttpHeaders::default()
    };
    for (name, content) in [("empty", Vec::new()), ("a/b &é%", b"small".to_vec()), ("large", large())] {
        container.blob(name).upload(content).headers(headers.clone()).metadata(pairs()).await.unwrap();
    }
    // It says of itself an MD5 that is not its own.
    let headers = BlobHttpHeaders { content_md5: "AAAAAAAAAAAAAAAAAAAAAA==".to_owned(), ..BlobHttpHeaders::default() };
    container.blob("odd").commit_block_list([]).headers(headers).await.unwrap();
    let log = container.blob("log");
    log.create_append_blob().metadata(pairs()).tags(pairs()).await.unwrap();
    for offset in 0..3 {
        log.append_block("line\n", 5 * offset).await.unwrap();
    }
    log.create_snapshot().await.unwrap();
    log.append_block("last\n", 15).await.unwrap();
    log.seal().await.unwrap();
    let disk = container.blob("disk");
    disk.create_page_blob(1 << 40).sequence_number(7).metadata(pairs()).tags(pairs()).await.unwrap();
    disk.put_pages(1 << 30, vec![1; 5 << 20 >> 1]).await.unwrap();
    disk.create_snapshot().await.unwrap();
    disk.put_pages(512, vec![2; 1024]).await.unwrap();
    disk.clear_pages((1 << 30)..(1 << 30) + 512).await.unwrap();
    let changed = container.blob("changed");
    for content in ["one", "two", "three"] {
        changed.upload(content).metadata(pairs()).tags(pairs()).access_tier("Cool").await.unwrap();
        changed.create_snapshot().await.unwrap();
    }
    changed.upload("now").await.unwrap();
}

async fn fill_tables(service: &TableServiceClient) {
    let people = service.table("People");
    people.create().await.unwrap();
    people.set_access_policies(&policies(TablePermissions::parse("raud"))).await.unwrap();
    let padding = "a".repeat(1_000);
    let many: Vec<Entity> = (0..ENTITIES)
        .map(|number| {
            let entity = Entity::new(format!("p{}", number / 1_000), format!("{number:05}"));
            entity.with("Number", number as i64).with("Name", format!("ä€{number}")).with("Padding", padding.as_str())
        })
        .collect();
    people.bulk(many.iter().map(TableOperation::insert)).await.into_result().unwrap();
    let types = service.table("Types");
    types.create().await.unwrap();
    let all = Entity::new("o'b r+(é)", "ключ %25")
        .with("Text", "")
        .with("Lines", " <a>\r\n\"b\" ")
        .with("Int32", i32::MIN)
        .with("Int64", i64::MAX)
        .with("Double", 0.1)
        .with("Whole", 3.0)
        .with("NotANumber", f64::NAN)
        .with("Endless", f64::NEG_INFINITY)
        .with("Yes", true)
        .with("Date", Value::DateTime(DateTime::parse("2030-01-02T03:04:05.1234567Z").unwrap()))
        .with("Guid", Value::Guid(Uuid::from_u128(7)))
        .with("Bytes", Value::Binary(vec![0, 255, 7].into()));
    types.insert(&all).await.unwrap();
    service.table("Nothing").create().await.unwrap();
    let rule = CorsRule {
        allowed_origins: vec!["http://example.org".to_owned()],
        allowed_methods: vec![CorsMethod::Get],
        max_age_seconds: 5,
        exposed_headers: Vec::new(),
        allowed_headers: Vec::new(),
    };
    let update = ServicePropertiesUpdate { cors: Some(vec![rule]), ..ServicePropertiesUpdate::default() };
    service.set_properties(&update).await.unwrap();
}

/// All of an account but Timestamps, ETags and what is not copied, line by line.
pub(crate) async fn seen(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let tables = TableServiceClient::from_connection_string(text).unwrap();
    lines.push(format!("{:?}", tables.get_properties().await.unwrap()));
    for name in tables.list_tables().stream().try_collect::<Vec<_>>().await.unwrap() {
        let table = tables.table(&name);
        lines.push(format!("{name} {:?}", table.get_access_policies().await.unwrap()));
        for entity in table.query::<Entity>().all().await.unwrap() {
            lines.push(format!("{name} {} {} {:?}", entity.partition_key, entity.row_key, entity.properties()));
        }
    }
    let queues = QueueServiceClient::from_connection_string(text).unwrap();
    for queue in queues.list_queues().stream().try_collect::<Vec<_>>().await.unwrap() {
        lines.push(format!("{queue:?} {:?}", queues.queue(&queue.name).get_access_policies().await.unwrap()));
    }
    let blobs = BlobServiceClient::from_connection_string(text).unwrap();
    for container in blobs.list_containers().stream().try_collect::<Vec<_>>().await.unwrap() {
        let client = blobs.container(&container.name);
        lines.push(format!("{container:?} {:?}", client.get_access_policies().await.unwrap()));
        let listing = client.list_blobs().include_snapshots().include_tags().stream();
        for blob in listing.try_collect::<Vec<_>>().await.unwrap() {
            let of_blob = client.blob(&blob.name);
            let is_snapshot = blob.snapshot.is_some();
            let place = blob.snapshot.as_ref().map_or(of_blob.clone(), |id| of_blob.at_snapshot(id));
            let content = match blob.blob_type.as_str() {
                "PageBlob" => {
                    let (ranges, content) = pages(&place, &blob).await;
                    lines.push(format!("{} {ranges:?} {}", blob.length, blob.sequence_number));
                    content
                }
                _ => place.download().await.unwrap().content,
            };
            assert!(blob.name != "large" || content == large(), "the large blob differs");
            let (name, headers, metadata) = (&blob.name, BlobHttpHeaders::from(&blob), &blob.metadata);
            let short = content.slice(..content.len().min(20));
            lines.push(format!("{name} {is_snapshot} {headers:?} {metadata:?} {} bytes, {short:?}", content.len()));
            let tier = if blob.is_tier_inferred { "" } else { &blob.access_tier };
            lines.push(format!("{} {:?} {tier} {}", blob.blob_type, blob.tags, blob.is_sealed));
        }
    }
    lines
}

/// The ranges of a page blob, and the bytes of all of them.
async fn pages(place: &BlobClient, blob: &BlobItem) -> (Vec<Range<u64>>, Bytes) {
    let etag = Etag::from(format!("\"{}\"", blob.etag.trim_matches('"')));
    let ranges = place.page_ranges(None, &etag).await.unwrap().items;
    let mut content = Vec::new();
    for range in &ranges {
        content.extend_from_slice(&place.download_range(range.clone(), &etag).await.unwrap());
    }
    (ranges, content.into())
}

fn pairs() -> Vec<(String, String)> {
    vec![("color".to_owned(), "red".to_owned()), ("size".to_owned(), "4".to_owned())]
}

fn policies<P>(permissions: Option<P>) -> Vec<StoredAccessPolicy<P>> {
    let mut policy = StoredAccessPolicy::new("readers").expires_on(DateTime::parse("2030-01-01T00:00:00Z").unwrap());
    policy.permissions = permissions;
    vec![policy]
}
