//! Shared access signatures for a table and for the account that it is in.

use tablerock_protocol::signing::{AccountSasTerms, TableSasTerms};

use super::{TableClient, TableServiceClient};
use crate::entity::IntoDateTime;
use crate::sas::{
    AccountPermissions, AccountSas, SignedResourceTypes, SignedServices, TablePermissions, TableSas, signing_key,
};

impl TableClient {
    /// A signature for this table, which can be narrowed to a range of its keys. See [`sas`](crate::sas).
    pub fn sas(&self, permissions: TablePermissions, expiry: impl IntoDateTime) -> TableSas {
        let terms = TableSasTerms::new(self.name(), permissions, expiry.into_date_time());
        TableSas::with_terms(Ok(terms), signing_key(&self.pipeline.credential))
    }

    /// A signature whose terms a stored access policy gives. What the policy leaves open has to be said here.
    pub fn sas_by_policy(&self, id: impl Into<String>) -> TableSas {
        let terms = TableSasTerms::from_policy(self.name(), id);
        TableSas::with_terms(Ok(terms), signing_key(&self.pipeline.credential))
    }
}

impl TableServiceClient {
    /// A signature for the account: services, levels of resources, permissions.
    pub fn account_sas(
        &self,
        services: SignedServices,
        levels: SignedResourceTypes,
        permissions: AccountPermissions,
        expiry: impl IntoDateTime,
    ) -> AccountSas {
        let terms = AccountSasTerms::new(services, levels, permissions, expiry.into_date_time());
        AccountSas::with_terms(Ok(terms), signing_key(&self.pipeline.credential))
    }
}
