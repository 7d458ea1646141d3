//! The text in `_ClientEncryptionMetadata2` before it is encrypted: which properties are.

use super::cipher::Flavour;
use super::error::{EncryptionError, damaged};

/// A JSON list, as all but Java's library write it.
pub(super) fn render(names: &[&str]) -> String {
    serde_json::to_string(names).expect("a list of names is JSON")
}

pub(super) fn parse(text: &str, flavour: Flavour) -> Result<Vec<String>, EncryptionError> {
    let names = match flavour {
        Flavour::DotNet => serde_json::from_str(text).ok(),
        Flavour::Java => parse_java(text),
    };
    names.ok_or_else(|| damaged("its list of encrypted properties"))
}

/// `[Secret, Other]`: what a Java list prints. Names of properties hold neither commas nor blanks.
fn parse_java(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let names = inner.split(',').map(str::trim).filter(|name| !name.is_empty());
    Some(names.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        for (text, flavour) in [
            (r#"["Secret","Other"]"#, Flavour::DotNet),
            (r#"["Secret", "Other"]"#, Flavour::DotNet),
            ("[Secret, Other]", Flavour::Java),
            ("[Secret,Other]", Flavour::Java),
        ] {
            assert_eq!(parse(text, flavour).unwrap(), ["Secret", "Other"], "{text}");
        }
        assert!(parse("[]", Flavour::DotNet).unwrap().is_empty());
        assert!(parse("[]", Flavour::Java).unwrap().is_empty());
        assert!(parse("[Secret]", Flavour::DotNet).is_err());
        assert!(parse("Secret", Flavour::Java).is_err());
    }
}
