//! An entity as a request carries it, and the rules that it has to keep before anything is stored.

use std::borrow::Cow;

use crate::{DateTime, ErrorCode, ServiceError, Value, identifier, limits, utf16_len};

/// The name of the partition key.
pub const PARTITION_KEY: &str = "PartitionKey";
/// The name of the row key.
pub const ROW_KEY: &str = "RowKey";
/// The name of the time of the last change.
pub const TIMESTAMP: &str = "Timestamp";

/// A property with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Property<'a> {
    /// The name.
    pub name: Cow<'a, str>,
    /// The value.
    pub value: Value<'a>,
}

/// The body of a write: keys if it had them, and properties without nulls and without system ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EntityBody<'a> {
    /// The partition key, if the body has one.
    pub partition_key: Option<Cow<'a, str>>,
    /// The row key, if the body has one.
    pub row_key: Option<Cow<'a, str>>,
    /// The properties other than the keys, in their order.
    pub properties: Vec<Property<'a>>,
}

impl EntityBody<'_> {
    /// Checks names, values and their number. The size is checked where the whole entity is known, but it comes before the
    /// size of a property that is too large.
    pub fn check(&self) -> Result<(), ServiceError> {
        for property in &self.properties {
            check_name(&property.name)?;
        }
        self.check_unique()?;
        if self.properties.len() > limits::ENTITY_PROPERTIES_MAX {
            return Err(ErrorCode::TooManyProperties.into());
        }
        self.properties.iter().try_for_each(|property| check_value(&property.name, &property.value)).map_err(|error| {
            let is_too_large = error.code == ErrorCode::PropertyValueTooLarge && self.size() > limits::ENTITY_BYTES_MAX;
            if is_too_large { ErrorCode::EntityTooLarge.into() } else { error }
        })
    }

    /// The bytes that the entity takes by the service's formula, as far as the body shows it.
    fn size(&self) -> usize {
        let [partition_key, row_key] =
            [&self.partition_key, &self.row_key].map(|key| key.as_deref().unwrap_or_default());
        let properties = self.properties.iter().map(|property| property_size(&property.name, &property.value));
        keys_size(partition_key, row_key) + properties.sum::<usize>()
    }

    fn check_unique(&self) -> Result<(), ServiceError> {
        // Sorting a handful of names is cheaper than hashing them.
        let mut names: Vec<&str> = self.properties.iter().map(|property| property.name.as_ref()).collect();
        names.sort_unstable();
        let unique = names.is_sorted_by(|left, right| left < right);
        if unique { Ok(()) } else { Err(ErrorCode::DuplicatePropertiesSpecified.into()) }
    }
}

/// Checks the name of a property: an identifier of C#.
pub fn check_name(name: &str) -> Result<(), ServiceError> {
    if utf16_len(name) > limits::PROPERTY_NAME_UNITS_MAX {
        return Err(ErrorCode::PropertyNameTooLong.into());
    }
    let mut chars = name.chars();
    let starts_well = chars.next().is_some_and(identifier::is_start);
    if starts_well && chars.all(identifier::is_part) { Ok(()) } else { Err(ErrorCode::PropertyNameInvalid.into()) }
}

fn check_value(name: &str, value: &Value<'_>) -> Result<(), ServiceError> {
    let too_large = match value {
        // A text of n bytes never has more than n code units.
        Value::String(text) => text.len() > limits::STRING_UNITS_MAX && utf16_len(text) > limits::STRING_UNITS_MAX,
        Value::Binary(bytes) => bytes.len() > limits::BINARY_BYTES_MAX,
        Value::DateTime(date) if *date < DateTime::MIN_STORED => {
            return Err(ServiceError::parameter_out_of_range(name, &date.to_message_form()));
        }
        _ => false,
    };
    if too_large { Err(ErrorCode::PropertyValueTooLarge.into()) } else { Ok(()) }
}

/// Checks a key that came in an insert's body.
pub fn check_body_key(name: &str, key: &str) -> Result<(), ServiceError> {
    if key.chars().any(is_forbidden_in_key) {
        return Err(ServiceError::parameter_out_of_range(name, key));
    }
    check_key_length(key)
}

/// Checks a key that came in the URL of a write. The service words it differently there.
pub fn check_url_key(key: &str) -> Result<(), ServiceError> {
    if key.chars().any(is_forbidden_in_key) {
        return Err(ErrorCode::OutOfRangeInput.into());
    }
    check_key_length(key)
}

fn check_key_length(key: &str) -> Result<(), ServiceError> {
    if utf16_len(key) > limits::KEY_UNITS_MAX { Err(ErrorCode::PropertyValueTooLarge.into()) } else { Ok(()) }
}

fn is_forbidden_in_key(char: char) -> bool {
    matches!(char, '/' | '\\' | '#' | '?' | '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// The bytes that keys take by the service's formula, before any property.
pub fn keys_size(partition_key: &str, row_key: &str) -> usize {
    4 + 2 * (utf16_len(partition_key) + utf16_len(row_key))
}

/// The bytes that one property takes by the service's formula.
pub fn property_size(name: &str, value: &Value<'_>) -> usize {
    let value_size = match value {
        Value::String(text) => 2 * utf16_len(text) + 4,
        Value::Binary(bytes) => bytes.len() + 4,
        Value::Int32(_) => 4,
        Value::Int64(_) | Value::Double(_) | Value::DateTime(_) => 8,
        Value::Guid(_) => 16,
        Value::Boolean(_) => 1,
    };
    8 + 2 * utf16_len(name) + value_size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule_for_identifiers() {
        for good in ["a", "_", "Età", "日本", "ชื่อ", "e\u{301}", "Ⅷ", "a1_", &"x".repeat(255)] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", "1a", "a-b", "a b", "a.b", "a@b", "x²", "x½", "\u{301}a"] {
            assert_eq!(check_name(bad).unwrap_err().code, ErrorCode::PropertyNameInvalid, "{bad}");
        }
        assert_eq!(check_name(&"x".repeat(256)).unwrap_err().code, ErrorCode::PropertyNameTooLong);
    }

    #[test]
    fn forbidden_characters_are_named_in_the_body_and_not_in_the_url() {
        let error = check_body_key(PARTITION_KEY, "a/b").unwrap_err();
        assert_eq!(error.message, "The 'PartitionKey' parameter of value 'a/b' is out of range.");
        assert_eq!(check_url_key("a#b").unwrap_err().code, ErrorCode::OutOfRangeInput);
        assert!(check_url_key("o'b r+(é)%").is_ok());
    }

    #[test]
    fn values_pass_at_the_limit_and_fail_above() {
        let text = |units: usize| check_value("p", &Value::String("é".repeat(units).into()));
        assert!(text(limits::STRING_UNITS_MAX).is_ok());
        assert_eq!(text(limits::STRING_UNITS_MAX + 1).unwrap_err().code, ErrorCode::PropertyValueTooLarge);
        let bytes = |length: usize| check_value("p", &Value::Binary(vec![0; length].into()));
        assert!(bytes(limits::BINARY_BYTES_MAX).is_ok());
        assert!(bytes(limits::BINARY_BYTES_MAX + 1).is_err());
    }
}
