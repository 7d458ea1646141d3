//! Parses `--accounts`: `name:key[:key2];name2:key…`, the form of `AZURITE_ACCOUNTS`.

use tablerock_protocol::AccountName;
use tablerock_protocol::signing::AccountKey;
use tablerock_server::Account;

/// The account of `UseDevelopmentStorage=true`.
pub(crate) const DEVELOPMENT_NAME: &str = "devstoreaccount1";
/// Its key, which is public.
pub(crate) const DEVELOPMENT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// Returns the default list.
pub(crate) fn development() -> String {
    format!("{DEVELOPMENT_NAME}:{DEVELOPMENT_KEY}")
}

/// Parses a list of accounts.
pub(crate) fn parse(list: &str) -> Result<Vec<Account>, String> {
    let mut accounts: Vec<Account> = Vec::new();
    let entries = list.split(';').map(str::trim).filter(|entry| !entry.is_empty());
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
        accounts.push(Account { name: account_name, keys });
    }
    if accounts.is_empty() {
        return Err("--accounts is empty: write name:key, or omit it to use the development account".to_owned());
    }
    Ok(accounts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_accounts_with_one_or_two_keys() {
        let accounts = parse("one:a2V5;two:a2V5:a2V5Mg==;").unwrap();
        assert_eq!(accounts.iter().map(|account| account.keys.len()).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(parse(&development()).unwrap()[0].name.as_str(), DEVELOPMENT_NAME);
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
