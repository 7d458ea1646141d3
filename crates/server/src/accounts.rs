//! The accounts of the server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tablerock_protocol::AccountName;
use tablerock_protocol::signing::AccountKey;

/// Accounts by name. Each has one or two keys, and either is valid.
#[derive(Debug, Default)]
pub struct Accounts {
    by_name: HashMap<String, Account>,
}

#[derive(Debug, Clone)]
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
    /// Those of the admin address, which are served until the server stops.
    added: Mutex<Vec<Account>>,
}

/// The number of accounts that the admin address adds.
const ADDED_ACCOUNTS_MAX: usize = 10_000;

/// Why an account was not added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddError {
    Exists,
    TooMany,
}

impl ServedAccounts {
    pub fn new(accounts: impl IntoIterator<Item = Account>) -> Self {
        Self { current: ArcSwap::from_pointee(Accounts::new(accounts)), added: Mutex::default() }
    }

    /// Returns the accounts that are served now.
    pub fn current(&self) -> Arc<Accounts> {
        self.current.load_full()
    }

    /// Serves these accounts and those that were added, and no others, to requests that begin from now on.
    pub fn replace(&self, mut accounts: Accounts) {
        let added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        for account in added.iter() {
            accounts.by_name.entry(account.name.as_str().to_owned()).or_insert_with(|| account.clone());
        }
        self.current.store(Arc::new(accounts));
    }

    /// Checks that an account of this name can be added now.
    pub(crate) fn check_room(&self, name: &str) -> Result<(), AddError> {
        self.check(name, &self.added.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn check(&self, name: &str, added: &[Account]) -> Result<(), AddError> {
        if self.current.load().find(name).is_some() {
            return Err(AddError::Exists);
        }
        if added.len() >= ADDED_ACCOUNTS_MAX {
            return Err(AddError::TooMany);
        }
        Ok(())
    }

    /// Serves one more account until the server stops.
    pub(crate) fn add(&self, account: Account) -> Result<(), AddError> {
        // The lock is held until the new accounts are served, so that two additions do not undo each other.
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        self.check(account.name.as_str(), &added)?;
        added.push(account.clone());
        let mut by_name = self.current.load().by_name.clone();
        by_name.insert(account.name.as_str().to_owned(), account);
        self.current.store(Arc::new(Accounts { by_name }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(name: &str) -> Account {
        Account { name: AccountName::parse(name).unwrap(), keys: vec![AccountKey::from_bytes(b"key")] }
    }

    #[test]
    fn an_added_account_stays_when_the_others_are_replaced() {
        let accounts = ServedAccounts::new([account("one")]);
        accounts.add(account("added")).unwrap();
        assert_eq!(accounts.add(account("added")), Err(AddError::Exists));
        assert_eq!(accounts.add(account("one")), Err(AddError::Exists));
        accounts.replace(Accounts::new([account("two")]));
        let mut names: Vec<String> = accounts.current().names().map(str::to_owned).collect();
        names.sort();
        assert_eq!(names, ["added", "two"]);
    }
}
