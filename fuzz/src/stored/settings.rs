//! Documents that are stored as XML: access policies and service properties.

use bytes::Bytes;
use tablerock_protocol::signing::TablePermissions;
use tablerock_protocol::xml::{ACCESS_POLICIES_MAX, ServiceProperties, ServicePropertiesUpdate, StoredAccessPolicies};
use tablerock_protocol::{Service, ServiceVersion};
use tablerock_services::{AccountService, keys};

use super::{store_with, unless_corrupt};
use crate::known_table::ACCOUNT;
use crate::refusal::check_refusal;

pub(super) fn check_policies(stored: &Bytes) {
    match StoredAccessPolicies::parse(stored, TablePermissions::LETTERS) {
        Err(error) => check_refusal(&error, stored.len()),
        Ok(policies) => {
            assert!(policies.policies.len() <= ACCESS_POLICIES_MAX);
            let rendered = policies.render();
            let again = StoredAccessPolicies::parse(rendered.as_bytes(), TablePermissions::LETTERS);
            assert_eq!(again, Ok(policies), "{rendered:?}");
        }
    }
}

/// Sections that an update leaves out keep their value, so an empty update changes nothing.
pub(super) async fn check_service_properties(stored: &Bytes) {
    let store =
        store_with(&keys::account_partition(ACCOUNT), keys::service_properties_key(Service::Table), stored).await;
    let accounts = AccountService::new(store);
    let read = unless_corrupt(accounts.service_properties(ACCOUNT, Service::Table).await);
    let nothing = ServicePropertiesUpdate::default();
    let set = unless_corrupt(accounts.set_service_properties(ACCOUNT, Service::Table, &nothing).await);
    assert_eq!(read.is_some(), set.is_some());
    if let Some(properties) = read {
        let again = accounts.service_properties(ACCOUNT, Service::Table).await.expect("just written");
        assert_eq!(again, properties);
        check_versions(&properties);
    }
    if let Err(error) = ServicePropertiesUpdate::parse(stored, Service::Table, ServiceVersion::TABLE_SAS) {
        check_refusal(&error, stored.len());
    }
}

/// The early form holds what it has room for.
fn check_versions(properties: &ServiceProperties) {
    let early = properties.render(Service::Table, ServiceVersion::TABLE_SAS);
    let update = ServicePropertiesUpdate::parse(early.as_bytes(), Service::Table, ServiceVersion::TABLE_SAS)
        .expect("our own document");
    assert_eq!(update.logging.as_ref(), Some(&properties.logging));
    assert_eq!(update.hour_metrics.as_ref(), Some(&properties.hour_metrics));
}
