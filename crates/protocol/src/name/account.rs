//! Names of accounts.

use std::fmt;

use crate::limits;

/// The suffix by which an account's read-only secondary endpoint is addressed.
pub const SECONDARY_SUFFIX: &str = "-secondary";

/// An account's name: 3 to 24 lower-case letters and digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccountName(String);

impl AccountName {
    /// Parses a name; returns `None` if no account can have it.
    pub fn parse(name: &str) -> Option<Self> {
        let fits = limits::ACCOUNT_NAME_CHARS.contains(&name.len());
        let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        (fits && plain).then(|| Self(name.to_owned()))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AccountName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_names_are_lower_case_letters_and_digits() {
        assert!(AccountName::parse("devstoreaccount1").is_some());
        for bad in ["ab", "Account", "an-account", &"a".repeat(25)] {
            assert!(AccountName::parse(bad).is_none(), "{bad}");
        }
    }
}
