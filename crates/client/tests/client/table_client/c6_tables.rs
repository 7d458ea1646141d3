//! Tables apart from their entities: listing, stored access policies, properties and statistics of the service.

use tablerock_client::sas::{StoredAccessPolicy, TablePermissions};
use tablerock_client::table::{CorsMethod, CorsRule, GeoReplication, Logging, ServicePropertiesUpdate};
use tablerock_client::{DateTime, TryStreamExt as _};

use crate::support::{self, Account};

#[tokio::test]
async fn tables_are_listed_by_prefix_and_in_pages() {
    let account = Account::open().await;
    let service = account.tables();
    let prefix = support::unique_name();
    let mut expected: Vec<String> = ["A", "b", "C", "d", "E"].map(|end| format!("{prefix}{end}")).to_vec();
    for name in &expected {
        service.table(name).create().await.unwrap();
    }
    let mut listed: Vec<String> =
        service.list_tables().prefix(&prefix).page_size(2).stream().try_collect().await.unwrap();
    listed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    let page = service.list_tables().page_size(1).page(None).await.unwrap();
    assert_eq!(page.items.len(), 1);
    let next = page.continuation_token.unwrap().to_string().parse().unwrap();
    let second = service.list_tables().page_size(1).page(Some(&next)).await.unwrap();
    assert_ne!(second.items, page.items);
}

#[tokio::test]
async fn stored_access_policies_come_back_as_they_were_set() {
    let account = Account::open().await;
    let table = account.table().await;
    assert_eq!(table.get_access_policies().await.unwrap(), []);
    let policy = StoredAccessPolicy::new("readers & co").permissions(TablePermissions::READ);
    let policy = policy.starts_on(DateTime::parse("2020-01-01").unwrap());
    let policies = [policy.expires_on(DateTime::parse("2040-01-01T10:00:00Z").unwrap())];
    table.set_access_policies(&policies).await.unwrap();
    assert_eq!(table.get_access_policies().await.unwrap(), policies);
}

#[tokio::test]
async fn properties_change_by_section() {
    let account = Account::open().await;
    let service = account.tables();
    let rule = CorsRule {
        allowed_origins: vec!["https://example.com".into()],
        allowed_methods: vec![CorsMethod::Get, CorsMethod::Put],
        allowed_headers: vec!["x-ms-*".into()],
        exposed_headers: vec!["*".into()],
        max_age_seconds: 60,
    };
    let logging = Logging { delete: true, retention_days: Some(5), ..Logging::default() };
    let update = ServicePropertiesUpdate {
        logging: Some(logging.clone()),
        cors: Some(vec![rule.clone()]),
        ..Default::default()
    };
    service.set_properties(&update).await.unwrap();
    let clear = ServicePropertiesUpdate { cors: Some(vec![]), ..Default::default() };
    let properties = service.get_properties().await.unwrap();
    assert_eq!((&properties.logging, &properties.cors), (&logging, &vec![rule]));
    service.set_properties(&clear).await.unwrap();
    let properties = service.get_properties().await.unwrap();
    assert_eq!((&properties.logging, properties.cors.len()), (&logging, 0));
}

#[tokio::test]
async fn statistics_come_from_the_secondary() {
    let account = Account::open().await;
    let statistics = account.tables().get_statistics().await.unwrap();
    assert!(matches!(statistics.geo_replication, GeoReplication::Live { .. }), "{statistics:?}");
}
