//! Shared access signatures: of an account, of a table with its ranges of keys, of a queue, a container and a blob.
//!
//! Input: the query string that carries one.

mod services;
mod terms;

use std::cmp::Ordering;
use std::net::{IpAddr, Ipv4Addr};
use std::thread_local;

use tablerock_protocol::signing::{
    AccountKey, AccountSas, IpRange, KeyBound, KeyRange, RequestOrigin, SasConstraints, SasError, TablePermissions,
    TableSas, TableServiceSas,
};
use tablerock_protocol::xml::{StoredAccessPolicies, StoredAccessPolicy};
use tablerock_protocol::{DateTime, QueryString, ServiceError, ServiceVersion};
use tablerock_services::table::EntityQuery;

use crate::known_table::{ACCOUNT, KnownTable, NOON, utf16};
use crate::refusal::check_refusal;

thread_local! {
    static TABLE: KnownTable = KnownTable::new();
}

pub fn check(data: &[u8]) {
    let Some(query) = std::str::from_utf8(data).ok().and_then(|text| QueryString::parse(text).ok()) else { return };
    let pairs: Vec<(&str, &str)> = query.pairs().iter().map(|(name, value)| (name.as_ref(), value.as_ref())).collect();
    services::check(&pairs);
    match TableServiceSas::parse(pairs.iter().copied()) {
        Err(error) => check_sas_error(error),
        Ok(None) => assert!(pairs.iter().all(|(name, _)| !name.eq_ignore_ascii_case("sig"))),
        Ok(Some(TableServiceSas::Account(sas))) => check_account_sas(&sas, &pairs),
        Ok(Some(TableServiceSas::Table(sas))) => check_table_sas(&sas, &pairs),
    }
}

fn check_sas_error(error: SasError) {
    let refusal = ServiceError::from(error);
    check_refusal(&refusal, 0);
    assert_eq!(refusal.status, 403, "{error}");
}

fn check_account_sas(sas: &AccountSas<'_>, pairs: &[(&str, &str)]) {
    let signed = sas.string_to_sign(ACCOUNT);
    assert_eq!(signed, account_string_to_sign(sas.version(), pairs));
    check_signature(&signed, pairs, |keys| sas.verify(ACCOUNT, keys));
    match sas.grant() {
        Err(error) => check_sas_error(error),
        Ok(grant) => {
            check_constraints(&grant.constraints);
            terms::check_account(&grant);
        }
    }
}

fn check_table_sas(sas: &TableSas<'_>, pairs: &[(&str, &str)]) {
    let signed = sas.string_to_sign(ACCOUNT);
    assert_eq!(signed, table_string_to_sign(sas.version(), pairs));
    check_signature(&signed, pairs, |keys| sas.verify(ACCOUNT, keys));
    let policies = policies();
    match sas.grant(&policies) {
        Err(error) => check_sas_error(error),
        Ok(grant) => {
            check_constraints(&grant.constraints);
            assert_eq!(TablePermissions::parse(&grant.permissions.to_string()), Some(grant.permissions));
            assert!(grant.check_table(&grant.table.to_ascii_uppercase()).is_ok());
            TABLE.with(|table| check_keys(table, &grant.keys));
            terms::check_table(&grant);
        }
    }
}

/// The signature that the input came with is none of ours, unless it is; and with ours in its place it is good.
fn check_signature(signed: &str, pairs: &[(&str, &str)], verify: impl Fn(&[AccountKey]) -> Result<(), SasError>) {
    let (ours, other) = (AccountKey::from_bytes(b"ours"), AccountKey::from_bytes(b"other"));
    let signature = ours.sign(signed);
    let is_ours = value(pairs, "sig").replace(' ', "+") == signature;
    assert_eq!(verify(std::slice::from_ref(&ours)).is_ok(), is_ours);
    let replaced =
        pairs.iter().map(|&(name, value)| (name, if name.eq_ignore_ascii_case("sig") { &signature } else { value }));
    let again = TableServiceSas::parse(replaced).expect("only the signature differs").expect("it is still there");
    let verified = |keys: &[AccountKey]| match &again {
        TableServiceSas::Account(sas) => sas.verify(ACCOUNT, keys),
        TableServiceSas::Table(sas) => sas.verify(ACCOUNT, keys),
    };
    assert_eq!(verified(&[other.clone(), ours]), Ok(()));
    assert_eq!(verified(&[other]), Err(SasError::SignatureMismatch));
}

/// A parameter's value, or nothing; those of a SAS are there at most once.
fn value<'a>(pairs: &[(&str, &'a str)], wanted: &str) -> &'a str {
    pairs.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| *value).unwrap_or_default()
}

fn account_string_to_sign(version: ServiceVersion, pairs: &[(&str, &str)]) -> String {
    let mut names = vec!["sp", "ss", "srt", "st", "se", "sip", "spr", "sv"];
    if version >= ServiceVersion::SAS_ENCRYPTION_SCOPE {
        names.push("ses");
    }
    let lines: String = names.iter().map(|name| format!("{}\n", value(pairs, name))).collect();
    format!("{ACCOUNT}\n{lines}")
}

fn table_string_to_sign(version: ServiceVersion, pairs: &[(&str, &str)]) -> String {
    let prefix = if version >= ServiceVersion::SAS_SERVICE_PREFIX { "/table/" } else { "/" };
    let resource = format!("{prefix}{ACCOUNT}/{}", value(pairs, "tn").to_ascii_lowercase());
    // The one without a name is the resource.
    let names: &[&str] = match version >= ServiceVersion::ACCOUNT_SAS {
        true => &["sp", "st", "se", "", "si", "sip", "spr", "sv", "spk", "srk", "epk", "erk"],
        false => &["sp", "st", "se", "", "si", "sv", "spk", "srk", "epk", "erk"],
    };
    let lines = names.iter().map(|name| if name.is_empty() { &resource } else { value(pairs, name) });
    lines.collect::<Vec<_>>().join("\n")
}

fn policies() -> StoredAccessPolicies {
    let policy = |id: &str, expiry: Option<DateTime>, permissions: Option<&str>| StoredAccessPolicy {
        id: id.to_owned(),
        start: None,
        expiry,
        permissions: permissions.map(str::to_owned),
    };
    StoredAccessPolicies {
        policies: vec![policy("all", Some(DateTime::MAX), Some("raud")), policy("open", None, None)],
    }
}

/// Whatever the moment and the place, a SAS is good only where each of its limits allows it.
fn check_constraints(constraints: &SasConstraints) {
    if let Some(range) = constraints.source {
        assert_eq!(IpRange::parse(&range.to_string()), Some(range));
    }
    for time in [Some(constraints.expiry), constraints.start].into_iter().flatten() {
        assert_eq!(DateTime::parse(&time.to_string()), Ok(time));
        assert_eq!(DateTime::parse(&time.to_seven_digits()), Ok(time));
    }
    let source = IpAddr::V4(Ipv4Addr::LOCALHOST);
    for now in [DateTime::from_ticks(0), DateTime::from_ticks(NOON), constraints.expiry, DateTime::MAX] {
        for is_https in [true, false] {
            let is_good = constraints.check(&RequestOrigin { now, source, is_https }).is_ok();
            let is_in_time = now < constraints.expiry && constraints.start.is_none_or(|start| start <= now);
            let is_allowed_there = constraints.source.is_none_or(|range| range.contains(source));
            let is_allowed_so = is_https || constraints.protocol.as_str() != "https";
            assert_eq!(is_good, is_in_time && is_allowed_there && is_allowed_so);
        }
    }
}

/// The range that a query with the SAS reads holds exactly the entities that a write with it may touch, and those are
/// the ones between its bounds.
fn check_keys(table: &KnownTable, keys: &KeyRange) {
    let is_inside = |partition_key: &str, row_key: &str| {
        let reaches = |bound: &Option<KeyBound>| {
            bound.as_ref().map(|bound| {
                let by_row = bound.row_key.as_deref().map(|row| utf16(row_key, row));
                utf16(partition_key, &bound.partition_key).then(by_row.unwrap_or(Ordering::Equal))
            })
        };
        reaches(&keys.start).is_none_or(|order| order.is_ge()) && reaches(&keys.end).is_none_or(|order| order.is_le())
    };
    let expected = table.keys_of(|entity| is_inside(entity.partition_key, &entity.row_key));
    assert_eq!(table.keys_of(|entity| keys.contains(entity.partition_key, &entity.row_key)), expected);
    let query = EntityQuery { within: Some(keys.clone()), ..EntityQuery::default() };
    assert_eq!(table.query(query), expected, "{keys:?}");
}
