//! The accounts of the server.

use std::collections::HashMap;

use tablerock_protocol::AccountName;
use tablerock_protocol::signing::AccountKey;

/// Accounts by name. Each has one or two keys, and either is valid.
#[derive(Debug, Default)]
pub struct Accounts {
    by_name: HashMap<String, Account>,
}

#[derive(Debug)]
pub struct Account {
    pub name: AccountName,
    pub keys: Vec<AccountKey>,
}

impl Accounts {
    pub fn new(accounts: impl IntoIterator<Item = Account>) -> Self {
        Self { by_name: accounts.into_iter().map(|account| (account.name.as_str().to_owned(), account)).collect() }
    }

    pub fn find(&self, name: &str) -> Option<&Account> {
        self.by_name.get(name)
    }
}
