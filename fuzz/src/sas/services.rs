//! The SAS of a queue, of a container and of a blob. A token names no resource: it is good for the address that it was
//! signed for, and for no other.

use tablerock_protocol::signing::{
    AccountKey, BlobGrant, BlobPermissions, BlobSas, BlobSasTarget, BlobSasTerms, QueuePermissions, QueueSas,
    QueueSasTerms, SasError, SasParameters, SignedBlobResource,
};
use tablerock_protocol::xml::StoredAccessPolicies;
use tablerock_protocol::{BlobName, ContainerName, QueryString, QueueName, ServiceError, ServiceVersion};

use super::{check_constraints, check_sas_error, policies, value};
use crate::known_table::ACCOUNT;

/// The parameters that every service SAS signs, in any version that has them.
const SIGNED: [&str; 7] = ["sp", "st", "se", "si", "sip", "spr", "sv"];
const RESPONSE_HEADERS: [&str; 5] = ["rscc", "rscd", "rsce", "rscl", "rsct"];

/// Names are taken in lower case here; which others there are is the business of the query string.
pub(super) fn check(pairs: &[(&str, &str)]) {
    let owned: Vec<(String, &str)> = pairs.iter().map(|(name, value)| (name.to_ascii_lowercase(), *value)).collect();
    let pairs: Vec<(&str, &str)> = owned.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    check_lower_case(&pairs);
}

fn check_lower_case(pairs: &[(&str, &str)]) {
    let collected = match SasParameters::collect(pairs.iter().copied()) {
        Err(error) => return check_sas_error(error),
        Ok(None) => return,
        Ok(Some(collected)) => collected,
    };
    match QueueSas::parse(collected.clone()) {
        Err(error) => check_sas_error(error),
        Ok(sas) => check_queue(&sas, pairs),
    }
    match BlobSas::parse(collected) {
        Err(error) => check_sas_error(error),
        Ok(sas) => check_blob(&sas, pairs),
    }
}

fn check_queue(sas: &QueueSas<'_>, pairs: &[(&str, &str)]) {
    let name = |text| QueueName::parse(text).expect("a name");
    let (queue, other) = (name("jobs"), name("jobs2"));
    let signed = sas.string_to_sign(ACCOUNT, &queue);
    assert_eq!(signed, first_lines(sas.version(), "queue", "/jobs", pairs));
    let signature = AccountKey::from_bytes(b"ours").sign(&signed);
    let verify = |pairs: &[(&str, &str)], queue: &QueueName, key: &[u8]| {
        let sas = QueueSas::parse(collected(pairs)?)?;
        sas.verify(ACCOUNT, queue, &[AccountKey::from_bytes(key)])
    };
    let ours = with(pairs, "sig", &signature);
    assert_eq!(verify(&ours, &queue, b"ours"), Ok(()));
    assert_eq!(verify(&ours, &queue, b"other"), Err(SasError::SignatureMismatch));
    assert_eq!(verify(&ours, &other, b"ours"), Err(SasError::SignatureMismatch));
    check_changes(sas.version(), &ours, &SIGNED, |pairs| verify(pairs, &queue, b"ours"));
    match sas.grant(&policies()) {
        Err(error) => check_sas_error(error),
        Ok(grant) => {
            check_constraints(&grant.constraints);
            assert_eq!(QueuePermissions::parse(&grant.permissions.to_string()), Some(grant.permissions));
            assert!(grant.check_permissions(grant.permissions).is_ok());
            if grant.permissions.is_empty() {
                return;
            }
            let constraints = &grant.constraints;
            let terms = QueueSasTerms {
                start: constraints.start,
                source: constraints.source,
                protocol: Some(constraints.protocol),
                ..QueueSasTerms::new(queue.clone(), grant.permissions, constraints.expiry)
            };
            let query = terms.sign(ACCOUNT, &AccountKey::from_bytes(b"ours")).expect("the newest version").to_query();
            reading(&query, |pairs| {
                assert_eq!(verify(pairs, &queue, b"ours"), Ok(()), "{query:?}");
                let sas = QueueSas::parse(collected(pairs).expect("a token")).expect("a token");
                assert_eq!(sas.grant(&StoredAccessPolicies::default()), Ok(grant.clone()), "{query:?}");
            });
        }
    }
}

fn check_blob(sas: &BlobSas<'_>, pairs: &[(&str, &str)]) {
    // The token of a directory is good for many names; its own tests are in the protocol crate.
    if value(pairs, "sr") == "d" {
        return;
    }
    let container = ContainerName::parse("photos").expect("a name");
    let blob = BlobName::parse("a/b").expect("a name");
    let longer = BlobName::parse("a/b/c").expect("a name");
    let given = |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    let target = BlobSasTarget {
        container: &container,
        blob: Some(&blob),
        snapshot: given("snapshot"),
        version: given("versionid"),
    };
    let signed = sas.string_to_sign(ACCOUNT, &target);
    assert_eq!(signed, blob_string_to_sign(sas.version(), pairs));
    let signature = AccountKey::from_bytes(b"ours").sign(&signed);
    let ours = with(pairs, "sig", &signature);
    let verify = |pairs: &[(&str, &str)], target: &BlobSasTarget<'_>, key: &[u8]| {
        let sas = BlobSas::parse(collected(pairs)?)?;
        sas.verify(ACCOUNT, target, &[AccountKey::from_bytes(key)])
    };
    let kind = value(pairs, "sr");
    let fits = match kind {
        "bs" => target.snapshot.is_some(),
        "bv" => target.version.is_some(),
        _ => true,
    };
    assert_eq!(verify(&ours, &target, b"ours").is_ok(), fits);
    assert!(verify(&ours, &target, b"other").is_err());
    // A container's token is good for all of it; a blob's for the one.
    let others = [BlobSasTarget { blob: Some(&longer), ..target }, BlobSasTarget { blob: None, ..target }];
    assert!(others.iter().all(|other| verify(&ours, other, b"ours").is_ok() == (kind == "c")), "{pairs:?}");
    let elsewhere = ContainerName::parse("photos2").expect("a name");
    assert!(verify(&ours, &BlobSasTarget { container: &elsewhere, ..target }, b"ours").is_err());
    if fits {
        let has_headers = sas.version() >= ServiceVersion::SAS_RESPONSE_HEADERS;
        let names = [&SIGNED[..], if has_headers { &RESPONSE_HEADERS } else { &[] }].concat();
        check_changes(sas.version(), &ours, &names, |pairs| verify(pairs, &target, b"ours"));
    }
    match sas.grant(&policies()) {
        Err(error) => {
            // A header that cannot be sent is the fault of a parameter, not of the credential.
            assert!([400, 403].contains(&ServiceError::from(error).status), "{error}");
        }
        Ok(grant) => {
            check_constraints(&grant.constraints);
            assert_eq!(grant.resource.as_str(), kind);
            assert_eq!(BlobPermissions::parse(&grant.permissions.to_string()), Some(grant.permissions));
            if grant.permissions.is_empty() || grant.resource == SignedBlobResource::Version {
                return;
            }
            let constraints = &grant.constraints;
            let terms = BlobSasTerms {
                start: constraints.start,
                source: constraints.source,
                protocol: Some(constraints.protocol),
                blob: (grant.resource != SignedBlobResource::Container).then(|| blob.clone()),
                snapshot: (grant.resource == SignedBlobResource::Snapshot).then(|| "now".to_owned()),
                response_headers: grant.response_headers.clone(),
                ..BlobSasTerms::new(container.clone(), grant.permissions, constraints.expiry)
            };
            let query = terms.sign(ACCOUNT, &AccountKey::from_bytes(b"ours")).expect("the newest version").to_query();
            let target = BlobSasTarget { snapshot: Some("now"), ..target };
            reading(&query, |pairs| {
                assert_eq!(verify(pairs, &target, b"ours"), Ok(()), "{query:?}");
                let sas = BlobSas::parse(collected(pairs).expect("a token")).expect("a token");
                let expected = BlobGrant { version: ServiceVersion::LATEST, ..grant.clone() };
                assert_eq!(sas.grant(&StoredAccessPolicies::default()), Ok(expected), "{query:?}");
            });
        }
    }
}

/// With any signed parameter changed, or left out, the same signature is good for nothing.
fn check_changes(
    version: ServiceVersion,
    ours: &[(&str, &str)],
    names: &[&str],
    verify: impl Fn(&[(&str, &str)]) -> Result<(), SasError>,
) {
    for name in names {
        if ["sip", "spr"].contains(name) && version < ServiceVersion::ACCOUNT_SAS {
            continue;
        }
        let changed = format!("{}x", value(ours, name));
        let mut pairs = with(ours, name, &changed);
        if value(ours, name).is_empty() && pairs.iter().all(|(known, _)| known != name) {
            pairs.push((*name, &changed));
        }
        assert!(verify(&pairs).is_err(), "{name} can be changed: {ours:?}");
        if !value(ours, name).is_empty() {
            let fewer: Vec<_> = ours.iter().copied().filter(|(known, _)| known != name).collect();
            assert!(verify(&fewer).is_err(), "{name} can be left out: {ours:?}");
        }
    }
}

fn collected<'a>(pairs: &[(&'a str, &'a str)]) -> Result<SasParameters<'a>, SasError> {
    SasParameters::collect(pairs.iter().copied()).map(|found| found.expect("a signature is there"))
}

/// The pairs with another value for a name.
fn with<'a>(pairs: &[(&'a str, &'a str)], name: &str, replaced: &'a str) -> Vec<(&'a str, &'a str)> {
    pairs.iter().map(|&(known, value)| (known, if known == name { replaced } else { value })).collect()
}

fn reading(query: &str, check: impl FnOnce(&[(&str, &str)])) {
    let query = QueryString::parse(query).expect("a token is a query");
    let pairs: Vec<(&str, &str)> = query.pairs().iter().map(|(name, value)| (name.as_ref(), value.as_ref())).collect();
    check(&pairs);
}

/// Up to the version, without a line end.
fn first_lines(version: ServiceVersion, service: &str, path: &str, pairs: &[(&str, &str)]) -> String {
    let prefix = if version >= ServiceVersion::SAS_SERVICE_PREFIX { format!("/{service}") } else { String::new() };
    let resource = format!("{prefix}/{ACCOUNT}{path}");
    // The one without a name is the resource.
    let names: &[&str] = match version >= ServiceVersion::ACCOUNT_SAS {
        true => &["sp", "st", "se", "", "si", "sip", "spr", "sv"],
        false => &["sp", "st", "se", "", "si", "sv"],
    };
    let lines = names.iter().map(|name| if name.is_empty() { &resource } else { value(pairs, name) });
    lines.collect::<Vec<_>>().join("\n")
}

fn blob_string_to_sign(version: ServiceVersion, pairs: &[(&str, &str)]) -> String {
    let kind = value(pairs, "sr");
    let mut lines = vec![first_lines(version, "blob", if kind == "c" { "/photos" } else { "/photos/a/b" }, pairs)];
    if version >= ServiceVersion::SAS_SNAPSHOT {
        lines.push(kind.to_owned());
        let time = match kind {
            "bs" => value(pairs, "snapshot"),
            "bv" => value(pairs, "versionid"),
            _ => "",
        };
        lines.push(time.to_owned());
    }
    if version >= ServiceVersion::SAS_ENCRYPTION_SCOPE {
        lines.push(value(pairs, "ses").to_owned());
    }
    if version >= ServiceVersion::SAS_RESPONSE_HEADERS {
        lines.extend(RESPONSE_HEADERS.map(|name| value(pairs, name).to_owned()));
    }
    lines.join("\n")
}
