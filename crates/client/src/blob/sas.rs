//! Shared access signatures for a container and for one blob.

use tablerock_protocol::signing::BlobSasTerms;
use tablerock_protocol::{BlobName, ContainerName};

use super::{BlobClient, ContainerClient};
use crate::Result;
use crate::entity::IntoDateTime;
use crate::sas::{BlobPermissions, BlobSas, signing_key};

impl ContainerClient {
    /// Begins a signature for this container and all its blobs. See [`sas`](crate::sas).
    #[doc(alias = "generate_sas")]
    #[doc(alias = "GenerateSasUri")]
    pub fn sas(&self, permissions: BlobPermissions, expiry: impl IntoDateTime) -> BlobSas {
        self.sas_with(|container| BlobSasTerms::new(container, permissions, expiry.into_date_time()))
    }

    /// Begins a signature with the terms of a stored access policy. The signature sets the terms that the policy lacks.
    pub fn sas_from_policy(&self, id: impl Into<String>) -> BlobSas {
        self.sas_with(|container| BlobSasTerms::from_policy(container, id))
    }

    fn sas_with(&self, terms: impl FnOnce(ContainerName) -> BlobSasTerms) -> BlobSas {
        let terms = ContainerName::parse(self.name()).map(terms);
        BlobSas::with_terms(terms.map_err(Into::into), signing_key(&self.pipeline.credential))
    }
}

impl BlobClient {
    /// Begins a signature for this blob. See [`sas`](crate::sas).
    #[doc(alias = "generate_sas")]
    #[doc(alias = "GenerateSasUri")]
    pub fn sas(&self, permissions: BlobPermissions, expiry: impl IntoDateTime) -> BlobSas {
        self.sas_with(|container| BlobSasTerms::new(container, permissions, expiry.into_date_time()))
    }

    /// Begins a signature with the terms of a stored access policy of the container. The signature sets the terms that
    /// the policy lacks.
    pub fn sas_from_policy(&self, id: impl Into<String>) -> BlobSas {
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
