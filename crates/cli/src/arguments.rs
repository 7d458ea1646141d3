//! The command line. It accepts every flag of Azurite under Azurite's spelling, so that a script or a compose file
//! changes only the program's name.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Deserialize;

use crate::azurite_arguments::AzuriteArguments;

/// An Azure Table, Queue and Blob Storage server that keeps its data on your disk
///
/// Without arguments it serves blobs, queues and tables on 127.0.0.1, ports 10000 to 10002, for the development account,
/// and keeps data in ./tablerock-data. To connect an application, use the connection string UseDevelopmentStorage=true.
#[derive(Debug, Parser)]
#[command(name = "tablerock", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve until stopped (the default)
    Serve(ServeArguments),
    /// Copy accounts from one store or endpoint to another
    ///
    /// --from and --to each name a store or the endpoint of an account. A store is a folder or postgres://…. An endpoint is a
    /// connection string of Azure, Azurite or a running Tablerock. An interrupted copy resumes when you run the same command
    /// again.
    ///
    /// A copy from store to store keeps everything: Timestamps, ETags, ids, messages, metadata, leases, snapshots and
    /// uncommitted blocks. An account becomes visible in the target only when the copy is complete. Only one process can open a
    /// folder, so stop its server first. With --serve-reads this command serves reads in the meantime and rejects writes with
    /// ServerBusy.
    ///
    /// A copy from or to an endpoint keeps tables with entities and their exact types, containers, blobs with content headers,
    /// metadata, tiers and snapshots, and queues with metadata. With the account's key at both ends it also keeps tags, stored
    /// access policies and public access. Timestamps and ETags are new. Messages, archived blobs and blobs with a
    /// customer-provided key are not copied; the final report counts them, and the exit code is 0 only if there are none. Leases
    /// and uncommitted blocks are not copied.
    Copy(CopyArguments),
    /// Write accounts as lines of JSON; equal data gives equal output, whatever the store
    Export(ExportArguments),
    /// Spread the load of a store on a Citus cluster over its nodes, one step at a time
    ///
    /// Measures the load of all shards for --interval seconds. If the busiest node has more than --tolerance times the load of
    /// the quietest one, it isolates a hot partition in a shard of its own, or moves a shard from the busiest node to the
    /// quietest one, while servers go on. The hot partitions are those that the servers have seen. Only one balance runs at a
    /// time. The exit code is 0 if the steps succeeded or none was needed, and 1 otherwise.
    Balance(BalanceArguments),
    /// Ask a running server whether it is ready; the exit code is 0 if it is
    ///
    /// For health checks of containers and scripts. Flags and variables are those of the server.
    Health(HealthArguments),
}

/// The options of `copy`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CopyArguments {
    /// The source: the folder of a server's --location, postgres://…, or a connection string
    #[arg(long, env = "TABLEROCK_COPY_FROM", value_name = "LOCATION", hide_env_values = true, help_heading = "Copy")]
    pub(crate) from: String,
    /// The target, in the same form. A target store may be empty or hold other accounts
    #[arg(long, env = "TABLEROCK_COPY_TO", value_name = "LOCATION", hide_env_values = true, help_heading = "Copy")]
    pub(crate) to: String,
    /// Copy only this account of a store; repeatable between stores [default: all]
    ///
    /// From an endpoint to a store: the name of the account in the store [default: unchanged].
    #[arg(long, value_name = "NAME", help_heading = "Copy")]
    pub(crate) account: Vec<String>,
    /// The file that records the progress of a copy from or to an endpoint [default: a file in the current directory]
    #[arg(long, value_name = "FILE", help_heading = "Copy")]
    pub(crate) resume_file: Option<PathBuf>,
    /// Discard the progress of an earlier copy and start again
    ///
    /// Between stores, this first deletes the data that the earlier copy wrote to the target.
    #[arg(long, help_heading = "Copy")]
    pub(crate) start_over: bool,
    /// Serve reads from the source during and after the copy, with the server settings below
    #[arg(long, help_heading = "Copy")]
    pub(crate) serve_reads: bool,
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
}

/// The options of `export`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArguments {
    /// The store: the folder of a server's --location, or postgres://…
    #[arg(long, env = "TABLEROCK_EXPORT_FROM", value_name = "LOCATION", hide_env_values = true)]
    pub(crate) from: String,
    /// Export only this account; repeatable [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Vec<String>,
    /// The file to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The options of `balance`.
#[derive(Debug, Clone, Args)]
pub(crate) struct BalanceArguments {
    /// The database of the servers: postgres://…, with the coordinator among the hosts. The role must own the tables
    #[arg(long, env = "TABLEROCK_STORE", value_name = "URL", hide_env_values = true)]
    pub(crate) store: String,
    /// Print the next step without doing it
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Steps at most; the load is measured before each of them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) steps: u32,
    /// Seconds for which the load is measured
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(2..=3600))]
    pub(crate) interval: u64,
    /// The load of the busiest node in relation to the quietest one that is left alone
    #[arg(long, value_name = "RATIO", default_value_t = 1.3)]
    pub(crate) tolerance: f64,
    /// Block writes to a shard while it is copied, instead of replicating them; they wait meanwhile
    ///
    /// Shorter, and needs neither wal_level = logical nor output_plugin_libraries. Writes that wait longer than 15 seconds get
    /// 503.
    #[arg(long)]
    pub(crate) block_writes: bool,
    /// Seconds for one step at most
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(10..=86_400))]
    pub(crate) timeout: u64,
}

/// The options of `health`.
#[derive(Debug, Clone, Args)]
pub(crate) struct HealthArguments {
    /// Address of probes, metrics and load [default: 127.0.0.1]
    #[arg(long, env = "TABLEROCK_ADMIN_HOST", value_name = "HOST")]
    pub(crate) admin_host: Option<String>,
    /// Port of probes, metrics and load [default: 10003]
    #[arg(long, env = "TABLEROCK_ADMIN_PORT", value_name = "PORT")]
    pub(crate) admin_port: Option<u16>,
    /// The file of the server's --admin-file, which has the address
    #[arg(long, env = "TABLEROCK_ADMIN_FILE", value_name = "FILE")]
    pub(crate) admin_file: Option<PathBuf>,
    /// Time to wait for the response, in seconds [default: 5]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) timeout: Option<u64>,
}

/// Defines the settings of a server once: as flags, as variables, as keys of the settings file, and how two sources merge.
macro_rules! settings {
    ($($(#[$attribute:meta])* $name:ident: $kind:ty,)*) => {
        /// The settings of a server. A flag overrides its TABLEROCK_* variable, which overrides the file of --config.
        #[derive(Debug, Clone, Default, Args, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
        pub(crate) struct ServeArguments {
            $($(#[$attribute])* pub(crate) $name: $kind,)*
        }

        impl ServeArguments {
            /// Fills every setting that is not set with that of a source of lower precedence.
            pub(crate) fn or(self, lower: Self) -> Self {
                Self { $($name: self.$name.or(lower.$name),)* }
            }
        }
    };
}

/// Merges switches: on in one source is on.
trait OrSwitch {
    fn or(self, lower: Self) -> Self;
}

impl OrSwitch for bool {
    fn or(self, lower: Self) -> Self {
        self || lower
    }
}

settings! {
    /// Read settings from this TOML file; its keys are the long flags without the dashes
    #[arg(long, env = "TABLEROCK_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,

    /// Keep data in a folder tablerock-data inside this one [default: .]
    #[arg(short, long, env = "TABLEROCK_LOCATION", value_name = "DIR", help_heading = "Storage")]
    location: Option<PathBuf>,
    /// Exit with an error if there is no data yet, instead of creating it
    ///
    /// For servers: a volume that is not mounted looks like a first start.
    #[arg(long, env = "TABLEROCK_EXISTING", help_heading = "Storage")]
    existing: bool,
    /// Keep all data in memory and lose it on exit
    #[arg(long, alias = "inMemoryPersistence", env = "TABLEROCK_IN_MEMORY", help_heading = "Storage")]
    in_memory: bool,
    /// Keep data in a PostgreSQL-compatible database, shared with any number of other servers
    ///
    /// For example postgres://user:password@host:5432/database?sslmode=require. A URL with a password belongs in the variable
    /// or the file of --config: other users of the machine can read a command line.
    #[arg(long, env = "TABLEROCK_STORE", value_name = "URL", hide_env_values = true, conflicts_with_all = ["in_memory", "location"],
        help_heading = "Storage")]
    store: Option<String>,
    /// Connections to the database of --store [default: 32]
    #[arg(long, env = "TABLEROCK_STORE_CONNECTIONS", value_name = "N", help_heading = "Storage")]
    store_connections: Option<usize>,
    /// Memory for cached data, in MiB [default: 128]
    #[arg(long, env = "TABLEROCK_CACHE_SIZE", value_name = "MIB", help_heading = "Storage")]
    cache_size: Option<u64>,

    /// Address of the Blob service [default: 127.0.0.1]
    #[arg(long, alias = "blobHost", env = "TABLEROCK_BLOB_HOST", value_name = "HOST", help_heading = "Addresses")]
    blob_host: Option<String>,
    /// Port of the Blob service [default: 10000]
    #[arg(long, alias = "blobPort", env = "TABLEROCK_BLOB_PORT", value_name = "PORT", help_heading = "Addresses")]
    blob_port: Option<u16>,
    /// Address of the Queue service [default: 127.0.0.1]
    #[arg(long, alias = "queueHost", env = "TABLEROCK_QUEUE_HOST", value_name = "HOST", help_heading = "Addresses")]
    queue_host: Option<String>,
    /// Port of the Queue service [default: 10001]
    #[arg(long, alias = "queuePort", env = "TABLEROCK_QUEUE_PORT", value_name = "PORT", help_heading = "Addresses")]
    queue_port: Option<u16>,
    /// Address of the Table service [default: 127.0.0.1]
    #[arg(long, alias = "tableHost", env = "TABLEROCK_TABLE_HOST", value_name = "HOST", help_heading = "Addresses")]
    table_host: Option<String>,
    /// Port of the Table service [default: 10002]
    #[arg(long, alias = "tablePort", env = "TABLEROCK_TABLE_PORT", value_name = "PORT", help_heading = "Addresses")]
    table_port: Option<u16>,
    /// Address of probes, metrics and load [default: 127.0.0.1]
    #[arg(long, env = "TABLEROCK_ADMIN_HOST", value_name = "HOST", help_heading = "Addresses")]
    admin_host: Option<String>,
    /// Port of probes, metrics and load, 0 to disable [default: 10003]
    ///
    /// A default that is in use moves to a free port. The commands of a single service have no default.
    #[arg(long, env = "TABLEROCK_ADMIN_PORT", value_name = "PORT", help_heading = "Addresses")]
    admin_port: Option<u16>,
    /// Show names of data in /metrics and /load also off loopback; the admin address has no credentials
    #[arg(long, env = "TABLEROCK_ADMIN_SHOW_NAMES", help_heading = "Addresses")]
    admin_show_names: bool,
    /// Write the addresses to this file when the server is ready, with the token for changes on the admin address
    ///
    /// Only its owner can read the file. It is removed when the server stops.
    #[arg(long, env = "TABLEROCK_ADMIN_FILE", value_name = "FILE", help_heading = "Addresses")]
    admin_file: Option<PathBuf>,
    /// Read the account name from the path only, never from the host name
    #[arg(long, alias = "disableProductStyleUrl", env = "TABLEROCK_DISABLE_PRODUCT_STYLE_URL",
        help_heading = "Addresses")]
    disable_product_style_url: bool,
    /// Ignore headers and parameters that Azure documents and this server does not act on, instead of refusing them
    #[arg(short = 'L', long, env = "TABLEROCK_LOOSE", help_heading = "Requests")]
    loose: bool,

    /// Accounts as name:key[:key2], separated by semicolons [default: the development account]
    ///
    /// Prefer a file or the variable: other users of the machine can read a command line. AZURITE_ACCOUNTS is used if nothing
    /// else sets accounts.
    #[arg(long, env = "TABLEROCK_ACCOUNTS", value_name = "LIST", hide_env_values = true, help_heading = "Security")]
    accounts: Option<String>,
    /// Read accounts from this file, one on each line, and again every minute and on SIGHUP
    #[arg(long, env = "TABLEROCK_ACCOUNTS_FILE", value_name = "FILE", help_heading = "Security")]
    accounts_file: Option<PathBuf>,
    /// Serve the published key of the development account on addresses that are not loopback
    ///
    /// Any client that reaches the address can then read and change all data.
    #[arg(long, env = "TABLEROCK_ALLOW_DEV_ACCOUNT", help_heading = "Security")]
    allow_dev_account: bool,
    /// Serve HTTPS with this certificate (PEM or PFX), and read it again every minute and on SIGHUP
    #[arg(long, env = "TABLEROCK_CERT", value_name = "FILE", help_heading = "Security")]
    cert: Option<PathBuf>,
    /// The private key of --cert (PEM), if it is not in the same file
    #[arg(long, env = "TABLEROCK_KEY", value_name = "FILE", help_heading = "Security")]
    key: Option<PathBuf>,
    /// The password of --cert if that is a PFX file
    ///
    /// Prefer the variable or the file of --config: other users of the machine can read a command line.
    #[arg(long, env = "TABLEROCK_PWD", value_name = "PASSWORD", hide_env_values = true, help_heading = "Security")]
    pwd: Option<String>,
    /// Accept bearer tokens without checking their signature; for development, requires HTTPS
    #[arg(long, env = "TABLEROCK_OAUTH", value_name = "LEVEL", ignore_case = true, help_heading = "Security")]
    oauth: Option<OauthLevel>,

    /// Concurrent connections to all services together [default: 20000]
    #[arg(long, env = "TABLEROCK_CONNECTIONS_MAX", value_name = "N", help_heading = "Limits")]
    connections_max: Option<usize>,
    /// Idle timeout of connections to the Blob service, in seconds [default: 120]
    #[arg(long, alias = "blobKeepAliveTimeout", env = "TABLEROCK_BLOB_KEEP_ALIVE_TIMEOUT", value_name = "SECONDS",
        help_heading = "Limits")]
    blob_keep_alive_timeout: Option<u64>,
    /// Idle timeout of connections to the Queue service, in seconds [default: 120]
    #[arg(long, alias = "queueKeepAliveTimeout", env = "TABLEROCK_QUEUE_KEEP_ALIVE_TIMEOUT", value_name = "SECONDS",
        help_heading = "Limits")]
    queue_keep_alive_timeout: Option<u64>,
    /// Idle timeout of connections to the Table service, in seconds [default: 120]
    #[arg(long, alias = "tableKeepAliveTimeout", env = "TABLEROCK_TABLE_KEEP_ALIVE_TIMEOUT", value_name = "SECONDS",
        help_heading = "Limits")]
    table_keep_alive_timeout: Option<u64>,
    /// Rate limit of an account, in requests per second; requests above it get ServerBusy [default: no limit]
    ///
    /// Azure's target is 20000.
    #[arg(long, env = "TABLEROCK_ACCOUNT_REQUESTS_PER_SECOND", value_name = "N", help_heading = "Limits")]
    account_requests_per_second: Option<u32>,
    /// Rate limit of a partition, in entities per second; requests above it get ServerBusy [default: no limit]
    ///
    /// Azure's target is 2000.
    #[arg(long, env = "TABLEROCK_PARTITION_ENTITIES_PER_SECOND", value_name = "N", help_heading = "Limits")]
    partition_entities_per_second: Option<u32>,

    /// Log level on stderr: error, warn, info, debug (logs each request), or a tracing filter [default: info]
    #[arg(long, env = "TABLEROCK_LOG", value_name = "FILTER", help_heading = "Logs")]
    log: Option<String>,
    /// Log format [default: text]
    #[arg(long, env = "TABLEROCK_LOG_FORMAT", value_name = "FORMAT", help_heading = "Logs")]
    log_format: Option<LogFormat>,
    /// Append a log of each request to this file
    #[arg(short, long, env = "TABLEROCK_DEBUG", value_name = "FILE", help_heading = "Logs")]
    debug: Option<PathBuf>,
    /// Print only the addresses of the services, and log errors only
    #[arg(short, long, env = "TABLEROCK_SILENT", help_heading = "Logs")]
    silent: bool,

    #[command(flatten)]
    #[serde(skip)]
    azurite: AzuriteArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OauthLevel {
    /// Check the form, lifetime and audience of a token, not its signature
    Basic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_of_azurite_is_accepted() {
        let line = "tablerock --blobHost 0.0.0.0 --blobPort 1 --blobKeepAliveTimeout 5 --queueHost 0.0.0.0 --queuePort 2 \
            --queueKeepAliveTimeout 5 --tableHost 0.0.0.0 --tablePort 3 --tableKeepAliveTimeout 5 -l /data -s \
            -d debug.log -L --skipApiVersionCheck --disableProductStyleUrl --cert c.pem --key k.pem --pwd x \
            --oauth BASIC --inMemoryPersistence --extentMemoryLimit -1 --disableTelemetry";
        let arguments = Arguments::try_parse_from(line.split_whitespace()).unwrap();
        let ports = [arguments.serve.blob_port, arguments.serve.queue_port, arguments.serve.table_port];
        assert_eq!(ports, [Some(1), Some(2), Some(3)]);
        assert_eq!(arguments.serve.azurite.explain(true).unwrap().len(), 2);
        assert_eq!(arguments.serve.pwd.as_deref(), Some("x"));
        assert!(arguments.serve.loose);
    }

    /// The flag, variable and default of each setting, as a row of the table in `docs/operating.md` begins.
    fn settings_rows() -> Vec<String> {
        let command = ServeArguments::augment_args(clap::Command::new("serve"));
        let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
        shown
            .map(|argument| {
                let long = argument.get_long().expect("every setting has a long flag");
                let is_switch = matches!(argument.get_action(), clap::ArgAction::SetTrue);
                let value = match argument.get_value_names() {
                    Some([name]) if !is_switch => format!(" {name}"),
                    _ => String::new(),
                };
                let short = argument.get_short().map_or_else(String::new, |short| format!(", `-{short}`"));
                let variable = argument.get_env().and_then(|name| name.to_str()).expect("every setting has a variable");
                let help = argument.get_help().expect("every setting has a help text").to_string();
                let default = help.split_once("[default: ").map(|(_, rest)| rest.trim_end_matches(']').to_owned());
                let default = default.unwrap_or_else(|| if is_switch { "off" } else { "none" }.to_owned());
                format!("| `--{long}{value}`{short} | `{variable}` | {default} |")
            })
            .collect()
    }

    #[test]
    fn the_table_of_settings_in_the_documentation_is_complete() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating.md");
        let document = std::fs::read_to_string(path).unwrap();
        let documented: Vec<&str> = document.lines().filter(|line| line.starts_with("| `--")).collect();
        let rows = settings_rows();
        assert_eq!(documented.len(), rows.len(), "one row for each setting, in the order of --help");
        for (row, documented) in rows.iter().zip(documented) {
            assert!(documented.starts_with(row), "docs/operating.md has\n{documented}\ninstead of\n{row}");
        }
    }
}
