//! The service SAS of one table: how it is read and verified.

use super::sas_constraints::SasTerms;
use super::{AccountKey, KeyBound, KeyRange, SasConstraints, SasError, SasParameter, SasParameters, TablePermissions};
use crate::ServiceVersion;
use crate::xml::StoredAccessPolicies;

/// A table's SAS as its client presents it. Nothing in it counts before [`TableSas::verify`] has passed.
#[derive(Debug, Clone)]
pub struct TableSas<'a> {
    version: ServiceVersion,
    parameters: SasParameters<'a>,
}

/// What a verified SAS allows, with its stored access policy taken into account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableGrant {
    /// The table, as the token spells it.
    pub table: String,
    pub permissions: TablePermissions,
    pub constraints: SasConstraints,
    pub keys: KeyRange,
}

impl<'a> TableSas<'a> {
    /// Takes the parameters of a request that is not signed by an account SAS.
    pub fn parse(parameters: SasParameters<'a>) -> Result<Self, SasError> {
        if parameters.is_account_sas() {
            return Err(SasError::Ambiguous);
        }
        let version = parameters.version(ServiceVersion::TABLE_SAS)?;
        parameters.required(SasParameter::TableName)?;
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
    pub fn string_to_sign(&self, account: &str) -> String {
        use SasParameter as P;
        let mut signed = String::with_capacity(192);
        self.parameters.append_lines(&[P::Permissions, P::Start, P::Expiry], &mut signed);
        self.append_canonicalized_resource(account, &mut signed);
        signed.push('\n');
        self.parameters.append_lines(&[P::Identifier], &mut signed);
        if self.version >= ServiceVersion::ACCOUNT_SAS {
            self.parameters.append_lines(&[P::Ip, P::Protocol], &mut signed);
        }
        self.parameters
            .append_lines(&[P::Version, P::StartPartitionKey, P::StartRowKey, P::EndPartitionKey], &mut signed);
        signed.push_str(self.parameters.text(P::EndRowKey));
        signed
    }

    fn append_canonicalized_resource(&self, account: &str, out: &mut String) {
        let prefix = if self.version >= ServiceVersion::SAS_SERVICE_PREFIX { "/table/" } else { "/" };
        let table = self.parameters.text(SasParameter::TableName).to_ascii_lowercase();
        for piece in [prefix, account, "/", &table] {
            out.push_str(piece);
        }
    }

    /// Checks the signature against the account's keys.
    pub fn verify(&self, account: &str, keys: &[AccountKey]) -> Result<(), SasError> {
        self.parameters.check_signature(&self.string_to_sign(account), keys)
    }

    /// What the SAS allows. `policies` are those of its table; without an [`identifier`](Self::identifier) they
    /// play no part and may be empty.
    pub fn grant(&self, policies: &StoredAccessPolicies) -> Result<TableGrant, SasError> {
        let terms = SasTerms::merge(&self.parameters, policies)?;
        let permissions = TablePermissions::parse(terms.permissions);
        Ok(TableGrant {
            table: self.parameters.text(SasParameter::TableName).to_owned(),
            permissions: permissions.ok_or(SasError::Malformed(SasParameter::Permissions))?,
            constraints: SasConstraints::read(&self.parameters, terms.start, terms.expiry)?,
            keys: KeyRange {
                start: self.key_bound(SasParameter::StartPartitionKey, SasParameter::StartRowKey)?,
                end: self.key_bound(SasParameter::EndPartitionKey, SasParameter::EndRowKey)?,
            },
        })
    }

    /// An empty key bounds nothing, as if it had been left out: the signature does not tell one from the other,
    /// so whoever holds the token could leave it out.
    fn key_bound(&self, partition_key: SasParameter, row_key: SasParameter) -> Result<Option<KeyBound>, SasError> {
        match (self.parameters.value(partition_key), self.parameters.given(row_key)) {
            (None, Some(_)) => Err(SasError::Missing(partition_key)),
            (None | Some(""), None) => Ok(None),
            (Some(partition_key), row_key) => {
                Ok(Some(KeyBound { partition_key: partition_key.to_owned(), row_key: row_key.map(str::to_owned) }))
            }
        }
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

impl TableGrant {
    /// Names of tables match in any case.
    pub fn check_table(&self, table: &str) -> Result<(), SasError> {
        if self.table.eq_ignore_ascii_case(table) { Ok(()) } else { Err(SasError::TableMismatch) }
    }

    pub fn check_permissions(&self, needed: TablePermissions) -> Result<(), SasError> {
        if self.permissions.contains(needed) { Ok(()) } else { Err(SasError::PermissionMismatch) }
    }

    /// For writes: a read of what is outside the range finds nothing instead of being refused.
    pub fn check_keys(&self, partition_key: &str, row_key: &str) -> Result<(), SasError> {
        if self.keys.contains(partition_key, row_key) { Ok(()) } else { Err(SasError::OutsideKeyRange) }
    }
}
