//! Properties, metadata, index tags, tiers, conditions and copies of blobs.

use std::time::{Duration, SystemTime};

use tablerock_client::blob::{BlobHttpHeaders, PublicAccess};
use tablerock_client::{BlobServiceClient, ContainerClient, TryStreamExt as _};

use crate::support::{Account, unique_name};

fn pairs(key: &str, value: &str) -> Vec<(String, String)> {
    vec![(key.to_owned(), value.to_owned())]
}

async fn container(account: &Account) -> ContainerClient {
    let service = BlobServiceClient::from_connection_string(account.connection_string()).unwrap();
    let container = service.container(unique_name());
    container.create().metadata(pairs("team", "a")).public_access(PublicAccess::Blob).await.unwrap();
    container
}

#[tokio::test]
async fn properties_are_read_without_the_content() {
    let account = Account::open().await;
    let container = container(&account).await;
    let of_container = container.get_properties().await.unwrap();
    assert_eq!(of_container.metadata, pairs("team", "a"));
    assert_eq!(of_container.public_access, PublicAccess::Blob);
    assert!(container.exists().await.unwrap());

    let blob = container.blob("b");
    assert!(!blob.exists().await.unwrap());
    let etag = blob.upload("1234567").content_type("text/plain").metadata(pairs("color", "red")).await.unwrap();
    assert!(blob.exists().await.unwrap());
    let read = blob.get_properties().await.unwrap();
    assert_eq!((&read.etag, read.length, read.blob_type.as_str()), (&etag, 7, "BlockBlob"));
    assert_eq!((read.headers.content_type.as_str(), &read.metadata), ("text/plain", &pairs("color", "red")));
    assert!(read.last_modified.is_some() && read.created_on.is_some());
    let downloaded = blob.download().await.unwrap().properties;
    assert_eq!(
        (&downloaded.etag, &downloaded.headers, &downloaded.metadata),
        (&read.etag, &read.headers, &read.metadata)
    );

    let headers = BlobHttpHeaders { cache_control: "no-store".to_owned(), ..BlobHttpHeaders::default() };
    blob.set_headers(&headers).if_match(etag.clone()).await.unwrap();
    blob.set_metadata(&pairs("color", "blue")).await.unwrap();
    let read = blob.get_properties().await.unwrap();
    assert_eq!((read.headers.cache_control.as_str(), read.metadata), ("no-store", pairs("color", "blue")));
    assert!(blob.set_metadata(&[]).if_match(etag).await.unwrap_err().is_precondition_failed());
    blob.set_access_tier("Cool").await.unwrap();
    assert_eq!(blob.get_properties().await.unwrap().access_tier, "Cool");
}

#[tokio::test]
async fn reads_have_conditions() {
    let account = Account::open().await;
    let blob = container(&account).await.blob("b");
    let etag = blob.upload("1").tags(pairs("status", "done")).await.unwrap();
    assert_eq!(blob.download().if_none_match(etag.clone()).await.unwrap_err().status(), Some(304));
    assert_eq!(blob.download().if_match(etag).if_tags("\"status\" = 'done'").await.unwrap().content, "1");
    assert!(blob.download().if_tags("\"status\" = 'open'").await.unwrap_err().is_precondition_failed());
    let tomorrow = SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
    assert_eq!(blob.download().if_modified_since(tomorrow).await.unwrap_err().status(), Some(304));
    blob.get_properties().if_unmodified_since(tomorrow).await.unwrap();
}

#[tokio::test]
async fn blobs_are_found_by_their_tags() {
    let account = Account::open().await;
    let container = container(&account).await;
    let year = unique_name();
    for (name, status) in [("a", "done"), ("b", "open"), ("c", "done")] {
        let blob = container.blob(name);
        blob.upload("1").await.unwrap();
        blob.set_tags(vec![("status".to_owned(), status.to_owned()), ("year".to_owned(), year.clone())]).await.unwrap();
        assert_eq!(blob.get_tags().await.unwrap()[0].1, status);
    }
    let expression = format!("\"status\" = 'done' AND \"year\" = '{year}'");
    let found = container.service().find_blobs_by_tags(&expression);
    let all: Vec<_> = found.page_size(1).stream().try_collect().await.unwrap();
    let names: Vec<_> = all.iter().map(|found| (found.container.as_str(), found.name.as_str())).collect();
    assert_eq!(names, [(container.name(), "a"), (container.name(), "c")]);
    assert!(all[0].tags.contains(&("status".to_owned(), "done".to_owned())));
    let in_container = container.find_blobs_by_tags("\"status\" = 'open'").await.unwrap();
    assert_eq!(in_container.items.len(), 1);
}

#[tokio::test]
async fn a_blob_is_copied_by_the_service() {
    let account = Account::open().await;
    let container = container(&account).await;
    let (from, to) = (container.blob("from ü"), container.blob("to"));
    from.upload("1234").metadata(pairs("color", "red")).await.unwrap();
    let copy = to.start_copy_from_url(&from.url()).await.unwrap();
    assert_eq!(copy.status, "success");
    let copied = to.download().await.unwrap();
    assert_eq!((copied.content.as_ref(), copied.properties.copy_status.as_str()), (b"1234".as_slice(), "success"));
    assert_eq!(copied.properties.metadata, pairs("color", "red"));
    let snapshot = from.create_snapshot().await.unwrap();
    from.upload("other").await.unwrap();
    to.copy_from_url(&from.at_snapshot(snapshot).url()).await.unwrap();
    assert_eq!(to.download().await.unwrap().content, "1234");
    assert!(to.abort_copy(&copy.id).await.unwrap_err().is_conflict());
    from.delete().only_snapshots().await.unwrap();
    assert!(from.exists().await.unwrap());
}

#[tokio::test]
async fn blocks_are_appended_at_an_offset_or_the_end() {
    let account = Account::open().await;
    let log = container(&account).await.blob("log");
    log.create_append_blob().if_not_exists().await.unwrap();
    log.append_block("one", 0).await.unwrap();
    assert!(log.append_block("x", 0).await.unwrap_err().is_precondition_failed());
    assert_eq!(log.append_block_at_end("two").await.unwrap(), 3);
    assert_eq!(log.get_properties().await.unwrap().committed_block_count, 2);
    log.seal().await.unwrap();
    assert!(log.get_properties().await.unwrap().is_sealed);
}
