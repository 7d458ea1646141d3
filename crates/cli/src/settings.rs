//! Where a setting comes from: the command line, the environment, a TOML file, a default. In this order.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tablerock_kv_postgres::Target;
use tablerock_server::Account;
use tablerock_services::ThrottleTargets;

use crate::accounts;
use crate::arguments::{LogFormat, OauthLevel, ServeArguments};

/// The folder inside the location that is ours.
pub(crate) const DATA_FOLDER: &str = "tablerock-data";
/// The ports that `UseDevelopmentStorage=true` means.
pub(crate) const DEFAULT_BLOB_PORT: u16 = 10000;
pub(crate) const DEFAULT_QUEUE_PORT: u16 = 10001;
pub(crate) const DEFAULT_TABLE_PORT: u16 = 10002;
const MIB: u64 = 1024 * 1024;

/// Everything that a server needs to know, complete.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) data: DataPlace,
    pub(crate) cache_bytes: u64,
    pub(crate) blob: ServicePort,
    pub(crate) queue: ServicePort,
    pub(crate) table: ServicePort,
    /// `None` is no admin address.
    pub(crate) admin_address: Option<Address>,
    pub(crate) accounts: Vec<Account>,
    /// Certificate and key.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    pub(crate) accept_tokens: bool,
    pub(crate) host_style: bool,
    pub(crate) connections_max: usize,
    pub(crate) throttle: ThrottleTargets,
    pub(crate) log: String,
    pub(crate) log_format: LogFormat,
    pub(crate) debug_file: Option<PathBuf>,
    pub(crate) silent: bool,
    pub(crate) explanations: Vec<&'static str>,
}

/// Where data is kept.
#[derive(Debug, Clone)]
pub(crate) enum DataPlace {
    Memory,
    Folder(PathBuf),
    Database { target: Target, connections_max: usize },
}

/// Where and how a service is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServicePort {
    pub(crate) address: Address,
    pub(crate) idle_seconds: u64,
}

/// A host and a port to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// The TOML file. An unknown key is an error: a typo must not pass for a setting.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct File {
    location: Option<PathBuf>,
    in_memory: Option<bool>,
    store: Option<String>,
    store_connections: Option<usize>,
    cache_size: Option<u64>,
    blob_host: Option<String>,
    blob_port: Option<u16>,
    queue_host: Option<String>,
    queue_port: Option<u16>,
    table_host: Option<String>,
    table_port: Option<u16>,
    admin_host: Option<String>,
    admin_port: Option<u16>,
    disable_product_style_url: Option<bool>,
    accounts: Option<String>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
    oauth: Option<OauthLevel>,
    connections_max: Option<usize>,
    blob_keep_alive_timeout: Option<u64>,
    queue_keep_alive_timeout: Option<u64>,
    table_keep_alive_timeout: Option<u64>,
    account_requests_per_second: Option<u32>,
    partition_entities_per_second: Option<u32>,
    log: Option<String>,
    log_format: Option<LogFormat>,
    debug: Option<PathBuf>,
    silent: Option<bool>,
}

impl File {
    fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let text =
            std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}; check --config"))?;
        Self::parse(&text).map_err(|error| format!("{shown} is not a valid settings file: {error}"))
    }

    /// What is wrong is said with its line, and never with what is in the line: that may be a key or a password. So the
    /// reader's own display, which shows the line, is not used, nor its words where they repeat a value.
    fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| {
            let why = without_value(error.message().lines().next().unwrap_or_default());
            match error.span().and_then(|span| text.get(..span.start)) {
                Some(before) => format!("line {}: {why}", before.matches('\n').count() + 1),
                None => why,
            }
        })
    }
}

/// A message of the reader without what it found.
fn without_value(message: &str) -> String {
    if !["invalid type", "invalid value", "unknown variant"].iter().any(|begin| message.starts_with(begin)) {
        return message.to_owned();
    }
    let expected =
        message.rsplit_once(", expected ").map_or_else(String::new, |(_, what)| format!(": expected {what}"));
    format!("the value is not what this key takes{expected}")
}

impl Settings {
    pub(crate) fn gather(given: &ServeArguments) -> Result<Self, String> {
        let file = given.config.as_deref().map(File::read).transpose()?.unwrap_or_default();
        let given = given.clone();
        let data = data_place(&given, &file)?;
        // Azurite's variable is the last resort, so that a machine that has it set can still be told otherwise.
        let azurite_accounts = || std::env::var("AZURITE_ACCOUNTS").ok();
        let listed = given.accounts.or(file.accounts).or_else(azurite_accounts).filter(|list| !list.is_empty());
        let accounts = accounts::parse(&listed.unwrap_or_else(accounts::development))?;
        let tls = match (given.cert.or(file.cert), given.key.or(file.key)) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            _ => return Err("--cert and --key go together: give both, or neither for plain HTTP".to_owned()),
        };
        let oauth = given.oauth.or(file.oauth);
        if oauth.is_some() && tls.is_none() {
            return Err(
                "--oauth needs HTTPS, since clients send tokens over nothing else: add --cert and --key".to_owned()
            );
        }
        let silent = given.silent || file.silent.unwrap_or(false);
        let host = |flag: Option<String>, file: Option<String>| flag.or(file).unwrap_or_else(|| "127.0.0.1".to_owned());
        let service = |host: String, port: Option<u16>, default_port: u16, idle_seconds: Option<u64>| ServicePort {
            address: Address { host, port: port.unwrap_or(default_port) },
            idle_seconds: idle_seconds.unwrap_or(120).max(1),
        };
        let admin_port = given.admin_port.or(file.admin_port).unwrap_or(10003);
        let admin_host = host(given.admin_host, file.admin_host);
        Ok(Self {
            data,
            cache_bytes: given.cache_size.or(file.cache_size).unwrap_or(128).saturating_mul(MIB),
            blob: service(
                host(given.blob_host, file.blob_host),
                given.blob_port.or(file.blob_port),
                DEFAULT_BLOB_PORT,
                given.blob_keep_alive_timeout.or(file.blob_keep_alive_timeout),
            ),
            queue: service(
                host(given.queue_host, file.queue_host),
                given.queue_port.or(file.queue_port),
                DEFAULT_QUEUE_PORT,
                given.queue_keep_alive_timeout.or(file.queue_keep_alive_timeout),
            ),
            table: service(
                host(given.table_host, file.table_host),
                given.table_port.or(file.table_port),
                DEFAULT_TABLE_PORT,
                given.table_keep_alive_timeout.or(file.table_keep_alive_timeout),
            ),
            admin_address: (admin_port != 0).then_some(Address { host: admin_host, port: admin_port }),
            accounts,
            tls,
            accept_tokens: oauth == Some(OauthLevel::Basic),
            host_style: !(given.disable_product_style_url || file.disable_product_style_url.unwrap_or(false)),
            connections_max: given.connections_max.or(file.connections_max).unwrap_or(20_000),
            throttle: ThrottleTargets {
                account_requests_per_second: given.account_requests_per_second.or(file.account_requests_per_second),
                partition_entities_per_second: given
                    .partition_entities_per_second
                    .or(file.partition_entities_per_second),
            },
            log: given.log.or(file.log).unwrap_or_else(|| if silent { "error" } else { "info" }.to_owned()),
            log_format: given.log_format.or(file.log_format).unwrap_or(LogFormat::Text),
            debug_file: given.debug.or(file.debug),
            silent,
            explanations: given.azurite.explanations(),
        })
    }
}

/// The one place for data. A flag wins over what the file says of another place; memory wins over a folder.
fn data_place(given: &ServeArguments, file: &File) -> Result<DataPlace, String> {
    let in_memory = given.in_memory || file.in_memory.unwrap_or(false);
    if file.store.is_some() && (file.in_memory.unwrap_or(false) || file.location.is_some()) {
        return Err("store goes neither with in-memory nor with location: keep one in the settings file".to_owned());
    }
    let is_elsewhere = given.in_memory || given.location.is_some();
    let url = given.store.as_ref().or(file.store.as_ref().filter(|_| !is_elsewhere));
    if let Some(url) = url {
        let target = Target::parse(url).map_err(|error| format!("--store: {error}"))?;
        let connections_max = given.store_connections.or(file.store_connections).unwrap_or(32).max(1);
        return Ok(DataPlace::Database { target, connections_max });
    }
    if in_memory {
        return Ok(DataPlace::Memory);
    }
    let location = given.location.as_deref().or(file.location.as_deref()).unwrap_or(Path::new("."));
    Ok(DataPlace::Folder(location.join(DATA_FOLDER)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_in_the_file_is_named() {
        assert!(File::parse("table-port = 1234\nsilent = true").is_ok());
        let error = File::parse("silent = true\n\ntabel-port = 1234").unwrap_err();
        assert!(error.starts_with("line 3: ") && error.contains("tabel-port"), "{error}");
        let error = File::parse("log-format = \"yaml\"").unwrap_err();
        assert_eq!(error, "line 1: the value is not what this key takes: expected `text` or `json`");
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
            let error = File::parse(&format!("silent = true\n{line}\n")).unwrap_err();
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
        assert!(matches!(settings.data, DataPlace::Memory));
        assert_eq!(settings.cache_bytes, 128 * MIB);
    }

    #[test]
    fn data_is_kept_in_one_place() {
        let store = Some("postgres://user@host/data".to_owned());
        let given = ServeArguments { store: store.clone(), store_connections: Some(7), ..Default::default() };
        let place = data_place(&given, &File { location: Some("elsewhere".into()), ..File::default() });
        assert!(matches!(place, Ok(DataPlace::Database { connections_max: 7, .. })), "{place:?}");

        let given = ServeArguments { location: Some("here".into()), ..Default::default() };
        let place = data_place(&given, &File { store: store.clone(), ..File::default() });
        assert!(matches!(place, Ok(DataPlace::Folder(_))), "{place:?}");

        let both = File { store, in_memory: Some(true), ..File::default() };
        assert!(data_place(&ServeArguments::default(), &both).unwrap_err().contains("keep one"));
        let given = ServeArguments { store: Some("mysql://host".to_owned()), ..Default::default() };
        assert!(data_place(&given, &File::default()).unwrap_err().contains("postgres://"));
    }

    #[test]
    fn halves_of_a_pair_are_refused_with_the_remedy() {
        let given = ServeArguments { cert: Some("c.pem".into()), ..Default::default() };
        assert!(Settings::gather(&given).unwrap_err().contains("--key"));
        let given = ServeArguments { oauth: Some(OauthLevel::Basic), ..Default::default() };
        assert!(Settings::gather(&given).unwrap_err().contains("--cert"));
    }
}
