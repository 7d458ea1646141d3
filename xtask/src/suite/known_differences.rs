//! The checked-in lists of what a target is known to do differently from Azure.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;

use crate::Result;

/// Case names, each with the reason.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Known {
    #[serde(default)]
    pub(crate) cases: BTreeMap<String, String>,
    /// Those that fail only when something happens to fall together: it may be a matter of how quick the machine is. For
    /// targets that are not ours to mend.
    #[serde(default)]
    pub(crate) sometimes: BTreeMap<String, String>,
}

impl Known {
    /// A target without a list has no known differences.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|error| format!("{}: {error}", path.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    fn parse(text: &str) -> Result<Self> {
        let known: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        match known.sometimes.keys().find(|case| known.cases.contains_key(*case)) {
            Some(case) => Err(format!("{case} differs either always or sometimes")),
            None => Ok(known),
        }
    }

    /// Every case that may differ, with the reason.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&String, &String)> {
        self.cases.iter().chain(&self.sometimes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{Suite, Target};
    use crate::workspace::Workspace;

    #[test]
    fn our_own_cases_always_pass_or_never() {
        let workspace = Workspace::find().unwrap();
        for suite in Suite::ALL {
            let known = Known::read(&workspace.known(Target::Tablerock, suite)).unwrap();
            assert!(known.sometimes.is_empty(), "{}", suite.name());
        }
    }

    #[test]
    fn a_case_is_listed_once() {
        assert_eq!(Known::parse("[cases]\na = \"x\"\n[sometimes]\nb = \"y\"").unwrap().all().count(), 2);
        assert!(Known::parse("[cases]\na = \"x\"\n[sometimes]\na = \"y\"").is_err());
    }
}
