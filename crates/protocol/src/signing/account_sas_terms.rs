//! Making an account SAS.

use super::sas_constraints::write_time;
use super::{
    AccountKey, AccountPermissions, AccountSas, IpRange, SasParameter, SasParameters, SasProtocol, SasTermsError,
    SignedResourceTypes, SignedServices,
};
use crate::{DateTime, ServiceVersion};

/// The terms of an account SAS to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSasTerms {
    pub version: ServiceVersion,
    pub services: SignedServices,
    pub resource_types: SignedResourceTypes,
    pub permissions: AccountPermissions,
    pub start: Option<DateTime>,
    pub expiry: DateTime,
    pub source: Option<IpRange>,
    pub protocol: Option<SasProtocol>,
}

impl AccountSasTerms {
    pub fn new(
        services: SignedServices,
        resource_types: SignedResourceTypes,
        permissions: AccountPermissions,
        expiry: DateTime,
    ) -> Self {
        let version = ServiceVersion::LATEST;
        Self { version, services, resource_types, permissions, start: None, expiry, source: None, protocol: None }
    }

    pub fn sign(&self, account: &str, key: &AccountKey) -> Result<AccountSas<'static>, SasTermsError> {
        if self.version < ServiceVersion::ACCOUNT_SAS {
            return Err(SasTermsError::VersionTooOld);
        }
        Ok(AccountSas::sign(self.version, self.parameters(), account, key))
    }

    fn parameters(&self) -> SasParameters<'static> {
        use SasParameter as P;
        SasParameters::from_values([
            (P::Version, Some(self.version.to_string())),
            (P::Services, Some(self.services.to_string())),
            (P::ResourceTypes, Some(self.resource_types.to_string())),
            (P::Permissions, Some(self.permissions.to_string())),
            (P::Expiry, Some(write_time(self.expiry))),
            (P::Start, self.start.map(write_time)),
            (P::Ip, self.source.map(|source| source.to_string())),
            (P::Protocol, self.protocol.map(|protocol| protocol.as_str().to_owned())),
        ])
    }
}
