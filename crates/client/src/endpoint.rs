//! Where a service is: scheme, authority and the path of the account, in host style or path style.

use std::fmt;
use std::net::IpAddr;

use http::Uri;
use http::uri::{Authority, Scheme};

use crate::{Error, Result};

/// The root of one service of one account: `https://acct.table.core.windows.net` (host style) or
/// `http://127.0.0.1:10002/devstoreaccount1` (path style).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    scheme: Scheme,
    authority: Authority,
    /// Begins with a slash and does not end with one; empty in host style.
    path: String,
}

impl Endpoint {
    /// Reads a URL. A query is not part of an endpoint: a SAS is a credential.
    pub fn parse(url: &str) -> Result<Self> {
        // A query may be a signature, and what stands before an @ a password: neither is for an error's text.
        let shown = url.split('?').next().and_then(|url| url.rsplit('@').next()).unwrap_or_default();
        let wrong = |why: &str| Error::invalid(format!("the endpoint {shown:?} {why}"));
        let uri: Uri = url.trim().parse().map_err(|_| wrong("is not a URL"))?;
        let parts = uri.into_parts();
        let scheme = parts.scheme.filter(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS);
        let path = parts.path_and_query.ok_or_else(|| wrong("is not a URL"))?;
        if path.query().is_some() {
            return Err(wrong("has a query; a shared access signature is a credential of its own"));
        }
        Ok(Self {
            scheme: scheme.ok_or_else(|| wrong("is neither http nor https"))?,
            authority: parts.authority.ok_or_else(|| wrong("has no host"))?,
            path: path.path().trim_end_matches('/').to_owned(),
        })
    }

    /// The account that the address names: the first label of a host name, or the first segment of the path.
    pub fn account(&self) -> Option<&str> {
        let account = match self.path.strip_prefix('/') {
            Some(path) => path.split('/').next()?,
            None => self.authority.host().split_once('.').filter(|_| !self.is_address())?.0,
        };
        let account = account.strip_suffix("-secondary").unwrap_or(account);
        (!account.is_empty()).then_some(account)
    }

    /// Whether requests are encrypted on their way.
    pub fn is_https(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    /// Whether requests never leave the machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.host();
        host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The address of a path and query below the server's root.
    pub(crate) fn uri(&self, target: &str) -> Result<Uri> {
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        uri.path_and_query(target).build().map_err(|error| Error::invalid(format!("no address: {error}")))
    }

    /// The same account's secondary: read access to the other region.
    pub(crate) fn secondary(&self) -> Option<Self> {
        let account = self.account()?;
        let marked = format!("{account}-secondary");
        if self.path.is_empty() {
            let rest = self.authority.as_str().strip_prefix(account)?;
            return Some(Self { authority: format!("{marked}{rest}").parse().ok()?, ..self.clone() });
        }
        let rest = self.path.strip_prefix('/')?.strip_prefix(account)?;
        Some(Self { path: format!("/{marked}{rest}"), ..self.clone() })
    }

    fn is_address(&self) -> bool {
        self.host().parse::<IpAddr>().is_ok()
    }

    fn host(&self) -> &str {
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
    }

    #[test]
    fn what_is_no_endpoint_is_refused() {
        for url in ["", "acct", "/acct", "ftp://x/acct", "http://x/acct?sv=1", "http://"] {
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
