//! Shared access signatures of every kind, made here and held against the server.

use tablerock_client::sas::{
    AccountPermissions, IpRange, SignedResourceTypes, SignedServices, StoredAccessPolicy, TablePermissions,
};
use tablerock_client::{DateTime, Entity, ErrorCode, TableClient};

use crate::support::Account;

fn expiry() -> DateTime {
    DateTime::parse("2040-01-01T00:00:00Z").unwrap()
}

async fn filled(account: &Account) -> TableClient {
    let table = account.table().await;
    for (partition, row) in [("a", "1"), ("b", "1"), ("b", "2"), ("c", "1")] {
        table.insert(&Entity::new(partition, row)).await.unwrap();
    }
    table
}

async fn keys(table: &TableClient) -> Vec<String> {
    let found: Vec<Entity> = table.query().all().await.unwrap();
    found.into_iter().map(|entity| entity.partition_key + &entity.row_key).collect()
}

#[tokio::test]
async fn a_table_s_signature_gives_its_permissions_and_no_more() {
    let account = Account::open().await;
    let table = filled(&account).await;
    let reader = table.with_credential(table.sas(TablePermissions::READ, expiry()).sign().unwrap()).unwrap();
    assert_eq!(keys(&reader).await.len(), 4);
    let refused = Some(ErrorCode::AuthorizationPermissionMismatch);
    assert_eq!(reader.insert(&Entity::new("a", "2")).await.unwrap_err().code(), refused);
    let adder = table.with_credential(table.sas(TablePermissions::ADD, expiry()).sign().unwrap()).unwrap();
    adder.insert(&Entity::new("a", "2")).await.unwrap();
    assert_eq!(adder.get::<Entity>("a", "2").await.unwrap_err().code(), refused);
    assert_eq!(adder.insert_or_merge(&Entity::new("a", "2")).await.unwrap_err().code(), refused);
}

#[tokio::test]
async fn a_range_of_keys_is_all_there_is() {
    let account = Account::open().await;
    let table = filled(&account).await;
    let all = TablePermissions::READ | TablePermissions::ADD;
    for (sas, expected) in [
        (table.sas(all, expiry()).from_partition("b").to_partition("b"), vec!["b1", "b2"]),
        (table.sas(all, expiry()).from_entity("b", "2"), vec!["b2", "c1"]),
        (table.sas(all, expiry()).to_entity("b", "1"), vec!["a1", "b1"]),
        (table.sas(all, expiry()).from_entity("b", "1").to_entity("b", "1"), vec!["b1"]),
    ] {
        let guest = table.with_credential(sas.sign().unwrap()).unwrap();
        assert_eq!(keys(&guest).await, expected);
    }
    let guest = table.sas(all, expiry()).from_partition("b").to_partition("b").sign().unwrap();
    let guest = table.with_credential(guest).unwrap();
    assert!(guest.get::<Entity>("a", "1").await.unwrap_err().is_not_found());
    assert_eq!(guest.insert(&Entity::new("a", "9")).await.unwrap_err().status(), Some(403));
    guest.insert(&Entity::new("b", "9")).await.unwrap();
}

#[tokio::test]
async fn a_stored_policy_can_be_revoked() {
    let account = Account::open().await;
    let table = filled(&account).await;
    let policy = StoredAccessPolicy::new("readers").permissions(TablePermissions::READ).expires_on(expiry());
    table.set_access_policies(&[policy]).await.unwrap();
    let guest = table.with_credential(table.sas_from_policy("readers").sign().unwrap()).unwrap();
    assert_eq!(keys(&guest).await.len(), 4);
    let narrowed = table.sas_from_policy("readers").from_partition("c").sign().unwrap();
    assert_eq!(keys(&table.with_credential(narrowed).unwrap()).await, ["c1"]);
    table.set_access_policies(&[]).await.unwrap();
    let error = guest.get::<Entity>("a", "1").await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::AuthenticationFailed));
}

#[tokio::test]
async fn policy_and_signature_share_the_terms_as_they_like() {
    let account = Account::open().await;
    let table = filled(&account).await;
    let by = || table.sas_from_policy("guests");
    for (policy_expiry, policy_permissions, sas) in [
        (Some(expiry()), None, by().permissions(TablePermissions::READ)),
        (None, Some(TablePermissions::READ), by().expires_on(expiry())),
        (None, None, table.sas(TablePermissions::READ, expiry()).policy("guests")),
    ] {
        let mut policy = StoredAccessPolicy::new("guests");
        (policy.expiry, policy.permissions) = (policy_expiry, policy_permissions);
        table.set_access_policies(&[policy]).await.unwrap();
        let guest = table.with_credential(sas.sign().unwrap()).unwrap();
        assert_eq!(keys(&guest).await.len(), 4);
        assert_eq!(guest.insert(&Entity::new("a", "9")).await.unwrap_err().status(), Some(403));
        table.set_access_policies(&[]).await.unwrap();
        assert_eq!(guest.get::<Entity>("a", "1").await.unwrap_err().status(), Some(403));
    }
}

#[tokio::test]
async fn time_address_and_protocol_are_kept() {
    let account = Account::open().await;
    let table = filled(&account).await;
    let sas = || table.sas(TablePermissions::READ, expiry());
    let elsewhere = IpRange::parse("203.0.113.1-203.0.113.9").unwrap();
    for (sas, code) in [
        (sas().starts_on(expiry()), ErrorCode::AuthenticationFailed),
        (table.sas(TablePermissions::READ, DateTime::parse("2020-01-01").unwrap()), ErrorCode::AuthenticationFailed),
        (sas().https_only(), ErrorCode::AuthorizationProtocolMismatch),
        (sas().ip_range(elsewhere), ErrorCode::AuthorizationSourceIPMismatch),
    ] {
        let guest = table.with_credential(sas.sign().unwrap()).unwrap();
        let error = guest.get::<Entity>("a", "1").await.unwrap_err();
        assert_eq!((error.status(), error.code()), (Some(403), Some(code)));
    }
}

#[tokio::test]
async fn an_account_s_signature_reaches_over_its_tables() {
    let account = Account::open().await;
    let table = filled(&account).await;
    let everything = AccountPermissions::parse("rwdlacu").unwrap();
    let levels = SignedResourceTypes::parse("sco").unwrap();
    let sas = account.tables().account_sas(SignedServices::TABLE, levels, everything, expiry()).sign().unwrap();
    let guest = account.tables().with_credential(sas).unwrap();
    let copy = guest.table(crate::support::unique_name());
    copy.create().await.unwrap();
    copy.transaction().insert(&Entity::new("p", "1")).insert(&Entity::new("p", "2")).commit().await.unwrap();
    assert_eq!(keys(&guest.table(table.name())).await.len(), 4);
    guest.get_properties().await.unwrap();
    let entities = SignedResourceTypes::OBJECT;
    let sas = account.tables().account_sas(SignedServices::TABLE, entities, everything, expiry()).sign().unwrap();
    let guest = account.tables().with_credential(sas).unwrap();
    let error = guest.table(crate::support::unique_name()).create().await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::AuthorizationResourceTypeMismatch));
}
