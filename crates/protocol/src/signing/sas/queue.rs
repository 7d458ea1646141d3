//! The service SAS of one queue.

use super::terms::service_sas_terms;
use super::{QueuePermissions, Sas, SasConstraints, SasError, SasParameter, SasParameters, SasTermsError};
use crate::signing::AccountKey;
use crate::xml::StoredAccessPolicies;
use crate::{QueueName, ServiceVersion};

/// The SAS of a queue. The token does not name its queue: it is valid for the queue whose address it was signed for.
pub type QueueSas<'a> = Sas<'a, SignedQueue>;

/// The kind of a [`QueueSas`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedQueue;

/// The rights of a verified SAS, merged with its stored access policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueGrant {
    /// The granted permissions.
    pub permissions: QueuePermissions,
    /// The limits on time, protocol and address.
    pub constraints: SasConstraints,
}

impl<'a> QueueSas<'a> {
    /// Reads the parameters of a request that has no account SAS.
    pub fn parse(parameters: SasParameters<'a>) -> Result<Self, SasError> {
        parameters.check_no_account_sas()?;
        parameters.check_no_user_delegation()?;
        let version = parameters.version(ServiceVersion::SERVICE_SAS)?;
        parameters.required(SasParameter::Signature)?;
        Ok(Self { version, kind: SignedQueue, parameters })
    }

    /// Returns the text that the signature covers.
    pub fn string_to_sign(&self, account: &str, queue: &QueueName) -> String {
        self.service_lines("queue", account, &["/", queue.as_str()])
    }

    /// Checks the signature against the account's keys, for the addressed queue.
    pub fn verify(&self, account: &str, queue: &QueueName, keys: &[AccountKey]) -> Result<(), SasError> {
        self.parameters.check_signature(&self.string_to_sign(account, queue), keys)
    }

    /// Returns the rights of the SAS. `policies` are those of its queue, or empty if the SAS has no
    /// [`identifier`](Sas::identifier).
    pub fn grant(&self, policies: &StoredAccessPolicies) -> Result<QueueGrant, SasError> {
        let (permissions, constraints) = self.service_grant(policies, QueuePermissions::parse)?;
        Ok(QueueGrant { permissions, constraints })
    }
}

impl QueueGrant {
    /// Checks that the SAS grants all of the permissions.
    pub fn check_permissions(&self, needed: QueuePermissions) -> Result<(), SasError> {
        if self.permissions.contains(needed) { Ok(()) } else { Err(SasError::PermissionMismatch) }
    }
}

service_sas_terms! {
    /// The terms of a [`QueueSas`] to be signed.
    QueueSasTerms {
        /// The name of the queue.
        queue: QueueName, QueuePermissions
    }
}

impl QueueSasTerms {
    /// Signs the terms.
    pub fn sign(&self, account: &str, key: &AccountKey) -> Result<QueueSas<'static>, SasTermsError> {
        self.check_version(ServiceVersion::SERVICE_SAS)?;
        let sas = QueueSas { version: self.version, kind: SignedQueue, parameters: self.parameters([]) };
        let string_to_sign = sas.string_to_sign(account, &self.queue);
        Ok(sas.signed(&string_to_sign, key))
    }
}
