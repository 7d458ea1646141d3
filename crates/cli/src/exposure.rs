//! Settings that are unsafe on a network. One prevents a start; the others are logged once, as warnings that no log level
//! hides.

use std::fmt;
use std::net::SocketAddr;

use tablerock_server::Account;

use crate::accounts::{self, KEY_BYTES_MIN, ShortKey};
use crate::ports::{BoundAddresses, is_loopback};
use crate::settings::Settings;

/// The target of the warnings, which every log filter lets through.
pub(crate) const TARGET: &str = "tablerock::exposure";

/// An unsafe setting that does not prevent a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Warning {
    DevelopmentKey { account: String, service: &'static str, address: SocketAddr },
    ShortKey(ShortKey),
    UncheckedTokens,
    PlainHttp { service: &'static str, address: SocketAddr },
    OpenAdmin(SocketAddr),
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DevelopmentKey { account, service, address } => write!(
                f,
                "account {account} has the published development key, and the {service} service listens on {address}: \
                 ANY CLIENT THAT REACHES THIS ADDRESS CAN READ AND CHANGE ALL DATA; set accounts with keys of your own"
            ),
            Self::ShortKey(ShortKey { account, bytes }) => write!(
                f,
                "a key of account {account} has only {bytes} bytes: use at least {KEY_BYTES_MIN}; generate one with \
                 `openssl rand -base64 64 | tr -d '\\n'`"
            ),
            Self::UncheckedTokens => f.write_str(
                "--oauth basic does not verify the signature of tokens: ANY CLIENT CAN FORGE ONE AND READ AND CHANGE ALL DATA; \
                 use it for development only",
            ),
            Self::PlainHttp { service, address } => write!(
                f,
                "the {service} service listens on {address} with plain HTTP: others on the network can read requests and \
                 data; set --cert and --key, or put a proxy with TLS in front"
            ),
            Self::OpenAdmin(address) => write!(
                f,
                "the admin address {address} uses plain HTTP without credentials: keep it on loopback or behind a proxy \
                 that authenticates"
            ),
        }
    }
}

/// Checks the settings against the addresses as bound. An error prevents the start.
pub(crate) fn check(settings: &Settings, bound: &BoundAddresses) -> Result<Vec<Warning>, String> {
    let mut warnings = check_accounts(&settings.accounts, &settings.short_keys, settings.allow_dev_account, bound)?;
    if settings.accept_tokens {
        warnings.push(Warning::UncheckedTokens);
    }
    if settings.tls.is_none() {
        warnings.extend(exposed(bound).map(|(service, address)| Warning::PlainHttp { service, address }));
    }
    warnings.extend(bound.admin.filter(|address| !is_loopback(*address)).map(Warning::OpenAdmin));
    Ok(warnings)
}

/// Checks accounts against the addresses as bound, at the start and when they change.
pub(crate) fn check_accounts(
    accounts: &[Account],
    short_keys: &[ShortKey],
    allow_dev_account: bool,
    bound: &BoundAddresses,
) -> Result<Vec<Warning>, String> {
    let mut warnings = Vec::new();
    if let (Some((service, address)), Some(account)) = (exposed(bound).next(), accounts::with_development_key(accounts))
    {
        let account = account.to_owned();
        if !allow_dev_account {
            return Err(rejection(&account, service, address));
        }
        warnings.push(Warning::DevelopmentKey { account, service, address });
    }
    warnings.extend(short_keys.iter().cloned().map(Warning::ShortKey));
    Ok(warnings)
}

/// The services that other machines reach.
fn exposed(bound: &BoundAddresses) -> impl Iterator<Item = (&'static str, SocketAddr)> {
    bound.services().into_iter().filter(|(_, address)| !is_loopback(*address))
}

fn rejection(account: &str, service: &str, address: SocketAddr) -> String {
    format!(
        "account {account} has the published development key, so any client that reaches the {service} service on {address} \
         could read and change all data: set accounts of your own in TABLEROCK_ACCOUNTS or the file of --config, or, if \
         only trusted clients reach this address, add --allow-dev-account or set TABLEROCK_ALLOW_DEV_ACCOUNT=true"
    )
}

/// Logs the warnings.
pub(crate) fn log(warnings: &[Warning]) {
    for warning in warnings {
        tracing::warn!(target: TARGET, "{warning}");
    }
}

#[cfg(test)]
mod tests {
    use tablerock_server::tls::CertificateFiles;

    use super::*;
    use crate::arguments::ServeArguments;
    use crate::program::Program;

    fn bound(host: &str) -> BoundAddresses {
        let address = |port| format!("{host}:{port}").parse().unwrap();
        BoundAddresses::new([("Table", address(3)), ("Queue", address(2)), ("Blob", address(1))], None)
    }

    fn settings(accounts: &str, allow_dev_account: bool) -> Settings {
        let accounts = Some(accounts.to_owned());
        let given = ServeArguments { accounts, allow_dev_account, ..Default::default() };
        Settings::gather(&given, Program::Tablerock).unwrap()
    }

    fn key(bytes: usize) -> String {
        "AAAA".repeat(bytes / 3)
    }

    #[test]
    fn the_development_key_is_refused_off_loopback_under_any_name() {
        let development = accounts::development();
        let renamed = development.replace(accounts::DEVELOPMENT_NAME, "mine");
        let second = development.replace(accounts::DEVELOPMENT_NAME, &format!("mine:{}", key(33)));
        for list in [development.as_str(), &renamed, &second, &format!("own:{};{renamed}", key(33))] {
            assert_eq!(check(&settings(list, false), &bound("127.0.0.1")), Ok(vec![]), "{list}");
            for host in ["0.0.0.0", "[::]", "10.0.0.1"] {
                let error = check(&settings(list, false), &bound(host)).unwrap_err();
                assert!(error.contains("TABLEROCK_ACCOUNTS") && error.contains("--allow-dev-account"), "{error}");
                let warnings = check(&settings(list, true), &bound(host)).unwrap();
                assert!(matches!(warnings[0], Warning::DevelopmentKey { .. }), "{warnings:?}");
            }
        }
        let other_key = format!("{}:{}", accounts::DEVELOPMENT_NAME, key(33));
        assert!(check(&settings(&other_key, false), &bound("0.0.0.0")).is_ok());
    }

    #[test]
    fn one_exposed_service_is_enough() {
        let addresses = BoundAddresses::new(
            [("Table", "127.0.0.1:3".parse().unwrap()), ("Queue", "0.0.0.0:2".parse().unwrap())],
            None,
        );
        let error = check(&settings(&accounts::development(), false), &addresses).unwrap_err();
        assert!(error.contains("Queue service on 0.0.0.0:2"), "{error}");
    }

    #[test]
    fn each_unsafe_setting_has_one_warning() {
        let mut settings = settings(&format!("one:{};two:{}:{}", key(33), key(33), key(30)), false);
        let mut addresses = bound("127.0.0.1");
        let short = Warning::ShortKey(ShortKey { account: "two".to_owned(), bytes: 30 });
        assert_eq!(check(&settings, &addresses), Ok(vec![short.clone()]));
        settings.accept_tokens = true;
        settings.tls =
            Some(CertificateFiles { certificate: "c.pem".into(), key: Some("k.pem".into()), password: None });
        let table = "10.0.0.1:3".parse().unwrap();
        addresses = BoundAddresses::new([("Table", table)], "0.0.0.0:4".parse().ok());
        let admin = Warning::OpenAdmin("0.0.0.0:4".parse().unwrap());
        assert_eq!(check(&settings, &addresses), Ok(vec![short.clone(), Warning::UncheckedTokens, admin.clone()]));
        settings.tls = None;
        let plain = Warning::PlainHttp { service: "Table", address: table };
        assert_eq!(check(&settings, &addresses), Ok(vec![short, Warning::UncheckedTokens, plain, admin]));
    }
}
