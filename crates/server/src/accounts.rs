//! The accounts of the server.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
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

    /// The names of all accounts, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}

/// The accounts that are served now. They can be replaced while the server runs; a request keeps those that it began with.
#[derive(Debug)]
pub struct ServedAccounts {
    current: ArcSwap<Accounts>,
}

impl ServedAccounts {
    pub fn new(accounts: impl IntoIterator<Item = Account>) -> Self {
        Self { current: ArcSwap::from_pointee(Accounts::new(accounts)) }
    }

    /// Returns the accounts that are served now.
    pub fn current(&self) -> Arc<Accounts> {
        self.current.load_full()
    }

    /// Serves these accounts, and no others, to requests that begin from now on.
    pub fn replace(&self, accounts: Accounts) {
        self.current.store(Arc::new(accounts));
    }
}
