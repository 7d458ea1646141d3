//! Where a store is: in memory, in a folder, or in a database. `copy` and `export` read it from `--from` and `--to`.

use std::fmt;
use std::path::{Path, PathBuf};

use tablerock_kv_postgres::Target;

/// The folder inside `--location` that holds the data.
pub(crate) const DATA_FOLDER: &str = "tablerock-data";
/// Connections to a database. A copy has as many commits in progress.
const CONNECTIONS_MAX: usize = 32;
/// The cache of a store that `copy` or `export` opens.
pub(crate) const CACHE_BYTES: u64 = 128 << 20;

/// Where data is kept.
#[derive(Debug, Clone)]
pub(crate) enum StoreLocation {
    Memory,
    Folder(PathBuf),
    Database { target: Target, connections_max: usize },
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("in memory"),
            Self::Folder(data) => write!(f, "{}", data.display()),
            Self::Database { target, .. } => write!(f, "{target}"),
        }
    }
}

/// Parses the value of `--from` or `--to`.
pub(crate) fn parse(text: &str, flag: &str) -> Result<StoreLocation, String> {
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        let target = Target::parse(text).map_err(|error| format!("{flag}: {error}"))?;
        return Ok(StoreLocation::Database { target, connections_max: CONNECTIONS_MAX });
    }
    if text.contains("://") || text.contains("AccountName=") {
        return Err(format!(
            "{flag}: not a store; use the folder of --location or postgres://…, or, with copy, a complete connection string"
        ));
    }
    Ok(StoreLocation::Folder(Path::new(text).join(DATA_FOLDER)))
}

/// Parses the location of a store that must exist: a typo must not create a new, empty store.
pub(crate) fn parse_existing(text: &str, flag: &str) -> Result<StoreLocation, String> {
    let location = parse(text, flag)?;
    match &location {
        StoreLocation::Folder(data) if !data.is_dir() => Err(format!("{flag}: {} does not exist", data.display())),
        _ => Ok(location),
    }
}

/// Returns the accounts to copy or export: all that the store has, or those of `--account`, which must be there.
pub(crate) fn select_accounts(present: Vec<String>, wanted: &[String]) -> Result<Vec<String>, String> {
    if let Some(unknown) = wanted.iter().find(|account| !present.contains(account)) {
        let named = if present.is_empty() { "none".to_owned() } else { present.join(", ") };
        return Err(format!("account {unknown} not found in the store; accounts present: {named}"));
    }
    Ok(if wanted.is_empty() { present } else { wanted.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_folder_or_a_database_and_nothing_else() {
        assert!(
            matches!(parse("/srv/tables", "--from"), Ok(StoreLocation::Folder(data)) if data.ends_with(DATA_FOLDER))
        );
        assert!(matches!(parse("postgres://u@h/d", "--to"), Ok(StoreLocation::Database { .. })));
        for text in ["http://127.0.0.1:10002", "AccountName=a;AccountKey=b", "postgres://"] {
            let refused = parse(text, "--from").err();
            assert!(text == "postgres://" || refused.is_some_and(|why| why.starts_with("--from")), "{text}");
        }
        assert!(parse_existing("/no/such/folder", "--from").is_err());
    }

    #[test]
    fn an_unknown_account_is_named_with_those_that_are_there() {
        let error = select_accounts(vec!["one".to_owned()], &["two".to_owned()]).unwrap_err();
        assert!(error.contains("two") && error.ends_with("one"), "{error}");
        assert_eq!(select_accounts(vec!["one".to_owned()], &[]), Ok(vec!["one".to_owned()]));
    }
}
