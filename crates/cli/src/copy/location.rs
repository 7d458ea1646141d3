//! Parses `--from` and `--to`: a store, or the endpoint of an account.

use crate::store_location::{self, StoreLocation};

use super::account::WireAccount;

/// The source or the target of a copy.
#[derive(Debug)]
pub(super) enum Location {
    Store(StoreLocation),
    Account(Box<WireAccount>),
}

impl Location {
    pub(super) fn parse(text: &str, flag: &str) -> Result<Self, String> {
        match is_connection_string(text) {
            true => WireAccount::connect(text, flag).map(|account| Self::Account(Box::new(account))),
            false => store_location::parse(text, flag).map(Self::Store),
        }
    }

    /// Parses the source, which must exist: a typo must not create a new, empty store.
    pub(super) fn parse_existing(text: &str, flag: &str) -> Result<Self, String> {
        match is_connection_string(text) {
            true => Self::parse(text, flag),
            false => store_location::parse_existing(text, flag).map(Self::Store),
        }
    }
}

/// Keys of connection strings, which folder names do not contain.
const NAMES: [&str; 10] = [
    "UseDevelopmentStorage",
    "DevelopmentStorageProxyUri",
    "DefaultEndpointsProtocol",
    "EndpointSuffix",
    "AccountName",
    "AccountKey",
    "SharedAccessSignature",
    "BlobEndpoint",
    "QueueEndpoint",
    "TableEndpoint",
];

/// Returns whether any part is such a pair. Text with a key must not count as a folder, whose name is printed.
fn is_connection_string(text: &str) -> bool {
    let names = text.split(';').filter_map(|part| part.split_once('=')).map(|(name, _)| name.trim());
    names.into_iter().any(|name| NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// Returns a printable name of a store, without secrets.
pub(super) fn store_label(location: &StoreLocation) -> String {
    match location {
        StoreLocation::Memory => "memory".to_owned(),
        StoreLocation::Folder(data) => std::path::absolute(data).unwrap_or_else(|_| data.clone()).display().to_string(),
        StoreLocation::Database { target, .. } => target.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_store_or_a_connection_string() {
        assert!(matches!(Location::parse("/srv/tables", "--to"), Ok(Location::Store(_))));
        assert!(matches!(Location::parse("postgres://u@h/d", "--to"), Ok(Location::Store(_))));
        for text in [
            "UseDevelopmentStorage=true",
            "accountname=a;AccountKey=a2V5",
            "TableEndpoint=http://h/a;SharedAccessSignature=sv=1",
        ] {
            assert!(matches!(Location::parse(text, "--to"), Ok(Location::Account(_))), "{text}");
        }
        for text in [
            "AccountName=a;AccountKey=c2VjcmV0?",
            "BlobEndpoint=http://h/a?sig=c2VjcmV0;SharedAccessSignature=sig=c2VjcmV0",
        ] {
            let error = Location::parse(text, "--from").unwrap_err();
            assert!(error.starts_with("--from") && !error.contains("c2VjcmV0"), "{error}");
        }
    }
}
