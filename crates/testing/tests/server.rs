//! Servers in the process of a test, as projects use them.

use std::time::{Duration, Instant};

use tablerock_client::{QueueServiceClient, TableServiceClient};
use tablerock_testing::TestServer;

#[tokio::test]
async fn one_line_is_a_server() {
    let server = TestServer::start();
    let tables = TableServiceClient::from_connection_string(server.connection_string()).unwrap();
    tables.table("People").create().await.unwrap();
    let queues = QueueServiceClient::from_connection_string(server.connection_string()).unwrap();
    queues.queue("jobs").create().await.unwrap();
}

#[tokio::test]
async fn servers_share_nothing() {
    let (one, other) = (TestServer::start(), TestServer::start_with_account("another"));
    let create = async |server: &TestServer| {
        let tables = TableServiceClient::from_connection_string(server.connection_string()).unwrap();
        tables.table("People").create().await.unwrap();
    };
    create(&one).await;
    create(&other).await;
    assert_ne!(one.account_key(), other.account_key());
    assert!(other.table_endpoint().ends_with("/another"));
    one.stop();
}

#[test]
fn a_start_takes_milliseconds_and_works_without_a_runtime() {
    drop(TestServer::start());
    let begin = Instant::now();
    for _ in 0..10 {
        TestServer::start().stop();
    }
    // A generous bound for a busy machine: ten starts and stops take about thirty milliseconds.
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn an_invalid_name_is_an_error() {
    let error = TestServer::try_start("No").unwrap_err();
    assert!(error.to_string().contains("3 to 24"), "{error}");
}
