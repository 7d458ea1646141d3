//! What `--from` and `--to` name: a store, or the endpoint of an account.

use crate::places;
use crate::settings::DataPlace;

use super::account::WireAccount;

/// One end of a copy.
#[derive(Debug)]
pub(super) enum End {
    Store(DataPlace),
    Endpoint(Box<WireAccount>),
}

impl End {
    pub(super) fn parse(text: &str, flag: &str) -> Result<Self, String> {
        match is_connection_string(text) {
            true => WireAccount::connect(text, flag).map(|account| Self::Endpoint(Box::new(account))),
            false => places::parse(text, flag).map(Self::Store),
        }
    }

    /// The same for an end that is read: a typo must not become a new, empty store.
    pub(super) fn parse_existing(text: &str, flag: &str) -> Result<Self, String> {
        match is_connection_string(text) {
            true => Self::parse(text, flag),
            false => places::parse_existing(text, flag).map(Self::Store),
        }
    }
}

/// Names of pairs that connection strings have and folders have not.
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

/// Whether any part is such a pair: what holds a key must not pass for a folder, whose name is shown.
fn is_connection_string(text: &str) -> bool {
    let names = text.split(';').filter_map(|part| part.split_once('=')).map(|(name, _)| name.trim());
    names.into_iter().any(|name| NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// A store's name for people, without secrets.
pub(super) fn store_label(place: &DataPlace) -> String {
    match place {
        DataPlace::Memory => "memory".to_owned(),
        DataPlace::Folder(data) => std::path::absolute(data).unwrap_or_else(|_| data.clone()).display().to_string(),
        DataPlace::Database { target, .. } => target.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_store_or_a_connection_string() {
        assert!(matches!(End::parse("/srv/tables", "--to"), Ok(End::Store(_))));
        assert!(matches!(End::parse("postgres://u@h/d", "--to"), Ok(End::Store(_))));
        for text in [
            "UseDevelopmentStorage=true",
            "accountname=a;AccountKey=a2V5",
            "TableEndpoint=http://h/a;SharedAccessSignature=sv=1",
        ] {
            assert!(matches!(End::parse(text, "--to"), Ok(End::Endpoint(_))), "{text}");
        }
        for text in [
            "AccountName=a;AccountKey=c2VjcmV0?",
            "BlobEndpoint=http://h/a?sig=c2VjcmV0;SharedAccessSignature=sig=c2VjcmV0",
        ] {
            let error = End::parse(text, "--from").unwrap_err();
            assert!(error.starts_with("--from") && !error.contains("c2VjcmV0"), "{error}");
        }
    }
}
