//! Merges the sources of settings: the command line and the environment, then the TOML file, then the defaults.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tablerock_kv_postgres::Target;
use tablerock_server::Account;
use tablerock_services::ThrottleTargets;

use crate::accounts::{self, AccountList, ShortKey};
use crate::arguments::{LogFormat, OauthLevel, ServeArguments};
use crate::store_location::{DATA_FOLDER, StoreLocation};

/// The ports of `UseDevelopmentStorage=true`.
pub(crate) const DEFAULT_BLOB_PORT: u16 = 10000;
pub(crate) const DEFAULT_QUEUE_PORT: u16 = 10001;
pub(crate) const DEFAULT_TABLE_PORT: u16 = 10002;
const MIB: u64 = 1024 * 1024;
const MEMORY_AND_LOCATION: &str = "in-memory and location contradict each other: remove --in-memory (TABLEROCK_IN_MEMORY) to \
    keep data on disk, or --location (TABLEROCK_LOCATION) to lose it on exit";

/// The complete settings of a server.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) data: StoreLocation,
    /// Whether a start without data fails.
    pub(crate) must_exist: bool,
    /// Whether this start created the data, once it is open.
    pub(crate) data_is_new: bool,
    pub(crate) cache_bytes: u64,
    pub(crate) blob: ServicePort,
    pub(crate) queue: ServicePort,
    pub(crate) table: ServicePort,
    /// `None` disables the admin address.
    pub(crate) admin_address: Option<Address>,
    /// Whether the admin port was chosen by the operator. Another one does not prevent the start if it is in use.
    pub(crate) is_admin_port_given: bool,
    /// Shows names of data on an admin address that is not loopback.
    pub(crate) admin_show_names: bool,
    /// The file with the addresses and the token for changes on the admin address.
    pub(crate) admin_file: Option<PathBuf>,
    pub(crate) accounts: Vec<Account>,
    pub(crate) short_keys: Vec<ShortKey>,
    /// Serves the published key off loopback, with a warning.
    pub(crate) allow_dev_account: bool,
    /// Certificate and key.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    pub(crate) accept_tokens: bool,
    pub(crate) host_style: bool,
    pub(crate) is_loose: bool,
    pub(crate) connections_max: usize,
    pub(crate) throttle: ThrottleTargets,
    pub(crate) log: String,
    pub(crate) log_format: LogFormat,
    pub(crate) debug_file: Option<PathBuf>,
    pub(crate) silent: bool,
    pub(crate) explanations: Vec<&'static str>,
}

/// The address and the idle timeout of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServicePort {
    pub(crate) address: Address,
    pub(crate) idle_seconds: u64,
}

impl ServicePort {
    fn new(host: Option<String>, port: Option<u16>, default_port: u16, idle_seconds: Option<u64>) -> Self {
        let address = Address::new(host, port, default_port);
        Self { address, idle_seconds: idle_seconds.unwrap_or(120).max(1) }
    }
}

/// A host and a port to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Address {
    fn new(host: Option<String>, port: Option<u16>, default_port: u16) -> Self {
        let mut host = host.unwrap_or_else(|| "127.0.0.1".to_owned());
        // An IPv6 address may have brackets, as in a URL.
        if let Some(bare) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            host = bare.to_owned();
        }
        Self { host, port: port.unwrap_or(default_port) }
    }
}

fn read_file(path: &Path) -> Result<ServeArguments, String> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}; check --config"))?;
    parse_file(&text).map_err(|error| format!("{shown} is not a valid settings file: {error}"))
}

/// Parses a settings file. An unknown key is an error, so that a typo does not go unnoticed. Errors name the line and never
/// its content, which may be a key or a password.
fn parse_file(text: &str) -> Result<ServeArguments, String> {
    toml::from_str(text).map_err(|error| {
        let message = without_value(error.message().lines().next().unwrap_or_default());
        match error.span().and_then(|span| text.get(..span.start)) {
            Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
            None => message,
        }
    })
}

/// Removes the value from a message of the TOML parser.
fn without_value(message: &str) -> String {
    if !["invalid type", "invalid value", "unknown variant"].iter().any(|begin| message.starts_with(begin)) {
        return message.to_owned();
    }
    let expected =
        message.rsplit_once(", expected ").map_or_else(String::new, |(_, what)| format!(": expected {what}"));
    format!("invalid value for this key{expected}")
}

impl Settings {
    pub(crate) fn gather(given: &ServeArguments) -> Result<Self, String> {
        let file = given.config.as_deref().map(read_file).transpose()?.unwrap_or_default();
        Self::merge(given.clone(), file)
    }

    fn merge(given: ServeArguments, mut file: ServeArguments) -> Result<Self, String> {
        if file.store.is_some() && (file.in_memory || file.location.is_some()) {
            return Err(
                "store, in-memory and location are mutually exclusive: keep one in the settings file".to_owned()
            );
        }
        for source in [&given, &file] {
            if source.in_memory && source.location.is_some() {
                return Err(MEMORY_AND_LOCATION.to_owned());
            }
        }
        if file.in_memory && given.location.is_some() {
            return Err(MEMORY_AND_LOCATION.to_owned());
        }
        // A flag for one location overrides another location in the file.
        file.location = file.location.filter(|_| !given.in_memory);
        file.store = file.store.filter(|_| !given.in_memory && given.location.is_none());
        let set = given.or(file);
        let data = store_location(&set)?;
        // Azurite's variable comes last, so that every other source overrides it.
        let azurite_accounts = || std::env::var("AZURITE_ACCOUNTS").ok();
        let listed = set.accounts.or_else(azurite_accounts).filter(|list| !list.is_empty());
        let AccountList { accounts, short_keys } = accounts::parse(&listed.unwrap_or_else(accounts::development))?;
        let tls = match (set.cert, set.key) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            _ => return Err("--cert and --key require each other: set both, or neither for plain HTTP".to_owned()),
        };
        if set.oauth.is_some() && tls.is_none() {
            return Err(
                "--oauth requires HTTPS, because clients send tokens only over HTTPS: set --cert and --key".to_owned()
            );
        }
        let is_admin_port_given = set.admin_port.is_some();
        let admin_address = Address::new(set.admin_host, set.admin_port, 10003);
        if set.admin_file.is_some() && admin_address.port == 0 {
            return Err("--admin-file requires the admin address: set --admin-port to a port, or omit it".to_owned());
        }
        let default_log = if set.silent { "error" } else { "info" };
        Ok(Self {
            data,
            must_exist: set.existing,
            data_is_new: false,
            cache_bytes: set.cache_size.unwrap_or(128).saturating_mul(MIB),
            blob: ServicePort::new(set.blob_host, set.blob_port, DEFAULT_BLOB_PORT, set.blob_keep_alive_timeout),
            queue: ServicePort::new(set.queue_host, set.queue_port, DEFAULT_QUEUE_PORT, set.queue_keep_alive_timeout),
            table: ServicePort::new(set.table_host, set.table_port, DEFAULT_TABLE_PORT, set.table_keep_alive_timeout),
            admin_address: Some(admin_address).filter(|address| address.port != 0),
            is_admin_port_given,
            admin_show_names: set.admin_show_names,
            admin_file: set.admin_file,
            accounts,
            short_keys,
            allow_dev_account: set.allow_dev_account
                || std::env::args_os().next().is_some_and(|program| is_azurite_name(&program)),
            tls,
            accept_tokens: set.oauth == Some(OauthLevel::Basic),
            host_style: !set.disable_product_style_url,
            is_loose: set.loose,
            connections_max: set.connections_max.unwrap_or(20_000),
            throttle: ThrottleTargets {
                account_requests_per_second: set.account_requests_per_second,
                partition_entities_per_second: set.partition_entities_per_second,
            },
            log: set.log.unwrap_or_else(|| default_log.to_owned()),
            log_format: set.log_format.unwrap_or(LogFormat::Text),
            debug_file: set.debug,
            silent: set.silent,
            explanations: set.azurite.explanations(),
        })
    }
}

/// Returns whether the program was called by a name of Azurite, whose users expect the development account everywhere.
fn is_azurite_name(program: &OsStr) -> bool {
    let name = Path::new(program).file_stem().unwrap_or_default();
    ["azurite", "azurite-blob", "azurite-queue", "azurite-table"].iter().any(|known| name == *known)
}

/// Returns where data is kept.
fn store_location(set: &ServeArguments) -> Result<StoreLocation, String> {
    if let Some(url) = &set.store {
        let target = Target::parse(url).map_err(|error| format!("--store: {error}"))?;
        return Ok(StoreLocation::Database { target, connections_max: set.store_connections.unwrap_or(32).max(1) });
    }
    if set.in_memory {
        if set.existing {
            return Err("--existing and --in-memory contradict each other: data in memory is always new".to_owned());
        }
        return Ok(StoreLocation::Memory);
    }
    let location = set.location.as_deref().unwrap_or(Path::new("."));
    Ok(StoreLocation::Folder(location.join(DATA_FOLDER)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_in_the_file_is_named() {
        assert!(parse_file("table-port = 1234\nsilent = true").is_ok());
        let error = parse_file("silent = true\n\ntabel-port = 1234").unwrap_err();
        assert!(error.starts_with("line 3: ") && error.contains("tabel-port"), "{error}");
        let error = parse_file("log-format = \"yaml\"").unwrap_err();
        assert_eq!(error, "line 1: invalid value for this key: expected `text` or `json`");
    }

    #[test]
    fn a_mistake_in_the_file_shows_no_secrets() {
        for line in [
            "acounts = \"team:c2VjcmV0\"",
            "accounts = \"team:c2VjcmV0",
            "accounts = team:c2VjcmV0",
            "accounts = \"team:c2VjcmV0\" # and\naccounts = \"team:c2VjcmV0\"",
            "table-port = \"c2VjcmV0\"",
            "log-format = \"c2VjcmV0\"",
            "accounts = [\"team:c2VjcmV0\"]",
            "accounts = { team = \"c2VjcmV0\" }",
            "store = postgres://user:c2VjcmV0@host/data",
            "store = 'postgres://user:c2VjcmV0@host/data",
            "accounts = \"\\c2VjcmV0\"",
            "c2VjcmV0==",
        ] {
            let error = parse_file(&format!("silent = true\n{line}\n")).unwrap_err();
            assert!(error.starts_with("line 2: ") || error.starts_with("line 3: "), "{line}: {error}");
            assert!(!error.contains("c2VjcmV0"), "{line}: {error}");
        }
    }

    #[test]
    fn flags_win_and_defaults_fill_in() {
        let given = ServeArguments { table_port: Some(7), in_memory: true, ..Default::default() };
        let settings = Settings::gather(&given).unwrap();
        let ports = [settings.blob, settings.queue, settings.table].map(|service| service.address.port);
        assert_eq!(ports, [DEFAULT_BLOB_PORT, DEFAULT_QUEUE_PORT, 7]);
        assert!(matches!(settings.data, StoreLocation::Memory));
        assert_eq!(settings.cache_bytes, 128 * MIB);
    }

    #[test]
    fn data_is_kept_in_one_place() {
        let merge =
            |given: ServeArguments, file: ServeArguments| Settings::merge(given, file).map(|merged| merged.data);
        let store = Some("postgres://user@host/data".to_owned());
        let given = ServeArguments { store: store.clone(), store_connections: Some(7), ..Default::default() };
        let place = merge(given, ServeArguments { location: Some("elsewhere".into()), ..Default::default() });
        assert!(matches!(place, Ok(StoreLocation::Database { connections_max: 7, .. })), "{place:?}");

        let given = ServeArguments { location: Some("here".into()), ..Default::default() };
        let place = merge(given, ServeArguments { store: store.clone(), ..Default::default() });
        assert!(matches!(place, Ok(StoreLocation::Folder(_))), "{place:?}");

        let both = ServeArguments { store, in_memory: true, ..Default::default() };
        assert!(merge(ServeArguments::default(), both).unwrap_err().contains("keep one"));
        let given = ServeArguments { existing: true, in_memory: true, ..Default::default() };
        assert!(merge(given, ServeArguments::default()).unwrap_err().contains("--existing"));
        let given = ServeArguments { store: Some("mysql://host".to_owned()), ..Default::default() };
        assert!(merge(given, ServeArguments::default()).unwrap_err().contains("postgres://"));
    }

    #[test]
    fn memory_and_a_location_contradict_each_other() {
        let memory = || ServeArguments { in_memory: true, ..Default::default() };
        let location = || ServeArguments { location: Some("here".into()), ..Default::default() };
        let none = ServeArguments::default;
        let both = || memory().or(location());
        for (given, file) in [(both(), none()), (none(), both()), (location(), memory())] {
            let error = Settings::merge(given, file).unwrap_err();
            assert!(error.contains("--in-memory") && error.contains("--location"), "{error}");
        }
        let place = Settings::merge(memory(), location()).unwrap().data;
        assert!(matches!(place, StoreLocation::Memory), "a flag overrides the file: {place:?}");
    }

    #[test]
    fn an_ipv6_host_may_have_brackets() {
        for host in ["::1", "[::1]"] {
            let given = ServeArguments { queue_host: Some(host.to_owned()), ..Default::default() };
            assert_eq!(Settings::gather(&given).unwrap().queue.address.host, "::1");
        }
    }

    #[test]
    fn names_of_azurite_are_recognized() {
        for name in ["azurite", "/usr/bin/azurite-table", "./azurite-blob", "azurite-queue.exe"] {
            assert!(is_azurite_name(OsStr::new(name)), "{name}");
        }
        for name in ["tablerock", "/azurite/tablerock", "azurite-other", ""] {
            assert!(!is_azurite_name(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_flag_overrides_the_file_and_a_switch_is_on_if_one_source_has_it_on() {
        let file = parse_file("table-port = 1\nqueue-port = 2\nsilent = true\nin-memory = true").unwrap();
        let given = ServeArguments { table_port: Some(7), ..Default::default() };
        let merged = Settings::merge(given, file).unwrap();
        assert_eq!((merged.table.address.port, merged.queue.address.port, merged.silent), (7, 2, true));
        assert!(parse_file("config = \"other.toml\"").is_err(), "a file does not name another");
        assert!(parse_file("azurite = {}").is_err());
    }

    #[test]
    fn halves_of_a_pair_are_refused_with_the_remedy() {
        let given = ServeArguments { cert: Some("c.pem".into()), ..Default::default() };
        assert!(Settings::gather(&given).unwrap_err().contains("--key"));
        let given = ServeArguments { oauth: Some(OauthLevel::Basic), ..Default::default() };
        assert!(Settings::gather(&given).unwrap_err().contains("--cert"));
    }
}
