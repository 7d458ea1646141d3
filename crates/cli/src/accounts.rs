//! Parses `--accounts`: `name:key[:key2];name2:key…`, the form of `AZURITE_ACCOUNTS`.

use tablerock_protocol::AccountName;
use tablerock_protocol::signing::AccountKey;
use tablerock_server::Account;

/// The account of `UseDevelopmentStorage=true`.
pub(crate) const DEVELOPMENT_NAME: &str = "devstoreaccount1";
/// Its key, which is public.
pub(crate) const DEVELOPMENT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// The size of a key below which the server warns: that of the hash that signs.
pub(crate) const KEY_BYTES_MIN: usize = 32;

/// The accounts of a list, and their keys that are easy to guess.
#[derive(Debug)]
pub(crate) struct AccountList {
    pub(crate) accounts: Vec<Account>,
    pub(crate) short_keys: Vec<ShortKey>,
}

/// A key of less than [`KEY_BYTES_MIN`] bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShortKey {
    pub(crate) account: String,
    pub(crate) bytes: usize,
}

/// Returns the name of an account with the published key, which may be listed under any name.
pub(crate) fn with_development_key(accounts: &[Account]) -> Option<&str> {
    let has_it = |account: &&Account| account.keys.iter().any(is_development_key);
    accounts.iter().find(has_it).map(|account| account.name.as_str())
}

/// A key shows itself only in what it signs.
pub(crate) fn is_development_key(key: &AccountKey) -> bool {
    AccountKey::parse(DEVELOPMENT_KEY).is_ok_and(|development| key.verify("", &development.sign("")))
}

/// Returns the default list.
pub(crate) fn development() -> String {
    format!("{DEVELOPMENT_NAME}:{DEVELOPMENT_KEY}")
}

/// Parses a list of accounts.
pub(crate) fn parse(list: &str) -> Result<AccountList, String> {
    let mut accounts: Vec<Account> = Vec::new();
    let mut short_keys = Vec::new();
    let entries = list.split([';', '\n']).map(str::trim).filter(|entry| !entry.is_empty());
    for (entry, number) in entries.zip(1..) {
        let mut parts = entry.split(':');
        let name = parts.next().unwrap_or_default();
        // The text is not shown: a misplaced key may be where the name should be.
        let account_name = AccountName::parse(name).ok_or_else(|| {
            format!(
                "entry {number} of --accounts does not begin with an account name of 3 to 24 lower-case letters and digits: \
                 write name:key"
            )
        })?;
        if accounts.iter().any(|account| account.name == account_name) {
            return Err(format!("account {name} is listed twice: write both keys in one entry, {name}:key1:key2"));
        }
        let texts: Vec<&str> = parts.collect();
        if texts.is_empty() || texts.len() > 2 {
            return Err(format!("account {name} needs one or two keys: write {name}:key or {name}:key1:key2"));
        }
        let keys = texts.iter().map(|text| AccountKey::parse(text));
        let keys = keys.collect::<Result<Vec<_>, _>>().map_err(|_| {
            format!(
                "a key of account {name} is not valid Base64: generate one with `openssl rand -base64 64 | tr -d '\\n'`"
            )
        })?;
        let sizes = texts.iter().map(|text| decoded_bytes(text)).filter(|bytes| *bytes < KEY_BYTES_MIN);
        short_keys.extend(sizes.map(|bytes| ShortKey { account: name.to_owned(), bytes }));
        accounts.push(Account { name: account_name, keys });
    }
    if accounts.is_empty() {
        return Err("--accounts is empty: write name:key, or omit it to use the development account".to_owned());
    }
    Ok(AccountList { accounts, short_keys })
}

/// The bytes of valid Base64, which a parsed key no longer shows.
fn decoded_bytes(base64: &str) -> usize {
    let base64 = base64.trim();
    base64.len() / 4 * 3 - base64.chars().filter(|character| *character == '=').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_accounts_with_one_or_two_keys() {
        let AccountList { accounts, short_keys } = parse("one:a2V5;two:a2V5:a2V5Mg==;").unwrap();
        assert_eq!(accounts.iter().map(|account| account.keys.len()).collect::<Vec<_>>(), [1, 2]);
        let short = |account: &str, bytes| ShortKey { account: account.to_owned(), bytes };
        assert_eq!(short_keys, [short("one", 3), short("two", 3), short("two", 4)]);
        let development = parse(&development()).unwrap();
        assert_eq!(with_development_key(&development.accounts), Some(DEVELOPMENT_NAME));
        assert_eq!((with_development_key(&accounts), development.short_keys), (None, vec![]));
    }

    #[test]
    fn mistakes_are_named_with_their_remedy() {
        for (list, hint) in [
            ("", "name:key"),
            ("One:a2V5", "lower-case"),
            ("one", "one or two keys"),
            ("one:a2V5:a2V5:a2V5", "one or two keys"),
            ("one:***", "Base64"),
            ("one:a2V5;one:a2V5", "twice"),
        ] {
            let error = parse(list).unwrap_err();
            assert!(error.contains(hint), "{list}: {error}");
        }
    }

    #[test]
    fn a_mistake_shows_no_keys() {
        for list in
            ["one:a2V5;c2VjcmV0==", "one:a2V5;AccountKey=c2VjcmV0", "one:a2V5;two=c2VjcmV0;", "one:a2V5; c2VjcmV0:b"]
        {
            let error = parse(list).unwrap_err();
            assert!(error.starts_with("entry 2 ") && !error.contains("c2VjcmV0"), "{list}: {error}");
        }
        for list in ["one:c2VjcmV0?", "one:c2VjcmV0:a2V5:a2V5", "one:c2VjcmV0;one:c2VjcmV0"] {
            assert!(!parse(list).unwrap_err().contains("c2VjcmV0"), "{list}");
        }
    }
}
