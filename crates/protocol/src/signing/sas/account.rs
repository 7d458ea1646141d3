//! The account SAS, which all services share.

use super::constraints::{read_time, write_time};
use super::{
    AccountPermissions, IpRange, Sas, SasConstraints, SasError, SasParameter, SasParameters, SasProtocol,
    SasTermsError, SignedResourceTypes, SignedServices,
};
use crate::signing::AccountKey;
use crate::{DateTime, ServiceVersion};

/// The SAS of an account.
pub type AccountSas<'a> = Sas<'a, SignedAccount>;

/// The kind of an [`AccountSas`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedAccount;

/// The rights of a verified account SAS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountGrant {
    /// The version that the SAS was signed for.
    pub version: ServiceVersion,
    /// The services that the SAS is valid for.
    pub services: SignedServices,
    /// The levels of resources that the SAS is valid for.
    pub resource_types: SignedResourceTypes,
    /// The granted permissions.
    pub permissions: AccountPermissions,
    /// The limits on time, protocol and address.
    pub constraints: SasConstraints,
}

impl<'a> AccountSas<'a> {
    /// Reads the parameters of a request that has no service SAS.
    pub fn parse(parameters: SasParameters<'a>) -> Result<Self, SasError> {
        use SasParameter as P;
        if parameters.value(P::TableName).is_some() || parameters.value(P::Identifier).is_some() {
            return Err(SasError::Ambiguous);
        }
        let version = parameters.version(ServiceVersion::ACCOUNT_SAS)?;
        for parameter in [P::Services, P::ResourceTypes, P::Permissions, P::Expiry, P::Signature] {
            parameters.required(parameter)?;
        }
        Ok(Self { version, kind: SignedAccount, parameters })
    }

    /// Returns the text that the signature covers. It has the sets with their letters in the client's order.
    pub fn string_to_sign(&self, account: &str) -> String {
        use SasParameter as P;
        let mut signed = String::with_capacity(128);
        signed.push_str(account);
        signed.push('\n');
        let lines =
            [P::Permissions, P::Services, P::ResourceTypes, P::Start, P::Expiry, P::Ip, P::Protocol, P::Version];
        self.parameters.append_lines(&lines, &mut signed);
        if self.version >= ServiceVersion::SAS_ENCRYPTION_SCOPE {
            self.parameters.append_lines(&[P::EncryptionScope], &mut signed);
        }
        signed
    }

    /// Checks the signature against the account's keys.
    pub fn verify(&self, account: &str, keys: &[AccountKey]) -> Result<(), SasError> {
        self.parameters.check_signature(&self.string_to_sign(account), keys)
    }

    /// Returns the rights of the SAS.
    pub fn grant(&self) -> Result<AccountGrant, SasError> {
        use SasParameter as P;
        let start = self.parameters.read(P::Start, read_time)?;
        let expiry = self.read(P::Expiry, read_time)?;
        Ok(AccountGrant {
            version: self.version,
            services: self.read(P::Services, SignedServices::parse)?,
            resource_types: self.read(P::ResourceTypes, SignedResourceTypes::parse)?,
            permissions: self.read(P::Permissions, AccountPermissions::parse)?,
            constraints: SasConstraints::read(&self.parameters, start, expiry)?,
        })
    }

    fn read<T>(&self, parameter: SasParameter, read: impl FnOnce(&str) -> Option<T>) -> Result<T, SasError> {
        self.parameters.read(parameter, read)?.ok_or(SasError::Missing(parameter))
    }
}

impl AccountGrant {
    /// Checks a request to one service on one level of resource. Any of the `alternatives` suffices: creating a table
    /// needs `c` or `w`, an upsert needs `a` and `u` together.
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

/// The terms of an [`AccountSas`] to be signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSasTerms {
    /// The version that defines the string-to-sign.
    pub version: ServiceVersion,
    /// The services that the token is valid for.
    pub services: SignedServices,
    /// The levels of resources that the token is valid for.
    pub resource_types: SignedResourceTypes,
    /// The permissions.
    pub permissions: AccountPermissions,
    /// The time from which the token is valid; `None` for now.
    pub start: Option<DateTime>,
    /// The time until which the token is valid.
    pub expiry: DateTime,
    /// The addresses that may use the token; `None` for all.
    pub source: Option<IpRange>,
    /// The protocols that the token may be used over; `None` for HTTPS and HTTP.
    pub protocol: Option<SasProtocol>,
}

impl AccountSasTerms {
    /// Returns terms with the latest version; the fields that are not arguments are empty.
    pub fn new(
        services: SignedServices,
        resource_types: SignedResourceTypes,
        permissions: AccountPermissions,
        expiry: DateTime,
    ) -> Self {
        let version = ServiceVersion::LATEST;
        Self { version, services, resource_types, permissions, start: None, expiry, source: None, protocol: None }
    }

    /// Signs the terms.
    pub fn sign(&self, account: &str, key: &AccountKey) -> Result<AccountSas<'static>, SasTermsError> {
        use SasParameter as P;
        if self.version < ServiceVersion::ACCOUNT_SAS {
            return Err(SasTermsError::VersionTooOld);
        }
        let sets = [
            (P::Services, Some(self.services.to_string())),
            (P::ResourceTypes, Some(self.resource_types.to_string())),
            (P::Permissions, Some(self.permissions.to_string())),
            (P::Expiry, Some(write_time(self.expiry))),
        ];
        let parameters =
            SasParameters::default().with(sets).with_origin(self.version, self.start, self.source, self.protocol);
        let sas = AccountSas { version: self.version, kind: SignedAccount, parameters };
        let string_to_sign = sas.string_to_sign(account);
        Ok(sas.signed(&string_to_sign, key))
    }
}
