//! Shared access signatures for a container with all its blobs, and for one blob.

use tablerock_protocol::signing::BlobSasTerms;
use tablerock_protocol::{BlobName, ContainerName};

use super::{BlobClient, ContainerClient};
use crate::Result;
use crate::entity::IntoDateTime;
use crate::sas::{BlobPermissions, BlobSas, signing_key};

impl ContainerClient {
    /// A signature for this container and all blobs in it. See [`sas`](crate::sas).
    pub fn sas(&self, permissions: BlobPermissions, expiry: impl IntoDateTime) -> BlobSas {
        self.sas_with(|container| BlobSasTerms::new(container, permissions, expiry.into_date_time()))
    }

    /// A signature whose terms a stored access policy gives. What the policy leaves open has to be said here.
    pub fn sas_by_policy(&self, id: impl Into<String>) -> BlobSas {
        self.sas_with(|container| BlobSasTerms::from_policy(container, id))
    }

    fn sas_with(&self, terms: impl FnOnce(ContainerName) -> BlobSasTerms) -> BlobSas {
        let terms = ContainerName::parse(self.name()).map(terms);
        BlobSas::with_terms(terms.map_err(Into::into), signing_key(&self.pipeline.credential))
    }
}

impl BlobClient {
    /// A signature for this blob. See [`sas`](crate::sas).
    pub fn sas(&self, permissions: BlobPermissions, expiry: impl IntoDateTime) -> BlobSas {
        self.sas_with(|container| BlobSasTerms::new(container, permissions, expiry.into_date_time()))
    }

    /// A signature whose terms a stored access policy of the container gives. What the policy leaves open has to be said
    /// here.
    pub fn sas_by_policy(&self, id: impl Into<String>) -> BlobSas {
        self.sas_with(|container| BlobSasTerms::from_policy(container, id))
    }

    fn sas_with(&self, of_container: impl FnOnce(ContainerName) -> BlobSasTerms) -> BlobSas {
        let terms = || -> Result<BlobSasTerms> {
            let blob = Some(BlobName::parse(self.name())?);
            Ok(BlobSasTerms { blob, ..of_container(ContainerName::parse(self.container())?) })
        };
        BlobSas::with_terms(terms(), signing_key(&self.pipeline.credential))
    }
}
