//! Options of one call, and the response of a success.

use std::time::Duration;

use tablerock_client::{CallOptions, ClientOptions, Entity, Error, TableOperation, TryStreamExt as _};
use tokio::time::Instant;

use crate::support::{Account, Script, Step};

#[tokio::test]
async fn a_call_has_its_own_id_and_headers() {
    let account = Account::open().await;
    let name = account.table().await.name().to_owned();
    let script = Script::new([]);
    let table = account.tables_with(ClientOptions::new().transport(script.clone())).table(name);
    let inserted =
        table.insert(&Entity::new("p", "r")).request_id("import-17").header("x-ms-extra", "a").with_response();
    let inserted = inserted.await.unwrap();
    assert_eq!((inserted.status(), inserted.client_request_id()), (204, Some("import-17")));
    assert!(inserted.request_id().is_some() && inserted.date().is_some() && inserted.version().is_some());
    assert_eq!(inserted.header("etag"), Some(inserted.value.as_str()));
    let sent = script.requests()[0].headers().clone();
    assert!(sent["x-ms-client-request-id"] == "import-17" && sent["x-ms-extra"] == "a", "{sent:?}");

    let absent = table.get_if_exists::<Entity>("p", "absent").with_response().await.unwrap();
    assert_eq!((absent.status(), absent.value.is_none()), (404, true));
    let tables = table.service().list_tables().prefix(table.name()).request_id("list-1");
    assert_eq!(tables.stream().try_collect::<Vec<_>>().await.unwrap(), [table.name()]);
    assert_eq!(script.requests()[2].headers()["x-ms-client-request-id"], "list-1");

    let error = table.get::<Entity>("p", "r").header("Authorization", "x").await.unwrap_err();
    assert!(matches!(error, Error::Invalid(_)), "{error:?}");
    assert_eq!(script.requests().len(), 3);
}

#[tokio::test]
async fn queries_transactions_and_bulk_writes_have_options() {
    let account = Account::open().await;
    let name = account.table().await.name().to_owned();
    let script = Script::new([]);
    let table = account.tables_with(ClientOptions::new().transport(script.clone())).table(name);
    table.transaction().insert(&Entity::new("p", "1")).request_id("t").commit().await.unwrap();
    let report =
        table.bulk([TableOperation::insert(&Entity::new("p", "2"))]).request_id("b").header("x-ms-e", "1").await;
    assert_eq!(report.failures().count(), 0);
    let rows = table.query::<Entity>().page_size(1).request_id("q").timeout(Duration::from_secs(9)).all().await;
    assert_eq!(rows.unwrap().len(), 2);
    let ids: Vec<_> = script.requests().iter().map(|sent| sent.headers()["x-ms-client-request-id"].clone()).collect();
    assert_eq!(ids[..4], ["t", "b", "q", "q"]);
    assert_eq!(script.requests()[1].headers()["x-ms-e"], "1");
    let table = table.with_call_options(CallOptions::new().request_id("own"));
    let own = table.get::<Entity>("p", "1").with_response().await.unwrap();
    assert_eq!(own.client_request_id(), Some("own"));
    let other = table.get::<Entity>("p", "1").request_id("other").with_response().await.unwrap();
    assert_eq!(other.client_request_id(), Some("other"));
}

#[tokio::test]
async fn a_call_has_its_own_timeout() {
    let account = Account::open().await;
    let name = account.table().await.name().to_owned();
    let table = account.tables_with(ClientOptions::new().transport(Script::new(vec![Step::Hang; 2]))).table(name);
    let began = Instant::now();
    let short = CallOptions::new().timeout(Duration::from_millis(50));
    let error = table.get::<Entity>("p", "r").options(short).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }) && began.elapsed() < Duration::from_secs(5), "{error:?}");
}
