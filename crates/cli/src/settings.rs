//! Merges the sources of settings: the command line and the environment, then the TOML file, then the defaults.

use std::fmt;
use std::path::{Path, PathBuf};

use tablerock_kv_postgres::Target;
use tablerock_protocol::Service;
use tablerock_server::Account;
use tablerock_server::tls::CertificateFiles;
use tablerock_services::ThrottleTargets;

use crate::account_source::{AccountSource, ListedAccounts};
use crate::accounts::{AccountList, ShortKey};
use crate::arguments::{LogFormat, OauthLevel, ServeArguments};
use crate::azurite_arguments;
use crate::program::Program;
use crate::settings_file::read_file;
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
    pub(crate) program: Program,
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
    /// Whether the operator chose the host or the port. Another admin address is left out if it cannot be served.
    pub(crate) is_admin_wanted: bool,
    /// Shows names of data on an admin address that is not loopback.
    pub(crate) admin_show_names: bool,
    /// The file with the addresses and the token for changes on the admin address.
    pub(crate) admin_file: Option<PathBuf>,
    pub(crate) accounts: Vec<Account>,
    pub(crate) short_keys: Vec<ShortKey>,
    /// Where the accounts come from, to read them again.
    pub(crate) account_source: AccountSource,
    /// The list of the accounts, to recognize a change.
    pub(crate) accounts_text: String,
    pub(crate) accounts_are_default: bool,
    /// Serves the published key off loopback, with a warning.
    pub(crate) allow_dev_account: bool,
    /// Certificate and key.
    pub(crate) tls: Option<CertificateFiles>,
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

/// Shows the address as a URL has it.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl Settings {
    pub(crate) fn gather(given: &ServeArguments, program: Program) -> Result<Self, String> {
        azurite_arguments::check_variables()?;
        let file = given.config.as_deref().map(read_file).transpose()?.unwrap_or_default();
        Self::merge(given.clone(), file, program)
    }

    /// The services that the program serves, in the order of their ports.
    pub(crate) fn services(&self) -> impl Iterator<Item = (Service, &ServicePort)> {
        let all = [(Service::Blob, &self.blob), (Service::Queue, &self.queue), (Service::Table, &self.table)];
        all.into_iter().filter(|(service, _)| self.program.serves(*service))
    }

    fn merge(given: ServeArguments, mut file: ServeArguments, program: Program) -> Result<Self, String> {
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
        let account_source = AccountSource::new(&given);
        let ListedAccounts { list, text: accounts_text, is_default: accounts_are_default } =
            account_source.read_with(&file)?;
        let AccountList { accounts, short_keys } = list;
        let set = given.or(file);
        let data = store_location(&set)?;
        let mut explanations = set.azurite.explain(matches!(data, StoreLocation::Memory))?;
        let tls = certificate_files(&set, &mut explanations)?;
        let mut accept_tokens = set.oauth == Some(OauthLevel::Basic);
        if accept_tokens && tls.is_none() {
            if !program.is_azurite() {
                return Err(
                    "--oauth requires HTTPS, because clients send tokens only over HTTPS: set --cert and --key"
                        .to_owned(),
                );
            }
            // Azurite starts and rejects tokens over HTTP.
            explanations.push("--oauth has no effect: clients send tokens only over HTTPS; set --cert");
            accept_tokens = false;
        }
        let is_admin_port_given = set.admin_port.is_some();
        let is_admin_wanted = set.admin_host.is_some() || set.admin_file.is_some() || is_admin_port_given;
        let has_admin = is_admin_wanted || !matches!(program, Program::AzuriteService(_));
        let admin_address = Address::new(set.admin_host, set.admin_port, 10003);
        if set.admin_file.is_some() && admin_address.port == 0 {
            return Err("--admin-file requires the admin address: set --admin-port to a port, or omit it".to_owned());
        }
        let default_log = if set.silent { "error" } else { "info" };
        Ok(Self {
            program,
            data,
            must_exist: set.existing,
            data_is_new: false,
            cache_bytes: set.cache_size.unwrap_or(128).saturating_mul(MIB),
            blob: ServicePort::new(set.blob_host, set.blob_port, DEFAULT_BLOB_PORT, set.blob_keep_alive_timeout),
            queue: ServicePort::new(set.queue_host, set.queue_port, DEFAULT_QUEUE_PORT, set.queue_keep_alive_timeout),
            table: ServicePort::new(set.table_host, set.table_port, DEFAULT_TABLE_PORT, set.table_keep_alive_timeout),
            admin_address: Some(admin_address).filter(|address| has_admin && address.port != 0),
            is_admin_port_given,
            is_admin_wanted,
            admin_show_names: set.admin_show_names,
            admin_file: set.admin_file,
            accounts,
            short_keys,
            account_source,
            accounts_text,
            accounts_are_default,
            // Users of Azurite expect the development account everywhere.
            allow_dev_account: set.allow_dev_account || program.is_azurite(),
            tls,
            accept_tokens,
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
            explanations,
        })
    }
}

/// Returns the files of the certificate.
fn certificate_files(
    set: &ServeArguments,
    explanations: &mut Vec<&'static str>,
) -> Result<Option<CertificateFiles>, String> {
    let (key, password) = (set.key.clone(), set.pwd.clone());
    let Some(certificate) = set.cert.clone() else {
        return match (key, password) {
            (None, None) => Ok(None),
            _ => Err("--key and --pwd belong to --cert: set --cert, or none of them for plain HTTP".to_owned()),
        };
    };
    if key.is_some() && password.is_some() {
        explanations.push("--pwd has no effect: it is the password of a PFX file, and --key is in PEM");
    }
    Ok(Some(CertificateFiles { certificate, key, password }))
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
    use crate::settings_file::parse_file;

    fn gather(given: &ServeArguments) -> Result<Settings, String> {
        Settings::gather(given, Program::Tablerock)
    }

    fn merge(given: ServeArguments, file: ServeArguments) -> Result<Settings, String> {
        Settings::merge(given, file, Program::Tablerock)
    }

    #[test]
    fn flags_win_and_defaults_fill_in() {
        let given = ServeArguments { table_port: Some(7), in_memory: true, ..Default::default() };
        let settings = gather(&given).unwrap();
        let ports = [settings.blob, settings.queue, settings.table].map(|service| service.address.port);
        assert_eq!(ports, [DEFAULT_BLOB_PORT, DEFAULT_QUEUE_PORT, 7]);
        assert!(matches!(settings.data, StoreLocation::Memory));
        assert_eq!(settings.cache_bytes, 128 * MIB);
    }

    #[test]
    fn data_is_kept_in_one_place() {
        let merge = |given, file| merge(given, file).map(|merged| merged.data);
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
            let error = merge(given, file).unwrap_err();
            assert!(error.contains("--in-memory") && error.contains("--location"), "{error}");
        }
        let place = merge(memory(), location()).unwrap().data;
        assert!(matches!(place, StoreLocation::Memory), "a flag overrides the file: {place:?}");
    }

    #[test]
    fn an_ipv6_host_may_have_brackets() {
        for host in ["::1", "[::1]"] {
            let given = ServeArguments { queue_host: Some(host.to_owned()), ..Default::default() };
            assert_eq!(gather(&given).unwrap().queue.address.host, "::1");
        }
    }

    #[test]
    fn a_flag_overrides_the_file_and_a_switch_is_on_if_one_source_has_it_on() {
        let file = parse_file("table-port = 1\nqueue-port = 2\nsilent = true\nin-memory = true").unwrap();
        let given = ServeArguments { table_port: Some(7), ..Default::default() };
        let merged = merge(given, file).unwrap();
        assert_eq!((merged.table.address.port, merged.queue.address.port, merged.silent), (7, 2, true));
        assert!(parse_file("config = \"other.toml\"").is_err(), "a file does not name another");
        assert!(parse_file("azurite = {}").is_err());
    }

    #[test]
    fn halves_of_a_pair_are_refused_with_the_remedy() {
        let given = ServeArguments { key: Some("k.pem".into()), ..Default::default() };
        assert!(gather(&given).unwrap_err().contains("--cert"));
        let given = ServeArguments { pwd: Some("secret".into()), ..Default::default() };
        assert!(gather(&given).unwrap_err().contains("--cert"));
        let given = ServeArguments { oauth: Some(OauthLevel::Basic), ..Default::default() };
        assert!(gather(&given).unwrap_err().contains("--cert"));
        let azurite = Settings::gather(&given, Program::Azurite).unwrap();
        assert!(!azurite.accept_tokens && azurite.explanations.len() == 1);
    }

    #[test]
    fn a_command_of_one_service_has_only_that_service() {
        let program = Program::AzuriteService(Service::Queue);
        let settings = Settings::gather(&ServeArguments::default(), program).unwrap();
        let ports: Vec<_> = settings.services().map(|(service, port)| (service, port.address.port)).collect();
        assert_eq!((ports, settings.admin_address), (vec![(Service::Queue, DEFAULT_QUEUE_PORT)], None));
        let given = ServeArguments { admin_port: Some(7), ..Default::default() };
        assert!(Settings::gather(&given, program).unwrap().admin_address.is_some());
    }
}
