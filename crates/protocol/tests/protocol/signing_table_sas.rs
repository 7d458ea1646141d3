//! The service SAS of a table: its string in every version, what it grants and what it denies.

use tablerock_protocol::signing::{
    AccountKey, IpRange, KeyBound, KeyRange, RequestOrigin, SasError, SasParameter, SasProtocol, SasTermsError,
    TableGrant, TablePermissions, TableSas, TableSasTerms, TableServiceSas, TimeFrame,
};
use tablerock_protocol::xml::{StoredAccessPolicies, StoredAccessPolicy};
use tablerock_protocol::{DateTime, ErrorCode, ServiceError};

const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

fn key() -> AccountKey {
    AccountKey::parse(KEY).expect("the development key is good")
}

fn time(text: &str) -> DateTime {
    DateTime::parse(text).expect(text)
}

fn parse<'a>(pairs: &[(&'a str, &'a str)]) -> Result<TableSas<'a>, SasError> {
    match TableServiceSas::parse(pairs.iter().copied())?.expect("the query has a signature") {
        TableServiceSas::Table(sas) => Ok(sas),
        TableServiceSas::Account(sas) => panic!("not a table's: {sas:?}"),
    }
}

/// The grant of these parameters and the required ones, whatever their signature.
fn grant(pairs: &[(&'static str, &'static str)]) -> Result<TableGrant, SasError> {
    grant_with(pairs, &StoredAccessPolicies::default())
}

fn grant_with(pairs: &[(&'static str, &'static str)], policies: &StoredAccessPolicies) -> Result<TableGrant, SasError> {
    let required = [("sv", "2019-02-02"), ("tn", "People"), ("sig", "x")];
    parse(&[&required, pairs].concat())?.grant(policies)
}

fn policies() -> StoredAccessPolicies {
    let policy = |id: &str, expiry, permissions: Option<&str>| StoredAccessPolicy {
        id: id.to_owned(),
        start: None,
        expiry,
        permissions: permissions.map(str::to_owned),
    };
    let policies = vec![
        policy("full", Some(time("2030-01-01")), Some("ra")),
        policy("until", Some(time("2030-01-01")), None),
        policy("open", None, None),
    ];
    StoredAccessPolicies { policies }
}

#[test]
fn the_known_signature_verifies_and_grants_its_range() {
    let sas = parse(&[
        ("sv", "2019-02-02"),
        ("tn", "People"),
        ("sp", "raud"),
        ("se", "2030-01-01T00:00:00Z"),
        ("spk", "a"),
        ("epk", "m"),
        ("sig", "R004zC4XkPXD5dzUrHCWMS2OsWbmGRGPp6BINnzoZkc="),
    ])
    .unwrap();
    let expected = "raud\n\n2030-01-01T00:00:00Z\n/table/devstoreaccount1/people\n\n\n\n2019-02-02\na\n\nm\n";
    assert_eq!(sas.string_to_sign(ACCOUNT), expected);
    assert_eq!(sas.verify(ACCOUNT, &[AccountKey::from_bytes(b"other"), key()]), Ok(()));
    assert_eq!(sas.verify(ACCOUNT, &[AccountKey::from_bytes(b"other")]), Err(SasError::SignatureMismatch));
    assert_eq!(sas.verify("otheraccount", &[key()]), Err(SasError::SignatureMismatch));
    let grant = sas.grant(&StoredAccessPolicies::default()).unwrap();
    assert_eq!(grant.permissions.to_string(), "raud");
    assert_eq!(grant.constraints.expiry, time("2030-01-01T00:00:00Z"));
    assert_eq!(grant.check_table("PEOPLE"), Ok(()));
    assert_eq!(grant.check_table("Peoples"), Err(SasError::TableMismatch));
    assert_eq!(grant.check_keys("m", "zzz"), Ok(()));
    assert_eq!(grant.check_keys("ma", ""), Err(SasError::OutsideKeyRange));
}

#[test]
fn each_version_signs_its_own_string() {
    let string = |version| {
        let sas = [
            ("sv", version),
            ("tn", "PeopleT"),
            ("sp", "r"),
            ("st", "2020-01-01"),
            ("se", "2030-01-01"),
            ("si", "id"),
            ("sip", "10.0.0.1"),
            ("spr", "https"),
            ("spk", "1"),
            ("srk", "2"),
            ("epk", "3"),
            ("erk", "4"),
            ("sig", "x"),
            ("api-version", "2030-01-01"),
            ("$filter", "x"),
        ];
        parse(&sas).unwrap().string_to_sign("acct")
    };
    let until_2015 = "r\n2020-01-01\n2030-01-01\n/acct/peoplet\nid\n";
    assert_eq!(string("2012-02-12"), format!("{until_2015}2012-02-12\n1\n2\n3\n4"));
    assert_eq!(string("2014-02-14"), format!("{until_2015}2014-02-14\n1\n2\n3\n4"));
    let prefixed = "r\n2020-01-01\n2030-01-01\n/table/acct/peoplet\nid\n";
    assert_eq!(string("2015-02-21"), format!("{prefixed}2015-02-21\n1\n2\n3\n4"));
    assert_eq!(string("2015-04-05"), format!("{prefixed}10.0.0.1\nhttps\n2015-04-05\n1\n2\n3\n4"));
    assert_eq!(string("2020-12-06"), format!("{prefixed}10.0.0.1\nhttps\n2020-12-06\n1\n2\n3\n4"));
    assert_eq!(string("2099-01-01"), format!("{prefixed}10.0.0.1\nhttps\n2099-01-01\n1\n2\n3\n4"));
}

#[test]
fn a_token_made_here_is_accepted_here() {
    let terms = TableSasTerms {
        start: Some(time("2020-01-01T00:00:00.5Z")),
        source: IpRange::parse("10.0.0.1-10.0.0.9"),
        protocol: Some(SasProtocol::HttpsOnly),
        keys: KeyRange {
            start: Some(KeyBound { partition_key: "é &+=%'".to_owned(), row_key: Some("1".to_owned()) }),
            end: Some(KeyBound { partition_key: "日本".to_owned(), row_key: None }),
        },
        ..TableSasTerms::new("People", TablePermissions::READ | TablePermissions::DELETE, time("2030-01-01"))
    };
    let token = terms.sign(ACCOUNT, &key()).unwrap();
    let query = token.to_query();
    assert!(query.contains("sp=rd&st=2020-01-01T00%3A00%3A00.5000000Z&se=2030-01-01T00%3A00%3A00Z"), "{query}");
    let decoded: Vec<(String, String)> = query
        .split('&')
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap();
            let value = percent_encoding::percent_decode_str(value).decode_utf8().unwrap().into_owned();
            (name.to_owned(), value)
        })
        .collect();
    let pairs: Vec<(&str, &str)> = decoded.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let read = parse(&pairs).unwrap();
    assert_eq!(read.verify(ACCOUNT, &[key()]), Ok(()));
    let grant = read.grant(&StoredAccessPolicies::default()).unwrap();
    assert_eq!(grant.keys, terms.keys);
    assert_eq!(Some(grant.permissions), terms.permissions);
    assert_eq!(grant.constraints.start, terms.start);
    assert_eq!(grant.constraints.source, terms.source);
    assert_eq!(grant.constraints.protocol, SasProtocol::HttpsOnly);
}

#[test]
fn a_plus_that_became_a_space_still_verifies() {
    let signed = |table: usize| {
        let terms = TableSasTerms::new(format!("t{table}"), TablePermissions::READ, time("2030-01-01"));
        terms.sign(ACCOUNT, &key()).unwrap().to_query()
    };
    let query = (0..99).map(signed).find(|query| query.contains("%2B")).expect("most signatures have a plus");
    let decoded = percent_encoding::percent_decode_str(&query).decode_utf8().unwrap().replace('+', " ");
    let pairs: Vec<(&str, &str)> = decoded.split('&').map(|pair| pair.split_once('=').unwrap()).collect();
    assert_eq!(parse(&pairs).unwrap().verify(ACCOUNT, &[key()]), Ok(()));
}

#[test]
fn terms_that_a_token_cannot_carry_are_not_signed() {
    let terms = TableSasTerms::new("People", TablePermissions::READ, time("2030-01-01"));
    let sign = |terms: &TableSasTerms| terms.sign(ACCOUNT, &key()).map(|_| ());
    let old = TableSasTerms { version: "2014-02-14".parse().unwrap(), ..terms.clone() };
    assert_eq!(sign(&old), Ok(()));
    assert_eq!(
        sign(&TableSasTerms { protocol: Some(SasProtocol::HttpsOnly), ..old }),
        Err(SasTermsError::VersionTooOld)
    );
    let ancient = TableSasTerms { version: "2011-08-18".parse().unwrap(), ..terms.clone() };
    assert_eq!(sign(&ancient), Err(SasTermsError::VersionTooOld));
    for (partition_key, row_key, expected) in [
        ("", None, Err(SasTermsError::EmptyEndKey)),
        ("a", Some(""), Err(SasTermsError::EmptyEndKey)),
        ("", Some("1"), Ok(())),
    ] {
        let end = KeyBound { partition_key: partition_key.to_owned(), row_key: row_key.map(str::to_owned) };
        let keys = KeyRange { start: None, end: Some(end) };
        assert_eq!(sign(&TableSasTerms { keys, ..terms.clone() }), expected, "{partition_key:?} {row_key:?}");
    }
}

#[test]
fn a_range_that_ends_in_the_empty_partition_survives_its_token() {
    let end = KeyBound { partition_key: String::new(), row_key: Some("5".to_owned()) };
    let terms = TableSasTerms {
        keys: KeyRange { start: None, end: Some(end) },
        ..TableSasTerms::new("People", TablePermissions::READ, time("2030-01-01"))
    };
    assert!(terms.sign(ACCOUNT, &key()).unwrap().to_query().contains("&epk=&erk=5&"));
    let granted = grant(&[("sp", "r"), ("se", "2030-01-01"), ("epk", ""), ("erk", "5")]).unwrap();
    assert_eq!(granted.keys, terms.keys);
}

#[test]
fn key_bounds_are_read_from_what_is_given() {
    let keys = |bounds: &[(&'static str, &'static str)]| {
        grant(&[&[("sp", "r"), ("se", "2030-01-01")], bounds].concat()).map(|grant| grant.keys)
    };
    assert!(keys(&[]).unwrap().is_everything());
    assert!(keys(&[("spk", ""), ("srk", ""), ("epk", ""), ("erk", "")]).unwrap().is_everything());
    assert_eq!(keys(&[("srk", "1")]), Err(SasError::Missing(SasParameter::StartPartitionKey)));
    assert_eq!(keys(&[("spk", "a"), ("erk", "1")]), Err(SasError::Missing(SasParameter::EndPartitionKey)));
    let in_empty_partition = keys(&[("spk", ""), ("srk", "5")]).unwrap();
    assert!(!in_empty_partition.contains("", "4"));
    assert!(in_empty_partition.contains("", "5"));
    assert!(in_empty_partition.contains("a", "4"));
}

#[test]
fn parameters_that_cannot_be_read_are_refused() {
    for (pairs, parameter) in [
        ([("sp", "rx"), ("se", "2030-01-01")], SasParameter::Permissions),
        ([("sp", "r"), ("se", "tomorrow")], SasParameter::Expiry),
        ([("st", "2020"), ("se", "2030-01-01")], SasParameter::Start),
    ] {
        assert_eq!(grant(&pairs), Err(SasError::Malformed(parameter)));
    }
    let rest = |name, value| grant(&[("sp", "r"), ("se", "2030-01-01"), (name, value)]);
    assert_eq!(rest("sip", "10.0.0"), Err(SasError::Malformed(SasParameter::Ip)));
    assert_eq!(rest("spr", "http"), Err(SasError::Malformed(SasParameter::Protocol)));
    assert_eq!(rest("sp", "r"), Err(SasError::Duplicate(SasParameter::Permissions)));
    assert_eq!(rest("ss", "t"), Err(SasError::Ambiguous));
    assert_eq!(grant(&[("sp", "r")]), Err(SasError::Missing(SasParameter::Expiry)));
    assert_eq!(grant(&[("se", "2030-01-01")]), Err(SasError::Missing(SasParameter::Permissions)));
    let versioned = |version| parse(&[("sv", version), ("tn", "People"), ("sig", "x")]).map(|_| ());
    assert_eq!(versioned("2011-08-18"), Err(SasError::VersionTooOld));
    assert_eq!(versioned("latest"), Err(SasError::Malformed(SasParameter::Version)));
    assert_eq!(versioned(""), Err(SasError::Missing(SasParameter::Version)));
    assert_eq!(
        parse(&[("sv", "2019-02-02"), ("sig", "x")]).map(|_| ()),
        Err(SasError::Missing(SasParameter::TableName))
    );
    let empty_signature = parse(&[("sv", "2019-02-02"), ("tn", "People"), ("sig", "")]);
    assert_eq!(empty_signature.map(|_| ()), Err(SasError::Missing(SasParameter::Signature)));
}

#[test]
fn every_form_of_time_is_read() {
    for (text, expected) in [
        ("2030-01-02", "2030-01-02T00:00:00Z"),
        ("2030-01-02T03:04Z", "2030-01-02T03:04:00Z"),
        ("2030-01-02T03:04:05Z", "2030-01-02T03:04:05Z"),
        ("2030-01-02T03:04:05.0000001Z", "2030-01-02T03:04:05.0000001Z"),
        ("2030-01-02T03:04:05+01:00", "2030-01-02T02:04:05Z"),
    ] {
        let granted = grant(&[("sp", "r"), ("se", text)]).unwrap();
        assert_eq!(granted.constraints.expiry, time(expected), "{text}");
    }
}

#[test]
fn time_protocol_and_address_are_checked() {
    let granted = grant(&[
        ("sp", "r"),
        ("st", "2025-01-01"),
        ("se", "2026-01-01"),
        ("sip", "10.0.0.1-10.0.0.9"),
        ("spr", "https"),
    ])
    .unwrap();
    let origin = RequestOrigin { now: time("2025-06-01"), source: [10, 0, 0, 5].into(), is_https: true };
    let check = |origin: RequestOrigin| granted.constraints.check(&origin);
    assert_eq!(check(origin), Ok(()));
    assert_eq!(check(RequestOrigin { now: time("2025-01-01"), ..origin }), Ok(()));
    let (start, expiry) = (Some(time("2025-01-01")), time("2026-01-01"));
    for now in [time("2024-12-31T23:59:59Z"), time("2026-01-01")] {
        let frame = TimeFrame { start, expiry, now };
        assert_eq!(check(RequestOrigin { now, ..origin }), Err(SasError::OutsideTimeFrame(frame)));
    }
    assert_eq!(check(RequestOrigin { is_https: false, ..origin }), Err(SasError::ProtocolMismatch));
    let elsewhere = RequestOrigin { source: [10, 0, 1, 5].into(), ..origin };
    assert_eq!(check(elsewhere), Err(SasError::SourceIpMismatch([10, 0, 1, 5].into())));
    let error = ServiceError::from(check(elsewhere).unwrap_err());
    assert_eq!(error.code, ErrorCode::AuthorizationSourceIPMismatch);
    assert!(error.message.ends_with("using this source IP 10.0.1.5."), "{}", error.message);
}

#[test]
fn permissions_must_all_be_there() {
    let granted = grant(&[("sp", "ra"), ("se", "2030-01-01")]).unwrap();
    assert_eq!(granted.check_permissions(TablePermissions::READ), Ok(()));
    let upsert = TablePermissions::ADD | TablePermissions::UPDATE;
    assert_eq!(granted.check_permissions(upsert), Err(SasError::PermissionMismatch));
}

#[test]
fn a_stored_policy_gives_what_the_token_leaves_out() {
    let full = grant_with(&[("si", "full")], &policies()).unwrap();
    assert_eq!(full.permissions.to_string(), "ra");
    assert_eq!(full.constraints.expiry, time("2030-01-01"));
    let mixed = grant_with(&[("si", "until"), ("sp", "d"), ("st", "2020-01-01")], &policies()).unwrap();
    assert_eq!(mixed.permissions, TablePermissions::DELETE);
    assert_eq!(mixed.constraints.start, Some(time("2020-01-01")));
    let open = grant_with(&[("si", "open"), ("sp", "r"), ("se", "2031-01-01")], &policies()).unwrap();
    assert_eq!(open.constraints.expiry, time("2031-01-01"));
    let sas = TableSasTerms::from_policy("People", "full").sign(ACCOUNT, &key()).unwrap();
    assert_eq!(sas.identifier(), Some("full"));
    assert_eq!(sas.grant(&policies()).unwrap().permissions.to_string(), "ra");
}

#[test]
fn a_field_is_given_once_and_only_once() {
    let refusal = |pairs: &[(&'static str, &'static str)]| grant_with(pairs, &policies()).unwrap_err();
    assert_eq!(refusal(&[("si", "full"), ("sp", "r")]), SasError::InTokenAndPolicy(SasParameter::Permissions));
    assert_eq!(refusal(&[("si", "until"), ("se", "2030-01-01")]), SasError::InTokenAndPolicy(SasParameter::Expiry));
    assert_eq!(refusal(&[("si", "until")]), SasError::Missing(SasParameter::Permissions));
    assert_eq!(refusal(&[("si", "open"), ("sp", "r")]), SasError::Missing(SasParameter::Expiry));
    assert_eq!(refusal(&[("si", "FULL")]), SasError::PolicyNotFound);
}

#[test]
fn refusals_have_the_services_codes() {
    for (error, code) in [
        (SasError::Duplicate(SasParameter::Permissions), ErrorCode::AuthenticationFailed),
        (SasError::SignatureMismatch, ErrorCode::AuthenticationFailed),
        (
            SasError::OutsideTimeFrame(TimeFrame { start: None, expiry: time("2026-01-01"), now: time("2026-01-02") }),
            ErrorCode::AuthenticationFailed,
        ),
        (SasError::PolicyNotFound, ErrorCode::AuthenticationFailed),
        (SasError::InTokenAndPolicy(SasParameter::Expiry), ErrorCode::AuthenticationFailed),
        (SasError::ProtocolMismatch, ErrorCode::AuthorizationProtocolMismatch),
        (SasError::ServiceMismatch, ErrorCode::AuthorizationServiceMismatch),
        (SasError::ResourceTypeMismatch, ErrorCode::AuthorizationResourceTypeMismatch),
        (SasError::PermissionMismatch, ErrorCode::AuthorizationPermissionMismatch),
        (SasError::OutsideKeyRange, ErrorCode::AuthorizationFailure),
    ] {
        assert_eq!(ServiceError::from(error).code, code, "{error}");
    }
}
