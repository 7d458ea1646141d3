//! Where accounts come from. Files are read again while the server runs; flags and variables of a process do not change.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::accounts::{self, AccountList};
use crate::arguments::ServeArguments;
use crate::settings_file::read_file;

const BOTH: &str = "accounts and accounts-file contradict each other: remove --accounts (TABLEROCK_ACCOUNTS) or \
    --accounts-file (TABLEROCK_ACCOUNTS_FILE)";

/// The sources of accounts, of which the first that has accounts applies.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct AccountSource {
    /// The list of the flag or the variable.
    list: Option<String>,
    /// The file of the flag or the variable.
    file: Option<PathBuf>,
    /// The settings file.
    config: Option<PathBuf>,
    /// The list of Azurite's variable.
    azurite: Option<String>,
}

/// Shows no keys.
impl fmt::Debug for AccountSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountSource").field("file", &self.file).field("config", &self.config).finish_non_exhaustive()
    }
}

/// The accounts as a source lists them.
pub(crate) struct ListedAccounts {
    pub(crate) list: AccountList,
    /// The text of the list, by which a change is recognized.
    pub(crate) text: String,
    /// Whether no source lists accounts, so that they are the default.
    pub(crate) is_default: bool,
}

impl AccountSource {
    /// The sources of a command line and its environment.
    pub(crate) fn new(given: &ServeArguments) -> Self {
        let azurite = std::env::var("AZURITE_ACCOUNTS").ok();
        let (list, file) = (given.accounts.clone(), given.accounts_file.clone());
        Self { list, file, config: given.config.clone(), azurite }
    }

    /// Reads the accounts, and the settings file for them.
    pub(crate) fn read(&self) -> Result<ListedAccounts, String> {
        let config = match &self.config {
            Some(path) if self.list.is_none() && self.file.is_none() => read_file(path)?,
            _ => ServeArguments::default(),
        };
        self.read_with(&config)
    }

    /// Reads the accounts, with a settings file that has been read.
    pub(crate) fn read_with(&self, config: &ServeArguments) -> Result<ListedAccounts, String> {
        for (list, file) in [(&self.list, &self.file), (&config.accounts, &config.accounts_file)] {
            match (filled(list), file) {
                (Some(_), Some(_)) => return Err(BOTH.to_owned()),
                (Some(list), None) => return listed(list),
                (None, Some(file)) => return from_file(file),
                (None, None) => {}
            }
        }
        match filled(&self.azurite) {
            Some(list) => listed(list),
            None => Ok(ListedAccounts { is_default: true, ..listed(&accounts::development())? }),
        }
    }
}

/// A variable that is set and empty counts as not set.
fn filled(list: &Option<String>) -> Option<&str> {
    list.as_deref().filter(|list| !list.is_empty())
}

fn listed(text: &str) -> Result<ListedAccounts, String> {
    Ok(ListedAccounts { list: accounts::parse(text)?, text: text.to_owned(), is_default: false })
}

/// Reads a file with an account on each line, or in the form of the flag. Lines that begin with # are comments.
fn from_file(path: &Path) -> Result<ListedAccounts, String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("cannot read {shown}: {error}; check --accounts-file"))?;
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    listed(&lines.collect::<Vec<_>>().join(";")).map_err(|error| format!("{shown}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(source: &AccountSource) -> Result<Vec<String>, String> {
        let accounts = source.read()?.list.accounts;
        Ok(accounts.iter().map(|account| account.name.as_str().to_owned()).collect())
    }

    #[test]
    fn the_first_source_with_accounts_applies() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Some(path)
        };
        let file = write("accounts", "# ours\nfile:a2V5\n\nsecond:a2V5:a2V5;third:a2V5\n");
        let config = write("settings.toml", "accounts = \"config:a2V5\"\nsilent = true\n");
        let list = |text: &str| Some(text.to_owned());
        let all =
            AccountSource { list: None, file: file.clone(), config: config.clone(), azurite: list("azurite:a2V5") };
        assert_eq!(names(&all).unwrap(), ["file", "second", "third"]);
        let flag = AccountSource { list: list("flag:a2V5"), file: None, ..all.clone() };
        assert_eq!(names(&flag).unwrap(), ["flag"]);
        assert_eq!(names(&AccountSource { file: None, ..all.clone() }).unwrap(), ["config"]);
        assert_eq!(names(&AccountSource { file: None, config: None, ..all.clone() }).unwrap(), ["azurite"]);
        let none = AccountSource::default();
        assert_eq!(names(&none).unwrap(), [accounts::DEVELOPMENT_NAME]);
        assert!(none.read().unwrap().is_default && !all.read().unwrap().is_default);

        let both = AccountSource { list: list("flag:a2V5"), ..all };
        assert!(names(&both).unwrap_err().contains("--accounts-file"));
        let by_config = write("by-file.toml", &format!("accounts-file = {:?}", folder.path().join("accounts")));
        assert_eq!(names(&AccountSource { config: by_config, ..none.clone() }).unwrap()[0], "file");
        let missing = AccountSource { file: Some("nowhere".into()), ..none };
        assert!(names(&missing).unwrap_err().contains("nowhere"));
    }
}
