//! The account under test: where it listens, what it is called, and its key.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

const DEVELOPMENT_ACCOUNT: &str = "devstoreaccount1";
const DEVELOPMENT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const DEVELOPMENT_HOST: &str = "http://127.0.0.1";

/// One of the services of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Blob,
    Queue,
    Table,
}

impl Service {
    /// As host names spell it.
    const fn label(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Queue => "queue",
            Self::Table => "table",
        }
    }

    /// As connection strings spell it.
    const fn setting(self) -> &'static str {
        match self {
            Self::Blob => "Blob",
            Self::Queue => "Queue",
            Self::Table => "Table",
        }
    }

    const fn development_port(self) -> u16 {
        match self {
            Self::Blob => 10000,
            Self::Queue => 10001,
            Self::Table => 10002,
        }
    }
}

/// A service root: `http://127.0.0.1:10002/devstoreaccount1` or `https://acct.table.core.windows.net`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub tls: bool,
    pub host: String,
    pub port: u16,
    /// The prefix of every resource path; empty when the account is named by the host.
    pub prefix: String,
}

impl Endpoint {
    fn parse(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| format!("'{url}' is not an absolute URL"))?;
        let tls = match scheme {
            "http" => false,
            "https" => true,
            other => return Err(format!("'{other}' is neither http nor https")),
        };
        let rest = rest.trim_end_matches('/');
        let (authority, prefix) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, ""),
        };
        let default_port = if tls { 443 } else { 80 };
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| format!("'{port}' is not a port"))?),
            None => (authority, default_port),
        };
        Ok(Self { tls, host: host.to_owned(), port, prefix: prefix.to_owned() })
    }

    /// The value of the `Host` header, with the port only where it is not the scheme's own.
    pub fn authority(&self) -> String {
        match (self.tls, self.port) {
            (true, 443) | (false, 80) => self.host.clone(),
            (_, port) => format!("{}:{port}", self.host),
        }
    }

    /// The root as clients write it, without a trailing slash.
    pub fn base(&self) -> String {
        format!("{}://{}{}", if self.tls { "https" } else { "http" }, self.authority(), self.prefix)
    }

    pub fn is_path_style(&self) -> bool {
        !self.prefix.is_empty()
    }
}

/// Where a service listens.
#[derive(Clone, Debug)]
pub struct Endpoints {
    pub primary: Endpoint,
    pub secondary: Endpoint,
}

/// One storage account, as a connection string describes it.
#[derive(Clone, Debug)]
pub struct Target {
    pub account: String,
    pub key: Vec<u8>,
    /// Of the Table service.
    pub primary: Endpoint,
    pub secondary: Endpoint,
    /// Of the other services, unless the connection string has a table endpoint and none of theirs.
    pub blob: Option<Endpoints>,
    pub queue: Option<Endpoints>,
}

impl Target {
    /// Reads a connection string; `UseDevelopmentStorage=true` is the development account on its usual port.
    pub fn parse(connection_string: &str) -> Result<Self, String> {
        let settings: BTreeMap<&str, &str> =
            connection_string.split(';').filter_map(|setting| setting.trim().split_once('=')).collect();
        let development = settings.get("UseDevelopmentStorage").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let setting = |name: &str, fallback: &str| match settings.get(name) {
            Some(value) => Ok((*value).to_owned()),
            None if development => Ok(fallback.to_owned()),
            None => Err(format!("the connection string has no {name}")),
        };
        let account = setting("AccountName", DEVELOPMENT_ACCOUNT)?;
        let key = setting("AccountKey", DEVELOPMENT_KEY)?;
        let key = BASE64.decode(key).map_err(|error| format!("AccountKey is not Base64: {error}"))?;
        let scheme = settings.get("DefaultEndpointsProtocol").copied().unwrap_or("https");
        let suffix = settings.get("EndpointSuffix").copied().unwrap_or("core.windows.net");
        let endpoints = |service: Service| {
            let label = service.label();
            let primary = match settings.get(format!("{}Endpoint", service.setting()).as_str()) {
                Some(url) => Endpoint::parse(url)?,
                None if development => {
                    Endpoint::parse(&format!("{DEVELOPMENT_HOST}:{}/{account}", service.development_port()))?
                }
                None => Endpoint::parse(&format!("{scheme}://{account}.{label}.{suffix}"))?,
            };
            let secondary = match settings.get(format!("{}SecondaryEndpoint", service.setting()).as_str()) {
                Some(url) => Endpoint::parse(url)?,
                None => secondary_of(&primary, &account),
            };
            Ok::<_, String>(Endpoints { primary, secondary })
        };
        let is_custom = settings.contains_key("TableEndpoint");
        let beside_tables = |service: Service| match settings.contains_key(&*format!("{}Endpoint", service.setting())) {
            false if is_custom => Ok(None),
            _ => endpoints(service).map(Some),
        };
        let Endpoints { primary, secondary } = endpoints(Service::Table)?;
        let (blob, queue) = (beside_tables(Service::Blob)?, beside_tables(Service::Queue)?);
        Ok(Self { account, key, primary, secondary, blob, queue })
    }
}

/// The read-access root: the account's name gains `-secondary` wherever the primary has it.
fn secondary_of(primary: &Endpoint, account: &str) -> Endpoint {
    let mut secondary = primary.clone();
    if primary.is_path_style() {
        secondary.prefix = format!("{}-secondary", primary.prefix);
    } else {
        secondary.host = primary.host.replacen(account, &format!("{account}-secondary"), 1);
    }
    secondary
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_development_account_needs_no_more_than_its_shortcut() {
        let target = Target::parse("UseDevelopmentStorage=true").unwrap();
        assert_eq!(target.primary.base(), "http://127.0.0.1:10002/devstoreaccount1");
        assert_eq!(target.queue.unwrap().primary.base(), "http://127.0.0.1:10001/devstoreaccount1");
        assert_eq!(target.blob.unwrap().secondary.base(), "http://127.0.0.1:10000/devstoreaccount1-secondary");
        assert_eq!(target.secondary.base(), "http://127.0.0.1:10002/devstoreaccount1-secondary");
        assert_eq!(target.key.len(), 64);
    }

    #[test]
    fn a_real_account_is_addressed_by_host() {
        let target = Target::parse("AccountName=acct;AccountKey=AAAA").unwrap();
        assert_eq!(target.primary.base(), "https://acct.table.core.windows.net");
        assert_eq!(target.secondary.base(), "https://acct-secondary.table.core.windows.net");
        assert_eq!(target.queue.unwrap().primary.base(), "https://acct.queue.core.windows.net");
        assert!(!target.primary.is_path_style());
    }

    #[test]
    fn a_key_may_contain_equals_signs() {
        let target = Target::parse("AccountName=a;AccountKey=AQ==;TableEndpoint=http://h:1/a/").unwrap();
        assert_eq!(target.key, [1]);
        assert!(target.queue.is_none() && target.blob.is_none(), "no endpoint is given");
        assert_eq!(target.primary, Endpoint { tls: false, host: "h".into(), port: 1, prefix: "/a".into() });
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(Target::parse("AccountName=a").unwrap_err().contains("AccountKey"));
    }
}
