//! The service SAS of one table.

use super::terms::service_sas_terms;
use super::{
    AccountSas, KeyBound, KeyRange, Sas, SasConstraints, SasError, SasParameter, SasParameters, SasTermsError,
    TablePermissions,
};
use crate::ServiceVersion;
use crate::signing::AccountKey;
use crate::xml::StoredAccessPolicies;

/// The SAS of a table.
pub type TableSas<'a> = Sas<'a, SignedTable>;

/// The kind of a [`TableSas`], whose parameters name the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedTable;

/// The rights of a verified SAS, merged with its stored access policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableGrant {
    /// The table, as the token spells it.
    pub table: String,
    /// The granted permissions.
    pub permissions: TablePermissions,
    /// The limits on time, protocol and address.
    pub constraints: SasConstraints,
    /// The entities that the SAS is limited to.
    pub keys: KeyRange,
}

impl<'a> TableSas<'a> {
    /// Reads the parameters of a request that has no account SAS.
    pub fn parse(parameters: SasParameters<'a>) -> Result<Self, SasError> {
        parameters.check_no_account_sas()?;
        let version = parameters.version(ServiceVersion::TABLE_SAS)?;
        parameters.required(SasParameter::TableName)?;
        parameters.required(SasParameter::Signature)?;
        Ok(Self { version, kind: SignedTable, parameters })
    }

    /// Returns the text that the signature covers.
    pub fn string_to_sign(&self, account: &str) -> String {
        use SasParameter as P;
        let table = self.parameters.text(P::TableName).to_ascii_lowercase();
        let mut signed = self.service_lines("table", account, &["/", &table]);
        for parameter in [P::StartPartitionKey, P::StartRowKey, P::EndPartitionKey, P::EndRowKey] {
            signed.push('\n');
            signed.push_str(self.parameters.text(parameter));
        }
        signed
    }

    /// Checks the signature against the account's keys.
    pub fn verify(&self, account: &str, keys: &[AccountKey]) -> Result<(), SasError> {
        self.parameters.check_signature(&self.string_to_sign(account), keys)
    }

    /// Returns the rights of the SAS. `policies` are those of its table, or empty if the SAS has no
    /// [`identifier`](Sas::identifier).
    pub fn grant(&self, policies: &StoredAccessPolicies) -> Result<TableGrant, SasError> {
        let (permissions, constraints) = self.service_grant(policies, TablePermissions::parse)?;
        Ok(TableGrant {
            table: self.parameters.text(SasParameter::TableName).to_owned(),
            permissions,
            constraints,
            keys: KeyRange {
                start: self.key_bound(SasParameter::StartPartitionKey, SasParameter::StartRowKey)?,
                end: self.key_bound(SasParameter::EndPartitionKey, SasParameter::EndRowKey)?,
            },
        })
    }

    /// An empty key bounds nothing, like an absent one: both sign the same text, so the holder of a token could
    /// replace one with the other.
    fn key_bound(&self, partition_key: SasParameter, row_key: SasParameter) -> Result<Option<KeyBound>, SasError> {
        match (self.parameters.value(partition_key), self.parameters.given(row_key)) {
            (None, Some(_)) => Err(SasError::Missing(partition_key)),
            (None | Some(""), None) => Ok(None),
            (Some(partition_key), row_key) => {
                Ok(Some(KeyBound { partition_key: partition_key.to_owned(), row_key: row_key.map(str::to_owned) }))
            }
        }
    }
}

impl TableGrant {
    /// Checks that the SAS is for this table; names of tables match in any case.
    pub fn check_table(&self, table: &str) -> Result<(), SasError> {
        if self.table.eq_ignore_ascii_case(table) { Ok(()) } else { Err(SasError::TableMismatch) }
    }

    /// Checks that the SAS grants all of the permissions.
    pub fn check_permissions(&self, needed: TablePermissions) -> Result<(), SasError> {
        if self.permissions.contains(needed) { Ok(()) } else { Err(SasError::PermissionMismatch) }
    }

    /// Checks the keys of a write. Reads outside the range are not errors: they find nothing.
    pub fn check_keys(&self, partition_key: &str, row_key: &str) -> Result<(), SasError> {
        if self.keys.contains(partition_key, row_key) { Ok(()) } else { Err(SasError::OutsideKeyRange) }
    }
}

service_sas_terms! {
    /// The terms of a [`TableSas`] to be signed.
    TableSasTerms {
        /// The name of the table.
        table: String, TablePermissions
    }
    /// The entities that the token is limited to; by default all.
    keys: KeyRange,
}

impl TableSasTerms {
    /// Signs the terms.
    pub fn sign(&self, account: &str, key: &AccountKey) -> Result<TableSas<'static>, SasTermsError> {
        use SasParameter as P;
        self.check_version(ServiceVersion::TABLE_SAS)?;
        let KeyRange { start, end } = &self.keys;
        let ends_empty = end.as_ref().is_some_and(|end| end.row_key.as_ref().unwrap_or(&end.partition_key).is_empty());
        if ends_empty {
            return Err(SasTermsError::EmptyEndKey);
        }
        let partition_key = |bound: &Option<KeyBound>| Some(bound.as_ref()?.partition_key.clone());
        let row_key = |bound: &Option<KeyBound>| bound.as_ref()?.row_key.clone();
        let parameters = self.parameters([
            (P::TableName, Some(self.table.clone())),
            (P::StartPartitionKey, partition_key(start)),
            (P::StartRowKey, row_key(start)),
            (P::EndPartitionKey, partition_key(end)),
            (P::EndRowKey, row_key(end)),
        ]);
        let sas = TableSas { version: self.version, kind: SignedTable, parameters };
        let string_to_sign = sas.string_to_sign(account);
        Ok(sas.signed(&string_to_sign, key))
    }
}

/// Either kind of SAS that the Table service accepts.
#[derive(Debug, Clone)]
pub enum TableServiceSas<'a> {
    /// The SAS of an account.
    Account(AccountSas<'a>),
    /// The SAS of one table.
    Table(TableSas<'a>),
}

impl<'a> TableServiceSas<'a> {
    /// Reads the SAS of a decoded query; `None` if the query has no signature.
    pub fn parse(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Option<Self>, SasError> {
        let Some(parameters) = SasParameters::collect(pairs)? else { return Ok(None) };
        Ok(Some(if parameters.is_account_sas() {
            Self::Account(AccountSas::parse(parameters)?)
        } else {
            Self::Table(TableSas::parse(parameters)?)
        }))
    }

    /// Returns `sv`, which is also the version of the request when the request names no other.
    pub const fn version(&self) -> ServiceVersion {
        match self {
            Self::Account(sas) => sas.version(),
            Self::Table(sas) => sas.version(),
        }
    }
}
