//! Options of one call, and the response of a success.

use std::time::Duration;

use tablerock_client::{CallOptions, ClientOptions, Entity, Error, StreamExt as _, TableOperation, TryStreamExt as _};
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
async fn every_read_and_every_commit_is_a_request() {
    let account = Account::open().await;
    let name = account.table().await.name().to_owned();
    let script = Script::new([]);
    let table = account.tables_with(ClientOptions::new().transport(script.clone())).table(name);
    let inserts = table.transaction().insert(&Entity::new("p", "1")).insert(&Entity::new("q", "2"));
    let error = inserts.commit().with_response().await.unwrap_err();
    assert_eq!(error.failed_index(), Some(1));
    let two = table.transaction().insert(&Entity::new("p", "1")).insert(&Entity::new("p", "2"));
    let committed = two.commit().request_id("commit").with_response().await.unwrap();
    assert_eq!((committed.status(), committed.value.len()), (202, 2));
    let query = || table.query::<Entity>().partition("p").page_size(1);
    let page = query().page(None).request_id("page").with_response().await.unwrap();
    assert!(page.value.continuation_token.is_some() && page.header("x-ms-continuation-NextRowKey").is_some());
    assert!(query().first().request_id("first").await.unwrap().is_some());
    let all = query().all().request_id("all").with_response().await.unwrap();
    // The last page is that without a token.
    assert!(all.value.len() == 2 && all.header("x-ms-continuation-NextRowKey").is_none());
    assert_eq!(query().count().request_id("count").await.unwrap(), 2);
    assert!(table.exists("p", "1").request_id("exists").await.unwrap());
    let absent = table.exists("p", "3").request_id("absent").with_response().await.unwrap();
    assert_eq!((absent.status(), absent.value), (404, false));
    assert!(table.table_exists().request_id("table").await.unwrap());
    let many = table.get_many::<Entity>([("p", "1"), ("q", "1")]).concurrency(1).request_id("many").with_response();
    assert_eq!(many.await.unwrap().client_request_id(), Some("many"));
    let mut bulk = table.bulk_stream(futures_util::stream::iter([TableOperation::insert(&Entity::new("p", "3"))]));
    bulk = bulk.request_id("bulk");
    assert!(bulk.results().next().await.unwrap().result.is_ok());
    let ids: Vec<_> = script.requests().iter().map(|sent| sent.headers()["x-ms-client-request-id"].clone()).collect();
    let mut distinct = ids.clone();
    distinct.dedup();
    let expected = ["commit", "page", "first", "all", "count", "exists", "absent", "table", "many", "bulk"];
    assert_eq!(distinct, expected);
    assert_eq!(ids.iter().filter(|id| *id == "all").count(), 2);
    let error = query().all().header("Authorization", "x").await.unwrap_err();
    assert!(matches!(error, Error::Invalid(_)), "{error:?}");
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
