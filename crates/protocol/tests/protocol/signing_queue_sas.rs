//! The service SAS of a queue: its string in every version, what it grants and what it denies.

use tablerock_protocol::signing::{
    AccountKey, IpRange, QueueGrant, QueuePermissions, QueueSas, QueueSasTerms, SasError, SasParameter, SasParameters,
    SasProtocol, SasTermsError,
};
use tablerock_protocol::xml::{StoredAccessPolicies, StoredAccessPolicy};
use tablerock_protocol::{DateTime, QueryString, QueueName};

const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

fn key() -> AccountKey {
    AccountKey::parse(KEY).expect("the development key is good")
}

fn queue(name: &str) -> QueueName {
    QueueName::parse(name).expect(name)
}

fn parse<'a>(pairs: &[(&'a str, &'a str)]) -> Result<QueueSas<'a>, SasError> {
    QueueSas::parse(SasParameters::collect(pairs.iter().copied())?.expect("the query has a signature"))
}

fn grant_with(pairs: &[(&'static str, &'static str)], policies: &StoredAccessPolicies) -> Result<QueueGrant, SasError> {
    parse(&[&[("sv", "2019-02-02"), ("sig", "x")], pairs].concat())?.grant(policies)
}

#[test]
fn known_signatures_verify_for_their_queue_only() {
    let current = [
        ("sv", "2019-02-02"),
        ("sp", "raup"),
        ("se", "2030-01-01T00:00:00Z"),
        ("sig", "bS7v9vgg1mug/St4G2KhlONb5RTmOEeuCcTQISsuNMs="),
    ];
    let early = [
        ("sv", "2014-02-14"),
        ("sp", "r"),
        ("st", "2020-01-01"),
        ("se", "2030-01-01"),
        ("si", "id"),
        ("sig", "t3PUGnd14Veatu4IJx7txg+fjn8cYcQhHrPNOfUB2as="),
    ];
    for pairs in [&current[..], &early] {
        let sas = parse(pairs).unwrap();
        assert_eq!(sas.verify(ACCOUNT, &queue("jobs"), &[AccountKey::from_bytes(b"other"), key()]), Ok(()));
        assert_eq!(sas.verify(ACCOUNT, &queue("job"), &[key()]), Err(SasError::SignatureMismatch));
        assert_eq!(sas.verify("other", &queue("jobs"), &[key()]), Err(SasError::SignatureMismatch));
    }
}

#[test]
fn a_grant_has_the_letters_of_the_token_or_its_policy() {
    let none = StoredAccessPolicies::default();
    let grant = grant_with(&[("sp", "ra"), ("se", "2030-01-01")], &none).unwrap();
    assert_eq!(grant.check_permissions(QueuePermissions::READ), Ok(()));
    assert_eq!(grant.check_permissions(QueuePermissions::PROCESS), Err(SasError::PermissionMismatch));
    for bad in ["", "x", "raud"] {
        assert!(grant_with(&[("sp", bad), ("se", "2030-01-01")], &none).is_err(), "{bad:?}");
    }

    let policy = StoredAccessPolicy {
        id: "workers".to_owned(),
        start: None,
        expiry: DateTime::parse("2030-01-01").ok(),
        permissions: Some("p".to_owned()),
    };
    let policies = StoredAccessPolicies { policies: vec![policy] };
    let grant = grant_with(&[("si", "workers")], &policies).unwrap();
    assert_eq!(grant.permissions, QueuePermissions::PROCESS);
    assert_eq!(grant_with(&[("si", "others")], &policies), Err(SasError::PolicyNotFound));
    let twice = grant_with(&[("si", "workers"), ("sp", "p")], &policies);
    assert_eq!(twice, Err(SasError::InTokenAndPolicy(SasParameter::Permissions)));
}

#[test]
fn other_kinds_of_sas_are_told_apart() {
    let with =
        |name, value| parse(&[("sv", "2019-02-02"), ("sp", "r"), ("se", "2030-01-01"), ("sig", "x"), (name, value)]);
    assert_eq!(with("ss", "q").unwrap_err(), SasError::Ambiguous);
    assert_eq!(with("skoid", "6f8b7d3a-0000-0000-0000-000000000000").unwrap_err(), SasError::UserDelegation);
    assert_eq!(parse(&[("sv", "2011-08-18"), ("sig", "x")]).unwrap_err(), SasError::VersionTooOld);
    assert_eq!(parse(&[("sig", "x")]).unwrap_err(), SasError::Missing(SasParameter::Version));
}

#[test]
fn what_is_made_here_is_good_here() {
    let mut terms = QueueSasTerms::new(queue("jobs"), QueuePermissions::ADD, DateTime::parse("2030-01-01").unwrap());
    terms.source = IpRange::parse("10.0.0.1-10.0.0.9");
    terms.protocol = Some(SasProtocol::HttpsOnly);
    let token = terms.sign(ACCOUNT, &key()).unwrap().to_query();
    let query = QueryString::parse(&token).unwrap();
    let pairs: Vec<_> = query.pairs().iter().map(|(name, value)| (name.as_ref(), value.as_ref())).collect();
    let sas = parse(&pairs).unwrap();
    assert_eq!(sas.verify(ACCOUNT, &queue("jobs"), &[key()]), Ok(()));
    let grant = sas.grant(&StoredAccessPolicies::default()).unwrap();
    assert_eq!((grant.permissions, grant.constraints.protocol), (QueuePermissions::ADD, SasProtocol::HttpsOnly));

    terms.version = "2014-02-14".parse().unwrap();
    assert_eq!(terms.sign(ACCOUNT, &key()).unwrap_err(), SasTermsError::VersionTooOld);
    let by_policy = QueueSasTerms::from_policy(queue("jobs"), "workers").sign(ACCOUNT, &key()).unwrap();
    assert_eq!(by_policy.identifier(), Some("workers"));
}
