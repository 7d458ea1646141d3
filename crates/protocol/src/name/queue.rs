//! Names of queues.

use std::fmt;

use super::lower_case;
use crate::ServiceError;

/// A queue's name: 3 to 63 lower-case letters, digits and single hyphens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueName(String);

impl QueueName {
    /// Parses and checks a name.
    pub fn parse(name: &str) -> Result<Self, ServiceError> {
        lower_case::check(name)?;
        Ok(Self(name.to_owned()))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
