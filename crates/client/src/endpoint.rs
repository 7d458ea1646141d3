//! Endpoints: scheme, authority and the path of the account, in host style or path style.

use std::fmt;
use std::net::IpAddr;

use http::Uri;
use http::uri::{Authority, Scheme};

use crate::{Error, Result};

/// The suffix of an account's name in the endpoint of its secondary region.
const SECONDARY: &str = "-secondary";

/// The URL of one service of one account: `https://acct.table.core.windows.net` (host style) or
/// `http://127.0.0.1:10002/devstoreaccount1` (path style).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    scheme: Scheme,
    authority: Authority,
    /// Begins with a slash and does not end with one; empty in host style.
    path: String,
    /// The endpoint of the secondary region, if it does not follow from the account's name.
    secondary: Option<Box<Self>>,
}

/// Returns a URL without its query, which may be a signature, and without its user, for errors and logs.
pub(crate) fn without_secrets(url: &str) -> String {
    let url = url.split('?').next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    match rest.rsplit_once('@') {
        Some((_, rest)) => format!("{scheme}://{rest}"),
        None => url.rsplit('@').next().unwrap_or_default().to_owned(),
    }
}

impl Endpoint {
    /// Parses a URL, which must not have a query: a shared access signature is a credential.
    pub fn parse(url: &str) -> Result<Self> {
        let shown = without_secrets(url);
        let wrong = |why: &str| Error::invalid(format!("the endpoint {shown:?} {why}"));
        let uri: Uri = url.trim().parse().map_err(|_| wrong("is not a URL"))?;
        let parts = uri.into_parts();
        let scheme = parts.scheme.filter(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS);
        let path = parts.path_and_query.ok_or_else(|| wrong("is not a URL"))?;
        if path.query().is_some() {
            return Err(wrong("has a query: pass a shared access signature as the credential"));
        }
        let authority = parts.authority.ok_or_else(|| wrong("has no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("has a user: pass a credential instead"));
        }
        Ok(Self {
            scheme: scheme.ok_or_else(|| wrong("is neither http nor https"))?,
            authority,
            path: path.path().trim_end_matches('/').to_owned(),
            secondary: None,
        })
    }

    /// Sets the endpoint of the secondary region, if it does not follow from the account's name.
    #[must_use]
    pub fn with_secondary(self, secondary: Self) -> Self {
        Self { secondary: Some(Box::new(secondary)), ..self }
    }

    /// Returns the account in the URL: the first label of the host name, or the first segment of the path.
    pub fn account(&self) -> Option<&str> {
        let account = match self.path.strip_prefix('/') {
            Some(path) => path.split('/').next()?,
            None => self.authority.host().split_once('.').filter(|_| !self.is_address())?.0,
        };
        let account = account.strip_suffix(SECONDARY).unwrap_or(account);
        (!account.is_empty()).then_some(account)
    }

    /// Whether the scheme is https.
    pub fn is_https(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    /// Whether the host is this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.host();
        host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Returns the port of the URL, or that of its scheme.
    pub(crate) fn port(&self) -> u16 {
        self.authority.port_u16().unwrap_or(if self.is_https() { 443 } else { 80 })
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the URI of a path and query below the server's root.
    pub(crate) fn uri(&self, target: &str) -> Result<Uri> {
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        uri.path_and_query(target)
            .build()
            .map_err(|error| Error::invalid(format!("the path {target:?} does not form a URI: {error}")))
    }

    /// Returns scheme and host.
    pub(crate) fn without_port(&self) -> String {
        format!("{}://{}", self.scheme, self.authority.host())
    }

    /// Returns the endpoint of the account's secondary region. That of a secondary is itself.
    pub(crate) fn secondary(&self) -> Option<Self> {
        if let Some(secondary) = &self.secondary {
            return Some(secondary.as_ref().clone());
        }
        let account = self.account()?;
        let marked = |rest: &str| format!("{account}{SECONDARY}{}", rest.strip_prefix(SECONDARY).unwrap_or(rest));
        if self.path.is_empty() {
            let rest = self.authority.as_str().strip_prefix(account)?;
            return Some(Self { authority: marked(rest).parse().ok()?, ..self.clone() });
        }
        let rest = self.path.strip_prefix('/')?.strip_prefix(account)?;
        Some(Self { path: format!("/{}", marked(rest)), ..self.clone() })
    }

    fn is_address(&self) -> bool {
        self.host().parse::<IpAddr>().is_ok()
    }

    pub(crate) fn host(&self) -> &str {
        self.authority.host().trim_start_matches('[').trim_end_matches(']')
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint::parse(url).unwrap()
    }

    #[test]
    fn both_styles_name_their_account() {
        for (url, account) in [
            ("https://acct.table.core.windows.net/", Some("acct")),
            ("https://acct-secondary.table.core.windows.net", Some("acct")),
            ("http://127.0.0.1:10002/devstoreaccount1/", Some("devstoreaccount1")),
            ("http://[::1]:10002/acct", Some("acct")),
            ("http://127.0.0.1:10002", None),
            ("http://azurite:10002/acct", Some("acct")),
            ("http://azurite:10002", None),
        ] {
            assert_eq!(endpoint(url).account(), account, "{url}");
        }
        assert_eq!(endpoint("http://127.0.0.1:10002/acct/").to_string(), "http://127.0.0.1:10002/acct");
    }

    #[test]
    fn the_secondary_has_a_name_of_its_own() {
        let secondary = |url| endpoint(url).secondary().unwrap().to_string();
        assert_eq!(secondary("https://acct.table.core.windows.net"), "https://acct-secondary.table.core.windows.net");
        assert_eq!(secondary("http://127.0.0.1:1/acct"), "http://127.0.0.1:1/acct-secondary");
        for url in ["https://acct-secondary.table.core.windows.net", "http://127.0.0.1:1/acct-secondary"] {
            assert_eq!(secondary(url), url);
        }
        let given = endpoint("https://x.example").with_secondary(endpoint("https://y.example"));
        assert_eq!(given.secondary().unwrap().to_string(), "https://y.example");
    }

    #[test]
    fn an_invalid_endpoint_is_rejected() {
        for url in ["", "acct", "/acct", "ftp://x/acct", "http://x/acct?sv=1", "http://", "http://user:pass@x/acct"] {
            assert!(Endpoint::parse(url).is_err(), "{url}");
        }
        let error = Endpoint::parse("http://user:secret@x/acct?sig=secret").unwrap_err().to_string();
        assert!(error.contains("x/acct") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn only_this_machine_is_loopback() {
        assert!(endpoint("http://127.0.0.1:1/a").is_loopback());
        assert!(endpoint("http://localhost:1/a").is_loopback());
        assert!(endpoint("http://[::1]:1/a").is_loopback());
        assert!(!endpoint("http://10.0.0.1:1/a").is_loopback());
        assert!(!endpoint("http://localhost.example/a").is_loopback());
    }
}
