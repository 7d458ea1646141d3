//! Shared access signatures: builders of their terms, and signing, which needs the account's key.
//!
//! ```
//! use tablerock_client::sas::{AccountPermissions, SignedResourceTypes, SignedServices, TablePermissions};
//! use tablerock_client::{DateTime, TableServiceClient};
//!
//! let service = TableServiceClient::from_connection_string("UseDevelopmentStorage=true")?;
//! let people = service.table("People");
//! let expiry = DateTime::parse("2030-01-01T00:00:00Z").unwrap();
//!
//! // One that reads one partition, and one with the terms of a stored access policy.
//! let sas = people.sas(TablePermissions::READ, expiry).from_partition("Sales").to_partition("Sales").sign()?;
//! let reader = people.with_credential(sas)?;
//! let with_policy = people.sas_from_policy("readers").sign()?;
//!
//! // The policy has the permissions and can be removed; the signature has the expiry.
//! let with_expiry = people.sas_from_policy("readers").expires_on(expiry).sign()?;
//!
//! // All permissions on all tables of the account.
//! let all = AccountPermissions::parse("rwdlacu").unwrap();
//! let types = SignedResourceTypes::parse("sco").unwrap();
//! let sas = service.account_sas(SignedServices::TABLE, types, all, expiry).https_only().sign()?;
//! # Ok::<(), tablerock_client::Error>(())
//! ```

use tablerock_protocol::signing::{AccountSasTerms, BlobSasTerms, KeyBound, QueueSasTerms, TableSasTerms};
use tablerock_protocol::{BlobName, ContainerName, QueueName, ServiceVersion};

pub use tablerock_protocol::signing::{
    AccountPermissions, BlobPermissions, IpRange, QueuePermissions, ResponseHeaders, SasProtocol, SignedResourceTypes,
    SignedServices, TablePermissions,
};

pub use crate::access_policy::StoredAccessPolicy;

use crate::entity::IntoDateTime;
use crate::{Credential, Error, Result, Sas, SharedKey};

/// The version to sign with: all servers know it, and its signature covers every field.
const VERSION: ServiceVersion = ServiceVersion::SAS_ENCRYPTION_SCOPE;

/// Returns the account's key, if the credential is one.
pub(crate) fn signing_key(credential: &Credential) -> Option<SharedKey> {
    if let Credential::SharedKey(shared) = credential { Some(shared.clone()) } else { None }
}

/// Defines the builder of a signature: its terms, and the account's key if there is one.
macro_rules! sas {
    ($(#[$meta:meta])* $name:ident, $terms:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone)]
        #[must_use = "nothing is signed before sign"]
        pub struct $name {
            /// The error of an invalid name is returned when the terms are signed.
            terms: Result<$terms>,
            key: Option<SharedKey>,
        }

        impl $name {
            pub(crate) fn with_terms(terms: Result<$terms>, key: Option<SharedKey>) -> Self {
                Self { terms: terms.map(|terms| $terms { version: VERSION, ..terms }), key }
            }

            /// Sets the time from which the signature is valid.
            pub fn starts_on(self, start: impl IntoDateTime) -> Self {
                self.set(|terms| terms.start = Some(start.into_date_time()))
            }

            /// Restricts the signature to an IP address or a range of addresses.
            pub fn ip_range(self, source: impl Into<IpRange>) -> Self {
                self.set(|terms| terms.source = Some(source.into()))
            }

            /// Restricts the signature to https.
            pub fn https_only(self) -> Self {
                self.set(|terms| terms.protocol = Some(SasProtocol::HttpsOnly))
            }

            /// Signs for another version of the service.
            pub fn version(self, version: ServiceVersion) -> Self {
                self.set(|terms| terms.version = version)
            }

            /// Signs the terms. Fails if the client does not have the account's key.
            pub fn sign(self) -> Result<Sas> {
                let SharedKey { account, key } = self.key.ok_or_else(|| {
                    Error::invalid("signing a shared access signature needs a client with the account's key")
                })?;
                Ok(Sas::from(self.terms?.sign(&account, &key)?.to_query()))
            }

            fn set(mut self, set: impl FnOnce(&mut $terms)) -> Self {
                self.terms.as_mut().map(set).ok();
                self
            }
        }
    };
}

/// Defines the terms that a signature or its stored access policy has. Exactly one of the two has the permissions, the
/// start and the expiry.
macro_rules! policy_terms {
    ($name:ident, $permissions:ident) => {
        impl $name {
            /// Sets the permissions, if the policy has none.
            pub fn permissions(self, permissions: $permissions) -> Self {
                self.set(|terms| terms.permissions = Some(permissions))
            }

            /// Sets the expiry, if the policy has none.
            pub fn expires_on(self, expiry: impl IntoDateTime) -> Self {
                self.set(|terms| terms.expiry = Some(expiry.into_date_time()))
            }

            /// Ties the signature to a stored access policy: it is valid while the policy exists.
            #[doc(alias = "policy_id")]
            #[doc(alias = "identifier")]
            pub fn policy(self, id: impl Into<String>) -> Self {
                self.set(|terms| terms.identifier = Some(id.into()))
            }
        }
    };
}

sas! {
    /// A signature for a table or a range of its keys.
    #[doc(alias = "TableSasBuilder")]
    TableSas, TableSasTerms
}

sas! {
    /// A signature for an account: services, resource types and permissions.
    #[doc(alias = "AccountSasBuilder")]
    AccountSas, AccountSasTerms
}

sas! {
    /// A signature for a queue.
    #[doc(alias = "QueueSasBuilder")]
    QueueSas, QueueSasTerms
}

sas! {
    /// A signature for a container with all its blobs, or for one blob.
    #[doc(alias = "BlobSasBuilder")]
    BlobSas, BlobSasTerms
}

policy_terms!(TableSas, TablePermissions);
policy_terms!(QueueSas, QueuePermissions);
policy_terms!(BlobSas, BlobPermissions);

impl TableSas {
    /// Begins the key range with a partition.
    #[doc(alias = "PartitionKeyStart")]
    pub fn from_partition(self, partition_key: impl Into<String>) -> Self {
        self.bound_start(partition_key.into(), None)
    }

    /// Begins the key range with an entity.
    #[doc(alias = "RowKeyStart")]
    pub fn from_entity(self, partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        self.bound_start(partition_key.into(), Some(row_key.into()))
    }

    /// Ends the key range with a partition, which is included.
    #[doc(alias = "PartitionKeyEnd")]
    pub fn to_partition(self, partition_key: impl Into<String>) -> Self {
        self.bound_end(partition_key.into(), None)
    }

    /// Ends the key range with an entity, which is included.
    #[doc(alias = "RowKeyEnd")]
    pub fn to_entity(self, partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        self.bound_end(partition_key.into(), Some(row_key.into()))
    }

    fn bound_start(self, partition_key: String, row_key: Option<String>) -> Self {
        self.set(|terms| terms.keys.start = Some(KeyBound { partition_key, row_key }))
    }

    fn bound_end(self, partition_key: String, row_key: Option<String>) -> Self {
        self.set(|terms| terms.keys.end = Some(KeyBound { partition_key, row_key }))
    }
}

impl AccountSas {
    /// Begins a signature for the account of a key.
    pub fn new(
        key: &SharedKey,
        services: SignedServices,
        resource_types: SignedResourceTypes,
        permissions: AccountPermissions,
        expiry: impl IntoDateTime,
    ) -> Self {
        let terms = AccountSasTerms::new(services, resource_types, permissions, expiry.into_date_time());
        Self::with_terms(Ok(terms), Some(key.clone()))
    }
}

impl QueueSas {
    /// Begins a signature for a queue of a key's account.
    pub fn new(key: &SharedKey, queue: &str, permissions: QueuePermissions, expiry: impl IntoDateTime) -> Result<Self> {
        let terms = QueueSasTerms::new(QueueName::parse(queue)?, permissions, expiry.into_date_time());
        Ok(Self::with_terms(Ok(terms), Some(key.clone())))
    }

    /// Begins a signature with the terms of a stored access policy of the queue.
    pub fn from_policy(key: &SharedKey, queue: &str, id: impl Into<String>) -> Result<Self> {
        let terms = QueueSasTerms::from_policy(QueueName::parse(queue)?, id);
        Ok(Self::with_terms(Ok(terms), Some(key.clone())))
    }
}

impl BlobSas {
    /// Begins a signature for a container of a key's account, with all its blobs.
    pub fn for_container(
        key: &SharedKey,
        container: &str,
        permissions: BlobPermissions,
        expiry: impl IntoDateTime,
    ) -> Result<Self> {
        let terms = BlobSasTerms::new(ContainerName::parse(container)?, permissions, expiry.into_date_time());
        Ok(Self::with_terms(Ok(terms), Some(key.clone())))
    }

    /// Begins a signature for a blob of a key's account.
    pub fn for_blob(
        key: &SharedKey,
        container: &str,
        blob: &str,
        permissions: BlobPermissions,
        expiry: impl IntoDateTime,
    ) -> Result<Self> {
        let (container, blob) = (ContainerName::parse(container)?, BlobName::parse(blob)?);
        let terms = BlobSasTerms::of_blob(container, blob, permissions, expiry.into_date_time());
        Ok(Self::with_terms(Ok(terms), Some(key.clone())))
    }

    /// Begins a signature with the terms of a stored access policy of the container.
    pub fn from_policy(key: &SharedKey, container: &str, id: impl Into<String>) -> Result<Self> {
        let terms = BlobSasTerms::from_policy(ContainerName::parse(container)?, id);
        Ok(Self::with_terms(Ok(terms), Some(key.clone())))
    }

    /// Restricts the signature to a snapshot of the blob, by the timestamp that names it.
    pub fn snapshot(self, snapshot: impl Into<String>) -> Self {
        self.set(|terms| terms.snapshot = Some(snapshot.into()))
    }

    /// Overrides headers of the responses.
    pub fn response_headers(self, headers: ResponseHeaders) -> Self {
        self.set(|terms| terms.response_headers = headers)
    }
}

#[cfg(test)]
mod tests {
    use tablerock_protocol::DateTime;

    use super::*;

    const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

    fn shared() -> SharedKey {
        SharedKey::new("devstoreaccount1", KEY).unwrap()
    }

    #[test]
    fn signatures_are_those_of_other_clients() {
        let expiry = DateTime::parse("2030-01-01T00:00:00Z").unwrap();
        let version = "2019-02-02".parse().unwrap();
        let terms = TableSasTerms::new("People", TablePermissions::parse("raud").unwrap(), expiry);
        let sas = TableSas::with_terms(Ok(terms), Some(shared())).version(version);
        let token = sas.from_partition("a").to_partition("m").sign().unwrap();
        assert!(token.as_str().contains("sig=R004zC4XkPXD5dzUrHCWMS2OsWbmGRGPp6BINnzoZkc%3D"), "{}", token.as_str());
    }

    #[test]
    fn without_the_key_there_is_no_signature() {
        let terms = TableSasTerms::from_policy("People", "x");
        assert!(TableSas::with_terms(Ok(terms), None).sign().is_err());
        assert!(QueueSas::new(&shared(), "No Queue", QueuePermissions::READ, DateTime::MAX).is_err());
    }
}
