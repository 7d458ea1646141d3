//! Shared access signatures: what to put into one, and its signing. They need the account's key.
//!
//! ```
//! use tablerock_client::sas::{AccountPermissions, SignedResourceTypes, SignedServices, TablePermissions};
//! use tablerock_client::{DateTime, TableServiceClient};
//!
//! let service = TableServiceClient::from_connection_string("UseDevelopmentStorage=true")?;
//! let people = service.table("People");
//! let expiry = DateTime::parse("2030-01-01T00:00:00Z").unwrap();
//!
//! // Reading one partition; and whatever a stored policy of the table says.
//! let sas = people.sas(TablePermissions::READ, expiry).from_partition("Sales").to_partition("Sales").sign()?;
//! let reader = people.with_credential(sas)?;
//! let by_policy = people.sas_by_policy("readers").sign()?;
//!
//! // The policy says what, and can be taken back; the signature says until when. Queues, containers and blobs likewise.
//! let until_then = people.sas_by_policy("readers").expiring(expiry).sign()?;
//!
//! // Everything that tables offer, for the whole account.
//! let all = AccountPermissions::parse("rwdlacu").unwrap();
//! let levels = SignedResourceTypes::parse("sco").unwrap();
//! let sas = service.account_sas(SignedServices::TABLE, levels, all, expiry).https_only().sign()?;
//! # Ok::<(), tablerock_client::Error>(())
//! ```

use tablerock_protocol::signing::{AccountSasTerms, BlobSasTerms, KeyBound, QueueSasTerms, TableSasTerms};
use tablerock_protocol::{BlobName, ContainerName, QueueName, ServiceVersion};

pub use tablerock_protocol::signing::{
    AccountPermissions, BlobPermissions, IpRange, QueuePermissions, ResponseHeaders, SasProtocol, SignedResourceTypes,
    SignedServices, TablePermissions,
};

use crate::entity::IntoDateTime;
use crate::{Credential, Error, Result, Sas, SharedKey};

/// What all servers know and every field is signed in.
const VERSION: ServiceVersion = ServiceVersion::SAS_ENCRYPTION_SCOPE;

/// The key that signs, if the credential has one.
pub(crate) fn signing_key(credential: &Credential) -> Option<SharedKey> {
    if let Credential::SharedKey(shared) = credential { Some(shared.clone()) } else { None }
}

/// Defines a signature to be made: terms, and the key if there is one.
macro_rules! sas {
    ($(#[$meta:meta])* $name:ident, $terms:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone)]
        #[must_use = "nothing is signed before sign"]
        pub struct $name {
            /// Terms with a name that nothing can have are told when they are signed.
            terms: Result<$terms>,
            key: Option<SharedKey>,
        }

        impl $name {
            pub(crate) fn with_terms(terms: Result<$terms>, key: Option<SharedKey>) -> Self {
                Self { terms: terms.map(|terms| $terms { version: VERSION, ..terms }), key }
            }

            /// Not before this time.
            pub fn starting(self, start: impl IntoDateTime) -> Self {
                self.set(|terms| terms.start = Some(start.into_date_time()))
            }

            /// Only from this address, or this range of addresses.
            pub fn source(self, source: impl Into<IpRange>) -> Self {
                self.set(|terms| terms.source = Some(source.into()))
            }

            /// Not over plain http.
            pub fn https_only(self) -> Self {
                self.set(|terms| terms.protocol = Some(SasProtocol::HttpsOnly))
            }

            /// As an older or newer version of the protocol signs it.
            pub fn version(self, version: ServiceVersion) -> Self {
                self.set(|terms| terms.version = version)
            }

            /// The token. Fails without the account's key.
            pub fn sign(self) -> Result<Sas> {
                let SharedKey { account, key } = self.key.ok_or_else(|| {
                    Error::invalid("only a client with the account's key can make a shared access signature")
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

/// What signatures for one resource can say themselves or leave to a stored access policy. Each of the permissions, the
/// start and the expiry is said in one of the two places, and in one only.
macro_rules! by_policy {
    ($name:ident, $permissions:ident) => {
        impl $name {
            /// What is allowed, if the policy does not say it.
            pub fn permissions(self, permissions: $permissions) -> Self {
                self.set(|terms| terms.permissions = Some(permissions))
            }

            /// Until when, if the policy does not say it.
            pub fn expiring(self, expiry: impl IntoDateTime) -> Self {
                self.set(|terms| terms.expiry = Some(expiry.into_date_time()))
            }

            /// Revocable: it is good as long as this stored access policy is there.
            pub fn policy(self, id: impl Into<String>) -> Self {
                self.set(|terms| terms.identifier = Some(id.into()))
            }
        }
    };
}

sas! {
    /// A signature for one table, or a part of one.
    TableSas, TableSasTerms
}

sas! {
    /// A signature for an account: some of its services, on some levels.
    AccountSas, AccountSasTerms
}

sas! {
    /// A signature for one queue.
    QueueSas, QueueSasTerms
}

sas! {
    /// A signature for a container with all its blobs, or for one blob.
    BlobSas, BlobSasTerms
}

by_policy!(TableSas, TablePermissions);
by_policy!(QueueSas, QueuePermissions);
by_policy!(BlobSas, BlobPermissions);

impl TableSas {
    /// From the beginning of this partition.
    pub fn from_partition(self, partition_key: impl Into<String>) -> Self {
        self.bound_start(partition_key.into(), None)
    }

    /// From this entity on.
    pub fn from_entity(self, partition_key: impl Into<String>, row_key: impl Into<String>) -> Self {
        self.bound_start(partition_key.into(), Some(row_key.into()))
    }

    /// To the end of this partition.
    pub fn to_partition(self, partition_key: impl Into<String>) -> Self {
        self.bound_end(partition_key.into(), None)
    }

    /// Up to this entity, which is included.
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
    /// For an account whose key is at hand.
    pub fn new(
        key: &SharedKey,
        services: SignedServices,
        levels: SignedResourceTypes,
        permissions: AccountPermissions,
        expiry: impl IntoDateTime,
    ) -> Self {
        let terms = AccountSasTerms::new(services, levels, permissions, expiry.into_date_time());
        Self::with_terms(Ok(terms), Some(key.clone()))
    }
}

impl QueueSas {
    /// For a queue of an account whose key is at hand.
    pub fn new(key: &SharedKey, queue: &str, permissions: QueuePermissions, expiry: impl IntoDateTime) -> Result<Self> {
        let terms = QueueSasTerms::new(QueueName::parse(queue)?, permissions, expiry.into_date_time());
        Ok(Self::with_terms(Ok(terms), Some(key.clone())))
    }

    /// As a stored access policy of the queue says.
    pub fn by_policy(key: &SharedKey, queue: &str, id: impl Into<String>) -> Result<Self> {
        let terms = QueueSasTerms::from_policy(QueueName::parse(queue)?, id);
        Ok(Self::with_terms(Ok(terms), Some(key.clone())))
    }
}

impl BlobSas {
    /// For a container, and all blobs in it, of an account whose key is at hand.
    pub fn for_container(
        key: &SharedKey,
        container: &str,
        permissions: BlobPermissions,
        expiry: impl IntoDateTime,
    ) -> Result<Self> {
        let terms = BlobSasTerms::new(ContainerName::parse(container)?, permissions, expiry.into_date_time());
        Ok(Self::with_terms(Ok(terms), Some(key.clone())))
    }

    /// For one blob of an account whose key is at hand.
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

    /// As a stored access policy of the container says.
    pub fn by_policy(key: &SharedKey, container: &str, id: impl Into<String>) -> Result<Self> {
        let terms = BlobSasTerms::from_policy(ContainerName::parse(container)?, id);
        Ok(Self::with_terms(Ok(terms), Some(key.clone())))
    }

    /// Only for a snapshot of the blob, by its date as the service writes it.
    pub fn snapshot(self, snapshot: impl Into<String>) -> Self {
        self.set(|terms| terms.snapshot = Some(snapshot.into()))
    }

    /// Has answers say this about the content, whatever the blob itself says.
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
    fn c9_signatures_are_those_of_other_clients() {
        let expiry = DateTime::parse("2030-01-01T00:00:00Z").unwrap();
        let version = "2019-02-02".parse().unwrap();
        let terms = TableSasTerms::new("People", TablePermissions::parse("raud").unwrap(), expiry);
        let sas = TableSas::with_terms(Ok(terms), Some(shared())).version(version);
        let token = sas.from_partition("a").to_partition("m").sign().unwrap();
        assert!(token.as_str().contains("sig=R004zC4XkPXD5dzUrHCWMS2OsWbmGRGPp6BINnzoZkc%3D"), "{}", token.as_str());
    }

    #[test]
    fn c9_without_the_key_there_is_no_signature() {
        let terms = TableSasTerms::from_policy("People", "x");
        assert!(TableSas::with_terms(Ok(terms), None).sign().is_err());
        assert!(QueueSas::new(&shared(), "No Queue", QueuePermissions::READ, DateTime::MAX).is_err());
    }
}
