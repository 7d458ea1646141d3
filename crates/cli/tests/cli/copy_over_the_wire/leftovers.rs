//! Blobs that are not copied, and what the report says about them.

use tablerock_client::BlobServiceClient;
use tablerock_testkit::process::exchange_text;

use super::server::{ACCOUNT, Server, copy};
use super::{NEW_KEY, OLD_KEY};

const CUSTOMER_KEY: &str = "x-ms-encryption-algorithm: AES256\r\n\
    x-ms-encryption-key: MDEyMzQ1NjcwMTIzNDU2NzAxMjM0NTY3MDEyMzQ1Njc=\r\n\
    x-ms-encryption-key-sha256: 3QFFFpRA5+XANHqwwbT4yXDmrT/2JaLt/FKHjzhOdoE=\r\n";

/// Sends a PUT without a body, which has to succeed.
fn put(server: &Server, target: &str, headers: &str) {
    let (address, sas) = (server.address("Blob"), server.sas("b"));
    let head = format!("PUT /{ACCOUNT}/{target}{sas} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    let head = format!("{head}x-ms-version: 2021-12-02\r\n{headers}Content-Length: 0\r\n\r\n");
    let response = exchange_text(address, &head);
    assert!(response.starts_with("HTTP/1.1 20"), "{target}: {response}");
}

#[tokio::test]
async fn a_container_that_fails_still_reports_what_was_copied_and_what_was_not() {
    let (old, new) = (Server::in_memory(OLD_KEY), Server::in_memory(NEW_KEY));
    let container = |server: &Server| {
        BlobServiceClient::from_connection_string(&server.connection_string()).unwrap().container("box")
    };
    let (source, target) = (container(&old), container(&new));
    source.create().await.unwrap();
    target.create().await.unwrap();
    for name in ["good", "stuck1", "stuck2"] {
        source.blob(name).upload("x").await.unwrap();
    }
    for name in ["stuck1", "stuck2"] {
        target.blob(name).upload("old").await.unwrap();
        target.blob(name).acquire_infinite_lease().await.unwrap();
    }
    source.blob("cold").upload("x").access_tier("Archive").await.unwrap();
    put(&old, "box/secret?", &format!("x-ms-blob-type: BlockBlob\r\n{CUSTOMER_KEY}"));
    let disk = source.blob("disk");
    disk.create_page_blob(1 << 20).await.unwrap();
    disk.put_pages(0, vec![1; 512 << 10]).await.unwrap();
    let taken = disk.create_snapshot().await.unwrap();
    let from = format!("http://{}/{ACCOUNT}/box/disk?snapshot={taken}&{}", old.address("Blob"), old.sas("b"));
    put(&old, "box/backup?comp=incrementalcopy&", &format!("x-ms-copy-source: {from}\r\n"));

    let folder = tempfile::tempdir().unwrap();
    let copied = copy(folder.path(), &old.connection_string(), &new.connection_string());
    assert!(!copied.is_success);
    for text in [
        // The pages of the blob and of its snapshot.
        "0 containers, 2 blobs, 1.0 MiB",
        "1 archived blobs, 1 blobs encrypted with a customer-provided key, 1 targets of incremental copies",
        "container box: several blobs failed:",
        "    stuck1: cannot be written",
        "    stuck2: cannot be written",
    ] {
        assert!(copied.stdout.contains(text), "{text}: {}", copied.stdout);
    }
    assert!(target.blob("backup").download_if_exists().await.unwrap().is_none(), "nothing is left of it");

    for name in ["stuck1", "stuck2"] {
        target.blob(name).break_lease(Some(std::time::Duration::ZERO)).await.unwrap();
    }
    let copied = copy(folder.path(), &old.connection_string(), &new.connection_string());
    assert!(copied.stdout.contains("1 containers, 4 blobs, 1.0 MiB"), "{}", copied.stdout);
    assert!(copied.stdout.contains("1 archived blobs") && !copied.stdout.contains("failed"), "{}", copied.stdout);
}

#[tokio::test]
async fn a_service_without_an_endpoint_is_named_and_not_looked_for() {
    let (old, new) = (Server::in_memory(OLD_KEY), Server::in_memory(NEW_KEY));
    let endpoint = |server: &Server, key: &str| {
        format!("AccountName={ACCOUNT};AccountKey={key};BlobEndpoint=http://{}/{ACCOUNT}", server.address("Blob"))
    };
    let folder = tempfile::tempdir().unwrap();
    let copied = copy(folder.path(), &endpoint(&old, OLD_KEY), &endpoint(&new, NEW_KEY));
    assert!(copied.is_success, "{}\n{}", copied.stdout, copied.stderr);
    for text in ["no TableEndpoint", "no QueueEndpoint"] {
        assert!(copied.stdout.contains(text) && !copied.stdout.contains("core.windows.net"), "{}", copied.stdout);
    }
}
