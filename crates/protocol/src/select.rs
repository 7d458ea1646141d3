//! `$select`: which properties come back.

use crate::{ErrorCode, ServiceError, limits};

/// A projection. `*`, or no parameter at all, means every property.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Select {
    names: Option<Vec<String>>,
    /// As the client wrote it, for `odata.metadata`.
    text: String,
}

impl Select {
    /// Parses `$select`; `None` selects all properties.
    pub fn parse(text: Option<&str>) -> Result<Self, ServiceError> {
        let Some(text) = text else { return Ok(Self::default()) };
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
        if names.len() > limits::SELECT_NAMES_MAX {
            return Err(ErrorCode::InvalidInput.into());
        }
        if names.iter().any(|name| name == "*") {
            return Ok(Self::default());
        }
        let mut unique: Vec<String> = Vec::with_capacity(names.len());
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            if !unique.contains(&name) {
                unique.push(name);
            }
        }
        Ok(Self { names: Some(unique), text: text.to_owned() })
    }

    /// The selected names; `None` means all.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Returns whether the property is selected.
    pub fn includes(&self, name: &str) -> bool {
        self.names.as_ref().is_none_or(|names| names.iter().any(|selected| selected == name))
    }

    /// The suffix of `odata.metadata`: `&$select=…` with spaces encoded, or nothing.
    pub fn metadata_suffix(&self) -> String {
        match self.names {
            Some(_) => format!("&$select={}", self.text.replace(' ', "%20")),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_trimmed_and_unique() {
        let select = Select::parse(Some("age, sex,age")).unwrap();
        assert_eq!(select.names(), Some(["age".to_owned(), "sex".to_owned()].as_slice()));
        assert_eq!(select.metadata_suffix(), "&$select=age,%20sex,age");
        assert!(select.includes("sex") && !select.includes("Age"));
    }

    #[test]
    fn star_and_absence_mean_everything() {
        for text in [None, Some("*"), Some("a,*")] {
            let select = Select::parse(text).unwrap();
            assert!(select.names().is_none() && select.includes("anything"));
            assert_eq!(select.metadata_suffix(), "");
        }
    }
}
