//! A stored access policy that is revoked while a server stands still.

use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::fault::{Call, Fault};
use tablerock_kv::{FaultEngine, MemoryEngine, Store, SystemClock};
use tablerock_protocol::signing::{AccountKey, TableSasTerms};
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{Service, TableName};
use tablerock_services::{TableService, ThrottleTargets};
use tablerock_testkit::server::{Server, ServerOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const POLICY: &str = "<SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy>\
     <Expiry>2099-01-01T00:00:00Z</Expiry><Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>";

/// Reads an entity that is not there, with a SAS that rests on the policy. Returns the status.
async fn read(server: &Server, key: &AccountKey) -> u16 {
    let sas =
        TableSasTerms::from_policy("People", "readers").sign(Server::ACCOUNT, key).expect("the terms can be signed");
    let path = format!("/{}/People(PartitionKey='p',RowKey='r')?{}", Server::ACCOUNT, sas.to_query());
    let mut stream = TcpStream::connect(("127.0.0.1", server.port(Service::Table))).await.expect("the server listens");
    let head =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.expect("the server reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).await.expect("the server responds");
    response.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_shows_nothing_if_its_policy_was_revoked_while_it_was_in_progress() {
    let engine = Arc::new(FaultEngine::new(Arc::new(MemoryEngine::shared())));
    let store = Store::new(engine.clone());
    let owner =
        TableService::open(store.clone(), Arc::new(SystemClock), ThrottleTargets::default()).await.expect("it opens");
    owner.create_table(Server::ACCOUNT, &TableName::parse("People").expect("a name")).await.expect("a new table");
    let policies = StoredAccessPolicies::parse(POLICY.as_bytes(), "raud").expect("a policy");
    owner.set_table_acl(Server::ACCOUNT, "People", &policies).await.expect("the table exists");
    let server = Server::start(ServerOptions { store: Some(store), ..ServerOptions::default() }).await;
    let key = AccountKey::parse(Server::KEY).expect("a key");

    assert_eq!(read(&server, &key).await, 404, "it may look, and there is no such entity");
    engine.script(Call::GetMany, [Fault::Delay(Duration::from_millis(600))]);
    let (late, ()) = tokio::join!(read(&server, &key), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        owner.set_table_acl(Server::ACCOUNT, "People", &StoredAccessPolicies::default()).await.expect("it exists");
    });
    assert_eq!(late, 403);
}
