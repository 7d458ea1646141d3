//! Policies before and after the signature, and the propagation of traces.

use bytes::Bytes;
use http::{Request, Response};
use tablerock_client::policy::{AttemptPolicy, CallHead, CallPolicy, NextAttempt};
use tablerock_client::transport::{BoxFuture, TransportError};
use tablerock_client::{BlobServiceClient, ClientOptions, Entity, Error, QueueServiceClient, Result, RetryPolicy};

use crate::support::{Account, Script, Step, unique_name};

/// Adds two headers, one of which the Shared Key of queues and blobs signs.
#[derive(Debug)]
struct Tenant;

impl CallPolicy for Tenant {
    fn prepare(&self, call: &mut CallHead<'_>) -> Result<()> {
        call.insert_header("x-ms-tenant", "contoso")?;
        let about = format!("{} {} {}", call.operation(), call.resource(), call.method());
        call.insert_header("about", &about)
    }
}

/// Responds to the first attempt itself.
#[derive(Debug)]
struct Busy(std::sync::atomic::AtomicBool);

impl AttemptPolicy for Busy {
    fn send<'a>(
        &'a self,
        request: Request<Bytes>,
        next: NextAttempt<'a>,
    ) -> BoxFuture<'a, Result<Response<Bytes>, TransportError>> {
        assert!(request.headers().contains_key("authorization"), "policies of attempts see the signature");
        if self.0.swap(false, std::sync::atomic::Ordering::Relaxed) {
            let busy = Response::builder().status(503).body(Bytes::new()).unwrap();
            return Box::pin(std::future::ready(Ok(busy)));
        }
        next.send(request)
    }
}

#[tokio::test]
async fn a_policy_adds_headers_that_are_signed() {
    let account = Account::open().await;
    let script = Script::new([]);
    let options = ClientOptions::new().call_policy(Tenant).transport(script.clone());
    let connection = account.connection_string();
    let name = unique_name();
    let container =
        BlobServiceClient::from_connection_string_with(connection, options.clone()).unwrap().container(&name);
    container.create().await.unwrap();
    QueueServiceClient::from_connection_string_with(connection, options.clone())
        .unwrap()
        .queue(&name)
        .create()
        .await
        .unwrap();
    account.tables_with(options).table(&name).create().await.unwrap();
    let about: Vec<_> = script.requests().iter().map(|request| request.headers()["about"].clone()).collect();
    assert_eq!(about[0], format!("CreateContainer {name} PUT"));
    assert!(script.requests().iter().all(|request| request.headers()["x-ms-tenant"] == "contoso"));
}

#[tokio::test]
async fn a_policy_around_attempts_is_retried() {
    let account = Account::open().await;
    let name = account.table().await.name().to_owned();
    let retry = RetryPolicy::default().initial_delay(std::time::Duration::from_millis(1));
    let options = ClientOptions::new().retry(retry).attempt_policy(Busy(true.into()));
    let table = account.tables_with(options.clone()).table(&name);
    table.insert(&Entity::new("p", "r")).await.unwrap();
    let error = account.tables_with(options.call_policy(Refuses)).table(&name).create().await.unwrap_err();
    assert!(matches!(error, Error::Invalid(_)), "{error:?}");
}

/// Sets a header of the client's.
#[derive(Debug)]
struct Refuses;

impl CallPolicy for Refuses {
    fn prepare(&self, call: &mut CallHead<'_>) -> Result<()> {
        call.insert_header("x-ms-date", "now")
    }
}

#[tokio::test]
async fn traces_are_propagated() {
    let account = Account::open().await;
    let script = Script::new([Step::status(404)]);
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let options = ClientOptions::new().transport(script.clone()).trace_propagation(move |headers| {
        headers.insert("traceparent", traceparent.parse().unwrap());
    });
    account.tables_with(options).table("People").get::<Entity>("p", "r").await.unwrap_err();
    assert_eq!(script.requests()[0].headers()["traceparent"], traceparent);
}
