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
        let mut parameters = SasParameters::default();
        parameters.set(P::Version, self.version.to_string());
        parameters.set(P::Services, self.services.to_string());
        parameters.set(P::ResourceTypes, self.resource_types.to_string());
        parameters.set(P::Permissions, self.permissions.to_string());
        parameters.set(P::Expiry, write_time(self.expiry));
        if let Some(start) = self.start {
            parameters.set(P::Start, write_time(start));
        }
        if let Some(source) = self.source {
            parameters.set(P::Ip, source.to_string());
        }
        if let Some(protocol) = self.protocol {
            parameters.set(P::Protocol, protocol.as_str());
        }
        parameters
    }
}
