//! Reads accounts and the certificate again, every minute and on SIGHUP, so that keys rotate and certificates are renewed
//! without a restart. What cannot be read, or would be unsafe, leaves things as they are.

use std::sync::Arc;
use std::time::Duration;

use tablerock_server::tls::Tls;
use tablerock_server::{Accounts, Server};

use crate::account_source::{AccountSource, ListedAccounts};
use crate::exposure;
use crate::ports::BoundAddresses;
use crate::services;
use crate::settings::Settings;
use crate::signals::Signals;

/// How long a changed file goes unnoticed. Azurite's documentation promises a minute for accounts.
const PERIOD: Duration = Duration::from_secs(60);

/// The sources of accounts and the certificate of a running server.
pub(crate) struct Reloader {
    server: Arc<Server>,
    /// `None` if accounts cannot change, as on a read-only store.
    accounts: Option<ReloadedAccounts>,
    tls: Option<Tls>,
}

struct ReloadedAccounts {
    source: Arc<AccountSource>,
    /// The list that is served, in memory like the keys in it.
    served: String,
    /// Whether the list is the default.
    is_default: bool,
    allow_dev_account: bool,
    addresses: BoundAddresses,
}

/// The outcome of reading again: whether each changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reloaded {
    accounts: bool,
    certificate: bool,
}

impl Reloader {
    /// Keeps the certificate up to date.
    pub(crate) fn new(server: Arc<Server>, tls: Option<Tls>) -> Self {
        Self { server, accounts: None, tls }
    }

    /// Keeps the accounts up to date, too.
    pub(crate) fn with_accounts(mut self, settings: &Settings, addresses: &BoundAddresses) -> Self {
        self.accounts = Some(ReloadedAccounts {
            source: Arc::new(settings.account_source.clone()),
            served: settings.accounts_text.clone(),
            is_default: settings.accounts_are_default,
            allow_dev_account: settings.allow_dev_account,
            addresses: addresses.clone(),
        });
        self
    }

    /// Reads everything again whenever it is time, for as long as the future is polled.
    pub(crate) async fn keep_reloading(mut self, signals: Signals) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(PERIOD) => drop(self.reload().await),
                () = signals.reload_requested() => {
                    let Reloaded { accounts, certificate } = self.reload().await;
                    tracing::info!(accounts, certificate, "read accounts and certificates again, as SIGHUP asks");
                }
            }
        }
    }

    /// Reads accounts and certificate once.
    pub(crate) async fn reload(&mut self) -> Reloaded {
        let certificate = self.reload_certificate().await.unwrap_or_else(|error| {
            tracing::error!(error, "cannot read the certificate again, the old one stays in use");
            false
        });
        let accounts = self.reload_accounts().await.unwrap_or_else(|error| {
            tracing::error!(error, "cannot read the accounts again, the old ones stay in use");
            false
        });
        Reloaded { accounts, certificate }
    }

    async fn reload_certificate(&self) -> Result<bool, String> {
        let Some(tls) = self.tls.clone() else { return Ok(false) };
        let is_new = read(move || tls.reload()).await?;
        if is_new {
            tracing::info!("the certificate changed, new connections use the new one");
        }
        Ok(is_new)
    }

    async fn reload_accounts(&mut self) -> Result<bool, String> {
        let Some(accounts) = &mut self.accounts else { return Ok(false) };
        let source = accounts.source.clone();
        let ListedAccounts { list, text, is_default } = read(move || source.read()).await?;
        if text == accounts.served {
            return Ok(false);
        }
        if is_default && !accounts.is_default {
            // An empty or half-written file must not open the server to the published key.
            return Err("no source lists accounts any more: list at least one".to_owned());
        }
        let ReloadedAccounts { allow_dev_account, addresses, .. } = accounts;
        exposure::log(&exposure::check_accounts(&list.accounts, &list.short_keys, *allow_dev_account, addresses)?);
        services::add_accounts(&self.server, &list.accounts).await?;
        let names: Vec<&str> = list.accounts.iter().map(|account| account.name.as_str()).collect();
        tracing::info!(accounts = names.join(","), "the accounts changed, new requests use the new ones");
        self.server.accounts.replace(Accounts::new(list.accounts));
        (accounts.served, accounts.is_default) = (text, is_default);
        Ok(true)
    }
}

/// Reads files on a thread for that. A mounted file can take long.
async fn read<T: Send + 'static>(run: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(run).await.map_err(|error| error.to_string())?
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tablerock_kv::{Store, SystemClock};

    use super::*;
    use crate::arguments::ServeArguments;
    use crate::program::Program;
    use crate::services::ServiceOptions;

    const OLD: &str = "team:b2xkIGtleSBvZiB0aGUgdGVhbSwgd2l0aCAzMiBieXRlcw==";
    const BOTH: &str =
        "team:b2xkIGtleSBvZiB0aGUgdGVhbSwgd2l0aCAzMiBieXRlcw==:bmV3IGtleSBvZiB0aGUgdGVhbSwgd2l0aCAzMiBieXRlcw==";
    const NEW: &str =
        "team:bmV3IGtleSBvZiB0aGUgdGVhbSwgd2l0aCAzMiBieXRlcw==\nother:bmV3IGtleSBvZiB0aGUgdGVhbSwgd2l0aCAzMiBieXRlcw==";

    fn bound(host: &str) -> BoundAddresses {
        BoundAddresses::new([("Table", format!("{host}:10002").parse().unwrap())], None)
    }

    async fn reloader(file: &Path, host: &str) -> Reloader {
        let given = ServeArguments { accounts_file: Some(file.to_owned()), in_memory: true, ..Default::default() };
        let mut settings = Settings::gather(&given, Program::Tablerock).unwrap();
        let options = ServiceOptions {
            accounts: std::mem::take(&mut settings.accounts),
            throttle: settings.throttle,
            accept_tokens: false,
            host_style: true,
            is_loose: false,
        };
        let server = services::open(options, &Store::in_memory(), Arc::new(SystemClock)).await.unwrap();
        Reloader::new(Arc::new(server), None).with_accounts(&settings, &bound(host))
    }

    /// The keys of the accounts that are served, by number.
    fn served(server: &Server) -> Vec<(String, usize)> {
        let accounts = server.accounts.current();
        let mut served: Vec<_> = accounts.names().map(|name| (name.to_owned(), keys(&accounts, name))).collect();
        served.sort();
        served
    }

    fn keys(accounts: &Accounts, name: &str) -> usize {
        accounts.find(name).unwrap().keys.len()
    }

    #[tokio::test]
    async fn a_rotated_key_is_served_and_mistakes_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("accounts");
        std::fs::write(&file, OLD).unwrap();
        let mut reloader = reloader(&file, "10.0.0.1").await;
        let team = |keys| vec![("team".to_owned(), keys)];
        let unchanged = Reloaded { accounts: false, certificate: false };
        assert_eq!(reloader.reload().await, unchanged);
        std::fs::write(&file, BOTH).unwrap();
        assert!(reloader.reload().await.accounts);
        assert_eq!(served(&reloader.server), team(2));
        for mistake in ["", "team", "team:%%%", &crate::accounts::development()] {
            std::fs::write(&file, mistake).unwrap();
            assert_eq!((reloader.reload().await, served(&reloader.server)), (unchanged, team(2)), "{mistake}");
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!((reloader.reload().await, served(&reloader.server)), (unchanged, team(2)));
        std::fs::write(&file, NEW).unwrap();
        assert!(reloader.reload().await.accounts);
        assert_eq!(served(&reloader.server), [("other".to_owned(), 1), ("team".to_owned(), 1)]);
    }

    #[tokio::test(start_paused = true)]
    async fn files_are_read_again_within_a_minute() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("accounts");
        std::fs::write(&file, OLD).unwrap();
        let reloader = reloader(&file, "127.0.0.1").await;
        let server = reloader.server.clone();
        let began = tokio::time::Instant::now();
        let task = tokio::spawn(reloader.keep_reloading(Signals::none()));
        std::fs::write(&file, BOTH).unwrap();
        while served(&server)[0].1 == 1 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            assert!(began.elapsed() < Duration::from_secs(120));
        }
        task.abort();
    }
}
