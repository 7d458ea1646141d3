//! The command line. Every flag of Azurite is accepted under its own spelling, so that a script or a compose
//! file changes only the program's name.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Azure Table, Queue and Blob Storage that you can own: durable, fast, wire-compatible.
///
/// Without arguments it serves blobs, queues and tables on 127.0.0.1, ports 10000 to 10002, for the development account,
/// and keeps data in ./tablerock-data. Point an application at it with the connection string UseDevelopmentStorage=true.
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
    /// An end is a store, which is a folder or postgres://…, or the endpoint of an account, which is a connection string:
    /// Azure's, Azurite's or a running Tablerock's. A copy that was cut off goes on where it was when the same command is run
    /// again.
    ///
    /// From store to store everything is kept: Timestamps, ETags, ids, messages, metadata, leases, snapshots and uncommitted blocks.
    /// Nothing of an account is to be seen in the new store before all of it is there. A folder can be opened by one process only,
    /// so stop its server first; with --serve-reads this command takes its place for reads, and answers writes with ServerBusy.
    ///
    /// Where an end is an endpoint, these are kept: tables with entities and their exact types; containers; block blobs with content
    /// headers and metadata; queues with metadata; with the account's keys also stored access policies and public access. Timestamps and
    /// ETags are new. Messages, append and page blobs, snapshots, tags, tiers, leases and uncommitted blocks are not copied; the first
    /// four are counted in what is printed at the end, and the exit code is 0 only if there were none.
    Copy(CopyArguments),
    /// Write accounts as lines of JSON, the same for the same data whatever store it is in
    Export(ExportArguments),
}

/// What a copy can be told.
#[derive(Debug, Clone, Args)]
pub(crate) struct CopyArguments {
    /// The old place: the folder of a server's --location, postgres://…, or a connection string
    #[arg(long, env = "TABLEROCK_COPY_FROM", value_name = "PLACE", hide_env_values = true, help_heading = "Copy")]
    pub(crate) from: String,
    /// The new place: the same. A store may be empty or have other accounts
    #[arg(long, env = "TABLEROCK_COPY_TO", value_name = "PLACE", hide_env_values = true, help_heading = "Copy")]
    pub(crate) to: String,
    /// Only this account of a store; between stores it may be given several times [default: all]
    ///
    /// From an endpoint to a store: what the account is called there [default: as it was].
    #[arg(long, value_name = "NAME", help_heading = "Copy")]
    pub(crate) account: Vec<String>,
    /// Where a copy from or to an endpoint remembers how far it is [default: a file in the current directory]
    #[arg(long, value_name = "FILE", help_heading = "Copy")]
    pub(crate) resume_file: Option<PathBuf>,
    /// Begin anew: forget how far an earlier copy was
    ///
    /// Between stores, what the earlier one had brought to the new store is given back.
    #[arg(long, help_heading = "Copy")]
    pub(crate) start_over: bool,
    /// Answer reads from the old store meanwhile, and until stopped, as a server with the settings below would
    #[arg(long, help_heading = "Copy")]
    pub(crate) serve_reads: bool,
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
}

/// What an export can be told.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArguments {
    /// The store: the folder of a server's --location, or postgres://…
    #[arg(long, env = "TABLEROCK_EXPORT_FROM", value_name = "PLACE", hide_env_values = true)]
    pub(crate) from: String,
    /// Only this account; may be given several times [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Vec<String>,
    /// Where to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What a server can be told. A flag wins over its TABLEROCK_* variable, that over the file of --config.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ServeArguments {
    /// Settings from a TOML file; its keys are the long flags without the dashes
    #[arg(long, env = "TABLEROCK_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Where data is kept: in a folder tablerock-data inside this one [default: .]
    #[arg(short, long, env = "TABLEROCK_LOCATION", value_name = "DIR", help_heading = "Storage")]
    pub(crate) location: Option<PathBuf>,
    /// Keep everything in memory and forget it at the end
    #[arg(long, alias = "inMemoryPersistence", env = "TABLEROCK_IN_MEMORY", help_heading = "Storage")]
    pub(crate) in_memory: bool,
    /// Keep data in a database that speaks PostgreSQL's protocol, shared with any number of other servers
    ///
    /// For example postgres://user:password@host:5432/database?sslmode=require
    #[arg(
        long,
        env = "TABLEROCK_STORE",
        value_name = "URL",
        hide_env_values = true,
        conflicts_with_all = ["in_memory", "location"],
        help_heading = "Storage"
    )]
    pub(crate) store: Option<String>,
    /// Connections to the database of --store [default: 32]
    #[arg(long, env = "TABLEROCK_STORE_CONNECTIONS", value_name = "N", help_heading = "Storage")]
    pub(crate) store_connections: Option<usize>,
    /// Memory for cached data, in MiB [default: 128]
    #[arg(long, env = "TABLEROCK_CACHE_SIZE", value_name = "MIB", help_heading = "Storage")]
    pub(crate) cache_size: Option<u64>,

    /// Address of the Blob service [default: 127.0.0.1]
    #[arg(long, alias = "blobHost", env = "TABLEROCK_BLOB_HOST", value_name = "HOST", help_heading = "Addresses")]
    pub(crate) blob_host: Option<String>,
    /// Port of the Blob service [default: 10000]
    #[arg(long, alias = "blobPort", env = "TABLEROCK_BLOB_PORT", value_name = "PORT", help_heading = "Addresses")]
    pub(crate) blob_port: Option<u16>,
    /// Address of the Queue service [default: 127.0.0.1]
    #[arg(long, alias = "queueHost", env = "TABLEROCK_QUEUE_HOST", value_name = "HOST", help_heading = "Addresses")]
    pub(crate) queue_host: Option<String>,
    /// Port of the Queue service [default: 10001]
    #[arg(long, alias = "queuePort", env = "TABLEROCK_QUEUE_PORT", value_name = "PORT", help_heading = "Addresses")]
    pub(crate) queue_port: Option<u16>,
    /// Address of the Table service [default: 127.0.0.1]
    #[arg(long, alias = "tableHost", env = "TABLEROCK_TABLE_HOST", value_name = "HOST", help_heading = "Addresses")]
    pub(crate) table_host: Option<String>,
    /// Port of the Table service [default: 10002]
    #[arg(long, alias = "tablePort", env = "TABLEROCK_TABLE_PORT", value_name = "PORT", help_heading = "Addresses")]
    pub(crate) table_port: Option<u16>,
    /// Address of health and metrics [default: 127.0.0.1]
    #[arg(long, env = "TABLEROCK_ADMIN_HOST", value_name = "HOST", help_heading = "Addresses")]
    pub(crate) admin_host: Option<String>,
    /// Port of health and metrics, 0 for none [default: 10003]
    #[arg(long, env = "TABLEROCK_ADMIN_PORT", value_name = "PORT", help_heading = "Addresses")]
    pub(crate) admin_port: Option<u16>,
    /// Take the account from the path only, never from the host name
    #[arg(
        long,
        alias = "disableProductStyleUrl",
        env = "TABLEROCK_DISABLE_PRODUCT_STYLE_URL",
        help_heading = "Addresses"
    )]
    pub(crate) disable_product_style_url: bool,

    /// Accounts as name:key[:key2], separated by semicolons [default: the development account]
    ///
    /// AZURITE_ACCOUNTS is understood as well.
    #[arg(long, env = "TABLEROCK_ACCOUNTS", value_name = "LIST", hide_env_values = true, help_heading = "Security")]
    pub(crate) accounts: Option<String>,
    /// Serve HTTPS with this certificate (PEM)
    #[arg(long, env = "TABLEROCK_CERT", value_name = "FILE", requires = "key", help_heading = "Security")]
    pub(crate) cert: Option<PathBuf>,
    /// The private key of --cert (PEM)
    #[arg(long, env = "TABLEROCK_KEY", value_name = "FILE", help_heading = "Security")]
    pub(crate) key: Option<PathBuf>,
    /// Accept bearer tokens by their claims alone, for development, over HTTPS
    #[arg(long, env = "TABLEROCK_OAUTH", value_name = "LEVEL", help_heading = "Security")]
    pub(crate) oauth: Option<OauthLevel>,

    /// Connections to each service at one time [default: 20000]
    #[arg(long, env = "TABLEROCK_CONNECTIONS_MAX", value_name = "N", help_heading = "Limits")]
    pub(crate) connections_max: Option<usize>,
    /// Seconds after which an idle connection to the Blob service is closed [default: 120]
    #[arg(
        long,
        alias = "blobKeepAliveTimeout",
        env = "TABLEROCK_BLOB_KEEP_ALIVE_TIMEOUT",
        value_name = "SECONDS",
        help_heading = "Limits"
    )]
    pub(crate) blob_keep_alive_timeout: Option<u64>,
    /// Seconds after which an idle connection to the Queue service is closed [default: 120]
    #[arg(
        long,
        alias = "queueKeepAliveTimeout",
        env = "TABLEROCK_QUEUE_KEEP_ALIVE_TIMEOUT",
        value_name = "SECONDS",
        help_heading = "Limits"
    )]
    pub(crate) queue_keep_alive_timeout: Option<u64>,
    /// Seconds after which an idle connection to the Table service is closed [default: 120]
    #[arg(
        long,
        alias = "tableKeepAliveTimeout",
        env = "TABLEROCK_TABLE_KEEP_ALIVE_TIMEOUT",
        value_name = "SECONDS",
        help_heading = "Limits"
    )]
    pub(crate) table_keep_alive_timeout: Option<u64>,
    /// Answer ServerBusy above this many requests per second of an account [default: no limit; Azure: 20000]
    #[arg(long, env = "TABLEROCK_ACCOUNT_REQUESTS_PER_SECOND", value_name = "N", help_heading = "Limits")]
    pub(crate) account_requests_per_second: Option<u32>,
    /// Answer ServerBusy above this many entities per second of a partition [default: no limit; Azure: 2000]
    #[arg(long, env = "TABLEROCK_PARTITION_ENTITIES_PER_SECOND", value_name = "N", help_heading = "Limits")]
    pub(crate) partition_entities_per_second: Option<u32>,

    /// What is logged to stderr: error, warn, info, debug (each request), or a filter of tracing [default: info]
    #[arg(long, env = "TABLEROCK_LOG", value_name = "FILTER", help_heading = "Logs")]
    pub(crate) log: Option<String>,
    /// The form of logs [default: text]
    #[arg(long, env = "TABLEROCK_LOG_FORMAT", value_name = "FORMAT", help_heading = "Logs")]
    pub(crate) log_format: Option<LogFormat>,
    /// Log each request to this file
    #[arg(short, long, env = "TABLEROCK_DEBUG", value_name = "FILE", help_heading = "Logs")]
    pub(crate) debug: Option<PathBuf>,
    /// Print nothing at start and log errors only
    #[arg(short, long, env = "TABLEROCK_SILENT", help_heading = "Logs")]
    pub(crate) silent: bool,

    #[command(flatten)]
    pub(crate) azurite: AzuriteArguments,
}

/// Flags of Azurite that have no effect here. Each is answered with one line that says why.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AzuriteArguments {
    #[arg(short = 'L', long, hide = true)]
    pub(crate) loose: bool,
    #[arg(long, alias = "skipApiVersionCheck", hide = true)]
    pub(crate) skip_api_version_check: bool,
    #[arg(long, alias = "disableTelemetry", hide = true)]
    pub(crate) disable_telemetry: bool,
    #[arg(long, alias = "extentMemoryLimit", hide = true, allow_negative_numbers = true)]
    pub(crate) extent_memory_limit: Option<f64>,
    #[arg(long, hide = true)]
    pub(crate) pwd: Option<String>,
}

impl AzuriteArguments {
    /// One line for each flag that was given.
    pub(crate) fn explanations(&self) -> Vec<&'static str> {
        let explained = [
            (self.loose, "--loose: unknown headers and parameters are always ignored here"),
            (self.skip_api_version_check, "--skipApiVersionCheck: every well-formed x-ms-version is accepted here"),
            (self.disable_telemetry, "--disableTelemetry: there is no telemetry here"),
            (
                self.extent_memory_limit.is_some(),
                "--extentMemoryLimit: what is kept in memory here is bounded by --cache-size",
            ),
            (
                self.pwd.is_some(),
                "--pwd: PFX files are not read; convert yours to PEM with openssl, for --cert and --key",
            ),
        ];
        explained.into_iter().filter_map(|(given, why)| given.then_some(why)).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OauthLevel {
    /// Check form, time and audience of a token, not its signature
    Basic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
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
            --oauth basic --inMemoryPersistence --extentMemoryLimit -1 --disableTelemetry";
        let arguments = Arguments::try_parse_from(line.split_whitespace()).unwrap();
        let ports = [arguments.serve.blob_port, arguments.serve.queue_port, arguments.serve.table_port];
        assert_eq!(ports, [Some(1), Some(2), Some(3)]);
        assert_eq!(arguments.serve.azurite.explanations().len(), 5);
    }

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
