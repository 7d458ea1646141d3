//! Keys in a service: many are asked side by side, and none is waited for without a bound.

use std::time::Duration;

use tablerock_client::encryption::{ContentKey, EncryptionError, EncryptionPolicy, KeyError, KeyWrapper};
use tablerock_client::transport::BoxFuture;
use tablerock_client::{ClientOptions, Error, TableOperation};
use tokio::time::Instant;

use super::{Employee, ann, key};
use crate::support::Account;

/// A key that takes its time.
#[derive(Debug)]
struct Slow(Duration);

impl KeyWrapper for Slow {
    fn id(&self) -> &str {
        "2026"
    }

    fn algorithm(&self) -> &str {
        "A256KW"
    }

    fn wrap<'a>(&'a self, content_key: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, KeyError>> {
        Box::pin(async move {
            tokio::time::sleep(self.0).await;
            key("2026").wrap(content_key).await
        })
    }

    fn unwrap<'a>(&'a self, wrapped: &'a [u8], algorithm: &'a str) -> BoxFuture<'a, Result<ContentKey, KeyError>> {
        Box::pin(async move {
            tokio::time::sleep(self.0).await;
            key("2026").unwrap(wrapped, algorithm).await
        })
    }
}

#[tokio::test]
async fn a_key_has_as_much_time_as_a_try() {
    let account = Account::open().await;
    let name = account.table().await.name().to_owned();
    let table = account.tables_with(ClientOptions::new().attempt_timeout(Duration::from_millis(300))).table(name);
    table.with_encryption(EncryptionPolicy::new(key("2026"))).insert(&ann()).await.unwrap();
    let table = table.with_encryption(EncryptionPolicy::new(Slow(Duration::from_secs(3600))));
    for error in [
        table.insert_or_replace(&ann()).await.unwrap_err(),
        table.get::<Employee>("Sales", "00001").await.unwrap_err(),
        table.bulk([TableOperation::insert(&ann())]).await.into_result().unwrap_err(),
    ] {
        assert!(matches!(&error, Error::Encryption(EncryptionError::Key { id, .. }) if id == "2026"), "{error:?}");
    }
}

#[tokio::test]
async fn keys_are_asked_side_by_side() {
    let account = Account::open().await;
    let table = account.table().await.with_encryption(EncryptionPolicy::new(Slow(Duration::from_millis(200))));
    let staff: Vec<Employee> = (0..32).map(|id| Employee { id: format!("{id:05}"), ..ann() }).collect();
    // One after the other, the keys of sixteen entities would take more than three seconds.
    let check_time = |started: Instant| assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    let started = Instant::now();
    table.transaction().operations(staff[..16].iter().map(TableOperation::insert)).commit().await.unwrap();
    check_time(started);
    let started = Instant::now();
    table.bulk(staff[16..].iter().map(TableOperation::insert)).await.into_result().unwrap();
    check_time(started);
    let started = Instant::now();
    assert_eq!(table.query::<Employee>().all().await.unwrap(), staff);
    check_time(started);
}
