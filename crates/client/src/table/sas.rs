//! Shared access signatures for a table and for its account.

use tablerock_protocol::signing::{AccountSasTerms, TableSasTerms};

use super::{TableClient, TableServiceClient};
use crate::entity::IntoDateTime;
use crate::sas::{
    AccountPermissions, AccountSas, SignedResourceTypes, SignedServices, TablePermissions, TableSas, signing_key,
};

impl TableClient {
    /// Begins a signature for this table, or a range of its keys. See [`sas`](crate::sas).
    #[doc(alias = "generate_sas")]
    #[doc(alias = "GenerateSasUri")]
    pub fn sas(&self, permissions: TablePermissions, expiry: impl IntoDateTime) -> TableSas {
        let terms = TableSasTerms::new(self.name(), permissions, expiry.into_date_time());
        TableSas::with_terms(Ok(terms), signing_key(&self.pipeline.credential))
    }

    /// Begins a signature with the terms of a stored access policy. The signature sets the terms that the policy lacks.
    pub fn sas_from_policy(&self, id: impl Into<String>) -> TableSas {
        let terms = TableSasTerms::from_policy(self.name(), id);
        TableSas::with_terms(Ok(terms), signing_key(&self.pipeline.credential))
    }
}

impl TableServiceClient {
    /// Begins a signature for the account: services, resource types and permissions.
    #[doc(alias = "generate_account_sas")]
    pub fn account_sas(
        &self,
        services: SignedServices,
        resource_types: SignedResourceTypes,
        permissions: AccountPermissions,
        expiry: impl IntoDateTime,
    ) -> AccountSas {
        let terms = AccountSasTerms::new(services, resource_types, permissions, expiry.into_date_time());
        AccountSas::with_terms(Ok(terms), signing_key(&self.pipeline.credential))
    }
}
