//! Making a SAS from what another one allows: if it can be made, it allows the same.

use tablerock_protocol::QueryString;
use tablerock_protocol::ServiceVersion;
use tablerock_protocol::signing::{
    AccountGrant, AccountKey, AccountSasTerms, SasTermsError, TableGrant, TableSasTerms, TableServiceSas,
};
use tablerock_protocol::xml::StoredAccessPolicies;

use crate::known_table::ACCOUNT;

pub(super) fn check_account(grant: &AccountGrant) {
    let key = AccountKey::from_bytes(b"ours");
    let constraints = &grant.constraints;
    let terms = AccountSasTerms {
        version: ServiceVersion::LATEST,
        services: grant.services,
        resource_types: grant.resource_types,
        permissions: grant.permissions,
        start: constraints.start,
        expiry: constraints.expiry,
        source: constraints.source,
        protocol: Some(constraints.protocol),
    };
    let query = terms.sign(ACCOUNT, &key).expect("the newest version signs everything").to_query();
    with_sas(&query, |sas| {
        let TableServiceSas::Account(sas) = sas else { panic!("{query:?} is of another kind") };
        assert_eq!(sas.verify(ACCOUNT, &[key]), Ok(()), "{query:?}");
        let expected = AccountGrant { version: ServiceVersion::LATEST, ..grant.clone() };
        assert_eq!(sas.grant(), Ok(expected), "{query:?}");
    });
}

pub(super) fn check_table(grant: &TableGrant) {
    // A token without permissions would have to take them from a policy.
    if grant.permissions.is_empty() {
        return;
    }
    let key = AccountKey::from_bytes(b"ours");
    let constraints = &grant.constraints;
    let terms = TableSasTerms {
        start: constraints.start,
        source: constraints.source,
        protocol: Some(constraints.protocol),
        keys: grant.keys.clone(),
        ..TableSasTerms::new(grant.table.as_str(), grant.permissions, constraints.expiry)
    };
    let query = match terms.sign(ACCOUNT, &key) {
        Ok(sas) => sas.to_query(),
        Err(error) => {
            assert_eq!(error, SasTermsError::EmptyEndKey, "a range that was read has an end: {:?}", grant.keys);
            return;
        }
    };
    with_sas(&query, |sas| {
        let TableServiceSas::Table(sas) = sas else { panic!("{query:?} is of another kind") };
        assert_eq!(sas.verify(ACCOUNT, &[key]), Ok(()), "{query:?}");
        assert_eq!(sas.grant(&StoredAccessPolicies::default()).as_ref(), Ok(grant), "{query:?}");
    });
}

/// Reads a token back as a request carries it.
fn with_sas(query: &str, check: impl FnOnce(TableServiceSas<'_>)) {
    let query = QueryString::parse(query).expect("a token is a query");
    let pairs = query.pairs().iter().map(|(name, value)| (name.as_ref(), value.as_ref()));
    check(TableServiceSas::parse(pairs).expect("a token is read").expect("a token has a signature"));
}
