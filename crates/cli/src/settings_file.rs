//! The settings file: TOML with the long flags as keys.

use std::path::Path;

use crate::arguments::ServeArguments;

/// Reads a settings file.
pub(crate) fn read_file(path: &Path) -> Result<ServeArguments, String> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}; check --config"))?;
    parse_file(&text).map_err(|error| format!("{shown} is not a valid settings file: {error}"))
}

/// Parses a settings file. An unknown key is an error, so that a typo does not go unnoticed. Errors name the line and never
/// its content, which may be a key or a password.
pub(crate) fn parse_file(text: &str) -> Result<ServeArguments, String> {
    toml::from_str(text).map_err(|error| {
        let message = without_value(error.message().lines().next().unwrap_or_default());
        match error.span().and_then(|span| text.get(..span.start)) {
            Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
            None => message,
        }
    })
}

/// Removes the value from a message of the TOML parser.
fn without_value(message: &str) -> String {
    if !["invalid type", "invalid value", "unknown variant"].iter().any(|begin| message.starts_with(begin)) {
        return message.to_owned();
    }
    let expected =
        message.rsplit_once(", expected ").map_or_else(String::new, |(_, what)| format!(": expected {what}"));
    format!("invalid value for this key{expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_in_the_file_is_named() {
        assert!(parse_file("table-port = 1234\nsilent = true").is_ok());
        let error = parse_file("silent = true\n\ntabel-port = 1234").unwrap_err();
        assert!(error.starts_with("line 3: ") && error.contains("tabel-port"), "{error}");
        let error = parse_file("log-format = \"yaml\"").unwrap_err();
        assert_eq!(error, "line 1: invalid value for this key: expected `text` or `json`");
    }

    #[test]
    fn a_mistake_in_the_file_shows_no_secrets() {
        for line in [
            "acounts = \"team:c2VjcmV0\"",
            "accounts = \"team:c2VjcmV0",
            "accounts = team:c2VjcmV0",
            "accounts = \"team:c2VjcmV0\" # and\naccounts = \"team:c2VjcmV0\"",
            "table-port = \"c2VjcmV0\"",
            "log-format = \"c2VjcmV0\"",
            "accounts = [\"team:c2VjcmV0\"]",
            "accounts = { team = \"c2VjcmV0\" }",
            "store = postgres://user:c2VjcmV0@host/data",
            "store = 'postgres://user:c2VjcmV0@host/data",
            "accounts = \"\\c2VjcmV0\"",
            "c2VjcmV0==",
        ] {
            let error = parse_file(&format!("silent = true\n{line}\n")).unwrap_err();
            assert!(error.starts_with("line 2: ") || error.starts_with("line 3: "), "{line}: {error}");
            assert!(!error.contains("c2VjcmV0"), "{line}: {error}");
        }
    }
}
