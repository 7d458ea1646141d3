//! The service SAS of containers and blobs: its string in every version, what it grants and what it denies.

use tablerock_protocol::signing::{
    AccountKey, BlobPermissions, BlobSas, BlobSasTarget, BlobSasTerms, ResponseHeaders, SasError, SasParameter,
    SasParameters, SasTermsError, SignedBlobResource,
};
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{BlobName, ContainerName, DateTime, QueryString};

const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const SNAPSHOT: &str = "2019-05-09T00:48:31.3653282Z";

fn key() -> AccountKey {
    AccountKey::parse(KEY).expect("the development key is good")
}

fn parse<'a>(pairs: &[(&'a str, &'a str)]) -> Result<BlobSas<'a>, SasError> {
    BlobSas::parse(SasParameters::collect(pairs.iter().copied())?.expect("the query has a signature"))
}

/// Whether a token is good for an address: container, blob and snapshot.
fn verified(
    pairs: &[(&str, &str)],
    container: &str,
    blob: Option<&str>,
    snapshot: Option<&str>,
) -> Result<(), SasError> {
    let container = ContainerName::parse(container).expect(container);
    let blob = blob.map(|name| BlobName::parse(name).expect(name));
    let target = BlobSasTarget { container: &container, blob: blob.as_ref(), snapshot, version: None };
    parse(pairs)?.verify(ACCOUNT, &target, &[AccountKey::from_bytes(b"other"), key()])
}

const OF_BLOB: &[(&str, &str)] = &[
    ("sv", "2021-12-02"),
    ("sr", "b"),
    ("sp", "r"),
    ("se", "2030-01-01T00:00:00Z"),
    ("rscc", "no-store"),
    ("rsct", "text/plain"),
    ("sig", "OjPrGJpWN1wEicXYgLNc5AbWLeG6DRAaWLbpffJLAS8="),
];
const OF_CONTAINER: &[(&str, &str)] = &[
    ("sv", "2018-11-09"),
    ("sr", "c"),
    ("sp", "rl"),
    ("se", "2030-01-01T00:00:00Z"),
    ("spr", "https"),
    ("sig", "46x+sKrU15nGxunoO2/k6pH8mpahu2SfvaUmVpDCBII="),
];
const OF_SNAPSHOT: &[(&str, &str)] = &[
    ("sv", "2021-12-02"),
    ("sr", "bs"),
    ("sp", "r"),
    ("se", "2030-01-01"),
    ("sig", "sRDaPrvk1I8CoZPKW9HZoPoaXael3I62Dh9agYZykUg="),
];

#[test]
fn known_signatures_verify_in_every_version() {
    assert_eq!(verified(OF_BLOB, "photos", Some("a b"), None), Ok(()));
    assert_eq!(verified(OF_CONTAINER, "photos", None, None), Ok(()));
    for (version, permissions, identifier, signature) in [
        ("2016-05-31", "rw", None, "oDNfwtqWUM7BCze/EYrVuiYcwtHjvI12CNKZjoSlZB8="),
        ("2014-02-14", "rw", Some("id"), "spag70oSdO7pB1znXNqq1XmH2JgvcKSwQ0bNgquVhDk="),
        ("2012-02-12", "r", None, "9cNhA1yEuY7Ul5ajhPqX8naEbKMAvhPv2yBhJIPDiWU="),
    ] {
        let mut pairs =
            vec![("sv", version), ("sr", "b"), ("sp", permissions), ("se", "2030-01-01"), ("sig", signature)];
        pairs.extend(identifier.map(|id| ("si", id)));
        assert_eq!(verified(&pairs, "photos", Some("a"), None), Ok(()), "{version}");
        assert_eq!(verified(&pairs, "photos", Some("b"), None), Err(SasError::SignatureMismatch), "{version}");
    }
}

#[test]
fn a_token_is_good_for_what_it_was_made_for() {
    assert_eq!(verified(OF_CONTAINER, "photos", Some("any/blob"), None), Ok(()), "a container's is good for its blobs");
    assert_eq!(verified(OF_CONTAINER, "photo", None, None), Err(SasError::SignatureMismatch));
    assert_eq!(verified(OF_BLOB, "photos", None, None), Err(SasError::ContainerMismatch));
    assert_eq!(verified(OF_BLOB, "photos", Some("a"), None), Err(SasError::SignatureMismatch));
    assert_eq!(verified(OF_SNAPSHOT, "photos", Some("a"), Some(SNAPSHOT)), Ok(()));
    let other_time = Some("2019-05-09T00:48:31.3653283Z");
    assert_eq!(verified(OF_SNAPSHOT, "photos", Some("a"), other_time), Err(SasError::SignatureMismatch));
    assert_eq!(verified(OF_SNAPSHOT, "photos", Some("a"), None), Err(SasError::ContainerMismatch));
}

#[test]
fn one_kind_of_token_does_not_pass_for_another() {
    for (pairs, kind) in [(OF_BLOB, "c"), (OF_CONTAINER, "b"), (OF_SNAPSHOT, "b"), (OF_BLOB, "bs")] {
        let changed: Vec<_> =
            pairs.iter().map(|(name, value)| (*name, if *name == "sr" { kind } else { value })).collect();
        for (blob, snapshot) in [(None, None), (Some("a b"), None), (Some("a"), Some(SNAPSHOT))] {
            assert!(verified(&changed, "photos", blob, snapshot).is_err(), "{kind} {blob:?}");
        }
    }
}

#[test]
fn a_grant_tells_what_readers_see() {
    let grant = parse(OF_BLOB).unwrap().grant(&StoredAccessPolicies::default()).unwrap();
    assert_eq!((grant.resource, grant.permissions), (SignedBlobResource::Blob, BlobPermissions::READ));
    assert_eq!(grant.response_headers.cache_control.as_deref(), Some("no-store"));
    assert_eq!(grant.response_headers.content_type.as_deref(), Some("text/plain"));
    assert_eq!(grant.response_headers.content_encoding, None);
    assert_eq!(grant.check_permissions(&[BlobPermissions::WRITE, BlobPermissions::READ]), Ok(()));
    let refused = grant.check_permissions(&[BlobPermissions::WRITE, BlobPermissions::CREATE]);
    assert_eq!(refused, Err(SasError::PermissionMismatch));
}

#[test]
fn headers_that_a_version_does_not_sign_change_nothing() {
    let pairs =
        [("sv", "2012-02-12"), ("sr", "b"), ("sp", "r"), ("se", "2030-01-01"), ("rsct", "text/html"), ("sig", "x")];
    let grant = parse(&pairs).unwrap().grant(&StoredAccessPolicies::default()).unwrap();
    assert_eq!(grant.response_headers, ResponseHeaders::default());
}

#[test]
fn what_there_is_not_here_is_refused() {
    let with = |resource, name, value| {
        parse(&[("sv", "2021-12-02"), ("sr", resource), ("sp", "r"), ("se", "2030-01-01"), ("sig", "x"), (name, value)])
    };
    assert_eq!(with("x", "sdd", "1").unwrap_err(), SasError::Malformed(SasParameter::Resource));
    assert_eq!(with("d", "sdd", "-1").unwrap_err(), SasError::Malformed(SasParameter::DirectoryDepth));
    assert_eq!(with("d", "sip", "").unwrap_err(), SasError::Missing(SasParameter::DirectoryDepth));
    assert_eq!(with("b", "skoid", "x").unwrap_err(), SasError::UserDelegation);
    assert_eq!(with("b", "srt", "o").unwrap_err(), SasError::Ambiguous);
    assert_eq!(parse(&[("sv", "2021-12-02"), ("sig", "x")]).unwrap_err(), SasError::Missing(SasParameter::Resource));
    assert_eq!(parse(&[("sv", "2017-11-09"), ("sr", "bs"), ("sig", "x")]).unwrap_err(), SasError::VersionTooOld);
}

#[test]
fn the_sas_of_a_directory_is_good_for_its_name_and_those_below() {
    let directory = |depth: &str| {
        let pairs = |signature: &str| {
            let parts = [("sv", "2020-10-02"), ("sr", "d"), ("sdd", depth), ("sp", "r"), ("se", "2030-01-01")];
            let mut pairs: Vec<(String, String)> =
                parts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            pairs.push(("sig".to_owned(), signature.to_owned()));
            pairs
        };
        let lines = "r\n\n2030-01-01\n/blob/acct/photos/a/b\n\n\n\n2020-10-02\nd\n\n\n\n\n\n";
        pairs(&key().sign(&lines.replace("acct", ACCOUNT)))
    };
    for (depth, name, is_good) in [
        ("2", "a/b/c", true),
        ("2", "a/b/c/d", true),
        ("2", "a/bc/d", false),
        ("2", "a/b", true),
        ("3", "a/b", false),
        ("1", "a/b/c", false),
        ("3", "a/b/c/d", false),
        ("0", "a/b/c", false),
    ] {
        let pairs = directory(depth);
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(verified(&pairs, "photos", Some(name), None).is_ok(), is_good, "{depth} {name}");
    }
}

#[test]
fn what_is_made_here_is_good_here() {
    let container = || ContainerName::parse("photos").unwrap();
    let expiry = DateTime::parse("2030-01-01").unwrap();
    let mut of_blob =
        BlobSasTerms::of_blob(container(), BlobName::parse("a/é").unwrap(), BlobPermissions::WRITE, expiry);
    of_blob.response_headers.content_language = Some("de".to_owned());
    let of_snapshot = BlobSasTerms { snapshot: Some(SNAPSHOT.to_owned()), ..of_blob.clone() };
    let of_container = BlobSasTerms::new(container(), BlobPermissions::READ | BlobPermissions::LIST, expiry);
    for (terms, blob, snapshot) in [
        (&of_blob, Some("a/é"), None),
        (&of_snapshot, Some("a/é"), Some(SNAPSHOT)),
        (&of_container, None, None),
        (&of_container, Some("b"), None),
    ] {
        let token = terms.sign(ACCOUNT, &key()).unwrap().to_query();
        let query = QueryString::parse(&token).unwrap();
        let pairs: Vec<_> = query.pairs().iter().map(|(name, value)| (name.as_ref(), value.as_ref())).collect();
        assert_eq!(verified(&pairs, "photos", blob, snapshot), Ok(()), "{token}");
        assert_ne!(verified(&pairs, "others", blob, snapshot), Ok(()), "{token}");
    }
    let early = BlobSasTerms { version: "2012-02-12".parse().unwrap(), ..of_blob };
    assert_eq!(early.sign(ACCOUNT, &key()).unwrap_err(), SasTermsError::VersionTooOld);
}
