//! The plaintext of `_ClientEncryptionMetadata2`: the names of the encrypted properties.

use super::error::{EncryptionError, damaged};

/// Returns a JSON list, as the libraries for .NET and Python write it.
pub(super) fn render(names: &[&str]) -> String {
    serde_json::to_string(names).expect("a list of names is JSON")
}

/// Parses a list in either form, because the name of the library can be missing or wrong. The forms are distinct: names
/// have no quotation marks.
pub(super) fn parse(text: &str) -> Result<Vec<String>, EncryptionError> {
    let names = serde_json::from_str(text).ok().or_else(|| parse_java(text));
    names.ok_or_else(|| damaged("its list of encrypted properties is invalid"))
}

/// Parses `[Secret, Other]`, the format of a Java list. Names have neither commas nor spaces.
fn parse_java(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    if inner.contains('"') {
        return None;
    }
    let names = inner.split(',').map(str::trim).filter(|name| !name.is_empty());
    Some(names.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        for text in [r#"["Secret","Other"]"#, r#"["Secret", "Other"]"#, "[Secret, Other]", "[Secret,Other]"] {
            assert_eq!(parse(text).unwrap(), ["Secret", "Other"], "{text}");
        }
        assert!(parse("[]").unwrap().is_empty());
        assert_eq!(parse("[Secret]").unwrap(), ["Secret"]);
        for text in ["", "Secret", "[Secret", r#"["Secret""#, r#"["Secret", 1]"#, "[a\"b]"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
