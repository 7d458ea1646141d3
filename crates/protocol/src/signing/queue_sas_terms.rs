//! Making the service SAS of one queue.

use super::sas_constraints::write_time;
use super::{AccountKey, IpRange, QueuePermissions, QueueSas, SasParameter, SasParameters, SasProtocol, SasTermsError};
use crate::{DateTime, QueueName, ServiceVersion};

/// The terms of a SAS to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSasTerms {
    pub version: ServiceVersion,
    pub queue: QueueName,
    /// Left out when the stored policy gives them; so are `start` and `expiry`.
    pub permissions: Option<QueuePermissions>,
    pub start: Option<DateTime>,
    pub expiry: Option<DateTime>,
    pub identifier: Option<String>,
    pub source: Option<IpRange>,
    pub protocol: Option<SasProtocol>,
}

impl QueueSasTerms {
    /// Terms without a version's or a policy's peculiarities.
    pub fn new(queue: QueueName, permissions: QueuePermissions, expiry: DateTime) -> Self {
        Self {
            version: ServiceVersion::LATEST,
            queue,
            permissions: Some(permissions),
            start: None,
            expiry: Some(expiry),
            identifier: None,
            source: None,
            protocol: None,
        }
    }

    /// Terms that a stored access policy gives.
    pub fn from_policy(queue: QueueName, identifier: impl Into<String>) -> Self {
        Self {
            permissions: None,
            expiry: None,
            identifier: Some(identifier.into()),
            ..Self::new(queue, QueuePermissions::default(), DateTime::MAX)
        }
    }

    pub fn sign(&self, account: &str, key: &AccountKey) -> Result<QueueSas<'static>, SasTermsError> {
        let limits_origin = self.source.is_some() || self.protocol.is_some();
        let oldest = if limits_origin { ServiceVersion::ACCOUNT_SAS } else { ServiceVersion::SERVICE_SAS };
        if self.version < oldest {
            return Err(SasTermsError::VersionTooOld);
        }
        Ok(QueueSas::sign(self.version, self.parameters(), account, &self.queue, key))
    }

    fn parameters(&self) -> SasParameters<'static> {
        use SasParameter as P;
        SasParameters::from_values([
            (P::Version, Some(self.version.to_string())),
            (P::Permissions, self.permissions.map(|permissions| permissions.to_string())),
            (P::Start, self.start.map(write_time)),
            (P::Expiry, self.expiry.map(write_time)),
            (P::Identifier, self.identifier.clone()),
            (P::Ip, self.source.map(|source| source.to_string())),
            (P::Protocol, self.protocol.map(|protocol| protocol.as_str().to_owned())),
        ])
    }
}
