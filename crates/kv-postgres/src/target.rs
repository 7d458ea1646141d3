//! The database, from a URL.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use tablerock_kv::{Error, Result};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::hosts::{HostOrder, Hosts};
use crate::kind::Kind;
use crate::tls::{Tls, Trust};

/// The idle time before a keep-alive probe, and the time for an acknowledgement: a database that vanished is detected within
/// the time of a request.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(10);

/// A database: its hosts, the credentials, and the trust in its certificate.
///
/// The URL is that of PostgreSQL's own tools, `postgres://user:password@host:port/database?sslmode=…`. Several hosts
/// may be given, separated by commas. On PostgreSQL the engine finds the primary among them, again after each fail-over. On
/// databases whose nodes all serve, connections take turns; `load_balance_hosts=disable` or `random` overrides this.
///
/// ```
/// use tablerock_kv_postgres::Target;
///
/// let target = Target::parse("postgres://tablerock:secret@db.example:5433/accounts?sslmode=require")?;
/// assert_eq!(target.to_string(), "postgres://tablerock@db.example:5433/accounts");
/// # Ok::<_, tablerock_kv::Error>(())
/// ```
#[derive(Clone)]
pub struct Target {
    config: Arc<Config>,
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) tls: Tls,
    /// The order of hosts, if the URL has it.
    order: Option<HostOrder>,
}

impl Target {
    /// Parses a URL. The error does not contain the password.
    pub fn parse(url: &str) -> Result<Self> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(Error::invalid(
                "the database's URL must begin with postgres:// (postgres://user:password@host:port/database)",
            ));
        }
        let (plain, trust) = take_trust(url)?;
        let order = host_order(url);
        let mut config = Config::from_str(&plain)
            .map_err(|error| Error::invalid(format!("the database's URL cannot be read: {error}")))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(Error::invalid("the database's URL names no host"));
        }
        check_counts(&config)?;
        config.keepalives(true).keepalives_idle(KEEPALIVE_IDLE);
        config.tcp_user_timeout(UNACKNOWLEDGED_MAX);
        if config.get_application_name().is_none() {
            config.application_name("tablerock");
        }
        if matches!(trust, Trust::Authority { .. }) {
            config.ssl_mode(SslMode::Require);
        }
        Ok(Self { tls: Tls::new(&trust)?, hosts: Arc::new(Hosts::of(&config)), config: Arc::new(config), order })
    }

    /// The order in which the hosts of this kind of database are tried. Of several hosts of a PostgreSQL only one may serve:
    /// after a fail-over, an old primary that still runs must not get a share of the connections.
    pub(crate) fn host_order(&self, kind: Kind) -> HostOrder {
        self.order.unwrap_or(match kind {
            Kind::Postgres => HostOrder::LastServed,
            Kind::Citus | Kind::Yugabyte | Kind::Other => HostOrder::TakeTurns,
        })
    }

    /// The role that logs in.
    pub(crate) fn role(&self) -> &str {
        self.config.get_user().unwrap_or("tablerock")
    }
}

/// Ports and addresses are one for all hosts or one for each.
fn check_counts(config: &Config) -> Result<()> {
    let (hosts, addresses, ports) = (config.get_hosts().len(), config.get_hostaddrs().len(), config.get_ports().len());
    if hosts > 0 && addresses > 0 && hosts != addresses || ports > 1 && ports != hosts.max(addresses) {
        return Err(Error::invalid("the database's URL does not have a port, or an address, for each host"));
    }
    Ok(())
}

/// Returns the order of hosts that a URL demands. The driver checks the value.
fn host_order(url: &str) -> Option<HostOrder> {
    let (_, query) = url.split_once('?')?;
    match query.split('&').find_map(|pair| pair.strip_prefix("load_balance_hosts="))? {
        "random" => Some(HostOrder::TakeTurns),
        _ => Some(HostOrder::LastServed),
    }
}

/// Removes `sslmode` and `sslrootcert` from a URL as far as the driver does not know them.
fn take_trust(url: &str) -> Result<(String, Trust)> {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let mut mode = "prefer";
    let mut authority = None;
    let mut rest = vec![];
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = value,
            Some(("sslrootcert", path)) => authority = Some(decode(path)?),
            _ => rest.push(pair.to_owned()),
        }
    }
    let trust = match (mode, authority) {
        ("disable" | "prefer" | "require", None) => Trust::Any,
        ("require" | "verify-full", Some(path)) => Trust::Authority { path },
        ("verify-full", None) => {
            return Err(Error::invalid("sslmode=verify-full needs the authority: add sslrootcert=FILE (PEM)"));
        }
        (_, Some(_)) => return Err(Error::invalid("sslrootcert goes with sslmode=verify-full or sslmode=require")),
        _ => return Err(Error::invalid("sslmode is one of disable, prefer, require and verify-full")),
    };
    rest.push(format!("sslmode={}", if mode == "verify-full" { "require" } else { mode }));
    Ok((format!("{address}?{}", rest.join("&")), trust))
}

/// Percent-decodes a value of a URL's query.
fn decode(value: &str) -> Result<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let hex = |at: usize| after.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        match (first, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).map_err(|_| Error::invalid("sslrootcert is not text"))
}

/// The URL without its secrets.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hosts, addresses) = (self.config.get_hosts(), self.config.get_hostaddrs());
        let hosts = (0..hosts.len().max(addresses.len())).map(|index| {
            let ports = self.config.get_ports();
            let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
            match hosts.get(index) {
                Some(Host::Tcp(name)) => format!("{name}:{port}"),
                #[cfg(unix)]
                Some(Host::Unix(path)) => format!("{}:{port}", path.display()),
                None => format!("{}:{port}", addresses[index]),
            }
        });
        let user = self.config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        write!(f, "postgres://{user}{}/{database}", hosts.collect::<Vec<_>>().join(","))
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let target = Target::parse("postgresql://someone:hush@one:1,two:2/data").unwrap();
        assert_eq!(format!("{target} {target:?}").matches("hush").count(), 0);
        assert_eq!(target.to_string(), "postgres://someone@one:1,two:2/data");
        let error = Target::parse("postgres://someone:hush@one:port/data").unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
    }

    #[test]
    fn modes_that_promise_more_than_they_can_keep_are_refused() {
        for (query, hint) in [
            ("sslmode=verify-full", "sslrootcert"),
            ("sslmode=verify-ca", "one of"),
            ("sslmode=disable&sslrootcert=a.pem", "goes with"),
            ("sslmode=verify-full&sslrootcert=/does/not/exist", "/does/not/exist"),
        ] {
            let error = Target::parse(&format!("postgres://user@host/data?{query}")).unwrap_err();
            assert!(error.message().contains(hint), "{query}: {error}");
        }
    }

    #[test]
    fn what_the_driver_knows_is_left_to_it() {
        let target =
            Target::parse("postgres://user@host/data?target_session_attrs=read-write&sslmode=disable").unwrap();
        assert_eq!(target.config.get_ssl_mode(), SslMode::Disable);
        assert!(Target::parse("postgres://user@host/data?no_such=option").is_err());
    }

    #[test]
    fn hosts_take_turns_where_all_of_them_serve_or_the_url_demands_it() {
        let order =
            |query: &str, kind| Target::parse(&format!("postgres://user@a,b/data{query}")).unwrap().host_order(kind);
        assert_eq!(order("", Kind::Postgres), HostOrder::LastServed);
        assert_eq!(order("", Kind::Citus), HostOrder::TakeTurns);
        assert_eq!(order("?load_balance_hosts=random", Kind::Postgres), HostOrder::TakeTurns);
        assert_eq!(order("?sslmode=disable&load_balance_hosts=disable", Kind::Citus), HostOrder::LastServed);
        assert!(Target::parse("postgres://user@a,b/data?load_balance_hosts=sometimes").is_err());
    }

    #[test]
    fn percent_signs_are_decoded() {
        assert_eq!(decode("%2Fa%20b%").unwrap(), "/a b%");
    }
}
