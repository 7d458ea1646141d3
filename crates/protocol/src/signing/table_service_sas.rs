//! Which kind of SAS a request to the Table service carries.

use super::{AccountSas, SasError, SasParameters, TableSas};
use crate::ServiceVersion;

/// Either kind of SAS that the Table service takes.
#[derive(Debug, Clone)]
pub enum TableServiceSas<'a> {
    Account(AccountSas<'a>),
    Table(TableSas<'a>),
}

impl<'a> TableServiceSas<'a> {
    /// Reads the SAS of a decoded query; `None` when the query has no signature.
    pub fn parse(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Option<Self>, SasError> {
        let Some(parameters) = SasParameters::collect(pairs)? else { return Ok(None) };
        let sas = if parameters.is_account_sas() {
            Self::Account(AccountSas::parse(parameters)?)
        } else {
            Self::Table(TableSas::parse(parameters)?)
        };
        Ok(Some(sas))
    }

    /// `sv`, which is also the version of the request when it names no other.
    pub const fn version(&self) -> ServiceVersion {
        match self {
            Self::Account(sas) => sas.version(),
            Self::Table(sas) => sas.version(),
        }
    }
}
