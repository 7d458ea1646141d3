//! Making the service SAS of one table.

use super::sas_constraints::write_time;
use super::{
    AccountKey, IpRange, KeyRange, SasParameter, SasParameters, SasProtocol, SasTermsError, TablePermissions, TableSas,
};
use crate::{DateTime, ServiceVersion};

/// The terms of a SAS to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSasTerms {
    pub version: ServiceVersion,
    pub table: String,
    /// Left out when the stored policy gives them; so are `start` and `expiry`.
    pub permissions: Option<TablePermissions>,
    pub start: Option<DateTime>,
    pub expiry: Option<DateTime>,
    pub identifier: Option<String>,
    pub source: Option<IpRange>,
    pub protocol: Option<SasProtocol>,
    pub keys: KeyRange,
}

impl TableSasTerms {
    /// Terms for a whole table, without a version's or a policy's peculiarities.
    pub fn new(table: impl Into<String>, permissions: TablePermissions, expiry: DateTime) -> Self {
        Self {
            version: ServiceVersion::LATEST,
            table: table.into(),
            permissions: Some(permissions),
            start: None,
            expiry: Some(expiry),
            identifier: None,
            source: None,
            protocol: None,
            keys: KeyRange::default(),
        }
    }

    /// Terms that a stored access policy gives.
    pub fn from_policy(table: impl Into<String>, identifier: impl Into<String>) -> Self {
        Self {
            permissions: None,
            expiry: None,
            identifier: Some(identifier.into()),
            ..Self::new(table, TablePermissions::default(), DateTime::MAX)
        }
    }

    pub fn sign(&self, account: &str, key: &AccountKey) -> Result<TableSas<'static>, SasTermsError> {
        self.check()?;
        Ok(TableSas::sign(self.version, self.parameters(), account, key))
    }

    fn check(&self) -> Result<(), SasTermsError> {
        let limits_origin = self.source.is_some() || self.protocol.is_some();
        let oldest = if limits_origin { ServiceVersion::ACCOUNT_SAS } else { ServiceVersion::TABLE_SAS };
        if self.version < oldest {
            return Err(SasTermsError::VersionTooOld);
        }
        let ends_empty = self.keys.end.as_ref().is_some_and(|end| match &end.row_key {
            Some(row_key) => row_key.is_empty(),
            None => end.partition_key.is_empty(),
        });
        if ends_empty { Err(SasTermsError::EmptyEndKey) } else { Ok(()) }
    }

    fn parameters(&self) -> SasParameters<'static> {
        use SasParameter as P;
        let start = self.keys.start.as_ref();
        let end = self.keys.end.as_ref();
        SasParameters::from_values([
            (P::Version, Some(self.version.to_string())),
            (P::TableName, Some(self.table.clone())),
            (P::Permissions, self.permissions.map(|permissions| permissions.to_string())),
            (P::Start, self.start.map(write_time)),
            (P::Expiry, self.expiry.map(write_time)),
            (P::StartPartitionKey, start.map(|bound| bound.partition_key.clone())),
            (P::StartRowKey, start.and_then(|bound| bound.row_key.clone())),
            (P::EndPartitionKey, end.map(|bound| bound.partition_key.clone())),
            (P::EndRowKey, end.and_then(|bound| bound.row_key.clone())),
            (P::Identifier, self.identifier.clone()),
            (P::Ip, self.source.map(|source| source.to_string())),
            (P::Protocol, self.protocol.map(|protocol| protocol.as_str().to_owned())),
        ])
    }
}
