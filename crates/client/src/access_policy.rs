//! Stored access policies, with the permissions of their service.

use std::fmt;

use tablerock_protocol::DateTime;
use tablerock_protocol::signing::{BlobPermissions, QueuePermissions, TablePermissions};
use tablerock_protocol::xml;

use crate::entity::IntoDateTime;
use crate::{Error, Result};

/// A stored access policy of a table, a queue or a container. A signature refers to it by its id, and sets the terms
/// that it lacks. At most five belong to a table, queue or container.
///
/// ```
/// # mod example { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/example.rs")); }
/// # example::with_people(async |people| {
/// # use tablerock_client::DateTime;
/// use tablerock_client::sas::{StoredAccessPolicy, TablePermissions};
///
/// # let expiry = DateTime::parse("2030-01-01").expect("it is a date");
/// let readers = StoredAccessPolicy::new("readers").permissions(TablePermissions::READ).expires_on(expiry);
/// people.set_access_policies(&[readers]).await?;
/// let sas = people.sas_from_policy("readers").sign()?;
/// # Ok(()) });
/// ```
#[doc(alias = "SignedIdentifier")]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredAccessPolicy<P> {
    /// The id, at most 64 characters.
    pub id: String,
    /// The time from which signatures are valid.
    pub start: Option<DateTime>,
    /// The time until which signatures are valid.
    pub expiry: Option<DateTime>,
    /// The permissions.
    pub permissions: Option<P>,
}

impl<P> StoredAccessPolicy<P> {
    /// Returns a policy that leaves all terms to its signatures.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), start: None, expiry: None, permissions: None }
    }

    /// Sets the permissions.
    #[must_use]
    pub fn permissions(self, permissions: P) -> Self {
        Self { permissions: Some(permissions), ..self }
    }

    /// Sets the time from which signatures are valid.
    #[must_use]
    pub fn starts_on(self, start: impl IntoDateTime) -> Self {
        Self { start: Some(start.into_date_time()), ..self }
    }

    /// Sets the time until which signatures are valid.
    #[must_use]
    pub fn expires_on(self, expiry: impl IntoDateTime) -> Self {
        Self { expiry: Some(expiry.into_date_time()), ..self }
    }
}

/// The permissions of one service.
pub(crate) trait Letters: Copy + fmt::Display {
    const LETTERS: &'static str;

    fn parse(letters: &str) -> Option<Self>;
}

macro_rules! letters {
    ($($permissions:ident),*) => {
        $(impl Letters for $permissions {
            const LETTERS: &'static str = $permissions::LETTERS;

            fn parse(letters: &str) -> Option<Self> {
                $permissions::parse(letters)
            }
        })*
    };
}

letters!(TablePermissions, QueuePermissions, BlobPermissions);

/// Parses the policies of a response.
pub(crate) fn parse<P: Letters>(document: &[u8]) -> Result<Vec<StoredAccessPolicy<P>>> {
    let read = xml::StoredAccessPolicies::parse(document, P::LETTERS);
    let read = read.map_err(|error| Error::invalid_response(&error))?.policies.into_iter();
    let policies = read.map(|xml::StoredAccessPolicy { id, start, expiry, permissions }| StoredAccessPolicy {
        id,
        start,
        expiry,
        permissions: permissions.as_deref().and_then(P::parse),
    });
    Ok(policies.collect())
}

/// Renders the policies of a request.
pub(crate) fn render<P: Letters>(policies: &[StoredAccessPolicy<P>]) -> String {
    let policies = policies.iter().map(|policy| xml::StoredAccessPolicy {
        id: policy.id.clone(),
        start: policy.start,
        expiry: policy.expiry,
        permissions: policy.permissions.map(|permissions| permissions.to_string()),
    });
    xml::StoredAccessPolicies { policies: policies.collect() }.render()
}
