//! Stores as `copy` and `export` are told of them: a folder, or the URL of a database.

use std::path::Path;
use std::sync::Arc;

use tablerock_kv::{Clock, Engine};
use tablerock_kv_postgres::Target;

use crate::serve;
use crate::settings::{DATA_FOLDER, DataPlace};

/// Connections to a database. A copy has as many commits under way.
const CONNECTIONS_MAX: usize = 32;
const CACHE_BYTES: u64 = 128 << 20;

/// What is behind `--from` or `--to`.
pub(crate) fn parse(text: &str, flag: &str) -> Result<DataPlace, String> {
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        let target = Target::parse(text).map_err(|error| format!("{flag}: {error}"))?;
        return Ok(DataPlace::Database { target, connections_max: CONNECTIONS_MAX });
    }
    if text.contains("://") || text.contains("AccountName=") {
        return Err(format!(
            "{flag}: this is no store: give the folder of --location, or postgres://…; an endpoint is named by a whole \
             connection string, for copy only"
        ));
    }
    Ok(DataPlace::Folder(Path::new(text).join(DATA_FOLDER)))
}

/// A place that has to be there already: a typo must not become a new, empty store.
pub(crate) fn parse_existing(text: &str, flag: &str) -> Result<DataPlace, String> {
    let place = parse(text, flag)?;
    match &place {
        DataPlace::Folder(data) if !data.is_dir() => Err(format!("{flag}: there is no {}", data.display())),
        _ => Ok(place),
    }
}

/// What opening may do to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Prepare it if it is new.
    MayCreate,
    /// Nothing: it is read, and what is not there is a mistake.
    Existing,
}

pub(crate) async fn open(place: &DataPlace, opening: Opening) -> Result<(Arc<dyn Engine>, Arc<dyn Clock>), String> {
    serve::open_engine(place, CACHE_BYTES, opening).await
}

/// The accounts of a store that are wanted: all that there are, or those named, which have to be there.
pub(crate) fn chosen(present: Vec<String>, wanted: &[String]) -> Result<Vec<String>, String> {
    if let Some(unknown) = wanted.iter().find(|account| !present.contains(account)) {
        let named = if present.is_empty() { "no account".to_owned() } else { present.join(", ") };
        return Err(format!("the account {unknown} has nothing there; there is {named}"));
    }
    Ok(if wanted.is_empty() { present } else { wanted.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_folder_or_a_database_and_nothing_else() {
        assert!(matches!(parse("/srv/tables", "--from"), Ok(DataPlace::Folder(data)) if data.ends_with(DATA_FOLDER)));
        assert!(matches!(parse("postgres://u@h/d", "--to"), Ok(DataPlace::Database { .. })));
        for text in ["http://127.0.0.1:10002", "AccountName=a;AccountKey=b", "postgres://"] {
            let refused = parse(text, "--from").err();
            assert!(text == "postgres://" || refused.is_some_and(|why| why.starts_with("--from")), "{text}");
        }
        assert!(parse_existing("/no/such/folder", "--from").is_err());
    }
}
