//! The checked-in list of a target's known differences.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// Case names, each with the reason why this target fails it.
#[derive(Debug, Default, Deserialize)]
pub struct Known {
    #[serde(default)]
    pub cases: BTreeMap<String, String>,
}

impl Known {
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    pub fn reason(&self, case: &str) -> Option<&str> {
        self.cases.get(case).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_found_by_case() {
        let known: Known = toml::from_str("[cases]\na_case = \"because\"").unwrap();
        assert_eq!(known.reason("a_case"), Some("because"));
        assert_eq!(known.reason("another"), None);
    }

    #[test]
    fn the_checked_in_lists_name_existing_cases() {
        for target in ["tablerock", "azurite"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("known").join(target).join("raw.toml");
            let known = Known::read(&path).unwrap();
            for name in known.cases.keys() {
                assert!(crate::cases::all().iter().any(|case| case.name == name), "{target} lists {name}");
            }
        }
    }
}
