//! The service SAS of one queue: how it is read and verified.

use super::sas_constraints::SasTerms;
use super::{AccountKey, QueuePermissions, SasConstraints, SasError, SasParameter, SasParameters};
use crate::xml::StoredAccessPolicies;
use crate::{QueueName, ServiceVersion};

/// A queue's SAS as its client presents it. Nothing in it counts before [`QueueSas::verify`] has passed. The token
/// does not name its queue: it is good for the one in whose address it stands, or for none.
#[derive(Debug, Clone)]
pub struct QueueSas<'a> {
    version: ServiceVersion,
    parameters: SasParameters<'a>,
}

/// What a verified SAS allows, with its stored access policy taken into account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueGrant {
    pub permissions: QueuePermissions,
    pub constraints: SasConstraints,
}

impl<'a> QueueSas<'a> {
    /// Takes the parameters of a request that is not signed by an account SAS.
    pub fn parse(parameters: SasParameters<'a>) -> Result<Self, SasError> {
        if parameters.is_account_sas() {
            return Err(SasError::Ambiguous);
        }
        if parameters.is_user_delegation_sas() {
            return Err(SasError::UserDelegation);
        }
        let version = parameters.version(ServiceVersion::SERVICE_SAS)?;
        parameters.required(SasParameter::Signature)?;
        Ok(Self { version, parameters })
    }

    /// `sv`, which is also the version of the request when it names no other.
    pub const fn version(&self) -> ServiceVersion {
        self.version
    }

    /// The stored access policy that the SAS refers to.
    pub fn identifier(&self) -> Option<&str> {
        self.parameters.given(SasParameter::Identifier)
    }

    /// The text that the signature covers.
    pub fn string_to_sign(&self, account: &str, queue: &QueueName) -> String {
        use SasParameter as P;
        let mut signed = String::with_capacity(160);
        self.parameters.append_lines(&[P::Permissions, P::Start, P::Expiry], &mut signed);
        let prefix = if self.version >= ServiceVersion::SAS_SERVICE_PREFIX { "/queue/" } else { "/" };
        for piece in [prefix, account, "/", queue.as_str(), "\n"] {
            signed.push_str(piece);
        }
        self.parameters.append_lines(&[P::Identifier], &mut signed);
        if self.version >= ServiceVersion::ACCOUNT_SAS {
            self.parameters.append_lines(&[P::Ip, P::Protocol], &mut signed);
        }
        signed.push_str(self.parameters.text(P::Version));
        signed
    }

    /// Checks the signature against the account's keys, for the queue that is addressed.
    pub fn verify(&self, account: &str, queue: &QueueName, keys: &[AccountKey]) -> Result<(), SasError> {
        self.parameters.check_signature(&self.string_to_sign(account, queue), keys)
    }

    /// What the SAS allows. `policies` are those of its queue; without an [`identifier`](Self::identifier) they
    /// play no part and may be empty.
    pub fn grant(&self, policies: &StoredAccessPolicies) -> Result<QueueGrant, SasError> {
        let terms = SasTerms::merge(&self.parameters, policies)?;
        let permissions = QueuePermissions::parse(terms.permissions);
        Ok(QueueGrant {
            permissions: permissions.ok_or(SasError::Malformed(SasParameter::Permissions))?,
            constraints: SasConstraints::read(&self.parameters, terms.start, terms.expiry)?,
        })
    }

    /// Signs parameters that have everything but the signature.
    pub(super) fn sign(
        version: ServiceVersion,
        parameters: SasParameters<'a>,
        account: &str,
        queue: &QueueName,
        key: &AccountKey,
    ) -> Self {
        let mut sas = Self { version, parameters };
        let signature = key.sign(&sas.string_to_sign(account, queue));
        sas.parameters.set(SasParameter::Signature, signature);
        sas
    }

    /// The token, to be added to a URL's query.
    pub fn to_query(&self) -> String {
        self.parameters.to_query()
    }
}

impl QueueGrant {
    pub fn check_permissions(&self, needed: QueuePermissions) -> Result<(), SasError> {
        if self.permissions.contains(needed) { Ok(()) } else { Err(SasError::PermissionMismatch) }
    }
}
