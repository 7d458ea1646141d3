//! Names of tables.

use std::fmt;

use super::metrics_table;
use crate::{ErrorCode, ServiceError, limits};

/// A table's name as it was spelled: letters and digits, a letter first, 3 to 63 of them. Two spellings
/// that differ in case only name the same table, which [`TableName::folded`] is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName(String);

impl TableName {
    /// Takes a name if it is one.
    pub fn parse(name: &str) -> Result<Self, ServiceError> {
        Self::check(name)?;
        Ok(Self(name.to_owned()))
    }

    /// Checks a name as Create Table does.
    pub fn check(name: &str) -> Result<(), ServiceError> {
        if !limits::TABLE_NAME_CHARS.contains(&name.chars().count()) {
            return Err(ServiceError::with_message(
                ErrorCode::OutOfRangeInput,
                "The specified resource name length is not within the permissible limits.",
            ));
        }
        let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic());
        if !starts_well || !name.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(ErrorCode::InvalidResourceName.into());
        }
        if name.eq_ignore_ascii_case("tables") {
            return Err(ErrorCode::InvalidInput.into());
        }
        Ok(())
    }

    /// Returns the name, as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The one form under which all spellings meet.
    pub fn folded(&self) -> String {
        Self::fold(&self.0)
    }

    /// The same for a name that is not checked.
    pub fn fold(name: &str) -> String {
        let folded = name.to_ascii_lowercase();
        if folded.starts_with('$') { metrics_table::newer_name(folded) } else { folded }
    }

    /// The name of a table of Storage Analytics, which no client can create.
    pub(super) fn of_analytics(name: String) -> Self {
        Self(name)
    }

    /// Whether a name is kept for tables of Storage Analytics.
    pub fn is_of_analytics(name: &str) -> bool {
        name.starts_with('$')
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(name: &str) -> Option<ErrorCode> {
        TableName::parse(name).err().map(|error| error.code)
    }

    #[test]
    fn names_are_checked_as_the_service_does() {
        assert_eq!(code("abc"), None);
        assert_eq!(code(&"a".repeat(63)), None);
        assert_eq!(code("ab"), Some(ErrorCode::OutOfRangeInput));
        assert_eq!(code(""), Some(ErrorCode::OutOfRangeInput));
        assert_eq!(code(&"a".repeat(64)), Some(ErrorCode::OutOfRangeInput));
        assert_eq!(code("1abc"), Some(ErrorCode::InvalidResourceName));
        assert_eq!(code("my-table"), Some(ErrorCode::InvalidResourceName));
        assert_eq!(code("tabellé"), Some(ErrorCode::InvalidResourceName));
        assert_eq!(code("TABLES"), Some(ErrorCode::InvalidInput));
    }
}
