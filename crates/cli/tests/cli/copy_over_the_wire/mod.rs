//! `tablerock copy` with connection strings: between servers, from stores and into them, interrupted, and without a word of any
//! secret.

#![allow(clippy::unwrap_used, reason = "a panic in a test is its report")]

mod content;
mod gate;
mod leftovers;
mod server;

use std::process::Stdio;
use std::time::Duration;

use content::{ENTITIES, fill, large, seen};
use gate::Gate;
use server::{ACCOUNT, Copied, Server, copy, remembered, tablerock};
use tablerock_client::{
    BlobServiceClient, ClientOptions, Entity, RetryPolicy, TableClient, TableServiceClient, TryStreamExt as _,
};
use tablerock_testkit::postgres::DatabaseServer;

const OLD_KEY: &str = "b2xkLXNlY3JldC1vZi1hLXRlc3Q=";
const NEW_KEY: &str = "bmV3LXNlY3JldC1vZi1hLXRlc3Q=";

/// The report names what was left, and nothing that was said or written holds a secret.
fn check_left(copied: &Copied, folder: &std::path::Path) {
    let Copied { is_success, stdout, stderr } = copied;
    assert!(!is_success, "messages were left behind: {stdout}");
    for text in
        ["copied: 3 tables, 2346 entities; 1 containers, 7 blobs, 21.2 MiB; 1 queues", "queue jobs: about 3 messages"]
    {
        assert!(stdout.contains(text), "{text}: {stdout}\n{stderr}");
    }
    assert!(remembered(folder).is_empty(), "it was finished");
    check_secrets(copied, &[OLD_KEY, NEW_KEY]);
}

fn check_secrets(copied: &Copied, secrets: &[&str]) {
    for text in [&copied.stdout, &copied.stderr] {
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "{text}");
    }
}

fn people(server: &Server) -> TableClient {
    TableServiceClient::from_connection_string(&server.connection_string()).unwrap().table("People")
}

/// Kills a copy when as much has come through the gate as it lets pass.
fn interrupt(gate: &Gate, folder: &std::path::Path, from: &str, to: &str) {
    let mut command = tablerock(&["copy", "--from", from, "--to", to]);
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    let mut copying = command.spawn().unwrap();
    gate.wait_until_shut();
    copying.kill().unwrap();
    copying.wait().unwrap();
}

#[tokio::test]
async fn an_account_goes_from_server_to_server_and_to_do_it_twice_is_harmless() {
    let (old, new) = (Server::in_memory(OLD_KEY), Server::in_memory(NEW_KEY));
    fill(&old).await;
    let wanted = seen(&old.connection_string()).await;
    assert!(wanted.len() > ENTITIES);
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let copied = copy(folder.path(), &old.connection_string(), &new.connection_string());
        check_left(&copied, folder.path());
        assert_eq!(seen(&new.connection_string()).await, wanted);
    }
}

#[tokio::test]
async fn a_folder_goes_to_an_endpoint_and_an_endpoint_to_a_folder() {
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [first, second, work] = folders.each_ref().map(|folder| folder.path());
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    let old = Server::start(OLD_KEY, &["--location", first]);
    fill(&old).await;
    let wanted = seen(&old.connection_string()).await;
    old.stop();

    let middle = Server::in_memory(NEW_KEY);
    let copied = copy(work, first, &middle.connection_string());
    check_left(&copied, work);
    assert_eq!(seen(&middle.connection_string()).await, wanted);

    // What was left behind is not there to be left behind again.
    let copied = copy(work, &middle.connection_string(), second);
    assert!(copied.is_success, "{}\n{}", copied.stdout, copied.stderr);
    check_secrets(&copied, &[NEW_KEY]);
    let new = Server::start(OLD_KEY, &["--location", second]);
    assert_eq!(seen(&new.connection_string()).await, wanted);
}

#[tokio::test]
async fn a_copy_that_was_killed_goes_on_where_it_was() {
    let (old, new) = (Server::in_memory(OLD_KEY), Server::in_memory(NEW_KEY));
    fill(&old).await;
    // One page and a part of the second.
    let gate = Gate::before(new.address("Table"), 2_400_000);
    let to = format!("AccountName={ACCOUNT};AccountKey={NEW_KEY};TableEndpoint=http://{}/{ACCOUNT}", gate.address);
    let from = old.connection_string();
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["copy", "--from", &from, "--to", &to, "--account", "no"];
    let refused = tablerock(&arguments).current_dir(folder.path()).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--account is for a store"));

    let to = format!("TableEndpoint=http://{}/{ACCOUNT};SharedAccessSignature={}", gate.address, new.sas("t"));
    interrupt(&gate, folder.path(), &from, &to);
    let files = remembered(folder.path());
    assert!(files.len() == 1 && files[0].contains("\"page\""), "{files:?}");
    assert!(!files[0].contains("sig=") && !files[0].contains(OLD_KEY), "{files:?}");

    // What the first page brought is not brought again.
    people(&new).delete(&Entity::new("p0", "00000")).any_version().await.unwrap();
    gate.open();
    let copied = copy(folder.path(), &from, &to);
    assert!(copied.is_success, "{}\n{}", copied.stdout, copied.stderr);
    assert!(copied.stdout.contains("copied: 3 tables, 2346 entities; 0 containers"), "{}", copied.stdout);
    assert!(copied.stdout.contains("stored access policies") && copied.stdout.contains("BlobEndpoint"));
    check_secrets(&copied, &[OLD_KEY, "sig="]);
    assert!(remembered(folder.path()).is_empty());
    let rows = |entities: Vec<Entity>| entities.into_iter().map(|entity| entity.row_key).collect::<Vec<_>>();
    let mut wanted = rows(people(&old).query::<Entity>().all().await.unwrap());
    assert_eq!(wanted.remove(0), "00000");
    assert_eq!(rows(people(&new).query::<Entity>().all().await.unwrap()), wanted);
}

#[tokio::test]
async fn what_a_signature_does_not_allow_is_named_and_done_later() {
    let (old, new) = (Server::in_memory(OLD_KEY), Server::in_memory(NEW_KEY));
    fill(&old).await;
    let folder = tempfile::tempdir().unwrap();
    let from = old.connection_string();
    let copied = copy(folder.path(), &from, &new.connection_string_with_sas("qt"));
    assert!(!copied.is_success && copied.stderr.contains("run the same command again"), "{}", copied.stderr);
    assert!(copied.stdout.contains("container box: cannot be written: Auth"), "{}", copied.stdout);
    check_secrets(&copied, &[OLD_KEY, "sig="]);
    let files = remembered(folder.path());
    assert!(files.len() == 1 && !files[0].contains("sig=") && !files[0].contains(OLD_KEY), "{files:?}");

    people(&new).delete(&Entity::new("p0", "00000")).any_version().await.unwrap();
    let copied = copy(folder.path(), &from, &new.connection_string());
    check_left(&copied, folder.path());
    assert_eq!(people(&new).query::<Entity>().all().await.unwrap().len(), ENTITIES - 1);
}

/// A page of a list has 500 entries, so the first one ends between the snapshots of a blob.
#[tokio::test]
async fn a_blob_with_more_snapshots_than_a_page_has_is_copied_once() {
    let (old, new) = (Server::in_memory(OLD_KEY), Server::in_memory(NEW_KEY));
    let container = |server: &Server| {
        BlobServiceClient::from_connection_string(&server.connection_string()).unwrap().container("box")
    };
    let source = container(&old);
    source.create().await.unwrap();
    source.blob("a").upload("before").await.unwrap();
    let many = source.blob("many");
    many.upload("then").await.unwrap();
    for _ in 0..502 {
        many.create_snapshot().await.unwrap();
    }
    many.upload("now").await.unwrap();
    source.blob("z").upload("behind").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let copied = copy(folder.path(), &old.connection_string(), &new.connection_string());
        assert!(copied.is_success, "{}\n{}", copied.stdout, copied.stderr);
        let target = container(&new);
        let listed = target.list_blobs().include_snapshots().stream().try_collect::<Vec<_>>().await.unwrap();
        assert_eq!(listed.len(), 505);
        assert!(listed.iter().all(|blob| blob.snapshot.is_none() || (blob.name == "many" && blob.length == 4)));
        assert_eq!(target.blob("many").download().await.unwrap().content, "now");
    }
}

#[tokio::test]
async fn blobs_that_had_arrived_are_not_copied_again() {
    let (old, new) = (Server::in_memory(OLD_KEY), Server::in_memory(NEW_KEY));
    fill(&old).await;
    // The small blobs and a part of the large one.
    let gate = Gate::before(new.address("Blob"), 9_000_000);
    let to = format!("AccountName={ACCOUNT};AccountKey={NEW_KEY};BlobEndpoint=http://{}/{ACCOUNT}", gate.address);
    let [queues, tables] = ["Queue", "Table"].map(|service| new.address(service));
    let to = format!("{to};QueueEndpoint=http://{queues}/{ACCOUNT};TableEndpoint=http://{tables}/{ACCOUNT}");
    let from = old.connection_string();
    let folder = tempfile::tempdir().unwrap();
    interrupt(&gate, folder.path(), &from, &to);
    let files = remembered(folder.path());
    assert!(files.len() == 1 && files[0].contains("\"name\":\"a/b &é%\""), "{files:?}");

    let container = BlobServiceClient::from_connection_string(&new.connection_string()).unwrap().container("box");
    assert!(container.blob("large").download_if_exists().await.unwrap().is_none());
    container.blob("a/b &é%").delete().await.unwrap();
    gate.open();
    let copied = copy(folder.path(), &from, &to);
    assert!(copied.stdout.contains("1 containers, 7 blobs, 21.2 MiB"), "{}", copied.stdout);
    assert!(container.blob("large").download().await.unwrap().content == large());
    assert!(container.blob("a/b &é%").download_if_exists().await.unwrap().is_none());
}

#[tokio::test]
async fn reads_are_served_from_a_folder_while_it_goes_to_an_endpoint_and_after() {
    let (old, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let location = old.path().to_str().unwrap();
    let server = Server::start(OLD_KEY, &["--location", location]);
    fill(&server).await;
    let wanted = seen(&server.connection_string()).await;
    server.stop();
    let new = Server::in_memory(NEW_KEY);
    let (to, file) = (new.connection_string(), work.path().join("file"));
    let file = file.to_str().unwrap();
    let copy = ["copy", "--from", location, "--to", &to, "--serve-reads", "--resume-file", file];
    let copying = Server::start(OLD_KEY, &copy);
    assert_eq!(seen(&copying.connection_string()).await, wanted);
    let options = ClientOptions::new().retry(RetryPolicy::none());
    let service = TableServiceClient::from_connection_string_with(&copying.connection_string(), options).unwrap();
    let refused = service.table("People").insert(&Entity::new("new", "1")).await.unwrap_err();
    assert_eq!(refused.status(), Some(503), "{refused}");
    for tries in 0.. {
        if seen(&to).await == wanted {
            break;
        }
        assert!(tries < 100, "it does not come to its end");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(seen(&copying.connection_string()).await, wanted);
}

/// Left out by `cargo xtask test` where there is no PostgreSQL.
mod on_postgres {
    use super::*;

    #[tokio::test]
    async fn an_endpoint_goes_to_a_database_and_a_database_to_an_endpoint() {
        let (old, new) = (Server::in_memory(OLD_KEY), Server::in_memory(NEW_KEY));
        fill(&old).await;
        let (database, folder) = (DatabaseServer::start(), tempfile::tempdir().unwrap());
        let url = database.url("copied");
        let copied = copy(folder.path(), &old.connection_string(), &url);
        check_left(&copied, folder.path());
        let copied = copy(folder.path(), &url, &new.connection_string());
        assert!(copied.is_success, "{}\n{}", copied.stdout, copied.stderr);
        assert_eq!(seen(&new.connection_string()).await, seen(&old.connection_string()).await);
    }
}
