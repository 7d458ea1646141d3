//! A bound on connections, which calls wait for within their timeout.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tablerock_client::{ClientOptions, Entity, Error, RetryPolicy, TimeoutLimit};
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};

use crate::support::{Account, Script, Step};

/// Counts the connections that are open.
#[derive(Debug, Default)]
struct Open {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Open {
    async fn serve(self: Arc<Self>, mut stream: TcpStream) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let mut head = Vec::new();
        while let Ok(byte) = stream.read_u8().await {
            head.push(byte);
            if head.ends_with(b"\r\n\r\n") {
                head.clear();
                // Long enough for other calls to want a connection.
                tokio::time::sleep(Duration::from_millis(2)).await;
                let body = r#"{"PartitionKey":"p","RowKey":"r"}"#;
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                if tokio::io::AsyncWriteExt::write_all(&mut stream, answer.as_bytes()).await.is_err() {
                    break;
                }
            }
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_thousand_calls_at_once_share_sixty_four_connections() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let open = Arc::new(Open::default());
    let serving = Arc::clone(&open);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(Arc::clone(&serving).serve(stream));
        }
    });
    let connection = format!("UseDevelopmentStorage=true;TableEndpoint=http://{address}/devstoreaccount1");
    let service = tablerock_client::TableServiceClient::from_connection_string(&connection).unwrap();
    let table = service.table("People");
    let calls = (0..2000).map(|_| tokio::spawn(table.get::<Entity>("p", "r").into_future()));
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap().unwrap();
    }
    let most = open.most.load(Ordering::SeqCst);
    assert!((2..=64).contains(&most), "{most} connections");
}

#[tokio::test]
async fn a_call_that_gets_no_connection_says_so() {
    let account = Account::open().await;
    let name = account.table().await.name().to_owned();
    let options = ClientOptions::new().retry(RetryPolicy::none()).connections_max(1);
    let table = account.tables_with(options.transport(Script::new(vec![Step::Hang; 1]))).table(name);
    let hanging = tokio::spawn(table.get::<Entity>("p", "r").into_future());
    tokio::task::yield_now().await;
    let waiting = table.service().table("Other").insert(&Entity::new("p", "r")).timeout(Duration::from_millis(50));
    let error = waiting.await.unwrap_err();
    assert!(matches!(&error, Error::Timeout { limit: TimeoutLimit::Connections, .. }), "{error:?}");
    assert!(!error.is_ambiguous() && error.to_string().contains("connections_max"), "{error}");
    hanging.abort();
    hanging.await.unwrap_err();
    // The connection of a call that is given up is free again.
    table.insert(&Entity::new("p", "r")).await.unwrap();
}

#[tokio::test]
async fn the_message_of_a_timeout_names_its_limit() {
    let account = Account::open().await;
    let retry = RetryPolicy::default().initial_delay(Duration::from_millis(20)).max_delay(Duration::from_millis(20));
    let hanging = || Script::new(vec![Step::Hang; 100]);
    let options = ClientOptions::new().attempt_timeout(Duration::from_millis(20));
    let by_attempts = options.clone().retry(retry.max_attempts(2)).transport(hanging());
    let error = account.tables_with(by_attempts).table("T").get::<Entity>("p", "r").await.unwrap_err();
    assert_eq!(error.to_string(), "no response within 20ms, the timeout of an attempt, in the last of 2 attempts");
    let by_time = options.retry(retry.max_attempts(50)).timeout(Duration::from_millis(90)).transport(hanging());
    let error = account.tables_with(by_time).table("T").get::<Entity>("p", "r").await.unwrap_err();
    assert!(error.to_string().starts_with("no response within 90ms, the timeout of the call, in "), "{error}");
}
