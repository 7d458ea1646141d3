//! The account SAS: its string in every version, what it grants and what it denies.

use tablerock_protocol::signing::{
    AccountGrant, AccountKey, AccountPermissions, AccountSas, AccountSasTerms, IpRange, SasError, SasParameter,
    SasProtocol, SasTermsError, SignedResourceTypes, SignedServices, TableServiceSas,
};
use tablerock_protocol::{DateTime, ServiceVersion};

const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

fn key() -> AccountKey {
    AccountKey::parse(KEY).expect("the development key is good")
}

fn parse<'a>(pairs: &[(&'a str, &'a str)]) -> Result<AccountSas<'a>, SasError> {
    match TableServiceSas::parse(pairs.iter().copied())?.expect("the query has a signature") {
        TableServiceSas::Account(sas) => Ok(sas),
        TableServiceSas::Table(sas) => panic!("not an account's: {sas:?}"),
    }
}

/// A good token's parameters, some of them replaced, some left out (by an empty value).
fn with(changes: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    let mut pairs = vec![
        ("sv", "2019-02-02"),
        ("ss", "t"),
        ("srt", "soc"),
        ("sp", "rwdlacup"),
        ("se", "2030-01-01T00:00:00Z"),
        ("sig", "16CNuhjXXZfFgxWKnVlFYriufw6M3mWCahcc0KPe1l4="),
    ];
    pairs.retain(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
    pairs.extend(changes);
    pairs
}

fn grant(changes: &[(&'static str, &'static str)]) -> Result<AccountGrant, SasError> {
    parse(&with(changes))?.grant()
}

#[test]
fn known_signatures_verify() {
    let early = parse(&with(&[])).unwrap();
    let string = "devstoreaccount1\nrwdlacup\nt\nsoc\n\n2030-01-01T00:00:00Z\n\n\n2019-02-02\n";
    assert_eq!(early.string_to_sign(ACCOUNT), string);
    assert_eq!(early.verify(ACCOUNT, &[AccountKey::from_bytes(b"other"), key()]), Ok(()));

    let signature = "1P0zjg/LzEci4pw8r3ZDLGO4cIzwotoXrU0vezGOm6w=";
    let late =
        parse(&with(&[("sv", "2020-12-06"), ("srt", "sco"), ("spr", "https,http"), ("sig", signature)])).unwrap();
    let string = "devstoreaccount1\nrwdlacup\nt\nsco\n\n2030-01-01T00:00:00Z\n\nhttps,http\n2020-12-06\n\n";
    assert_eq!(late.string_to_sign(ACCOUNT), string);
    assert_eq!(late.verify(ACCOUNT, &[key()]), Ok(()));
    assert_eq!(late.version(), ServiceVersion::SAS_ENCRYPTION_SCOPE);
}

#[test]
fn every_field_is_signed() {
    for change in [
        ("sv", "2019-07-07"),
        ("ss", "tq"),
        ("srt", "sco"),
        ("sp", "rwdlacu"),
        ("st", "2020-01-01"),
        ("se", "2031-01-01T00:00:00Z"),
        ("sip", "10.0.0.1"),
        ("spr", "https,http"),
    ] {
        let changed = parse(&with(&[change])).unwrap();
        assert_eq!(changed.verify(ACCOUNT, &[key()]), Err(SasError::SignatureMismatch), "{change:?}");
    }
    let scoped = parse(&with(&[("sv", "2020-12-06"), ("ses", "scope")])).unwrap();
    assert!(scoped.string_to_sign(ACCOUNT).ends_with("\n2020-12-06\nscope\n"));
}

#[test]
fn a_token_made_here_is_accepted_here() {
    for version in ["2015-04-05", "2019-02-02", "2020-12-06", "2026-06-06", "2031-01-01"] {
        let terms = AccountSasTerms {
            version: version.parse().unwrap(),
            start: Some(DateTime::parse("2020-01-01").unwrap()),
            source: IpRange::parse("10.0.0.1"),
            protocol: Some(SasProtocol::HttpsOnly),
            ..AccountSasTerms::new(
                SignedServices::TABLE | SignedServices::QUEUE,
                SignedResourceTypes::OBJECT,
                AccountPermissions::READ | AccountPermissions::LIST,
                DateTime::parse("2030-01-01").unwrap(),
            )
        };
        let query = terms.sign(ACCOUNT, &key()).unwrap().to_query();
        let decoded = percent_encoding::percent_decode_str(&query).decode_utf8().unwrap();
        let pairs: Vec<(&str, &str)> = decoded.split('&').map(|pair| pair.split_once('=').unwrap()).collect();
        let sas = parse(&pairs).unwrap();
        assert_eq!(sas.verify(ACCOUNT, &[key()]), Ok(()), "{version}");
        let grant = sas.grant().unwrap();
        assert_eq!((grant.services, grant.resource_types), (terms.services, terms.resource_types));
        assert_eq!(grant.permissions, terms.permissions);
        assert_eq!((grant.constraints.start, grant.constraints.expiry), (terms.start, terms.expiry));
        assert_eq!((grant.constraints.source, grant.constraints.protocol), (terms.source, SasProtocol::HttpsOnly));
    }
}

#[test]
fn versions_before_the_account_sas_have_none() {
    assert_eq!(grant(&[("sv", "2015-02-21")]), Err(SasError::VersionTooOld));
    let terms = AccountSasTerms {
        version: ServiceVersion::SAS_SERVICE_PREFIX,
        ..AccountSasTerms::new(
            SignedServices::TABLE,
            SignedResourceTypes::OBJECT,
            AccountPermissions::READ,
            DateTime::MAX,
        )
    };
    assert_eq!(terms.sign(ACCOUNT, &key()).map(|_| ()), Err(SasTermsError::VersionTooOld));
}

#[test]
fn a_request_needs_service_resource_type_and_permission() {
    let granted = grant(&[("ss", "qt"), ("srt", "co"), ("sp", "ac")]).unwrap();
    let check = |service, resource_type, alternatives: &[AccountPermissions]| {
        granted.check(service, resource_type, alternatives)
    };
    let (table, container, object) =
        (SignedServices::TABLE, SignedResourceTypes::CONTAINER, SignedResourceTypes::OBJECT);
    let create = [AccountPermissions::CREATE, AccountPermissions::WRITE];
    let upsert = [AccountPermissions::ADD | AccountPermissions::UPDATE];
    assert_eq!(check(table, container, &create), Ok(()));
    assert_eq!(check(table, object, &[AccountPermissions::ADD]), Ok(()));
    assert_eq!(check(table, object, &upsert), Err(SasError::PermissionMismatch));
    assert_eq!(check(SignedServices::BLOB, container, &create), Err(SasError::ServiceMismatch));
    assert_eq!(check(table, SignedResourceTypes::SERVICE, &create), Err(SasError::ResourceTypeMismatch));
}

#[test]
fn parameters_that_cannot_be_read_are_refused() {
    for (change, parameter) in [
        (("ss", "tz"), SasParameter::Services),
        (("srt", "t"), SasParameter::ResourceTypes),
        (("sp", "rz"), SasParameter::Permissions),
        (("se", "later"), SasParameter::Expiry),
        (("st", "x"), SasParameter::Start),
        (("sip", "x"), SasParameter::Ip),
        (("spr", "ftp"), SasParameter::Protocol),
        (("sv", "2019"), SasParameter::Version),
    ] {
        assert_eq!(grant(&[change]), Err(SasError::Malformed(parameter)), "{change:?}");
    }
    for (name, parameter) in [
        ("ss", SasParameter::Services),
        ("srt", SasParameter::ResourceTypes),
        ("sp", SasParameter::Permissions),
        ("se", SasParameter::Expiry),
        ("sv", SasParameter::Version),
        ("sig", SasParameter::Signature),
    ] {
        assert_eq!(grant(&[(name, "")]), Err(SasError::Missing(parameter)), "{name}");
    }
    assert_eq!(grant(&[("tn", "People")]), Err(SasError::Ambiguous));
    let twice = [with(&[]), vec![("ss", "t")]].concat();
    assert_eq!(parse(&twice).map(|_| ()), Err(SasError::Duplicate(SasParameter::Services)));
}
