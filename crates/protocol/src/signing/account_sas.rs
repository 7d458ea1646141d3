//! The account SAS, which all services share: how it is read and verified.

use super::sas_constraints::read_time;
use super::{
    AccountKey, AccountPermissions, SasConstraints, SasError, SasParameter, SasParameters, SignedResourceTypes,
    SignedServices,
};
use crate::ServiceVersion;

/// An account SAS as its client presents it. Nothing in it counts before [`AccountSas::verify`] has passed.
#[derive(Debug, Clone)]
pub struct AccountSas<'a> {
    version: ServiceVersion,
    parameters: SasParameters<'a>,
}

/// What a verified account SAS allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountGrant {
    pub services: SignedServices,
    pub resource_types: SignedResourceTypes,
    pub permissions: AccountPermissions,
    pub constraints: SasConstraints,
}

impl<'a> AccountSas<'a> {
    pub fn parse(parameters: SasParameters<'a>) -> Result<Self, SasError> {
        use SasParameter as P;
        if parameters.value(P::TableName).is_some() || parameters.value(P::Identifier).is_some() {
            return Err(SasError::Ambiguous);
        }
        let version = parameters.version(ServiceVersion::ACCOUNT_SAS)?;
        for parameter in [P::Services, P::ResourceTypes, P::Permissions, P::Expiry, P::Signature] {
            parameters.required(parameter)?;
        }
        Ok(Self { version, parameters })
    }

    /// `sv`, which is also the version of the request when it names no other.
    pub const fn version(&self) -> ServiceVersion {
        self.version
    }

    /// The text that the signature covers. The sets stand in it as the client wrote them, in whatever order.
    pub fn string_to_sign(&self, account: &str) -> String {
        use SasParameter as P;
        let mut signed = String::with_capacity(128);
        let mut line = |text: &str| {
            signed.push_str(text);
            signed.push('\n');
        };
        line(account);
        for parameter in
            [P::Permissions, P::Services, P::ResourceTypes, P::Start, P::Expiry, P::Ip, P::Protocol, P::Version]
        {
            line(self.parameters.text(parameter));
        }
        if self.version >= ServiceVersion::SAS_ENCRYPTION_SCOPE {
            line(self.parameters.text(P::EncryptionScope));
        }
        signed
    }

    /// Checks the signature against the account's keys.
    pub fn verify(&self, account: &str, keys: &[AccountKey]) -> Result<(), SasError> {
        self.parameters.check_signature(&self.string_to_sign(account), keys)
    }

    /// What the SAS allows.
    pub fn grant(&self) -> Result<AccountGrant, SasError> {
        use SasParameter as P;
        let start = self.parameters.read(P::Start, read_time)?;
        let expiry = self.read(P::Expiry, read_time)?;
        Ok(AccountGrant {
            services: self.read(P::Services, SignedServices::parse)?,
            resource_types: self.read(P::ResourceTypes, SignedResourceTypes::parse)?,
            permissions: self.read(P::Permissions, AccountPermissions::parse)?,
            constraints: SasConstraints::read(&self.parameters, start, expiry)?,
        })
    }

    fn read<T>(&self, parameter: SasParameter, read: impl FnOnce(&str) -> Option<T>) -> Result<T, SasError> {
        self.parameters.read(parameter, read)?.ok_or(SasError::Missing(parameter))
    }

    /// Signs parameters that have everything but the signature.
    pub(super) fn sign(
        version: ServiceVersion,
        parameters: SasParameters<'a>,
        account: &str,
        key: &AccountKey,
    ) -> Self {
        let mut sas = Self { version, parameters };
        let signature = key.sign(&sas.string_to_sign(account));
        sas.parameters.set(SasParameter::Signature, signature);
        sas
    }

    /// The token, to be added to a URL's query.
    pub fn to_query(&self) -> String {
        self.parameters.to_query()
    }
}

impl AccountGrant {
    /// Checks a request of one service on one level of resource. Each of the `alternatives` would do: creating a
    /// table takes `c` or `w`, an upsert takes `a` and `u` together.
    pub fn check(
        &self,
        service: SignedServices,
        resource_type: SignedResourceTypes,
        alternatives: &[AccountPermissions],
    ) -> Result<(), SasError> {
        if !self.services.contains(service) {
            return Err(SasError::ServiceMismatch);
        }
        if !self.resource_types.contains(resource_type) {
            return Err(SasError::ResourceTypeMismatch);
        }
        if !alternatives.iter().any(|needed| self.permissions.contains(*needed)) {
            return Err(SasError::PermissionMismatch);
        }
        Ok(())
    }
}
